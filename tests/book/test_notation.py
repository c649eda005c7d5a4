"""One symbol, one meaning: the page of notation has every letter of every formula, and each in one place."""

import json
import re
from collections import Counter

import pytest

from tests.trust.pages import ROOT

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.DOTALL)
WORDS = re.compile(r"\\(?:text|operatorname|mathrm|texttt|label|tag|begin|end)\*?\{[^}]*\}")
# A letter, Latin or Greek, in its own script: V and the V of \mathcal are two.
LETTER = re.compile(
    r"\\(?:mathcal|mathbb|mathbf)\s*\{?[A-Za-z]\}?"
    r"|\\(?:alpha|beta|gamma|delta|(?:var)?epsilon|zeta|eta|theta|lambda|mu|nu|xi|pi|rho|sigma|tau|(?:var)?phi"
    r"|chi|psi|omega|Gamma|Delta|Theta|Lambda|Pi|Sigma|Phi|Psi|Omega|ell)(?![A-Za-z])"
    r"|(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])"
)
PASSING = "## Letras de passagem"
# The errata quotes other documents, in their own letters.
PAGES = sorted(path.stem for path in (ROOT / "book").glob("*.ipynb") if path.stem != "errata")


def formulas(text: str) -> list[str]:
    return [display or inline for display, inline in FORMULA.findall(text)]


def letters(formula: str) -> set[str]:
    return {re.sub(r"[\s{}]", "", letter) for letter in LETTER.findall(WORDS.sub(" ", formula))}


def notation() -> tuple[list[str], set[str]]:
    """The symbols of the tables, as often as they stand there, and the letters of passage."""
    text = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")]
    passing = text.partition(PASSING)[2].partition("\n(")[0]
    return [symbol for row in rows for symbol in formulas(row)], set().union(*map(letters, formulas(passing)))


def test_no_symbol_has_two_meanings():
    symbols, passing = notation()
    assert [symbol for symbol, times in Counter(symbols).items() if times > 1] == []
    alone = {symbol for symbol in symbols if letters(symbol) == {symbol.replace(" ", "")}}
    assert len(alone) > 15 and not alone & passing


@pytest.mark.parametrize("page", PAGES)
def test_every_letter_of_a_page_is_in_the_notation(page):
    symbols, passing = notation()
    known = passing.union(*map(letters, symbols))
    cells = json.loads((ROOT / "book" / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    unknown = {f: letters(f) - known for text in prose for f in formulas(text) if letters(f) - known}
    assert unknown == {}
