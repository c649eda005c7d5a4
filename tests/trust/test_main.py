"""The commands as a person gives them: what they print, and the code with which they end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import trust
from tests.trust.made_up import book, code, notebook, prose

GOOD = notebook(
    prose("t", "The mean is 0.46.", "0.46 @ c"),
    code("c", "print(mean)", "0.4551"),
)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(Path(trust.__file__).parents[1])}
    command = [sys.executable, "-m", "trust", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_a_good_book_passes_every_command(tmp_path):
    book(tmp_path, {"book/a.ipynb": GOOD, "book/b.md": "Nothing here."}, 'folder = "book"')
    for command in ("audit", "check", "bind", "tamper"):
        for folder in ([], ["book"]):
            done = run(tmp_path, command, *folder)
            assert done.returncode == 0, done.stdout + done.stderr
    assert "6 of 6 changed digits noticed" in run(tmp_path, "tamper", "--sample", "all").stdout
    assert (
        "2 of 2 changed digits noticed, out of 6"
        in run(tmp_path, "tamper", "--sample", "2", "--seed", "1").stdout
    )


def test_something_found_ends_with_one(tmp_path):
    wrong = notebook(prose("t", "The mean is 0.47.", "0.46 @ c"), GOOD.cells[1])
    book(tmp_path, {"a.ipynb": wrong})
    done = run(tmp_path, "check")
    assert done.returncode == 1 and "says '0.47'; the ledger expects '0.46'" in done.stderr
    done = run(tmp_path, "audit")
    assert done.returncode == 1 and "cell 1, line 1: 0.47 in “The mean is 0.47.”" in done.stdout
    done = run(tmp_path, "bind", "a.ipynb")
    assert done.returncode == 1 and "nothing prints '0.47'" in done.stderr


def test_a_tolerance_is_checked_too(tmp_path):
    cell = code("c", "print(a)", "0.69 ± 0.01", tolerance={"within": 0.5, "reason": "a training"})
    book(tmp_path, {"a.ipynb": notebook(cell)})
    done = run(tmp_path, "check")
    assert done.returncode == 1 and "at most 4 times the largest spread" in done.stderr


@pytest.mark.parametrize("command", ["audit", "bind", "check", "tamper"])
def test_one_bad_page_does_not_stop_the_others(tmp_path, command):
    pages = {"a.ipynb": "{", "b.ipynb": GOOD, "c.ipynb": "", "d.md": "Text.", "e.ipynb": '{"nbformat": 7}'}
    book(tmp_path, pages)
    done = run(tmp_path, command)
    said = done.stdout + done.stderr
    assert done.returncode == 2
    assert "a.ipynb is not JSON" in said and "c.ipynb is empty" in said and "e.ipynb is in nbformat 7" in said
    assert "b.ipynb" in said or "6 of 6" in said


def test_the_audit_speaks_to_programs(tmp_path):
    book(tmp_path, {"a.ipynb": GOOD, "c.ipynb": ""})
    done = run(tmp_path, "audit", ".", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 2 and told["total"]["figures"] == 1
    assert told["unusable"] == [
        {"page": "c.ipynb", "problem": "is empty; the JSON of a notebook was expected"}
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage: python -m trust"),
        (["audit", "nowhere"], "error: nowhere does not exist"),
        (["audit"], "holds no .ipynb and no .md file"),
        (["audit", "--places", "x"], "'x' is neither a number nor all"),
        (["tamper", "--seed", "x"], "invalid int value"),
        (["polish"], "invalid choice"),
    ],
)
def test_a_wrong_command_ends_with_two_and_a_sentence(tmp_path, arguments, message):
    done = run(tmp_path, *arguments)
    assert done.returncode == 2 and message in done.stderr


def test_wrong_settings_are_named(tmp_path):
    book(tmp_path, {"a.md": "1"}, 'folder = "none"')
    assert "is not a folder" in run(tmp_path, "check").stderr
    (tmp_path / "pyproject.toml").write_text("[tool.trust]\ncolour = 1\n", encoding="utf-8")
    assert "not 'colour'" in run(tmp_path, "check").stderr


def test_a_book_that_already_fails_is_not_tampered_with(tmp_path):
    book(tmp_path, {"a.ipynb": notebook(prose("t", "The mean is 0.47."))})
    done = run(tmp_path, "tamper")
    assert done.returncode == 2 and "the prose check already fails; mend it first" in done.stderr
