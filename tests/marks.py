"""What tests say of themselves: which test carries which mark, read from the source, without running it."""

import ast
import importlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

TESTS = Path(__file__).parent


def checks_marked(name: str) -> dict[str, list[Callable]]:
    """The tests that carry `@pytest.mark.<name>("a", "b")`, for each of these words."""
    found: dict[str, list[Callable]] = defaultdict(list)
    for path, function, word in _marks(f"pytest.mark.{name}"):
        module = ".".join(path.relative_to(TESTS.parent).with_suffix("").parts)
        found[word].append(getattr(importlib.import_module(module), function))
    return found


def words_of_mark(name: str) -> list[str]:
    """Every word that some test is marked with, as often as it is."""
    return [word for _, _, word in _marks(f"pytest.mark.{name}")]


def _marks(mark: str) -> Iterator[tuple[Path, str, str]]:
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == mark:
                    yield from ((path, node.name, ast.literal_eval(word)) for word in decorator.args)
