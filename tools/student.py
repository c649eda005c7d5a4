"""Write clean notebooks for students: the chapters without the solutions of their exercises.

Usage: .venv/bin/python -m tools.student [--into FOLDER]   (`make student`)

Only the cells with a solution go. The stubs and their stored outputs stay, so that the notebooks pass nbval.
"""

import argparse
from pathlib import Path

import nbformat

from tools.console import ROOT, fail, step
from tools.insert_exercises import FILES, prefix


def without_solutions(notebook: nbformat.NotebookNode, chapter: int) -> nbformat.NotebookNode:
    """The notebook without the solutions; an error if it has no exercises to begin with."""
    solutions = [c for c in notebook.cells if c.id.startswith(prefix(chapter)) and c.id.endswith("-solucao")]
    if not solutions:
        raise ValueError(f"chapter {chapter} has no exercises: run `python -m tools.insert_exercises` first")
    notebook.cells = [cell for cell in notebook.cells if cell not in solutions]
    return notebook


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--into", type=Path, default=ROOT / "_build" / "student")
    folder = parser.parse_args(arguments).into
    folder.mkdir(parents=True, exist_ok=True)
    for chapter, path in FILES.items():
        try:
            notebook = without_solutions(nbformat.read(path, as_version=4), chapter)
        except ValueError as problem:
            fail(f"{path.name}: {problem}.")
        (folder / path.name).write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        step(f"{folder / path.name}")


if __name__ == "__main__":
    main()
