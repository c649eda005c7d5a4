"""Finds every numeral that a reader sees on a page, and tells values from notation by rule.

A **value** is a claim about something: a cell should have printed it. **Notation** is the rest; it needs no
origin. In text, a numeral is notation if it
- numbers a list item, a heading or an enumeration: "1. ", "## 2.3 ", "(1) ... (2) ...", is alone in "[1]", or
  in brackets right after a word ("known[1, 2]");
- is part of a name: a letter or a letter and hyphen come right before it ("float32", "GPT-1"), "#", or it
  stands in the name of a file ("plot-2.png"); or it is the exponent of a letter ("s^-1");
- refers: it follows a noun such as "chapter", "section", "theorem" ("section 2.3"), or is an ordinal ("3rd");
- belongs to a date, to a time after it, or to volume and pages of a journal ("41(1), 195–221");
- is a year: one of two years joined ("1914-1918"), or in parentheses, after a capitalised word or a word such
  as "since", and not before a plural ("in 2000 steps");
- has two or more dots that are not thousands ("2.13.0").

`trust.tex` says what is notation in mathematics. "1.414" in a page with a decimal comma is read both ways,
as a decimal and as thousands.
"""

import re
from dataclasses import replace
from functools import lru_cache

from trust import markdown, tex
from trust.conventions import (
    ATTACHED,
    BEFORE_RECENT_YEAR,
    PLURAL,
    SPACES,
    YEAR,
    Convention,
    Patterns,
    patterns,
)
from trust.inline import RAISED, View
from trust.readings import Numeral, Reading, plain_numbers, readings

# Letters of alphabets; a Chinese or Japanese character beside a number does not make a name of it.
LETTER = r"[^\W\d\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"

AFTER_WORD = re.compile(rf"(?<={LETTER})\[\d+(?:,\s?\d+)*\]")
FILE = re.compile(r"[\w.-]*\.(?:png|jpe?g|svg|gif|pdf|csv|txt|py|ipynb|zip)\b")
JOURNAL = re.compile(  # "41(1), 195–221", "23 (2000) 773-789", "33 (3). Example Press: 195–214"
    r"""(?x)
    (?<![\d.,])\d+(?:\.\d+(?:[-–]\d+)?)?                # the volume
    (?:,\sno\.\s\d+)?(?:\s?\(\d+(?:[-–/]\d+)?\)){1,2}   # its issue, its year
    (?:\.\s[A-ZÀ-Ý][^\n.:]{1,60}(?=:))?                  # the publisher
    (?::\s?\d+(?:[-–]\d+)?|,?\s(?:pp\.\s?)?\d+[-–]\d+)   # the pages
    """
)


@lru_cache(maxsize=256)
def numerals(page: str, convention: Convention) -> tuple[Numeral, ...]:
    """Every numeral of a Markdown page, in order."""
    seen = markdown.view(page, convention.diagrams)
    found = [Numeral(mark.chars, mark.at[0], mark.at[-1] + 1, True) for mark in seen.marks if mark.chars]
    for formula in seen.math:
        found += [
            replace(n, start=formula.at[n.start], end=formula.at[n.end - 1] + 1)
            for n in tex.numerals(formula.chars, convention.decimal)
        ]
    return tuple(sorted([*found, *_in_text(seen, convention)], key=lambda n: n.start))


def around(page: str, numeral: Numeral, width: int = 40) -> str:
    """The words around a numeral, on its line, for messages."""
    line, end = page.rfind("\n", 0, numeral.start) + 1, page.find("\n", numeral.end)
    words = page[line : end if end >= 0 else None]
    start, end = words.rfind(" ", 0, max(0, numeral.start - line - width)), numeral.end - line + width
    return words[start + 1 : words.find(" ", end) if " " in words[end:] else None].strip()


def _in_text(seen: View, convention: Convention) -> list[Numeral]:
    text, rules = seen.text(), patterns(convention)
    marks = _enumeration_marks(text.chars, seen.starts)
    for named in (rules.date, JOURNAL, FILE):
        marks |= {i for found in named.finditer(text.chars) for i in range(*found.span())}
    marks |= {year.start(k) for year in rules.years.finditer(text.chars) if _are_years(year) for k in (1, 3)}
    return [
        Numeral(
            match[0].strip(),
            text.at[match.start()],
            text.at[match.end() - 1] + 1,
            match.start("digits") in marks or _is_notation(text.chars, match, rules),
            _readings(match, convention),
        )
        for match in rules.numeral.finditer(text.chars)
    ]


def _enumeration_marks(text: str, starts: dict[int, bool]) -> set[int]:
    """Where headings and blocks are numbered, (1), (2), ... count from one, and [1] stands alone."""
    marks = {match.start(1) for match in re.finditer(r"\[(\d{1,3})\]", text)}
    marks |= {i for match in AFTER_WORD.finditer(text) for i in range(*match.span())}
    for start, heading in starts.items():
        after = r"\.?[\s:)–-]" if heading else r"[.)]\s"
        number = re.compile(rf"\s*(\d+(?:\.\d+)*){after}").match(text, start)
        marks |= {number.start(1)} if number else set()
    expected = 1
    for match in re.finditer(r"\((\d{1,2})\)", text):
        if int(match[1]) in (1, expected):
            marks.add(match.start(1))
            expected = int(match[1]) + 1
    return marks


def _are_years(pair: re.Match[str]) -> bool:
    """True for two years; two round numbers are more likely to count something."""
    first, second = int(pair[1]), int(pair[3])
    round_to = 50 if re.search(r"[-–—]", pair[2]) else 10
    return first < second and bool(first % round_to or second % round_to)


def _is_notation(text: str, match: re.Match[str], rules: Patterns) -> bool:
    before, digits = text[max(0, match.start() - 100) : match.start()], match["digits"]
    if match["unit"] and match["unit"] not in ATTACHED:
        return False
    named = re.search(rf"{LETTER}-?$", before) or before.endswith((RAISED, "#"))
    if (named and not match["sign"]) or re.search(rf"{LETTER}\^$", before):
        return True
    if re.compile(r"D\b|(?<=\b[1-4])d\b").match(text, match.end()) or rules.ordinal.match(text, match.end()):
        return True
    if rules.reference.search(before):
        return True
    if re.fullmatch(YEAR, digits) and not re.compile(PLURAL).match(text, match.end()):
        recent = digits >= "1900" and BEFORE_RECENT_YEAR.search(before[-80:])
        return bool(recent or rules.before_year.search(before[-80:]))
    return digits.count(".") > 1 and not re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", digits)


def _readings(match: re.Match[str], convention: Convention) -> tuple[Reading, ...]:
    """The values that a numeral in text may stand for."""
    digits = re.sub(rf"[{SPACES} ]", "", match["digits"]).replace("−", "-")
    number, exponent, power = digits.lower().partition("e")
    unit = (match["unit"] or "").strip()
    scales = {"%": -2, **convention.words.scales}
    scale = next((tens for word, tens in scales.items() if re.fullmatch(word, unit)), 0)
    candidates = [plain + exponent + power for plain in plain_numbers(number, convention.decimal)]
    tens = [0, ATTACHED[unit]] if unit in ATTACHED else [scale]
    return tuple(reading for ten in tens for reading in readings(candidates, match["sign"], ten))
