"""Measured numbers cannot be changed, nor outlive the code, data and versions that gave them, unnoticed."""

from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.trust.made_up import write
from trust import provenance
from trust.dependencies import Project
from trust.provenance import Part, begin, keep, problems, read

PINS = {"torch": version("torch").partition("+")[0]}
CODE = "def fast():\n    return work(1)\ndef slow():\n    return work(2)\ndef work(n):\n    return n\n"


def part(name):
    command, starts = f"python -m pkg --only {name}", (f"pkg.speed:{name}",)
    return Part(name, command, measure=lambda options: {}, show=str, starts=starts, data=("data/*.json",))


FAST, SLOW = part("fast"), part("slow")


@pytest.fixture
def root(tmp_path):
    return write(tmp_path, {"pkg/__init__.py": "", "pkg/speed.py": CODE, "data/words.json": "[]"})


@pytest.fixture
def path(root):
    """A file with both parts, as a program leaves it."""
    path = root / "speed.json"
    for one in (FAST, SLOW):
        measured(root, path, one, {"seconds": [0.1, 0.25], "seeds": [0]})
    return path


def measured(root: Path, path: Path, one: Part, values) -> None:
    keep(path, one, values, begin(Project(root), one, {"threads": 2}))


def found(root: Path, path: Path, pins=PINS) -> list[str]:
    return problems(Project(root), read(path.read_text(encoding="utf-8")), (FAST, SLOW), pins)


def test_what_was_just_measured_has_no_problems(root, path):
    assert found(root, path) == []
    made = read(path.read_text(encoding="utf-8"))["fast"]["made"]
    assert made["command"] == FAST.command and made["settings"] == {"threads": 2}
    assert made["versions"]["torch"] == version("torch") and made["cores"] >= 1 and made["processor"]
    assert len(made["load"]) == 2 and made["seconds"] >= 0 and len(made["code"]) == 64


@pytest.mark.parametrize(
    ("file", "text", "stale"),
    [
        ("pkg/speed.py", CODE.replace("work(1)", "work(3)"), ["fast"]),
        ("pkg/speed.py", CODE.replace("return n", "return n + 1"), ["fast", "slow"]),
        ("pkg/speed.py", CODE + "# a comment\n", []),
        ("data/words.json", "[1]", ["fast", "slow"]),
    ],
)
def test_a_change_makes_the_parts_stale_that_reach_it(root, path, file, text, stale):
    write(root, {file: text})
    told = "the code or the data have changed since it was measured; on a quiet machine, run: python -m pkg"
    assert found(root, path) == [f"{name}: {told} --only {name}" for name in stale]


def test_the_code_counts_that_was_there_at_the_beginning(root, path):
    """A program that runs for an hour was loaded before the edit that somebody made meanwhile."""
    made = begin(Project(root), FAST, {})
    write(root, {"pkg/speed.py": CODE.replace("work(1)", "work(3)")})
    keep(path, FAST, {}, made)
    assert "fast: the code or the data have changed" in found(root, path)[0]


def test_another_pinned_version_makes_it_stale(root, path):
    problem = found(root, path, {"torch": "9.9.9"})[0]
    assert f"fast: measured with torch {version('torch')}, and 9.9.9 is pinned" in problem
    assert "and None is pinned" in found(root, path, {})[0]


def test_a_part_that_is_missing_or_unknown_is_named(root, path):
    content = read(path.read_text(encoding="utf-8"))
    assert problems(Project(root), {"fast": content["fast"]}, (FAST, SLOW), PINS) == [
        "slow: missing; on a quiet machine, run: python -m pkg --only slow"
    ]
    assert problems(Project(root), content, (FAST,), PINS) == ["nobody measures the part 'slow': delete it"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.25", "0.35", "the numbers of 'fast' are not those"),
        ("0.25", "0.250", "not written as the program writes"),
        ("0.25", "0.25000000000000001", "not written as the program writes"),
        ('"threads": 2', '"threads": 4', "the numbers of 'fast' are not those"),
        ('"seal": "', '"seal": "0', "the numbers of 'fast' are not those"),
        ('"seal"', '"sealed"', "not a file of measurements"),
        ("}\n", "}", "not written as the program writes"),
        ("{", "[", "Expecting"),
        ("{", "", "Extra data"),
    ],
)
def test_a_change_by_hand_is_noticed(path, old, new, message):
    text = path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read(text.replace(old, new, 1) if old != "}\n" else text.removesuffix("\n"))


@pytest.mark.parametrize("text", ["", "[]", "[1]", "3", "null", '{"fast": 3}', '{"fast": {"values": 1}}'])
def test_what_is_no_file_of_measurements_is_refused(text):
    with pytest.raises(ValueError):
        read(text)


def test_values_keep_their_full_precision(root, path):
    values = {"third": 1 / 3, "tiny": 5e-324, "many": 2**70, "words": "ação", "nothing": None}
    measured(root, path, FAST, values)
    assert read(path.read_text(encoding="utf-8"))["fast"]["values"] == values


@pytest.mark.parametrize("when", ["write_text", "replace"])
def test_an_interruption_leaves_the_old_file_whole(root, path, when):
    before = path.read_text(encoding="utf-8")
    with patch.object(Path, when, side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        measured(root, path, FAST, {"seconds": [0.3]})
    assert path.read_text(encoding="utf-8") == before
    assert [p.name for p in root.glob("speed*")] == ["speed.json"]


@pytest.mark.parametrize(
    ("old", "number", "message"),
    [("0.25", float("nan"), "Out of range float"), ("0.35", 0.3, "not those that the program wrote")],
)
def test_what_is_no_number_is_not_kept_and_a_damaged_file_not_written_over(root, path, old, number, message):
    before = path.read_text(encoding="utf-8").replace("0.25", old)
    path.write_text(before, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        measured(root, path, FAST, {"seconds": [number]})
    assert path.read_text(encoding="utf-8") == before


def test_the_origin_says_what_a_reader_must_know(path):
    made = read(path.read_text(encoding="utf-8"))["fast"]["made"]
    made |= {"date": "2025-01-02T03:04:05+00:00", "load": [0.5, 1.25], "cores": 2, "processor": "A processor"}
    made |= {"versions": {"python": "3.11.7", "torch": "2.13.0+cpu"}, "seconds": 1234.5}
    assert provenance.origin(made) == (
        "Measured with `python -m pkg --only fast` on 2025-01-02, in 1,234 s: A processor, 2 cores, threads 2"
        "; python 3.11.7, torch 2.13.0+cpu; load average 0.5 before and 1.25 after.\n"
    )


def test_pins_are_read_with_and_without_hashes(tmp_path):
    pinned = "# torch==1\ntorch==2.13.0\n-e .\nmyst-nb==1.4.0 ; x\n"
    write(tmp_path, {"a.txt": pinned, "b.txt": "dante-corpora==2.0.5 --hash=sha256:00\n"})
    found = provenance.pins(tmp_path / "a.txt", tmp_path / "b.txt")
    assert found == {"torch": "2.13.0", "myst-nb": "1.4.0", "dante-corpora": "2.0.5"}


def test_a_processor_has_a_name_everywhere():
    assert provenance.processor()
    with patch.object(Path, "read_text", side_effect=FileNotFoundError):
        assert provenance.processor()
