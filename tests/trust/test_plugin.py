"""The plugin on small notebooks, from end to end: one execution of each, what is checked, what is told."""

import re

import pytest

from tests.trust.made_up import book, code, notebook, run
from trust.comparison import IGNORE

CLEARED = "from IPython.display import clear_output\nprint('antes')\nclear_output()\nprint('depois')"
CELLS = (
    code("a", "x = 12\nprint('soma', x)", "soma 12\n"),
    code("b", "print('0.69 ± 0.04')", "0.66 ± 0.04\n", tolerance={"within": 0.1, "reason": "a training"}),
    code("d", CLEARED, "depois\n"),
    code("e", CLEARED, "depois\n", tags=(IGNORE,)),
    code("f", "print(x + 1)", "13\n"),
)
STALE = code("c", "print(34)", "35\n", tags=(IGNORE,))
BARE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -p nbval -p trust.plugin"
PYTEST = f"{BARE} -q -rA --nbval --tamper-seed 2"


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A folder with a notebook, and pytest's report on it."""
    folder = tmp_path_factory.mktemp("good")
    book(folder, {"made.ipynb": notebook(*CELLS)})
    return folder, run(folder, f"{PYTEST} --nbval-current-env --tamper all --basetemp kept made.ipynb")


def test_a_good_notebook_passes_and_the_summary_counts(good):
    """Cleared outputs are gone, as a reader would see them; nbval alone would compare both lines."""
    _, done = good
    assert done.returncode == 0, done.stdout
    assert "9 passed" in done.stdout, "five cells and four checks"
    assert "stored outputs: 8 of 8 (8 digits)" in done.stdout
    assert "8 of 8 tampered numbers caught (seed 2); 1 figures are compared with a tolerance" in done.stdout


def test_a_replay_fails_where_the_file_was_changed_and_only_there(good):
    """What the check `pytest fails at changed cells` compared: it is nbval's verdict alone, on some cells."""
    folder, _ = good
    report = (folder / "kept" / "made0" / "made.xml").read_text(encoding="utf-8")
    counted = re.search(r'failures="(\d+)" .*tests="(\d+)"', report)
    assert counted and counted.groups() == ("1", "5")


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    pages = {"stale.ipynb": notebook(CELLS[0], STALE), "part.ipynb": notebook(*CELLS[:2]), "bad.ipynb": "{"}
    book(folder, pages)
    options = "--nbval-current-env --continue-on-collection-errors --deselect 'part.ipynb::Cell 1'"
    return run(folder, f"{PYTEST} {options} bad.ipynb part.ipynb stale.ipynb").stdout


@pytest.mark.parametrize(
    "said",
    [
        "c: nbval ignores this cell, and its stored text is not what the code gives",
        "not every cell of the notebook was executed in this run",
        "bad.ipynb is not JSON, as a notebook is",
        "1 error",
    ],
)
def test_what_is_wrong_is_named_and_stops_nobody(bad, said):
    assert said in bad
    assert "PASSED stale.ipynb::Cell 0" in bad and "PASSED part.ipynb::Cell 0" in bad


def test_a_kernel_that_is_not_installed_is_named(tmp_path):
    made = notebook(code("c", "1"))
    made.metadata.kernelspec = {"name": "not-installed", "display_name": "None", "language": "none"}
    book(tmp_path, {"r.ipynb": made})
    said = "r.ipynb needs the kernel 'not-installed', which is not installed"
    assert said in run(tmp_path, f"{PYTEST} r.ipynb").stdout
