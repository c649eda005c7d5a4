"""Small notebooks and books, good and bad, for the tests of the checks themselves."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import trust
from trust import notebooks
from trust.pages import Book, Page, notebook_page
from trust.settings import Settings, load

PORTUGUESE = Settings(Path(), Path("figures.toml"), "pt", ",")
PICTURE = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480 with 1 Axes>"}


def code(
    id: str, source: str, printed: str = "", *, tags: tuple[str, ...] = (), picture: bool = False, **metadata
) -> NotebookNode:
    """A code cell with what it printed, and a picture if asked for."""
    outputs = [new_output("stream", text=printed)] if printed else []
    outputs += [new_output("display_data", data=PICTURE)] if picture else []
    metadata = {"tags": list(tags), **metadata}
    return new_code_cell(source, id=id, execution_count=1, outputs=outputs, metadata=metadata)


def prose(id: str, text: str, *values: str, notation: str = "") -> NotebookNode:
    """A Markdown cell with its ledger."""
    ledger: dict[str, Any] = {"values": list(values)} if values else {}
    ledger |= {"notation": notation} if notation else {}
    return new_markdown_cell(text, id=id, metadata={"figures": ledger} if ledger else {})


def notebook(*cells: dict, kernel: str = "python3") -> NotebookNode:
    """A notebook of the given cells."""
    kernelspec = {"name": kernel, "display_name": kernel}
    return nbformat.from_dict(new_notebook(cells=list(cells), metadata={"kernelspec": kernelspec}))


def page(*cells: dict, settings: Settings = PORTUGUESE) -> Page:
    """The page of a made-up notebook, in Portuguese unless another language is given."""
    path = Path("99_made_up.ipynb")
    return notebook_page(path, path.name, notebooks.current(notebook(*cells)), settings)


def write(folder: Path, files: dict[str, NotebookNode | str]) -> Path:
    """Write notebooks and texts, by name; returns the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else nbformat.writes(content), encoding="utf-8")
    return folder


def book(folder: Path, pages: dict[str, NotebookNode | str], table: str = "") -> Book:
    """A book on disk: notebooks and texts by name, and the [tool.trust] table."""
    settings = {"pyproject.toml": f"[tool.trust]\n{table}\n"} if table else {}
    return Book(load(write(folder, pages | settings)))


def run(folder: Path, command: str) -> subprocess.CompletedProcess:
    """Run a command line in a folder, with this Python, the package at hand, and in pytest a known seed."""
    unused = "xdist cacheprovider hypothesispytest anyio"
    options = ["--tamper-seed=2 --basetemp=kept", *(f"-p no:{plugin}" for plugin in unused.split())]
    packages = str(Path(trust.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": packages, "PYTEST_ADDOPTS": " ".join(options)}
    command = command.replace("python -m ", f"{shlex.quote(sys.executable)} -m ")
    return subprocess.run(command, shell=True, cwd=folder, env=environment, text=True, capture_output=True)
