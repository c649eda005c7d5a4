"""How a page writes numbers: its decimal mark and its language, and what follows from them."""

import re
from dataclasses import dataclass
from functools import lru_cache

from trust import markdown
from trust.languages import LANGUAGES, SHARED_REFERENCES, Language, recognise

YEAR = r"(?!2048)(?:1[5-9]\d\d|20[0-4]\d)"  # 2048 is a size
BEFORE_RECENT_YEAR = re.compile(r"\([^()]*$|\b[A-ZÀ-Ý](?:\w+(?:\set\sal)?[.,]?|\.)\s+$|(?:©|\([cC]\))\s+$")
PLURAL = r"\s+[^\W\d_]{3,}s\b"  # after a number that counts something
ATTACHED = {"k": 3, "M": 6, "B": 9}  # 110M may be 110 million, or 110 of a unit
SPACES = "\u00a0\u2009\u202f"  # between thousands


@dataclass(frozen=True)
class Convention:
    """How a page writes numbers: its decimal mark, its language, and the diagrams that are read as text."""

    decimal: str = "."
    language: str = "en"
    diagrams: frozenset[str] = frozenset()

    @property
    def words(self) -> Language:
        return LANGUAGES[self.language]


def detected(pages: list[str], language: str = "", decimal: str = "") -> Convention:
    """The convention of a page by what it writes, where it is not given."""
    if language and decimal:
        return Convention(decimal, language)
    views = [markdown.view(page) for page in pages]
    text = "\n".join(view.text().chars for view in views)
    language = language or recognise(text)
    if not decimal:
        formulas = [formula.chars.replace("{,}", ",") for view in views for formula in view.math]
        commas, points = (_uses("\n".join([text, *formulas]), mark) for mark in (",", "."))
        decimal = LANGUAGES[language].decimal if commas == points else "," if commas > points else "."
    return Convention(decimal, language)


def _uses(text: str, mark: str) -> int:
    """How much speaks for a decimal mark: 0.5 and 1,000.5 say more than 2.5, which may number a section."""
    mark, other = re.escape(mark), re.escape("." if mark == "," else ",")
    certain = rf"(?<![\d.,])(?:0{mark}\d+|\d{{1,3}}(?:{other}\d{{3}})+{mark}\d+)(?![.,]?\d)"
    likely = rf"(?<![\d.,(\[])[1-9]\d*{mark}(?:\d{{1,2}}|\d{{4,}})(?![.,]?\d|[)\]])"
    return 3 * len(re.findall(certain, text)) + len(re.findall(likely, text))


class Patterns:
    """The regular expressions of one convention."""

    def __init__(self, convention: Convention) -> None:
        words, decimal = convention.words, re.escape(convention.decimal)
        scales = "|".join(sorted(words.scales, key=len, reverse=True))
        spaces = SPACES + " " * words.spaced
        if convention.decimal == ",":
            plain = r"(?<!\d,)\d+(?:\.\d+)*,\d+(?!,?\d)|\d+(?:\.\d+)*"
        else:
            plain = r"(?<!\d,)\d{1,3}(?:,\d{3})+(?!,?\d)(?:\.\d+)?|\d+(?:\.\d+)*"
        references = "|".join([*words.references.split(), *SHARED_REFERENCES.split()])
        joins, ordinals, years = ("|".join(w.split()) for w in (words.joins, words.ordinals, words.years))
        months, of = "|".join(words.months.split()), r"\s+(?:de\s+|del\s+|of\s+)?"
        month = f"(?:{months})" if months[0].isupper() else f"(?i:{months})"
        self.numeral = re.compile(
            rf"(?P<sign>(?<![\w.,)\]-])[-−+])?"
            rf"(?P<digits>(?<![\d.,])\d{{1,3}}(?:[{spaces}]\d{{3}})+(?!\d)(?:{decimal}\d+)?"
            rf"|(?:{plain})(?:[eE][-−+]?\d+)?)"
            rf"(?P<unit>\s?%|\s(?:{scales})\b|[{''.join(ATTACHED)}]\b)?"
        )
        self.reference = re.compile(
            rf"(?i)(?<!\w)(?:{references})[.:#]?\s*[(\[]?"
            rf"(?:\d[\d.]*[)\]]?(?:,\s*|\s*[-–]\s*|\s+(?:{joins})\s+)[(\[]?)*$"
        )
        self.ordinal = re.compile(rf"(?:{ordinals})(?!\w)")
        self.before_year = re.compile(rf"(?i:(?<!\w)(?:{years})\s+$)")
        self.years = re.compile(  # two of them
            rf"(?<![\d.,])({YEAR})(\s?[-–—]\s?|\s+(?:{joins})\s+)({YEAR})(?![\d%]|{PLURAL})"
        )
        self.date = re.compile(
            rf"\b\d{{1,2}}(?:º|{ordinals}|\.)?{of}{month}\b\.?(?:{of}\d{{4}})?|"
            rf"\b{month}\b\.?\s+\d{{1,2}}(?:{ordinals})?(?:\s?[-–]\s?\d{{1,2}})?\b(?:,?\s+\d{{4}})?|"
            rf"\b{month}\b\.?,?{of}\d{{4}}|"
            rf"\b\d{{4}}-\d\d-\d\d\b(?:(?:\s[A-Z][a-z]+)?[\sT]\d\d:\d\d(?::\d\d)?)?|"
            rf"\b\d{{1,2}}/\d{{1,2}}/(?:19|20)\d\d\b"
        )


patterns = lru_cache(Patterns)
