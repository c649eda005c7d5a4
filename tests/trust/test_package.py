"""The package stands alone: it imports nothing of this course, and says nothing of it."""

import ast
import re
from pathlib import Path

import pytest

import trust

FOLDER = Path(trust.__file__).parent
MODULES = sorted(FOLDER.glob("*.py"))
COURSE = {"lib", "tests", "tools", "benchmarks", "book"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_imports_nothing_of_the_course(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
    imported += [n.module or "." for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert not {name.split(".")[0] for name in imported} & (COURSE | {""})


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_names_nothing_of_the_course(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"BERT|mascar|errata|dados sha256|pages\.toml|\d\d_\w+\.ipynb", text)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_is_short_and_every_function_is_typed(path):
    text = path.read_text(encoding="utf-8")
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    for function in functions:
        given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        untyped = [a.arg for a in given if a.annotation is None and a.arg not in ("self", "cls")]
        assert function.returns is not None and not untyped, f"{path.name}: {function.name} {untyped}"
    assert len(text.splitlines()) <= 210, path.name
