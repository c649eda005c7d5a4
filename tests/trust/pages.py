"""The pages of this book, as its own checks see them."""

import re
from pathlib import Path

from trust import numerals as numbers
from trust import settings
from trust.conventions import Convention
from trust.pages import Book
from trust.readings import Numeral

ROOT = Path(__file__).resolve().parents[2]
THE_BOOK = Book(settings.load(ROOT))
BOOK = THE_BOOK.settings.folder
pages, read_page = THE_BOOK.paths, THE_BOOK.page


def numerals(markdown: str) -> tuple[Numeral, ...]:
    """The numerals of a text that is written as the book is."""
    written = THE_BOOK.settings
    return numbers.numerals(markdown, Convention(written.decimal, written.language, written.diagrams))


def notebooks() -> list[Path]:
    """The notebooks of the book."""
    return [path for path in pages() if path.suffix == ".ipynb"]


def chapters() -> list[Path]:
    """The notebooks that mirror a source document."""
    return [path for path in notebooks() if re.match(r"0[1-5]_", path.name)]
