"""What the book calls each thing that has a label, and where it stands: computed as Sphinx computes it.

Statements of a kind, exercises and formulas with a label are counted within a chapter, in the order of the
book; pages without a chapter count on from one to the next. A test compares all of it with the built pages.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import nbformat

from tools.lab.myst import Directive, Formula, Heading, Line, Part, Target, parse

KINDS = {
    "prf:theorem": "Teorema",
    "prf:lemma": "Lema",
    "prf:corollary": "Corolário",
    "prf:proposition": "Proposição",
    "prf:observation": "Observação",
    "exercise": "Exercício",
}
_ROW = re.compile(r'<tr id="(errata-([\w-]+))"')


@dataclass
class Cell:
    """A cell of a page, or a whole page of Markdown, whose cell has no id."""

    id: str
    parts: list[Part]
    output: str = ""  # the HTML that a cell of code shows


@dataclass
class Page:
    name: str  # as in the book, without its ending
    file: str  # in the student's folder
    cells: list[Cell]
    number: tuple[int, ...] = ()

    def headings(self) -> list[Heading]:
        return [part for cell in self.cells for part in cell.parts if isinstance(part, Heading)]

    @property
    def title(self) -> str:
        return self.headings()[0].text


@dataclass(frozen=True)
class Place:
    """What a reference to a label reads, and where it leads."""

    text: str
    address: str
    title: str = ""


@dataclass
class Numbers:
    """The pages by their name, and the place of each label."""

    pages: dict[str, Page] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    _counted: Counter = field(default_factory=Counter)

    def add(self, page: Page) -> None:
        """Number a page; in the order of the book."""
        self.pages[page.name] = page
        self._number_headings(page)
        for cell in page.cells:
            self._number(page, cell)

    def _number_headings(self, page: Page) -> None:
        reached = list(page.number)
        for heading in page.headings():
            if not page.number:
                continue
            depth = len(page.number) + heading.level - 1
            if heading.level > 1:
                reached = [*reached, 0][:depth]
                reached[-1] += 1
            heading.number = ".".join(map(str, reached))

    def _number(self, page: Page, cell: Cell) -> None:
        pending: list[str] = []  # labels of what comes next
        for part in _all(cell.parts):
            label, text = "", ""
            if isinstance(part, Target):
                pending.append(part.label)
            elif isinstance(part, Heading):
                text = part.text
            elif isinstance(part, Formula) and part.label:
                part.number = self._count("formula", page)
                label, text = part.label, f"({part.number})"
            elif isinstance(part, Directive) and part.name in KINDS:
                part.number = self._count(part.name, page)
                label, text = part.options.get("label", ""), f"{KINDS[part.name]} {part.number}"
            if text:
                title = part.argument if isinstance(part, Directive) else ""
                for name in filter(None, [label, *pending]):
                    self._note(name, text, page, cell, title)
                pending = []
        for name, row in _ROW.findall(cell.output):
            self._note(name, row.replace("-", "."), page, cell)

    def _count(self, kind: str, page: Page) -> str:
        chapter = page.number[:1]
        self._counted[kind, chapter] += 1
        return ".".join(map(str, (*chapter, self._counted[kind, chapter])))

    def _note(self, label: str, text: str, page: Page, cell: Cell, title: str = "") -> None:
        anchor = f"cell-id={cell.id}" if cell.id else label
        self.places[label] = Place(text, f"{page.file}#{anchor}", title)


def _all(parts: list[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        if isinstance(part, Directive):
            yield from _all(part.parts)


def page_of_notebook(name: str, notebook: nbformat.NotebookNode) -> Page:
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cells += _pieces(cell)
        elif cell.cell_type == "code":
            shown = "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)
            cells.append(Cell(cell.id, [], shown))
    return Page(name, f"{name}.ipynb", cells)


def _pieces(cell: nbformat.NotebookNode) -> list[Cell]:
    """A cell of text, cut before each statement: a link leads to a cell, and no further."""
    pieces = [Cell(cell.id, [])]
    for part in parse(cell.source):
        begun = any(not isinstance(before, Line) or before.text.strip() for before in pieces[-1].parts)
        if begun and isinstance(part, Directive) and part.name in KINDS:
            pieces.append(Cell(part.options["label"], []))
        pieces[-1].parts.append(part)
    return pieces
