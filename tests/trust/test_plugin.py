"""The commands of trust/README.md do what it says, in its order, on a small book of another author.

So is the plugin tried, from end to end: one execution of each notebook, what is checked, what is told.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trust
from tests.trust.made_up import code, notebook, prose, run, write
from trust.__main__ import main
from trust.comparison import IGNORE

pytestmark = pytest.mark.slow
README = Path(trust.__file__).with_name("README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]
CLEARED = "from IPython.display import clear_output\nprint('antes')\nclear_output()\nprint('depois')"
CELLS = (
    code("mean", "x = 2.5\nprint(1, x)", "1 2.5\n"),
    code("b", "print('0.69 ± 0.04')", "0.66 ± 0.04\n", tolerance={"within": 0.1, "reason": "a training"}),
    code("d", CLEARED, "depois\n"),
    code("e", CLEARED, "depois\n", tags=(IGNORE,)),
    code("f", "print(x + 1)", "3.5\n"),
)
PAGES = {
    "book/chapter.ipynb": notebook(
        prose("t1", "# 1 Means\n\nThe mean of the four numbers is 2.5, and $x_1 = 1$."), *CELLS
    ),
    "book/intro.md": "The chapter finds a mean of 2.5.",
}
EXPECTED = {
    "audit": "2 of 3 figures in the prose are printed by an output of their page.",
    "bind": "without an origin",
    "check": "problems",
    "trust tamper": "14 of 14 changed digits noticed",
    "pytest --nbval": "9 passed",  # five cells and four checks
    "--tamper": "stored outputs: 9 of 9 (9 digits)\n  widget state: 0 of 0 (0 digits)\n"
    "9 of 9 tampered numbers caught (seed 2); 1 figures are compared with a tolerance",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("other_book"), PAGES)


@pytest.fixture(scope="module")
def done(folder) -> dict[str, CompletedProcess]:
    """What each command of the README did, one after another."""
    again = re.compile("trust (bind|check|tamper)")  # the first command starts as a reader's does
    return {line: (at_once if again.search(line) else run)(folder, line) for line in COMMANDS}


def at_once(folder: Path, line: str) -> CompletedProcess:
    """What the command does, without the seconds that another process takes to import it."""
    told = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(told):
        ended = main(shlex.split(line)[3:])
    return CompletedProcess(line, ended, told.getvalue(), "")


def test_there_is_a_command_for_each_section():
    found = re.findall(r"python -m trust (\w+)", "\n".join(COMMANDS))
    assert found == ["audit", "bind", "check", "tamper"]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_readme_does_what_it_says(line, done):
    """Cleared outputs are gone, as a reader would see them; nbval alone would compare both lines."""
    # The one figure of intro.md is printed on another page, and an audit looks at its own page only.
    assert done[line].returncode == (1 if "audit" in line else 0), done[line].stdout + done[line].stderr
    for command, words in EXPECTED.items():
        assert command not in line or words in done[line].stdout


def test_a_replay_fails_where_the_file_was_changed_and_only_there(folder, done):
    """What the check `pytest fails at changed cells` compared: it is nbval's verdict alone, on some cells."""
    report = (folder / "kept" / "chapter0" / "chapter.xml").read_text(encoding="utf-8")
    counted = re.search(r'failures="(\d+)" .*tests="(\d+)"', report)
    assert counted and counted.groups() == ("1", "5")


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    stale = code("c", "print(34)", "35\n", tags=(IGNORE,))
    pages = {"bad.ipynb": "{", "alien.ipynb": notebook(code("c", "1"), kernel="not-installed")}
    pages |= {"part.ipynb": notebook(*CELLS[:2]), "stale.ipynb": notebook(CELLS[0], stale)}
    folder = write(tmp_path_factory.mktemp("bad"), pages)
    left = " ".join(f"--deselect '{name}'" for name in ("part.ipynb::Cell 1", "stale.ipynb::pytest fails"))
    options = f"-q -rA --nbval --continue-on-collection-errors {left}"
    return run(folder, f"python -m pytest -p trust.plugin {options} {' '.join(pages)}").stdout


@pytest.mark.parametrize(
    "said",
    [
        "c: nbval ignores this cell, and its stored text is not what the code gives",
        "not every cell of the notebook was executed in this run",
        "bad.ipynb is not JSON, as a notebook is",
        "alien.ipynb needs the kernel 'not-installed', which is not installed",
        "6 errors",
    ],
)
def test_what_is_wrong_is_named_and_stops_nobody(bad, said):
    assert said in bad
    assert "PASSED stale.ipynb::Cell 0" in bad and "PASSED part.ipynb::Cell 0" in bad
