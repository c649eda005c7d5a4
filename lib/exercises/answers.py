"""Runs the answers of one student's notebook through the checkers, inside the process made for it.

Only what the exercises need is run: the cells that answer them, and the imports, functions and plain
constants of the other cells, in order. A cell that fails takes only its own exercises with it.
"""

import ast
import json
import re
import signal
from pathlib import Path
from typing import NamedTuple

from lib.exercises.catalogue import CODE, OPEN, Exercise, all_exercises
from lib.exercises.student import Checker

CELL_SECONDS = 10
LARGEST = 50 * 2**20  # a notebook's file, in bytes
NOT_FOUND, BROKEN, TO_READ, BLANK = "não encontrado", "falhou", "a ler", "em branco"
INVITATION = "*Escreva aqui a sua resposta.*"  # what the cell of an open question says at first


class Mark(NamedTuple):
    """What one exercise of one notebook got."""

    exercise: str
    status: str
    detail: str = ""


class CellTimeout(BaseException):
    """A cell took too long. No answer's `except Exception` swallows it."""


def read_cells(path: Path) -> list[dict]:
    """The cells of a notebook; ValueError, with a sentence for the teacher, if it is none."""
    if path.stat().st_size > LARGEST:
        raise ValueError(f"o arquivo tem mais de {LARGEST // 2**20} MB")
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"o arquivo não é um caderno: {type(error).__name__}") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("o arquivo não é um caderno: não tem células")
    plain = []
    for cell in cells:
        if not isinstance(cell, dict):
            raise ValueError("o arquivo não é um caderno: uma célula não é um objeto")
        source = cell.get("source", "")
        source = "".join(map(str, source)) if isinstance(source, list) else str(source)
        plain.append({"id": str(cell.get("id", "")), "kind": cell.get("cell_type"), "source": source})
    return plain


def grade_cells(cells: list[dict]) -> list[Mark]:
    """The marks of a notebook: one for each exercise of the chapters that it holds."""
    Checker.silent = True
    wanted = _exercises_in(cells)
    if not wanted:
        raise ValueError("o caderno não tem nenhum exercício do curso")
    space, failures = _run(cells, {e.answer for e in wanted if e.answer})
    return [_mark(exercise, space, failures, cells) for exercise in wanted]


def _exercises_in(cells: list[dict]) -> list[Exercise]:
    """All exercises of a chapter as soon as one of them is there: a deleted cell is a missing answer."""
    found = [e for e in all_exercises() if any(_answers(cell, e) for cell in cells)]
    chapters = {e.chapter for e in found}
    return [e for e in all_exercises() if e.chapter in chapters]


def _answers(cell: dict, exercise: Exercise) -> bool:
    if cell["id"].startswith(f"ex-{exercise.chapter:02}-{exercise.number}-"):
        return True
    defines = rf"^(?:def\s+{exercise.answer}\s*\(|{exercise.answer}\s*=)"
    return bool(
        exercise.answer and cell["kind"] == "code" and re.search(defines, cell["source"], re.MULTILINE)
    )


def _run(cells: list[dict], answers: set[str]) -> tuple[dict, dict[str, str]]:
    """Run what the answers need; returns the names, and for each answer whose cell failed, how."""
    space, failures = {"__name__": "__main__"}, {}
    for cell in (c for c in cells if c["kind"] == "code"):
        source = "\n".join("" if re.match(r"\s*[%!]", line) else line for line in cell["source"].splitlines())
        named = {a for a in answers if re.search(rf"^(?:def\s+{a}\s*\(|{a}\s*=)", source, re.MULTILINE)}
        problem = _run_cell(source, space, whole=bool(named))
        for answer in named:
            failures.pop(answer, None)
            if problem:
                failures[answer] = problem
    return space, failures


def _run_cell(source: str, space: dict, *, whole: bool) -> str:
    """Run a cell, or only its definitions; what went wrong, if anything did."""

    def out_of_time(*_: object) -> None:
        raise CellTimeout

    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(CELL_SECONDS)
    try:
        tree = ast.parse(source)
        if whole:
            exec(compile(tree, "<celula>", "exec"), space)
            return ""
        for statement in filter(_is_definition, tree.body):
            exec(compile(ast.Module([statement], []), "<celula>", "exec"), space)
        return ""
    except CellTimeout:
        return "a célula não terminou a tempo"
    except BaseException as error:  # SystemExit and KeyboardInterrupt end the cell, not the grading
        return f"a célula parou com {type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.alarm(0)


def _is_definition(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
        return True
    if not isinstance(statement, ast.Assign):
        return False
    try:
        ast.literal_eval(statement.value)
    except ValueError:
        return False
    return True


def _mark(exercise: Exercise, space: dict, failures: dict[str, str], cells: list[dict]) -> Mark:
    if exercise.kind == OPEN:
        return _open_mark(exercise, cells)
    if exercise.answer in failures:
        return Mark(exercise.name, BROKEN, failures[exercise.answer])
    if exercise.answer not in space:
        what = "a função" if exercise.kind == CODE else "o nome"
        return Mark(exercise.name, NOT_FOUND, f"{what} {exercise.answer} não existe no caderno")
    verdict = exercise.checker().verdict(space[exercise.answer])
    return Mark(exercise.name, verdict.status, verdict.text if verdict.mistake else "")


def _open_mark(exercise: Exercise, cells: list[dict]) -> Mark:
    """The written answer, for the teacher to read."""
    id = f"ex-{exercise.chapter:02}-{exercise.number}-resposta"
    text = next((c["source"].strip() for c in cells if c["id"] == id), "")
    blank = not text or text == INVITATION
    return Mark(exercise.name, BLANK) if blank else Mark(exercise.name, TO_READ, text[:5000])
