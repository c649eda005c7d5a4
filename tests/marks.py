"""What tests say of themselves: which test carries which mark, read from the source, without running it."""

import ast
import importlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

TESTS = Path(__file__).parent


def marked(name: str, folder: Path = TESTS) -> Iterator[tuple[str, Path, ast.FunctionDef]]:
    """Each word of each `@pytest.mark.<name>("a", "b")`, with the file and the test that carries it."""
    for path in sorted(folder.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if f"mark.{name}(" in text else ():
            for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == f"pytest.mark.{name}":
                    yield from ((ast.literal_eval(word), path, node) for word in decorator.args)


def checks_marked(name: str) -> dict[str, list[Callable]]:
    """The tests themselves, for each word of the mark."""
    found: dict[str, list[Callable]] = defaultdict(list)
    for word, path, test in marked(name):
        module = ".".join(path.relative_to(TESTS.parent).with_suffix("").parts)
        found[word].append(getattr(importlib.import_module(module), test.name))
    return found
