"""The marks of one student's notebook: its answers run in a sandbox, the verdicts are reached here.

Only what the exercises need is run: the cells that answer them and those a student wrote beside them; of the
cells before, the imports, functions and plain constants. A cell that fails takes only its own exercises with
it; one that never ends, or ends its process, is left out, and the rest is run again in a new process.
"""

import contextlib
import itertools
import json
import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from lib.exercises.catalogue import CODE, OPEN, Exercise, all_exercises
from lib.exercises.isolation import LATE, NoReply, Remote
from lib.exercises.project import criteria
from lib.exercises.sandbox import Sandbox
from lib.exercises.student import checker_of

CELL_SECONDS = 10.0
LARGEST = 50 * 2**20  # a notebook's file, in bytes
OBJECTS, CELLS = 1_000_000, 10_000  # in it, at most: small ones take a hundred times their size in memory
LONGEST = 5_000  # a text of a student's, in a page or a table
NOT_FOUND, BROKEN, TO_READ, BLANK = "não encontrado", "falhou", "a ler", "em branco"
INVITATION = "*Escreva aqui a sua resposta.*"  # what the cell of an open question says at first
SLOW, LEFT = "a célula não terminou a tempo", "a célula encerrou o processo em que rodava"
MUTE = "o processo do notebook deixou de responder"
OLD = "o arquivo é um notebook de formato antigo: abra-o no JupyterLab, salve-o e envie-o de novo"
LABEL = re.compile(r":label: ((?:sol-)?exr-[\w-]+)")


class Mark(NamedTuple):
    """What one exercise of one notebook got."""

    exercise: str
    status: str
    detail: str = ""
    mistake: str = ""  # the key of its hint


def cells_of(file: bytes) -> list[dict]:
    """The cells of a notebook; ValueError, with a sentence for the teacher, if it is none."""
    if not file.strip():
        raise ValueError("o arquivo está vazio")
    if file.count(b"{") + file.count(b"[") > OBJECTS:
        raise ValueError("o arquivo não é um notebook: o JSON tem objetos demais")
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
    if len(cells) > CELLS:
        raise ValueError(f"o notebook tem mais de {CELLS} células")
    plain = []
    for cell in cells:
        if not isinstance(cell, dict):
            raise ValueError("o arquivo não é um notebook: uma célula não é um objeto")
        source = cell.get("source", "")
        source = "".join(map(str, source)) if isinstance(source, list) else str(source)
        plain.append({"id": str(cell.get("id", "")), "kind": cell.get("cell_type"), "source": source})
    return plain


def grade_cells(cells: list[dict], sandbox: Sandbox, seconds: float) -> Iterator[Mark]:
    """The marks of a notebook, one after the other: one for each exercise of the chapters that it holds.

    The notebook of the project has one for each criterion, all of them to be read.

    NoReply if they are not all reached in time.
    """
    yield from (written := _project_marks(cells))
    wanted = _exercises_in(cells)
    if written and not wanted:
        return
    if not wanted:
        raise ValueError("o notebook não tem nenhum exercício do curso")
    deadline = time.monotonic() + seconds
    with contextlib.ExitStack() as processes:
        apart, failures = _run(cells, {e.answer for e in wanted if e.answer}, sandbox, processes, deadline)
        for exercise in wanted:
            yield _open_mark(exercise, cells) if exercise.kind == OPEN else _mark(exercise, apart, failures)
            if time.monotonic() > deadline:
                raise NoReply(LATE)


def _exercises_in(cells: list[dict]) -> list[Exercise]:
    """All exercises of a chapter as soon as one of them is there: a deleted cell is a missing answer."""
    found = [e for e in all_exercises() if any(_belongs(cell, e) for cell in cells)]
    chapters = {e.chapter for e in found}
    return [e for e in all_exercises() if e.chapter in chapters]


def _belongs(cell: dict, exercise: Exercise) -> bool:
    if cell["kind"] == "code" and exercise.answer and _binds(cell["source"], exercise.answer):
        return True
    its_id = f"ex-{exercise.chapter:02}-{exercise.number}-"
    return cell["id"].startswith(its_id) or exercise.label in _labels(cell)


def _labels(cell: dict) -> list[str]:
    return LABEL.findall(cell["source"]) if cell["kind"] == "markdown" else []


def _binds(source: str, name: str) -> bool:
    # Not by parsing: a cell that does not parse still is the one where the answer should have been.
    bound = rf"^(?:(?:def|class)\s+{name}\s*[(:]|{name}\s*(?::[^=\n]+)?=(?!=))"
    return name in source and bool(re.search(bound, source, re.MULTILINE))


def _run(
    cells: list[dict], answers: set[str], sandbox: Sandbox, processes: contextlib.ExitStack, deadline: float
) -> tuple[Remote, dict[str, str]]:
    """Run what the answers need; returns the process that holds them and how each failed, if it did."""
    marked = (i for i, c in enumerate(cells) if re.match(r"ex-\d\d-", c["id"]) or _labels(c))
    first = next(marked, len(cells))
    left_out: dict[int, str] = {}
    while True:
        apart, failures = processes.enter_context(sandbox.notebook()), {}
        for i, cell in ((i, c) for i, c in enumerate(cells) if c["kind"] == "code"):
            named = {a for a in answers if _binds(cell["source"], a)}
            method, *inputs = ("answer", cell["source"]) if named else ("prepare", cell["source"], i > first)
            try:
                left = min(CELL_SECONDS, deadline - time.monotonic())
                told = left_out.get(i) or apart.ask(method, *inputs, seconds=left)
            except NoReply as error:
                late = str(error) == LATE
                if late and time.monotonic() >= deadline:
                    raise
                left_out[i] = SLOW if late else LEFT
                processes.close()
                break
            problem = told[:300] if isinstance(told, str) else MUTE
            failures |= dict.fromkeys(named, problem)
        else:
            return apart, failures


def _mark(exercise: Exercise, apart: Remote, failures: dict[str, str]) -> Mark:
    if problem := failures.get(exercise.answer):
        return Mark(exercise.name, BROKEN, problem)
    try:
        if exercise.answer not in apart.ask("names", seconds=CELL_SECONDS):
            what = "a função" if exercise.kind == CODE else "o nome"
            return Mark(exercise.name, NOT_FOUND, f"{what} {exercise.answer} não existe no notebook")
    except (NoReply, TypeError):
        return Mark(exercise.name, BROKEN, MUTE)
    with apart.fork(exercise.answer) as answer:
        verdict = checker_of(exercise).judge(answer, exercise.answer)
    text = verdict.text[:LONGEST] if verdict.mistake else ""
    return Mark(exercise.name, verdict.status, text, verdict.mistake)


def _open_mark(exercise: Exercise, cells: list[dict]) -> Mark:
    """The written answer, for the teacher to read: its cell, or what stands between two statements."""
    id = f"ex-{exercise.chapter:02}-{exercise.number}-resposta"
    found = [cell for cell in cells if cell["id"] == id]
    if not found:
        after = [*itertools.dropwhile(lambda cell: exercise.label not in _labels(cell), cells)]
        if not after:
            return Mark(exercise.name, NOT_FOUND, "a célula da resposta não existe no notebook")
        found = itertools.takewhile(lambda cell: not _labels(cell), after[1:])
    return _to_read(exercise.name, "\n\n".join(cell["source"].strip() for cell in found).strip())


def _project_marks(cells: list[dict]) -> list[Mark]:
    """What was written for each criterion of the project, if this is its notebook."""
    found = {cell["id"]: cell["source"].strip() for cell in cells}
    if not any(criterion.cell in found for criterion in criteria()):
        return []
    return [_to_read(criterion.cell, found.get(criterion.cell, "")) for criterion in criteria()]


def _to_read(name: str, text: str) -> Mark:
    blank = not text or text == INVITATION
    return Mark(name, BLANK) if blank else Mark(name, TO_READ, text[:LONGEST])
