"""Every value in the prose was printed by a cell, or is a cited fact: the check, and the ledger behind it.

A block of prose carries a ledger that says, value by value, where each comes from, and repeats the notation:

    "figures": {"values": ["0,45 @ mascaras-erradas", "110 milhões @ fact:bert-base"], "notation": "1 8"}

The ledger of a Markdown cell, or of the alternative text of a code cell's picture, is in the cell's metadata;
the ledgers of .md pages are in `pages.toml`, where an origin names notebook and cell: `01_masking.ipynb#nan`.
`python -m tests.trust.bind` writes ledgers; an author reviews them; no test rewrites them.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.trust.numerals import Numeral, Reading, line_of, numerals, printed_numbers
from tests.trust.pages import BOOK, ROOT, Block, Page, notebooks, read_page

FACTS = Path(__file__).with_name("facts.toml")


@dataclass(frozen=True)
class Fact:
    """A value that no cell computes: what it means, and the reference or the project file that says so."""

    value: str
    meaning: str
    cite: str = ""
    file: str = ""
    contains: str = ""


def facts(path: Path = FACTS) -> dict[str, Fact]:
    """The cited facts, by key."""
    return {key: Fact(**entry) for key, entry in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def written(numeral: Numeral) -> str:
    """A numeral as the ledger writes it: LaTeX's braces and spaces dropped."""
    text = numeral.text.replace("{,}", ",").replace("{.}", ".").replace("\\,", "").replace("\\%", "%")
    return re.sub(r"\s+", " ", text).strip()


def values(block: Block) -> list[Numeral]:
    """The numerals of a block that need an origin."""
    return [n for n in numerals(block.text) if not n.notation]


def notation(block: Block) -> str:
    """The other numerals of a block, as the ledger keeps them."""
    return " ".join(written(n) for n in numerals(block.text) if n.notation)


def shows(printed: list[Reading], numeral: Numeral) -> bool:
    """True where one of the printed numbers is the numeral, at the precision shown."""
    return any(reading.printed_as(p) for reading in numeral.readings for p in printed)


def origins(page: Page) -> dict[str, list[Reading]]:
    """What may stand behind a value on this page: its own cells, or any notebook's for a .md page; facts."""
    if page.path.suffix == ".md":
        books = [read_page(path) for path in notebooks()]
        printed = {f"{book.name}#{id}": numbers for book in books for id, numbers in book.printed().items()}
    else:
        printed = page.printed()
    return printed | {f"fact:{key}": printed_numbers(fact.value) for key, fact in facts().items()}


def problems(page: Page, known: dict[str, list[Reading]] | None = None) -> list[str]:
    """Everything that is wrong with the prose of a page; empty where all is well."""
    known = origins(page) if known is None else known
    return [problem for block in page.blocks for problem in _block_problems(page, block, known)]


def _block_problems(page: Page, block: Block, known: dict[str, list[Reading]]) -> list[str]:
    place = f"{page.name}, {block.name}"
    remedy = f"check the sentence, then run: python -m tests.trust.bind {page.path.name}"
    found, bound = values(block), [entry.partition(" @ ")[::2] for entry in block.ledger.get("values", [])]
    if unknown := block.ledger.keys() - {"values", "notation"}:
        return [f"{place}: the ledger has unknown keys {sorted(unknown)}"]
    if [written(n) for n in found] != [text for text, _ in bound]:
        return [_first_difference(place, block, found, bound) + f"; {remedy}"]
    if notation(block) != block.ledger.get("notation", ""):
        return [
            f"{place}: indices, exponents and marks are {notation(block)!r}, the ledger has "
            f"{block.ledger.get('notation', '')!r}; {remedy}"
        ]
    return [
        f"{place}: {numeral.text!r} in “{line_of(block.text, numeral)}” should come from {origin!r}, which "
        f"{'does not print it at that precision' if origin in known else 'does not exist'}; {remedy}"
        for numeral, (_, origin) in zip(found, bound, strict=True)
        if origin not in known or not shows(known[origin], numeral)
    ]


def _first_difference(place: str, block: Block, found: list[Numeral], bound: list[tuple[str, str]]) -> str:
    for numeral, (text, origin) in zip(found, bound, strict=False):
        if written(numeral) != text:
            line = line_of(block.text, numeral)
            return (
                f"{place}: “{line}” says {written(numeral)!r}; the ledger expects {text!r}, from {origin!r}"
            )
    if len(found) > len(bound):
        extra = found[len(bound)]
        return f"{place}: {written(extra)!r} in “{line_of(block.text, extra)}” has no origin in the ledger"
    return f"{place}: the ledger has {bound[len(found)][0]!r}, which is no longer in the prose"


def fact_problems(used: set[str], known: dict[str, Fact], bibliography: str) -> list[str]:
    """Facts without a source that exists, or that no page uses."""
    found = []
    for key, fact in known.items():
        if bool(fact.cite) == bool(fact.file):
            found.append(f"fact {key}: needs either cite or file")
        elif fact.cite and not re.search(rf"@\w+\{{{re.escape(fact.cite)},", bibliography):
            found.append(f"fact {key}: {fact.cite!r} is not in references.bib")
        elif fact.file and (
            fact.value not in fact.contains
            or not (ROOT / fact.file).is_file()
            or fact.contains not in (ROOT / fact.file).read_text(encoding="utf-8")
        ):
            found.append(f"fact {key}: {fact.file} does not say {fact.contains!r}, with {fact.value!r} in it")
        if f"fact:{key}" not in used:
            found.append(f"fact {key}: no page uses it; remove it")
    return found


def used_origins(page: Page) -> set[str]:
    """The origins that a page's ledgers name."""
    return {entry.partition(" @ ")[2] for block in page.blocks for entry in block.ledger.get("values", [])}


def bibliography() -> str:
    """The book's references, as BibTeX."""
    return (BOOK / "references.bib").read_text(encoding="utf-8")
