"""The commands of trust/README.md do what it says, in its order, on a small book of another author."""

import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trust
from tests.trust.made_up import book, code, notebook, prose, run

README = Path(trust.__file__).with_name("README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]
PAGES = {
    "book/chapter.ipynb": notebook(
        prose("t1", "# 1 Means\n\nThe mean of the four numbers is 2.5, and $x_1 = 1$."),
        code("mean", "print(1, 2.5)", "1 2.5\n"),
    ),
    "book/intro.md": "The chapter finds a mean of 2.5.",
}
EXPECTED = {
    "audit": "2 of 3 figures in the prose are printed by an output of their page.",
    "bind": "without an origin",
    "check": "problems",
    "trust tamper": "14 of 14 changed digits noticed",
    "--tamper all": "tampered numbers caught",
    "pytest --nbval": "passed",
}


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> dict[str, CompletedProcess]:
    """What each command of the README did, one after another."""
    folder = tmp_path_factory.mktemp("other_book")
    book(folder, PAGES)
    return {line: run(folder, line) for line in COMMANDS}


def test_there_is_a_command_for_each_section():
    found = re.findall(r"python -m trust (\w+)", "\n".join(COMMANDS))
    assert found == ["audit", "bind", "check", "tamper"]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_readme_does_what_it_says(line, done):
    # The one figure of intro.md is printed on another page, and an audit looks at its own page only.
    assert done[line].returncode == (1 if "audit" in line else 0), done[line].stdout + done[line].stderr
    for command, words in EXPECTED.items():
        assert command not in line or words in done[line].stdout
