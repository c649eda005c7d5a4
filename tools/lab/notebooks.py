"""The pages of the book as a student gets them: notebooks and Markdown that JupyterLab shows by itself."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import nbformat
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from tools.console import ROOT
from tools.lab.myst import parse
from tools.lab.numbers import Cell, Numbers, Page, page_of_notebook
from tools.lab.plain import Plain

# Pages without code, and what they are called in the folder.
PLAIN_PAGES = {"notation": "notacao.md", "glossary": "glossario.md", "references": "referencias.md"}
# What the book folds or leaves out is folded.
CODE_FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
OUTPUT_FOLDED = {"hide-output", "hide-cell", "remove-output", "remove-cell"}


class Group(NamedTuple):
    """A part of the table of contents: its caption and its pages."""

    caption: str
    pages: list[Page]


class Book(NamedTuple):
    groups: list[Group]
    numbers: Numbers
    notebooks: dict[str, NotebookNode]  # by the name of their page


def read_book(change: Callable[[str, NotebookNode], NotebookNode] | None = None) -> Book:
    """All that a student gets, numbered; `change` says what becomes of a notebook before."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    book = Book([], Numbers(), {})
    _add(book, Group("", []), ROOT / toc["root"], (), change)
    for part in toc["parts"]:
        group = Group(part["caption"], [])
        book.groups.append(group)
        for i, chapter in enumerate(part["chapters"], 1):
            number = (i,) if part.get("numbered") else ()
            opening = _add(book, group, ROOT / chapter["file"], number, change)
            for section in chapter.get("sections", ()):
                sections = sum(heading.level == 2 for heading in opening.headings())
                before = len(group.pages) - 1 - group.pages.index(opening)
                own = (*number, sections + before + 1) if number else ()
                _add(book, group, ROOT / section["file"], own, change)
    return book


def _add(book: Book, group: Group, path: Path, number: tuple[int, ...], change) -> Page:
    """Read a page, numbered as the book numbers it."""
    name = path.name
    if (source := path.with_suffix(".ipynb")).exists():
        notebook = nbformat.read(source, as_version=4)
        book.notebooks[name] = change(name, notebook) if change else notebook
        page = page_of_notebook(name, book.notebooks[name])
    elif name in PLAIN_PAGES:
        text = path.with_suffix(".md").read_text(encoding="utf-8")
        page = Page(name, PLAIN_PAGES[name], [Cell("", list(parse(text)))])
    else:  # it is for teachers
        return Page(name, "", [])
    page.number = number
    book.numbers.add(page)
    group.pages.append(page)
    return page


def files(book: Book) -> dict[str, NotebookNode | str]:
    """What each file of the folder holds, by its name."""
    plain = Plain(book.numbers)
    written: dict[str, NotebookNode | str] = {}
    for name, page in book.numbers.pages.items():
        if name in book.notebooks:
            written[page.file] = _plain_notebook(book.notebooks[name], page, plain)
        else:
            written[page.file] = plain.text(page.cells[0].parts).strip("\n") + "\n"
    return written


def _plain_notebook(notebook: NotebookNode, page: Page, plain: Plain) -> NotebookNode:
    """The notebook with its text in plain Markdown; ids, code, outputs, tags and the rest as they are."""
    given = {cell.id: cell for cell in notebook.cells}
    notebook.cells = [given.get(cell.id) or new_markdown_cell(id=cell.id) for cell in page.cells]
    for cell, read in zip(notebook.cells, page.cells, strict=True):
        if cell.cell_type == "markdown":
            cell.source = plain.text(read.parts).strip("\n")
            continue
        tags = set(cell.metadata.get("tags", ()))
        folded = {"source_hidden": bool(tags & CODE_FOLDED), "outputs_hidden": bool(tags & OUTPUT_FOLDED)}
        if hidden := {name: True for name, is_folded in folded.items() if is_folded}:
            cell.metadata["jupyter"] = hidden
        if folded["outputs_hidden"]:
            cell.metadata["collapsed"] = True  # the older name of the same: JupyterLab writes both
    return notebook
