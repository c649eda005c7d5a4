"""The commands as a person gives them: what they print, and the code with which they end."""

import json

import pytest

from tests.trust.made_up import book, code, notebook, prose
from trust.__main__ import main

GOOD = notebook(prose("t", "The mean is 0.46.", "0.46 @ c"), code("c", "print(mean)", "0.4551"))
TOLERANT = code("d", "print(a)", "0.69 ± 0.01", tolerance={"within": 0.5, "reason": "a training"})


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Gives a command in a folder: its exit code, and what it printed, errors last."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[object, str]:
        try:
            ended = main(list(arguments))
        except SystemExit as problem:  # of argparse
            ended = problem.code
        return ended, "".join(capsys.readouterr())

    return command


def test_a_good_book_passes_every_command(tmp_path, run):
    book(tmp_path, {"book/a.ipynb": GOOD, "book/b.md": "Nothing here."}, 'folder = "book"')
    for command in ("audit", "check", "bind", "tamper"):
        for folder in ([], ["book"]):
            assert run(command, *folder)[0] == 0
    assert "6 of 6 changed digits noticed" in run("tamper", "--sample", "all")[1]
    assert "2 of 2 changed digits noticed, out of 6" in run("tamper", "--sample", "2", "--seed", "1")[1]


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("check", 1, "says '0.47'; the ledger expects '0.46'"),
        ("check", 1, "at most 4 times the largest spread"),
        ("audit", 1, "cell 1, line 1: 0.47 in “The mean is 0.47.”"),
        ("bind a.ipynb", 1, "nothing prints '0.47'"),
        ("tamper", 2, "the prose check already fails; mend it first"),
    ],
)
def test_something_found_is_told(tmp_path, run, command, code, message):
    wrong = prose("t", "The mean is 0.47.", "0.46 @ c")
    book(tmp_path, {"a.ipynb": notebook(wrong, GOOD.cells[1], TOLERANT)})
    ended, said = run(*command.split())
    assert ended == code and message in said


@pytest.mark.parametrize("command", ["audit", "bind", "check", "tamper"])
def test_one_bad_page_does_not_stop_the_others(tmp_path, run, command):
    pages = {"a.ipynb": "{", "b.ipynb": GOOD, "c.ipynb": "", "d.md": "Text.", "e.ipynb": '{"nbformat": 7}'}
    book(tmp_path, pages)
    ended, said = run(command)
    assert ended == 2
    assert "a.ipynb is not JSON" in said and "c.ipynb is empty" in said and "e.ipynb is in nbformat 7" in said
    assert "b.ipynb" in said or "6 of 6" in said


def test_the_audit_speaks_to_programs(tmp_path, run):
    more = notebook(prose("t", "The mean is 0.46 of $x_1$, or 12.5%."), GOOD.cells[1])
    book(tmp_path, {"a.ipynb": GOOD, "b.ipynb": more, "c.ipynb": ""})
    ended, said = run("audit", ".", "--json")
    told = json.loads(said)
    assert ended == 2 and told["total"] == {"pages": 2, "figures": 3, "printed": 2, "notation": 1}
    assert told["pages"][1]["not_printed"][0]["figure"] == "12.5%"
    problem = "is empty; the JSON of a notebook was expected"
    assert told["unusable"] == [{"page": "c.ipynb", "problem": problem}]


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
def test_a_wrong_command_ends_with_two_and_a_sentence(run, arguments, message):
    ended, said = run(*arguments)
    assert ended == 2 and message in said


def test_wrong_settings_are_named(tmp_path, run):
    book(tmp_path, {"a.md": "1"}, 'folder = "none"')
    assert "is not a folder" in run("check")[1]
