"""Execute notebooks in place so that a second run changes no byte.

Usage: .venv/bin/python -m tools.execute_notebooks [--check] book/*.ipynb

What changes from run to run without meaning anything (widget ids, timings, kernel versions) is normalised, so
`git diff` after a run shows exactly what the code computes differently. With --check nothing is written: the
exit code says whether the stored notebooks are what the code gives.
"""

import argparse
import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from lib.files import write_atomically
from tools.console import ROOT, fail, plain, step

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# What a cell's metadata may keep: the rest (timings, editor state) is noise of one run or of one editor.
CELL_METADATA = ("tags", "mystnb", "figures", "tolerance", "editable", "slideshow")
TIMEOUT_SECONDS = 900


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run every cell in a fresh kernel whose working folder is the notebook's own."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata.pop("widgets", None)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT_SECONDS,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # how a stream is cut depends on the load of the machine
        extra_arguments=["--IPKernelApp.log_level=ERROR"],  # its advice about transports is not the book's
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env={**os.environ, "PYTHONHASHSEED": "0"})


def failing_cell(notebook: nbformat.NotebookNode) -> str:
    """Name the cell that holds the error, or the last one that started."""
    for number, cell in enumerate(notebook.cells):
        if any(output.output_type == "error" for output in cell.get("outputs", ())):
            return f"cell {number} (id {cell.get('id', '?')})"
    return "a cell that did not finish"


def normalise(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove what differs between two runs of the same code."""
    noted = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook.metadata = nbformat.from_dict(noted | notebook.metadata | noted)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({k: v for k, v in cell.metadata.items() if k in CELL_METADATA})
        for output in cell.get("outputs", []):
            output.get("metadata", {}).pop("execution", None)
    return rename_widgets(notebook)


def rename_widgets(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Replace random widget ids by their order of creation."""
    state = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    if not state:
        return notebook
    names = {old: f"{number:032x}" for number, old in enumerate(state)}
    text = re.sub("|".join(map(re.escape, names)), lambda match: names[match[0]], nbformat.writes(notebook))
    return nbformat.reads(text, as_version=4)


def executed_text(path: Path) -> str:
    """The bytes that the notebook should have, as text."""
    notebook = nbformat.read(path, as_version=4)
    try:
        execute(notebook, path.resolve().parent)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as problem:
        lines = [line for line in plain(str(problem)).strip().splitlines() if line.strip()]
        fail(f"{path}: {failing_cell(notebook)} failed: {lines[-1]}")
    return nbformat.writes(normalise(notebook)) + "\n"


def process(path: Path, check: bool) -> bool:
    """Execute one notebook; True where the stored file already was what the code gives."""
    text = executed_text(path)
    same = path.read_text(encoding="utf-8") == text
    if not same and not check:
        write_atomically(path, text)
    step(f"{path}: {'unchanged' if same else 'differs from what the code gives' if check else 'rewritten'}")
    return same


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted((ROOT / "book").glob("*.ipynb")))
    parser.add_argument("--check", action="store_true", help="compare, do not write; exit 1 on a difference")
    options = parser.parse_args(arguments)
    try:
        same = [process(path, options.check) for path in options.notebooks]
    except OSError as problem:
        fail(str(problem))
    return 1 if options.check and not all(same) else 0


if __name__ == "__main__":
    sys.exit(main())
