"""The pages of a book as the checks see them: prose in blocks, cells with what they print."""

import tomllib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from trust import notebooks
from trust.conventions import Convention, detected
from trust.notebooks import Cell, Unusable
from trust.numerals import numerals
from trust.readings import Numeral, Printed, printed
from trust.settings import Settings

KEY = "figures"  # of a cell's metadata
SKIPPED = {"build", "node_modules", "site-packages", "venv", "env"}  # and what begins with . or _


@dataclass
class Block:
    """A stretch of prose: a Markdown cell, an image's alternative text, or a whole .md page."""

    name: str
    text: str
    ledger: dict[str, Any]
    position: int  # of its cell in the notebook


@dataclass
class Page:
    """A page: its blocks of prose, its cells, and how it writes numbers."""

    path: Path
    name: str  # from the folder of the book
    blocks: list[Block]
    convention: Convention
    cells: list[Cell] = field(default_factory=list)

    def code_cells(self) -> list[Cell]:
        return [cell for cell in self.cells if cell["cell_type"] == "code"]

    @cached_property
    def printed(self) -> dict[str, Printed]:
        """What each code cell prints, by cell id."""
        return {cell["id"]: printed(notebooks.printed_text(cell)) for cell in self.code_cells()}

    def numerals(self, block: Block) -> tuple[Numeral, ...]:
        return numerals(block.text, self.convention)


def notebook_page(path: Path, name: str, notebook: dict[str, Any], settings: Settings) -> Page:
    """The page that a notebook's JSON stands for."""
    cells, blocks = notebook["cells"], []
    for position, cell in enumerate(cells):
        text = cell["source"] if cell["cell_type"] == "markdown" else notebooks.descriptions(cell)
        ledger = cell["metadata"].get(KEY, {})
        if text or ledger:
            blocks.append(Block(cell["id"], text, ledger if isinstance(ledger, dict) else {}, position))
    return Page(path, name, blocks, _convention(blocks, settings), cells)


def _convention(blocks: list[Block], settings: Settings) -> Convention:
    """How a page writes numbers: as the settings say, or else as it does most."""
    found = detected([block.text for block in blocks], settings.language, settings.decimal)
    return replace(found, diagrams=settings.diagrams)


@dataclass
class Book:
    """A folder of pages, and the ledger of those that are not notebooks."""

    settings: Settings

    def paths(self) -> list[Path]:
        """The notebooks and Markdown files of the folder, notebooks first."""
        return pages_in(self.settings.folder)

    def name(self, path: Path) -> str:
        path, folder = path.resolve(), self.settings.folder.resolve()
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name

    def page(self, path: Path) -> Page:
        """A notebook or a Markdown page; Unusable says why it cannot be one."""
        name = self.name(path)
        if path.suffix == ".ipynb":
            return notebook_page(path, name, notebooks.load(path), self.settings)
        block = Block(name, notebooks.text_of(path), self.ledger().get(name, {}), 0)
        return Page(path, name, [block], _convention([block], self.settings))

    def ledger(self) -> dict[str, dict[str, Any]]:
        """The ledgers of the .md pages, by name."""
        path = self.settings.ledger
        if not path.exists():
            return {}
        try:
            return tomllib.loads(notebooks.text_of(path))
        except tomllib.TOMLDecodeError as problem:
            raise Unusable(f"has a ledger, {path.name}, that is not TOML: {problem}") from None

    @cached_property
    def printed(self) -> dict[str, Printed]:
        """What the cells of all notebooks print; a .md page may quote any of them."""
        found: dict[str, Printed] = {}
        for path in (path for path in self.paths() if path.suffix == ".ipynb"):
            with suppress(Unusable):  # whoever reads that page says so
                page = self.page(path)
                found |= {f"{page.name}#{id}": numbers for id, numbers in page.printed.items()}
        return found

    def origins(self, page: Page) -> dict[str, Printed]:
        """What may stand behind a value on a page: its own cells, or any notebook's for a .md page."""
        return page.printed if page.cells or page.path.suffix == ".ipynb" else self.printed


def pages_in(folder: Path) -> list[Path]:
    """The notebooks and Markdown files in a folder and below, without what tools leave there."""
    found = [
        path
        for kind in ("*.ipynb", "*.md")
        for path in sorted(folder.rglob(kind))
        if not any(part in SKIPPED or part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    ]
    return [path for path in found if path.is_file()]
