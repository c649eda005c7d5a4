"""The examples in docstrings of `lib` are true."""

import doctest
import importlib

import pytest

from tools.console import ROOT

EXAMPLES = [
    path for path in sorted((ROOT / "lib").rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name + "/" + path.stem)
def test_every_example_gives_what_it_shows(path):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0 and result.attempted == path.read_text(encoding="utf-8").count(">>> ")
