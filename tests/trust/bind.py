"""Writes the ledgers of a page: which cell printed each value of its prose. The author reviews the result.

Usage: python -m tests.trust.bind book/01_masking.ipynb [more pages; all of them if none is given]

An origin that still holds is kept. A new value goes to the cell nearest to its sentence that prints it, cells
before the sentence first, then to a fact. A value that nothing prints is listed, and the exit code is 1.
"""

import argparse
import difflib
import json
import sys
from pathlib import Path

from tests.trust.numerals import Numeral, Reading, line_of
from tests.trust.pages import BOOK, LEDGER_OF_PAGES, Block, Page, pages, read_page
from tests.trust.prose import notation, origins, shows, values, written


def bind_block(block: Block, known: dict[str, list[Reading]], positions: dict[str, int]) -> list[str]:
    """Renews the ledger of one block; returns a message for each value that has no origin."""
    found, kept = values(block), _kept(block, values(block))
    lines, orphans = [], []
    for index, numeral in enumerate(found):
        old = kept.get(index)
        origin = (
            old if old and shows(known.get(old, []), numeral) else _nearest(block, numeral, known, positions)
        )
        lines.append(f"{written(numeral)} @ {origin or '?'}")
        if origin is None:
            orphans.append(
                f"{block.name}: nothing prints {numeral.text!r} in “{line_of(block.text, numeral)}”"
            )
    ledger = {"values": lines, "notation": notation(block)}
    block.ledger = {key: value for key, value in ledger.items() if value}
    return orphans


def _kept(block: Block, found: list[Numeral]) -> dict[int, str]:
    """Origins of the values that the old ledger and the prose have in common, by index in the prose."""
    old = [entry.partition(" @ ")[::2] for entry in block.ledger.get("values", [])]
    matcher = difflib.SequenceMatcher(
        a=[text for text, _ in old], b=[written(n) for n in found], autojunk=False
    )
    return {m.b + i: old[m.a + i][1] for m in matcher.get_matching_blocks() for i in range(m.size)}


def _nearest(
    block: Block, numeral: Numeral, known: dict[str, list[Reading]], positions: dict[str, int]
) -> str | None:
    candidates = [origin for origin, printed in known.items() if shows(printed, numeral)]

    def distance(origin: str) -> tuple[bool, bool, int]:
        if origin not in positions:
            return (origin.startswith("fact:"), False, 0)
        gap = block.position - positions[origin]
        return (False, gap < 0, abs(gap))

    return min(candidates, key=distance, default=None)


def bind_page(page: Page) -> list[str]:
    """Renews every ledger of a page, in memory."""
    known = origins(page)
    positions = {cell["id"]: position for position, cell in enumerate(page.cells)}
    return [f"{page.name}, {o}" for block in page.blocks for o in bind_block(block, known, positions)]


def write(page: Page) -> None:
    """Stores the ledgers of a page: in the notebook's metadata, or in the file that .md pages share."""
    if page.path.suffix == ".md":
        _write_shared(page)
        return
    ledgers = {block.name: block.ledger for block in page.blocks}
    notebook = json.loads(page.path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["metadata"].pop("figures", None)
        if ledger := ledgers.get(cell["id"]):
            cell["metadata"]["figures"] = ledger
    text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
    page.path.write_text(text + "\n", encoding="utf-8")


def _write_shared(page: Page) -> None:
    shared = {p.name: read_page(p).blocks[0].ledger for p in pages() if p.suffix == ".md"}
    shared[page.name] = page.blocks[0].ledger
    lines = [
        "# Where the values in the .md pages come from; written by tests.trust.bind, reviewed by the author."
    ]
    for name, ledger in sorted(shared.items()):
        if ledger:
            lines += [
                "",
                f'["{name}"]',
                *(f"{key} = {json.dumps(v, ensure_ascii=False)}" for key, v in ledger.items()),
            ]
    LEDGER_OF_PAGES.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path, help="notebooks or .md pages of the book")
    orphans = []
    for path in parser.parse_args(arguments).pages or pages():
        page = read_page(path if path.exists() else BOOK / path.name)
        orphans += bind_page(page)
        write(page)
    for orphan in orphans:
        print(orphan, file=sys.stderr)
    print(f"{len(orphans)} values without an origin")
    return 1 if orphans else 0


if __name__ == "__main__":
    sys.exit(main())
