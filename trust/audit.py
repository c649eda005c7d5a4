"""How much of a book's prose its own outputs print: figures by page, and which of them no output prints.

An audit needs no ledger and no settings. It says that an output of the page prints a figure, not that it is
the figure that the sentence means: a small whole number may be there by chance. `trust.ledger` is for that.
"""

from dataclasses import asdict, dataclass
from typing import Any

from trust.ledger import plain_text
from trust.numerals import around
from trust.pages import Page


@dataclass(frozen=True)
class Place:
    """A figure that no output of its page prints, and where it stands."""

    figure: str
    cell: int | None  # counted from one; None on a Markdown page
    line: int  # of the cell or of the file
    sentence: str

    def __str__(self) -> str:
        where = f"line {self.line}" if self.cell is None else f"cell {self.cell}, line {self.line}"
        return f"{where}: {self.figure} in “{self.sentence}”"


@dataclass(frozen=True)
class Audit:
    """What was counted on one page."""

    page: str
    figures: int
    printed: int
    notation: int
    cells: int  # with code
    outputs: int  # of cells that store one
    language: str
    decimal: str
    not_printed: tuple[Place, ...]

    @property
    def note(self) -> str:
        return "" if self.outputs else "stores no outputs"


def audit(page: Page) -> Audit:
    """Count the figures of a page, and find each in the outputs of its cells."""
    everything = [(block, numeral) for block in page.blocks for numeral in page.numerals(block)]
    values = [(block, numeral) for block, numeral in everything if not numeral.notation]
    missing = [
        Place(
            plain_text(numeral),
            block.position + 1 if page.cells else None,
            block.text.count("\n", 0, numeral.start) + 1,
            around(block.text, numeral),
        )
        for block, numeral in values
        if not any(printed.shows(numeral.readings) for printed in page.printed.values())
    ]
    code = page.code_cells()
    return Audit(
        page.name,
        len(values),
        len(values) - len(missing),
        len(everything) - len(values),
        len(code),
        sum(bool(cell["outputs"]) for cell in code),
        page.convention.language,
        page.convention.decimal,
        tuple(missing),
    )


def as_json(audits: list[Audit], unusable: dict[str, str]) -> dict[str, Any]:
    """The whole audit, for another program."""
    return {
        "pages": [asdict(one) for one in audits],
        "unusable": [{"page": page, "problem": problem} for page, problem in unusable.items()],
        "total": {"pages": len(audits)}
        | {count: sum(getattr(a, count) for a in audits) for count in ("figures", "printed", "notation")},
    }


def report(audits: list[Audit], unusable: dict[str, str], places: int | None) -> str:
    """The audit for a person: a table, the figures that nothing prints, and what could not be read."""
    rows = [(a.page, a.figures, a.printed, len(a.not_printed), a.notation, a.note) for a in audits]
    lines = table(("page", "figures", "printed", "not printed", "notation", ""), rows)
    if any(a.not_printed for a in audits) and places != 0:
        lines += ["", "Figures that no output of their page prints:"]
    for one in audits:
        shown = one.not_printed[:places]
        if shown:
            lines += ["", one.page, *(f"  {place}" for place in shown)]
        if 0 < len(shown) < len(one.not_printed):
            lines.append(f"  and {len(one.not_printed) - len(shown)} more (--places all)")
    if unusable:
        lines += ["", "Not read:", *(f"  {page} {problem}" for page, problem in unusable.items())]
    figures, printed = sum(a.figures for a in audits), sum(a.printed for a in audits)
    lines += ["", f"{printed} of {figures} figures in the prose are printed by an output of their page."]
    return "\n".join(lines)


def table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    """Rows in aligned columns, all but the first to the right, and a last row that adds up the numbers."""
    sums = [sum(column) if isinstance(column[0], int) else "" for column in zip(*rows, strict=True)]
    body = [header, *rows, *([("in all", *sums[1:])] if rows else [])]
    first, *others = (max(len(str(cell)) for cell in column) for column in zip(*body, strict=True))
    layout = "  ".join([f"{{:<{first}}}", *(f"{{:>{width}}}" for width in others)])
    return [layout.format(*row).rstrip() for row in body]
