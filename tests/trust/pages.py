"""The pages of the book as the checks see them: prose in blocks, cells with what they print."""

import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.trust.numerals import Reading, printed_numbers

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
LEDGER_OF_PAGES = Path(__file__).with_name("pages.toml")


@dataclass
class Block:
    """A stretch of prose: a Markdown cell, an image's alternative text, or a whole .md page."""

    name: str
    text: str
    ledger: dict[str, Any]
    position: int  # of its cell in the notebook


@dataclass
class Page:
    """A page: its blocks of prose, and the numbers that each of its code cells prints."""

    path: Path
    blocks: list[Block]
    cells: list[dict] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path.name

    def code_cells(self) -> list[dict]:
        return [cell for cell in self.cells if cell["cell_type"] == "code"]

    def printed(self) -> dict[str, list[Reading]]:
        """What each code cell prints, by cell id."""
        return {cell["id"]: printed_numbers(printed_text(cell)) for cell in self.code_cells()}


def source(cell: dict) -> str:
    """A cell's source as one string."""
    return "".join(cell["source"])


def tags(cell: dict) -> list[str]:
    """The tags of a cell."""
    return cell["metadata"].get("tags", [])


def texts(output: dict) -> list[str]:
    """The texts of an output that a reader can see; the fallback of a picture is not one of them."""
    if output["output_type"] == "stream":
        return ["".join(output["text"])]
    data = output.get("data", {})
    if any(key.startswith("image/") for key in data):
        return []
    return ["".join(value) for key, value in data.items() if key.startswith("text/")]


def printed_text(cell: dict) -> str:
    """All that a code cell prints, without fingerprints (their digits are not numbers)."""
    text = "\n".join(text for output in cell["outputs"] for text in texts(output))
    return re.sub(r"sha256=[0-9a-f]+", "", text)


def spoken(cell: dict) -> str:
    """Alternative texts and captions that a code cell's metadata gives to its pictures."""
    found: list[str] = []

    def walk(value: Any, key: str = "") -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                walk(inner, name)
        elif key in ("alt", "caption"):
            found.append(str(value))

    walk(cell["metadata"].get("mystnb", {}))
    return "\n\n".join(found)


def read_page(path: Path, ledger_of_pages: Path = LEDGER_OF_PAGES) -> Page:
    """A notebook or a Markdown page of the book."""
    if path.suffix == ".md":
        ledger = tomllib.loads(ledger_of_pages.read_text(encoding="utf-8")).get(path.name, {})
        return Page(path, [Block(path.name, path.read_text(encoding="utf-8"), ledger, 0)])
    return notebook_page(path, json.loads(path.read_text(encoding="utf-8")))


def notebook_page(path: Path, notebook: dict) -> Page:
    """The page that a notebook's JSON stands for."""
    if notebook["nbformat_minor"] < 5 or any("id" not in cell for cell in notebook["cells"]):
        raise ValueError(f"{path.name}: every cell needs a stable id (nbformat 4.5)")
    blocks = []
    for position, cell in enumerate(notebook["cells"]):
        text = source(cell) if cell["cell_type"] == "markdown" else spoken(cell)
        if text or "figures" in cell["metadata"]:
            blocks.append(Block(cell["id"], text, cell["metadata"].get("figures", {}), position))
    return Page(path, blocks, notebook["cells"])


def notebooks() -> list[Path]:
    """The notebooks of the book."""
    return sorted(BOOK.glob("*.ipynb"))


def chapters() -> list[Path]:
    """The notebooks that mirror a source document."""
    return [path for path in notebooks() if re.match(r"\d\d_", path.name)]


def pages() -> list[Path]:
    """Every page of the book."""
    return [*notebooks(), *sorted(BOOK.glob("*.md"))]
