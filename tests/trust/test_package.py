"""The package stands alone: it imports nothing of this course, and says nothing of it."""

import ast
import re
from pathlib import Path

import pytest

import trust

COURSE = r"BERT|mascar|errata|dados sha256|pages\.toml|\d\d_\w+\.ipynb"
IMPORTED = r"^\s*(?:from|import)\s+(?:\.|(?:lib|tests|tools|benchmarks|book)\b)"


@pytest.mark.parametrize("path", sorted(Path(trust.__file__).parent.glob("*.py")), ids=lambda path: path.name)
def test_a_module_is_short_typed_and_knows_nothing_of_the_course(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(rf"(?m){COURSE}|{IMPORTED}", text)
    for function in (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)):
        given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        untyped = [a.arg for a in given if a.annotation is None and a.arg not in ("self", "cls")]
        assert function.returns is not None and not untyped, f"{function.name} {untyped}"
    assert len(text.splitlines()) <= 210
