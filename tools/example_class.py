"""Make up a class, to try the grading on: a folder for each student, with notebooks in part right.

Usage: .venv/bin/python -m tools.example_class FOLDER [--students 12] [--chapters 1 2]

Each answer is right, untouched, or right but for one small change; the same at every call. Nobody is meant:
the students are called estudante-001 and so on.
"""

import inspect
import random
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook

from lib.exercises.catalogue import CHAPTERS, CODE, NUMBER, Exercise, exercises
from lib.exercises.student import checker_of
from lib.files import write_atomically
from tools.console import arguments_of, step
from tools.insert_exercises import FILES, cells, prefix
from tools.student import without_solutions

SLIPS = {"<=": "<", "dim=-1": "dim=0", " - ": " + ", "~": "", "[1:]": "[:-1]", " & ": " | ", "0.8": "0.9"}
SHARES = {"right": 6, "wrong": 3, "untouched": 1}


def answered(exercise: Exercise, source: str, how: str) -> str:
    """The source of an exercise's cell with an answer in it."""
    if how == "untouched":
        return source
    if exercise.kind == CODE:
        code = exercise.solution_code()
        slip = next((old for old in SLIPS if old in code), "return ")
        wrong = code.replace(slip, SLIPS.get(slip, "return None and "))
        return source.replace(exercise.stub(), code if how == "right" else wrong)
    if exercise.kind == NUMBER:
        expected = inspect.getclosurevars(checker_of(exercise).examine).nonlocals["expected"]
        return source.replace("...  # sua vez: um número", repr(expected if how == "right" else expected / 2))
    return f"Resposta de exemplo: {exercise.goal}." if how == "right" else "Resposta de exemplo, muito curta."


def filled(chapter: int, draw: random.Random) -> nbformat.NotebookNode:
    notebook = without_solutions(new_notebook(cells=cells(chapter)), chapter)
    found = {cell.id: cell for cell in notebook.cells}
    for exercise in exercises(chapter):
        (how,) = draw.choices([*SHARES], [*SHARES.values()])
        cell = found[f"{prefix(chapter)}{exercise.number}-resposta"]
        cell.source = answered(exercise, cell.source, how)
    return notebook


def main(arguments: list[str] | None = None) -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=12)
    parser.add_argument("--chapters", type=int, nargs="+", choices=CHAPTERS, default=(1, 2))
    options = parser.parse_args(arguments)
    draw = random.Random(0)
    for i in range(1, options.students + 1):
        folder = options.folder / f"estudante-{i:03}"
        for chapter in options.chapters:
            text = nbformat.writes(filled(chapter, draw)) + "\n"
            write_atomically(folder / FILES[chapter].name, text)
    step(f"{options.students} students in {options.folder}")


if __name__ == "__main__":
    main()
