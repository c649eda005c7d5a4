"""Runs the answers of one student's notebook through the checkers.

Only what the exercises need is run, in a process apart: the cells that answer them and those a student wrote
beside them; of the cells before, the imports, functions and plain constants. A cell that fails takes only its
own exercises with it; one that never ends, or ends its process, is left out, and the rest is run again. The
verdicts are reached here, where nothing of the notebook runs.
"""

import ast
import contextlib
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from lib.exercises.calling import Answer
from lib.exercises.catalogue import CODE, OPEN, Exercise, all_exercises
from lib.exercises.isolation import Forked, Isolated, NoReply, OutOfTime, Threaded
from lib.exercises.student import Checker, checker_of

CELL_SECONDS = 10
LARGEST = 50 * 2**20  # a notebook's file, in bytes
NOT_FOUND, BROKEN, TO_READ, BLANK = "não encontrado", "falhou", "a ler", "em branco"
INVITATION = "*Escreva aqui a sua resposta.*"  # what the cell of an open question says at first
LATE, LEFT = "a célula não terminou a tempo", "a célula encerrou o processo em que rodava"
OLD = "o arquivo é um notebook de formato antigo: abra-o no JupyterLab, salve-o e envie-o de novo"


class Mark(NamedTuple):
    """What one exercise of one notebook got."""

    exercise: str
    status: str
    detail: str = ""


def cells_of(file: bytes) -> list[dict]:
    """The cells of a notebook; ValueError, with a sentence for the teacher, if it is none."""
    if len(file) > LARGEST:
        raise ValueError(f"o arquivo tem mais de {LARGEST // 2**20} MB")
    if not file.strip():
        raise ValueError("o arquivo está vazio")
    try:
        notebook = json.loads(file.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("o arquivo não é um notebook: o texto não está em UTF-8") from None
    except ValueError as error:
        where = f"na linha {error.lineno}" if isinstance(error, json.JSONDecodeError) else "em um número"
        raise ValueError(f"o arquivo não é um notebook, ou está cortado: o JSON quebra {where}") from None
    except RecursionError:
        raise ValueError("o arquivo não é um notebook: o JSON tem níveis demais") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        old = isinstance(notebook, dict) and "worksheets" in notebook
        raise ValueError(OLD if old else "o arquivo não é um notebook: não tem células")
    plain = []
    for cell in cells:
        if not isinstance(cell, dict):
            raise ValueError("o arquivo não é um notebook: uma célula não é um objeto")
        source = cell.get("source", "")
        source = "".join(map(str, source)) if isinstance(source, list) else str(source)
        plain.append({"id": str(cell.get("id", "")), "kind": cell.get("cell_type"), "source": source})
    return plain


def grade_cells(cells: list[dict]) -> Iterator[Mark]:
    """The marks of a notebook, one after the other: one for each exercise of the chapters that it holds."""
    wanted = _exercises_in(cells)
    if not wanted:
        raise ValueError("o notebook não tem nenhum exercício do curso")
    apart, failures = _run(cells, {e.answer for e in wanted if e.answer})
    with apart:
        for exercise in wanted:
            yield _mark(exercise, apart, failures, cells)


def _exercises_in(cells: list[dict]) -> list[Exercise]:
    """All exercises of a chapter as soon as one of them is there: a deleted cell is a missing answer."""
    found = [e for e in all_exercises() if any(_answers(cell, e) for cell in cells)]
    chapters = {e.chapter for e in found}
    return [e for e in all_exercises() if e.chapter in chapters]


def _answers(cell: dict, exercise: Exercise) -> bool:
    if cell["id"].startswith(f"ex-{exercise.chapter:02}-{exercise.number}-"):
        return True
    return bool(exercise.answer and cell["kind"] == "code" and _binds(cell["source"], exercise.answer))


def _binds(source: str, name: str) -> bool:
    # Not by parsing: a cell that does not parse still is the one where the answer should have been.
    return name in source and bool(
        re.search(rf"^(?:def\s+{name}\s*\(|{name}\s*(?::[^=\n]+)?=(?!=))", source, re.MULTILINE)
    )


class Notebook:
    """The names of a notebook, in the process where its cells are run."""

    def __init__(self) -> None:
        self.space = {"__name__": "__main__"}

    def answer(self, source: str) -> str:
        """Run a cell that answers an exercise; what went wrong, if anything did."""
        try:
            self._execute(_parsed(source))
        except BaseException as error:  # SystemExit and KeyboardInterrupt end the cell, not the grading
            return f"a célula parou com {type(error).__name__}: {str(error)[:200]}"
        return ""

    def prepare(self, source: str, whole: bool) -> str:
        """Run another cell, or only its definitions, for what the answers may use of it."""
        with contextlib.suppress(SyntaxError):
            for statement in _parsed(source).body:
                if whole or _is_definition(statement):
                    with contextlib.suppress(BaseException):
                        self._execute(ast.Module([statement], []))
        return ""

    def _execute(self, tree: ast.Module) -> None:
        Checker.silent = True  # the calls of checkers inside a notebook have nothing to say here
        exec(compile(tree, "<celula>", "exec"), self.space)

    def names(self) -> list[str]:
        return [str(name) for name in self.space]

    def part(self, name: str) -> Answer:
        return Answer(self.space[name])


def _parsed(source: str) -> ast.Module:
    """The cell's code; lines that only a notebook understands (%magic, !command) are left out."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.parse(re.sub(r"(?m)^[^\S\n]*[%!].*", "", source))


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


def _run(cells: list[dict], answers: set[str]) -> tuple[Forked | Threaded, dict[str, str]]:
    """Run what the answers need; returns the process that holds them and, for each that failed, how."""
    first = next((i for i, c in enumerate(cells) if re.match(r"ex-\d\d-", c["id"])), len(cells))
    left_out: dict[int, str] = {}
    while True:
        apart, failures = Isolated(Notebook()), {}
        for i, cell in ((i, c) for i, c in enumerate(cells) if c["kind"] == "code"):
            named = {a for a in answers if _binds(cell["source"], a)}
            problem = left_out.get(i)
            if problem is None:
                try:
                    method, inputs = ("answer", ()) if named else ("prepare", (i > first,))
                    problem = str(apart.ask(method, cell["source"], *inputs, seconds=CELL_SECONDS))
                except NoReply as error:
                    left_out[i] = LATE if isinstance(error, OutOfTime) else LEFT
                    apart.__exit__()
                    break
            for answer in named:
                failures.pop(answer, None)
                if problem:
                    failures[answer] = problem
        else:
            return apart, failures


def _mark(exercise: Exercise, apart: Forked | Threaded, failures: dict[str, str], cells: list[dict]) -> Mark:
    if exercise.kind == OPEN:
        return _open_mark(exercise, cells)
    if exercise.answer in failures:
        return Mark(exercise.name, BROKEN, failures[exercise.answer])
    try:
        if exercise.answer not in apart.ask("names", seconds=CELL_SECONDS):
            what = "a função" if exercise.kind == CODE else "o nome"
            return Mark(exercise.name, NOT_FOUND, f"{what} {exercise.answer} não existe no notebook")
        with apart.fork(exercise.answer, seconds=CELL_SECONDS) as answer:
            verdict = checker_of(exercise).judge(answer, exercise.answer)
    except NoReply:
        return Mark(exercise.name, BROKEN, "o processo do notebook deixou de responder")
    return Mark(exercise.name, verdict.status, verdict.text if verdict.mistake else "")


def _open_mark(exercise: Exercise, cells: list[dict]) -> Mark:
    """The written answer, for the teacher to read."""
    id = f"ex-{exercise.chapter:02}-{exercise.number}-resposta"
    text = next((c["source"].strip() for c in cells if c["id"] == id), "")
    blank = not text or text == INVITATION
    return Mark(exercise.name, BLANK) if blank else Mark(exercise.name, TO_READ, text[:5000])
