"""The times that the pages say, against the rule of `reading_time.py`; and how much a page holds."""

import re
from itertools import pairwise

import pytest

from tests.book import reading_time as reading
from tests.trust.pages import BOOK, ROOT
from tools.insert_exercises import PAGES

SAID = {
    "cinco minutos": 5, "dez minutos": 10, "um quarto de hora": 15, "vinte minutos": 20,
    "vinte e cinco minutos": 25,
    "meia hora": 30, "trinta e cinco minutos": 35, "quarenta minutos": 40, "três quartos de hora": 45,
    "cinquenta minutos": 50, "uma hora": 60, "uma hora e um quarto": 75, "uma hora e meia": 90,
    "uma hora e três quartos": 105, "duas horas": 120, "duas horas e um quarto": 135,
}  # fmt: skip
PHRASE = re.compile("|".join(sorted(SAID, key=len, reverse=True)))
OTHERS = ("00_before", "06_project", "appendix_training", "defects")
ALL = [path for pages in PAGES.values() for path in pages] + [BOOK / f"{name}.ipynb" for name in OTHERS]
IN_A_PAGE, IN_A_CELL = 4000, 13  # words; lines that are not empty, "about twelve"


def said(path) -> list[str]:
    """What a page says of its time, part by part; a page of exercises need not say any."""
    text = re.search(r"\*\*Tempo:\*\* (.*?)(?:\\n|\")", path.read_text(encoding="utf-8"))
    return text[1].split(";") if text and "ex-" not in path.stem else []


def minutes(part: str) -> int:
    return SAID[PHRASE.findall(part)[-1]]


def close(told: float, found: float) -> bool:
    return abs(told - found) <= max(5, found * 0.15)


@pytest.mark.parametrize("path", [p for p in ALL if "practice" not in p.stem], ids=lambda p: p.stem)
def test_a_page_says_how_long_it_takes(path):
    parts = said(path)
    own = next((part for part in parts if re.search(r"\besta\b", part)), parts[0].split(".")[0])
    found = reading.page(path).minutes
    assert close(minutes(own), found), f"{own!r} is {found:.0f} minutes"


@pytest.mark.parametrize("chapter", PAGES)
def test_a_chapter_says_how_long_it_takes(chapter):
    whole, *parts = said(PAGES[chapter][0])
    found = {
        "todos os exercícios": reading.exercise_minutes(chapter),
        "só as peças": reading.exercise_minutes(chapter, pieces_only=True),
        "a trilha": sum(reading.track(path).minutes for path in PAGES[chapter]),
    }
    assert close(minutes(whole), sum(reading.page(path).minutes for path in PAGES[chapter]))
    for name, time in found.items():
        told = [part for part in parts if name in part]
        assert close(minutes(told[0]), time) if told else time == 0, f"{name}: {time:.0f} minutes"


def test_the_two_hour_track_takes_two_hours():
    assert abs(sum(reading.track(path).minutes for path in ALL) - SAID["duas horas"]) <= 10


def test_the_first_page_says_how_long_the_chapters_take():
    pages = sum(reading.page(path).minutes for paths in PAGES.values() for path in paths)
    pieces, every = (sum(reading.exercise_minutes(c, only) for c in PAGES) for only in (True, False))
    intro = (ROOT / "book" / "intro.ipynb").read_text(encoding="utf-8")
    assert "cerca de dez horas" in intro and close(10 * 60, pages + pieces)
    assert "treze horas" in intro and close(13 * 60, pages + every)


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
def test_a_page_is_not_too_long(path):
    assert reading.page(path).words <= IN_A_PAGE


@pytest.mark.parametrize("path", [p for p in ALL if "appendix" not in p.stem], ids=lambda p: p.stem)
def test_what_is_visible_fits_the_eye(path):
    long = {name: lines for name, lines in reading.visible_cells(path).items() if lines > IN_A_CELL}
    assert not long


def test_the_rule_on_a_made_up_page():
    text = "## Um título\n\nTrês palavras aqui, $x + y$.\n\n```{dropdown} E agora?\nNada.\n```"
    assert reading.prose(text) == reading.Reading(words=9, questions=1)
    source = 'quiz("02", "logits", "nsp_loss")\nmask_explorer(a, b)\n\nprint(1)'
    assert reading.code(source, set()) == reading.Reading(lines=3, widgets=1, questions=2)
    assert reading.code("print(1)", {"hide-input"}) == reading.Reading()
    assert all(a < b for a, b in pairwise(SAID.values()))
