"""Every value in the prose was printed by a cell: the check, and the ledger behind it.

A block of prose carries a ledger that says, value by value, which cell prints each, and repeats the notation:

    "figures": {"values": ["0.45 @ wrong-masks", "110 million @ sizes"], "notation": "1 8"}

The ledger of a Markdown cell, or of the alternative text of a code cell's picture, is in the cell's metadata;
the ledgers of .md pages are in one file, where an origin names notebook and cell: `chapter.ipynb#sizes`.
`python -m trust bind` writes ledgers; an author reviews them; no check rewrites them.
"""

import re
from collections.abc import Mapping

from trust.numerals import around
from trust.pages import Block, Page
from trust.readings import Numeral, Printed

Bound = list[tuple[str, str]]
Origins = Mapping[str, Printed]  # what each cell that may stand behind a value prints


def plain_text(numeral: Numeral) -> str:
    """A numeral as the ledger writes it: LaTeX's braces and spaces dropped."""
    text = numeral.text.replace("{,}", ",").replace("{.}", ".").replace("\\,", "").replace("\\%", "%")
    return re.sub(r"\s+", " ", text).strip()


def values(page: Page, block: Block) -> list[Numeral]:
    """The numerals of a block that need an origin."""
    return [n for n in page.numerals(block) if not n.notation]


def notation(page: Page, block: Block) -> str:
    """The other numerals of a block, as the ledger keeps them."""
    return " ".join(plain_text(n) for n in page.numerals(block) if n.notation)


def bound(block: Block) -> Bound:
    """The values that a ledger holds, each with its origin."""
    entries = block.ledger.get("values", [])
    parts = [str(entry).partition(" @ ") for entry in entries] if isinstance(entries, list) else []
    return [(text, origin) for text, _, origin in parts]


def problems(page: Page, known: Origins) -> list[str]:
    """Everything that is wrong with the prose of a page, given what its origins print."""
    return [problem for block in page.blocks for problem in block_problems(page, block, known)]


def block_problems(page: Page, block: Block, known: Origins) -> list[str]:
    """Everything that is wrong with one block of a page."""
    place = page.name if block.name == page.name else f"{page.name}, {block.name}"
    remedy = f"check the sentence, then run: python -m trust bind {page.name}"
    found, bindings = values(page, block), bound(block)
    if unknown := block.ledger.keys() - {"values", "notation"}:
        return [f"{place}: the ledger has unknown keys {sorted(unknown)}"]
    if [plain_text(n) for n in found] != [text for text, _ in bindings]:
        return [f"{place}: {_first_difference(block, found, bindings)}; {remedy}"]
    if notation(page, block) != block.ledger.get("notation", ""):
        return [
            f"{place}: indices, exponents and marks are {notation(page, block)!r}, the ledger has "
            f"{block.ledger.get('notation', '')!r}; {remedy}"
        ]
    return [
        f"{place}: {numeral.text!r} in “{around(block.text, numeral)}” should come from {origin!r}, which "
        f"{'does not print it at that precision' if origin in known else 'does not exist'}; {remedy}"
        for numeral, (_, origin) in zip(found, bindings, strict=True)
        if origin not in known or not known[origin].shows(numeral.readings)
    ]


def _first_difference(block: Block, found: list[Numeral], bindings: Bound) -> str:
    for numeral, (text, origin) in zip(found, bindings, strict=False):
        if plain_text(numeral) != text:
            line = around(block.text, numeral)
            return f"“{line}” says {plain_text(numeral)!r}; the ledger expects {text!r}, from {origin!r}"
    if len(found) > len(bindings):
        extra = found[len(bindings)]
        return f"{plain_text(extra)!r} in “{around(block.text, extra)}” has no origin in the ledger"
    return f"the ledger has {bindings[len(found)][0]!r}, which is no longer in the prose"
