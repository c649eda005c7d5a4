"""What nbval does not compare is tagged, cell by cell, and stands beside an assertion on what it shows.

nbval compares text and skips pictures. So a cell with a picture carries `nbval-ignore-output`, no other cell
does, and the cell or the next code cell has an `assert` that reads a name which the cell uses too. Switches
that silence more than one output (skipping a cell, comments, notebook metadata) are not allowed.
"""

import ast
import builtins
import re

import pytest

from tests.trust.made_up import code, page
from tests.trust.pages import notebooks, read_page
from tests.trust.statements import asserts, plain_python
from trust.comparison import IGNORE
from trust.notebooks import load, tags
from trust.pages import Page

FORBIDDEN_TAGS = {"nbval-skip", "pytest-validate-ignore-output", "skip-execution"}
COMMENT = re.compile(r"(?m)^\s*#+\s*(?:NBVAL_(?:IGNORE_OUTPUT|SKIP)|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$")


def has_picture(cell: dict) -> bool:
    """True where a stored output is a picture."""
    return any(key.startswith("image/") for output in cell["outputs"] for key in output.get("data", {}))


def names(source: str) -> set[str]:
    """The variables that some code shows: no imports, no builtins, nothing that only an assert reads."""
    tree = ast.parse(plain_python(source))
    asserted = {id(n) for check in ast.walk(tree) if isinstance(check, ast.Assert) for n in ast.walk(check)}
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    imported = {alias.asname or alias.name for statement in imports for alias in statement.names}
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in asserted}
    return read - imported - set(dir(builtins))


def problems(page: Page, notebook_metadata: dict) -> list[str]:
    """Every output of a notebook that escapes both nbval and an assertion."""
    switches = [key for key in notebook_metadata if "nbval" in key]
    found = [f"{page.name}: notebook metadata {key!r} switches checks off" for key in switches]
    cells = page.code_cells()
    for cell, following in zip(cells, [*(cell["source"] for cell in cells[1:]), ""], strict=True):
        place = f"{page.name}, {cell['id']}"
        if bad := FORBIDDEN_TAGS & set(tags(cell)):
            found.append(f"{place}: the tag {sorted(bad)} is not allowed")
        if COMMENT.search(cell["source"]):
            found.append(f"{place}: a comment switches nbval off; use the tag {IGNORE}")
        if has_picture(cell) != (IGNORE in tags(cell)):
            found.append(f"{place}: {IGNORE} goes with a picture, and only with one")
        if has_picture(cell) or IGNORE in tags(cell):
            checks = asserts(cell["source"]) + asserts(following)
            if not any(names(cell["source"]) & check for check in checks):
                found.append(f"{place}: nothing asserts what the picture shows, here or in the next cell")
    return found


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.name)
def test_nothing_escapes_both_nbval_and_an_assertion(path):
    found = problems(read_page(path), load(path)["metadata"])
    assert not found, "\n".join(found)


PLOT = "fig = plot(pesos)\nassert pesos.sum() == 1"
SHOWN = {"tags": (IGNORE,), "picture": True}


@pytest.mark.parametrize(
    "cells",
    [
        [code("texto", "print(1)", "1")],
        [code("figura", PLOT, **SHOWN)],
        [code("figura", "plot(pesos)", **SHOWN), code("depois", "assert pesos is not None")],
    ],
)
def test_good_cells_pass(cells):
    assert problems(page(*cells), {}) == []


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([code("f", "plot(pesos)", **SHOWN)], "nothing asserts what the picture shows"),
        ([code("f", "plot(a)\nassert b == 1", **SHOWN)], "nothing asserts"),
        ([code("f", "plot(a)\nassert True", **SHOWN)], "nothing asserts"),
        ([code("f", "plot(a)", **SHOWN), code("g", "b = 1"), code("h", "assert a == 1")], "nothing asserts"),
        ([code("f", PLOT, picture=True)], "goes with a picture, and only with one"),
        ([code("f", PLOT, "0.5", tags=(IGNORE,))], "goes with a picture, and only with one"),
        ([code("f", "print(1)", "1", tags=("nbval-skip",))], "is not allowed"),
        ([code("f", "# NBVAL_SKIP\nprint(1)", "1")], "a comment switches nbval off"),
        ([code("f", "  ## NBVAL_IGNORE_OUTPUT\nprint(1)", "1")], "a comment switches nbval off"),
    ],
)
def test_an_escape_is_named(cells, message):
    found = problems(page(*cells), {})
    assert any(message in problem for problem in found), found


def test_a_switch_for_the_whole_notebook_is_named():
    assert "switches checks off" in problems(page(code("f", "print(1)", "1")), {"nbval": {}})[0]
