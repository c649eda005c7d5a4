"""Writes the ledgers of a page: which cell printed each value of its prose. The author reviews the result.

An origin that still holds is kept. A new value goes to the cell nearest to its sentence that prints it, cells
before the sentence first. A value that nothing prints is bound to `?`, and named.
"""

import json
from difflib import SequenceMatcher

from trust.ledger import Origins, bound, notation, plain_text, values
from trust.notebooks import Unusable, text_of
from trust.numerals import around
from trust.pages import KEY, Block, Book, Page
from trust.provenance import write as replace_file
from trust.readings import Numeral

HEADING = "# Which cells print the values of the .md pages; written by python -m trust bind, and reviewed."


def bind_page(page: Page, known: Origins) -> list[str]:
    """Renew every ledger of a page, in memory; returns a message for each value that has no origin."""
    positions = {cell["id"]: position for position, cell in enumerate(page.cells)}
    return [orphan for block in page.blocks for orphan in _bind(page, block, known, positions)]


def _bind(page: Page, block: Block, known: Origins, positions: dict[str, int]) -> list[str]:
    found = values(page, block)
    kept, lines, orphans = _kept(block, found), [], []
    for index, numeral in enumerate(found):
        origin = kept.get(index, "")
        if origin not in known or not known[origin].shows(numeral.readings):
            origin = _nearest(block, numeral, known, positions)
        lines.append(f"{plain_text(numeral)} @ {origin or '?'}")
        if origin is None:
            where = f"{page.name}, {block.name}"
            orphans.append(f"{where}: nothing prints {numeral.text!r} in “{around(block.text, numeral)}”")
    ledger = {"values": lines, "notation": notation(page, block)}
    block.ledger = {key: value for key, value in ledger.items() if value}
    return orphans


def _kept(block: Block, found: list[Numeral]) -> dict[int, str]:
    """Origins of the values that the old ledger and the prose have in common, by index in the prose."""
    old = bound(block)
    matcher = SequenceMatcher(None, [text for text, _ in old], [plain_text(n) for n in found], autojunk=False)
    return {m.b + i: old[m.a + i][1] for m in matcher.get_matching_blocks() for i in range(m.size)}


def _nearest(block: Block, numeral: Numeral, known: Origins, positions: dict[str, int]) -> str | None:
    def distance(origin: str) -> tuple[bool, int]:
        gap = block.position - positions.get(origin, block.position)
        return gap < 0, abs(gap)

    candidates = [origin for origin, numbers in known.items() if numbers.shows(numeral.readings)]
    return min(candidates, key=distance, default=None)


def write(book: Book, page: Page) -> None:
    """Store the ledgers of a page: in the notebook's metadata, or in the file that .md pages share."""
    if page.path.suffix == ".ipynb":
        _write_notebook(page)
    else:
        shared = book.ledger() | {page.name: page.blocks[0].ledger}
        lines = [HEADING]
        for name, ledger in sorted(shared.items()):
            if ledger:
                entries = (f"{key} = {json.dumps(v, ensure_ascii=False)}" for key, v in ledger.items())
                lines += ["", f"[{json.dumps(name, ensure_ascii=False)}]", *entries]
        replace_file(book.settings.ledger, "\n".join(lines) + "\n")


def _write_notebook(page: Page) -> None:
    notebook = json.loads(text_of(page.path))
    if notebook["nbformat"] != 4:
        raise Unusable(
            f"is in nbformat {notebook['nbformat']}, whose cells have no ids; nbformat 4 was expected "
            f"(jupyter nbconvert --to notebook --inplace {page.path.name})"
        )
    ledgers = {block.name: block.ledger for block in page.blocks}
    changed = False
    for cell, read in zip(notebook["cells"], page.cells, strict=True):
        id, ledger = read["id"], ledgers.get(read["id"], {})
        changed |= cell.get("id") != id or read["metadata"].get(KEY, {}) != ledger
        cell["id"] = id  # an origin needs a name that stays when cells are moved
        others = {key: value for key, value in read["metadata"].items() if key != KEY}
        cell["metadata"] = others | ({KEY: ledger} if ledger else {})
    if changed:
        notebook["nbformat_minor"] = max(5, notebook.get("nbformat_minor", 0))
        replace_file(page.path, json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
