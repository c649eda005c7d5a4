"""What nbval cannot compare is tagged and asserted; and the check notices when it is not."""

import pytest

from tests.trust.made_up import code, page
from tests.trust.pages import notebooks, read_page
from tests.trust.tags import problems
from trust.comparison import IGNORE
from trust.notebooks import load


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
