"""Citations and references in the words of the book: its own extension for the bibliography writes them."""

import importlib
import sys
from functools import cache
from typing import Any

from pybtex.database import parse_file
from pybtex.plugin import find_plugin

from tools.console import ROOT

BIBLIOGRAPHY = ROOT / "book" / "references.bib"


@cache
def works() -> dict[str, Any]:
    return dict(parse_file(str(BIBLIOGRAPHY)).entries)


def authors(key: str) -> str:
    """The authors as a sentence names them."""
    names = [" ".join(person.prelast_names + person.last_names) for person in works()[key].persons["author"]]
    names = [name.strip("{}") for name in names]
    if len(names) > 2 or "others" in names:
        return f"{names[0]} *et al.*"
    return " e ".join(names)


def year(key: str) -> str:
    return works()[key].fields["year"]


@cache
def references() -> dict[str, str]:
    """Each work as the page of references has it, in Markdown, in its order."""
    # Where Sphinx finds it; nothing else of the folder is asked for.
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    markdown: Any = find_plugin("pybtex.backends", "markdown")()
    style = importlib.import_module("course_bibliography").Bibliography()
    entries = style.format_bibliography(parse_file(str(BIBLIOGRAPHY)))
    return {entry.key: entry.text.render(markdown) for entry in entries}
