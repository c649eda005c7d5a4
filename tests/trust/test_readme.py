"""The commands of trust/README.md do what it says, in its order, on a small book of another author."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import trust
from tests.trust.made_up import book, code, notebook, prose

README = Path(trust.__file__).with_name("README.md")
COMMANDS = [
    line
    for block in re.findall(
        r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    for line in block.splitlines()
]
PAGES = {
    "book/chapter.ipynb": notebook(
        prose("t1", "# 1 Means\n\nThe mean of the four numbers is 2.5, and $x_1 = 1$."),
        code("mean", "print(1, 2.5)", "1 2.5\n"),
    ),
    "book/intro.md": "The chapter finds a mean of 2.5.",
}


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> dict[str, subprocess.CompletedProcess]:
    """What each command of the README did, one after another."""
    folder = tmp_path_factory.mktemp("other_book")
    book(folder, PAGES)
    environment = {**os.environ, "PYTHONPATH": str(README.parents[1]), "PYTEST_ADDOPTS": "-p no:xdist"}
    python = f"{shlex.quote(sys.executable)} -m "
    return {
        line: subprocess.run(
            line.replace("python -m ", python),
            shell=True,
            cwd=folder,
            env=environment,
            text=True,
            capture_output=True,
        )
        for line in COMMANDS
    }


def test_there_is_a_command_for_each_section():
    assert [" ".join(line.split()[2:4]) for line in COMMANDS if "python -m trust" in line] == [
        "trust audit",
        "trust bind",
        "trust check",
        "trust tamper",
    ]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_readme_does_what_it_says(line, done):
    run = done[line]
    # The one figure of intro.md is printed on another page, and an audit looks at its own page only.
    assert run.returncode == (1 if "audit" in line else 0), run.stdout + run.stderr
    expected = {
        "audit": "2 of 3 figures in the prose are printed by an output of their page.",
        "bind": "without an origin",
        "check": "problems",
        "trust tamper": "14 of 14 changed digits noticed",
        "--tamper all": "tampered numbers caught",
        "pytest --nbval": "passed",
    }
    assert all(words in run.stdout for command, words in expected.items() if command in line), run.stdout
