"""Notebooks of made-up students, and the sandbox that grades them."""

import inspect
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lib.exercises.catalogue import CODE, NUMBER, exercises
from lib.exercises.student import checker_of
from tools.insert_exercises import cells

needs_bwrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt-get install bubblewrap)"
)


def blank(*sources):
    """A notebook that nobody has answered, with more cells of code at its end."""
    return new_notebook(cells=cells(1) + [new_code_cell(source) for source in sources])


def filled(chapter=1):
    """A student's notebook with every answer right."""
    notebook = new_notebook(cells=cells(chapter))
    for exercise in exercises(chapter):
        cell = next(c for c in notebook.cells if c.id == f"ex-{chapter:02}-{exercise.number}-resposta")
        if exercise.kind == CODE:
            cell.source = cell.source.replace(exercise.stub(), exercise.solution_code())
        elif exercise.kind == NUMBER:
            expected = inspect.getclosurevars(checker_of(exercise).examine).nonlocals["expected"]
            cell.source = cell.source.replace("...  # sua vez: um número", repr(expected))
        else:
            cell.source = "Na última posição a máscara não muda nada."
    return notebook


def answer_cell(notebook, number):
    return next(c for c in notebook.cells if c.id == f"ex-01-{number}-resposta")


def write(notebook, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return path
