"""Write the notebook of the final project for a student: the page's cells, without the example's answers.

Usage: .venv/bin/python -m tools.blank_project [--into FOLDER]
"""

from pathlib import Path

import nbformat

from lib.exercises.answers import INVITATION
from lib.exercises.project import criteria
from lib.files import write_atomically
from tools.console import ROOT, arguments_of, fail, step

PAGE = ROOT / "book" / "06_project.ipynb"
EXAMPLE = "-exemplo"  # how the ids of cells end that tell of the example's results


def blank(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without outputs and what was said of the example, with an invitation to write in each answer."""
    answers = {criterion.cell for criterion in criteria()}
    if missing := answers - {cell.id for cell in notebook.cells}:
        raise ValueError(f"the page has no cells {sorted(missing)}, which the rubric asks for")
    notebook.cells = [cell for cell in notebook.cells if not cell.id.endswith(EXAMPLE)]
    for cell in notebook.cells:
        cell.metadata.pop("figures", None)  # they were the example's
        if cell.id in answers:
            cell.source = INVITATION
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def write_blank(folder: Path) -> Path:
    """The blank notebook in a folder; what a student has already begun is not written over."""
    path = folder / PAGE.name
    if path.exists():
        raise FileExistsError(f"{path} is there already, perhaps with answers: name another folder")
    write_atomically(path, nbformat.writes(blank(nbformat.read(PAGE, as_version=4))) + "\n")
    return path


def main(arguments: list[str] | None = None) -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--into", type=Path, default=Path("meu_projeto"))
    try:
        step(f"{write_blank(parser.parse_args(arguments).into)}")
    except FileExistsError as problem:
        fail(str(problem))


if __name__ == "__main__":
    main()
