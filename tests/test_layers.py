"""The layers of `lib`: a module imports from its own layer and from those above it, as lib/__init__ says."""

import ast

import pytest

from tools.console import ROOT

LAYERS = {
    1: "require dropout attention losses tokenizer corpus porttinari information masking_mistakes rounding",
    2: "encoder parameters corruption",
    4: "sources",
    5: "plots widgets quizzes exercises",
}
LAYER_OF = {name: layer for layer, names in LAYERS.items() for name in names.split()}  # all others: 3
DRAWING = {"matplotlib", "ipywidgets", "anywidget"}
MODULES = sorted(path for path in (ROOT / "lib").rglob("*.py") if path.name != "__main__.py")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (
                [f"lib.{alias.name}" for alias in node.names] if node.module == "lib" else [node.module]
            )


def part(path):
    return path.relative_to(ROOT / "lib").with_suffix("").parts[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_its_layer_or_above(path):
    own = LAYER_OF.get(part(path), 3)
    for name in imported(path):
        head, _, rest = name.partition(".")
        if head == "lib" and rest:
            other = LAYER_OF.get(rest.split(".")[0], 3)
            assert other <= own, f"{path.name} (layer {own}) imports {name} (layer {other})"
        assert own == 5 or head not in DRAWING, f"{path.name} is not a layer that draws, yet imports {head}"


def test_the_layers_named_here_exist():
    assert {name for name in LAYER_OF if name not in {part(path) for path in MODULES}} <= {
        "exercises",
        "quizzes",
    }
