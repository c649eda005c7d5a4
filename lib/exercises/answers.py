"""The marks of one student's notebook: its answers run in a sandbox, the verdicts are reached here.

Only what the exercises need is run: the cells that answer them and those a student wrote beside them; of the
cells before, the imports, functions and plain constants. A statement that fails takes only the exercises of
its cell with it; a cell that never ends, or ends its process, is left out, and the rest is run in a new one.
"""

import itertools
import json
import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from lib.exercises.catalogue import OPEN, Exercise, all_exercises
from lib.exercises.isolation import LATE, NoReply, Remote
from lib.exercises.project import criteria
from lib.exercises.student import checker_of
from lib.exercises.workshop import PARTS

CELL_SECONDS = 10.0
OBJECTS, CELLS = (
    1_000_000,
    10_000,
)  # in a notebook, at most: small ones take a hundred times their size in memory
LONGEST = 5_000  # a text of a student's, in a page or a table
NOT_FOUND, BROKEN, TO_READ, BLANK = "não encontrado", "falhou", "a ler", "em branco"
INVITATION = "*Escreva aqui a sua resposta.*"  # what the cell of an open question says at first
SLOW, LEFT = "a célula não terminou a tempo", "a célula encerrou o processo em que rodava"
MUTE = "o processo do notebook deixou de responder"
OLD = "não tem células; se o formato é antigo, abra-o no JupyterLab, salve-o e envie-o de novo"
LABEL = re.compile(r":label: ((?:sol-)?exr-[\w-]+)")


class Mark(NamedTuple):
    """What one exercise of one notebook got."""

    exercise: str
    status: str
    detail: str = ""
    mistake: str = ""  # the key of its hint


class Cell(NamedTuple):
    id: str
    kind: str
    source: str

    @property
    def labels(self) -> list[str]:
        """The exercises that it states, and the solutions."""
        return LABEL.findall(self.source) if self.kind == "markdown" else []

    def binds(self, name: str) -> bool:
        # Not by parsing: a cell that does not parse still is the one where the answer should have been.
        bound = rf"^(?:(?:def|class)\s+{name}\s*[(:]|{name}\s*(?::[^=\n]+)?=(?!=))"
        return (
            self.kind == "code" and name in self.source and bool(re.search(bound, self.source, re.MULTILINE))
        )


def cells_of(file: bytes) -> list[Cell]:
    """The cells of a notebook; ValueError, with a sentence for the teacher, if it is none."""
    if not file.strip():
        raise ValueError("o arquivo está vazio")
    try:
        if file.count(b"{") + file.count(b"[") > OBJECTS:
            raise OverflowError
        notebook = json.loads(file.decode("utf-8-sig"))
        if len(notebook["cells"]) > CELLS:
            raise OverflowError
        return [
            Cell(str(cell.get("id", "")), str(cell["cell_type"]), "".join(map(str, cell.get("source", ""))))
            for cell in notebook["cells"]
        ]
    except UnicodeDecodeError:
        why = "o texto não está em UTF-8"
    except json.JSONDecodeError as error:
        why = f"o JSON quebra na linha {error.lineno}, como em um arquivo cortado"
    except (OverflowError, RecursionError):
        why = "o JSON tem objetos demais"
    except ValueError:
        why = "o JSON quebra em um número"
    except (AttributeError, KeyError, TypeError):
        why = OLD
    raise ValueError(f"o arquivo não é um notebook: {why}")


def grade_cells(cells: list[Cell], warm: Remote, seconds: float) -> Iterator[Mark]:
    """The marks of a notebook, one after the other: one for each exercise of the chapters that it holds.

    The notebook of the project has one for each criterion, all of them to be read. Its cells run in a fork of
    the process `warm`; NoReply if the marks are not all reached in time.
    """
    yield from (written := _project_marks(cells))
    wanted = _exercises_in(cells)
    if not wanted and not written:
        raise ValueError("o notebook não tem nenhum exercício do curso")
    deadline = time.monotonic() + seconds
    left_out: dict[int, str] = {}
    while wanted:
        with warm.fork() as apart:
            failures = _failures(cells, {e.answer for e in wanted if e.answer}, apart, left_out, deadline)
            if failures is None:
                continue
            for exercise in wanted:
                is_open = exercise.kind == OPEN
                yield _open_mark(exercise, cells) if is_open else _mark(exercise, apart, failures)
                if time.monotonic() > deadline:
                    raise NoReply(LATE)
            return


def _exercises_in(cells: list[Cell]) -> list[Exercise]:
    """All exercises of a chapter as soon as one of them is there: a deleted cell is a missing answer.

    An answer is told the steps before it (see `workshop`), and its process may keep them for the next: they
    come in the order of the steps, after those that are none.
    """
    chapters = {e.chapter for e in all_exercises() if any(_belongs(cell, e) for cell in cells)}
    found = [e for e in all_exercises() if e.chapter in chapters]
    return sorted(found, key=lambda e: (e.kind == OPEN, PARTS.index(e.name) if e.name in PARTS else -1))


def _belongs(cell: Cell, exercise: Exercise) -> bool:
    its_id = f"ex-{exercise.chapter:02}-{exercise.number}-"
    bound = bool(exercise.answer) and cell.binds(exercise.answer)
    return bound or cell.id.startswith(its_id) or exercise.label in cell.labels


def _failures(
    cells: list[Cell], answers: set[str], apart: Remote, left_out: dict[int, str], deadline: float
) -> dict[str, str] | None:
    """Run what the answers need; how those that failed did. None if one more cell must be left out."""
    marked = (i for i, cell in enumerate(cells) if re.match(r"ex-\d\d-", cell.id) or cell.labels)
    first, failures = next(marked, len(cells)), {}
    for i, cell in ((i, cell) for i, cell in enumerate(cells) if cell.kind == "code"):
        named = {answer for answer in answers if cell.binds(answer)}
        if (problem := left_out.get(i)) is None:
            left = min(CELL_SECONDS, deadline - time.monotonic())
            try:
                problem = apart.ask("run", cell.source, bool(named) or i > first, seconds=left)
            except NoReply as error:
                if time.monotonic() >= deadline:
                    raise
                left_out[i] = SLOW if str(error) == LATE else LEFT
                return None
        failures |= dict.fromkeys(named, problem[:300] if isinstance(problem, str) else MUTE)
    return failures


def _mark(exercise: Exercise, apart: Remote, failures: dict[str, str]) -> Mark:
    if problem := failures.get(exercise.answer):
        return Mark(exercise.name, BROKEN, problem)
    try:
        if not apart.ask("has", exercise.answer, seconds=CELL_SECONDS):
            return Mark(exercise.name, NOT_FOUND, f"o nome {exercise.answer} não existe no notebook")
    except NoReply:
        return Mark(exercise.name, BROKEN, MUTE)
    with apart.fork(exercise.answer) as answer:
        verdict = checker_of(exercise).judge(answer, exercise.answer)
    text = verdict.text[:LONGEST] if verdict.mistake else ""
    return Mark(exercise.name, verdict.status, text, verdict.mistake)


def _open_mark(exercise: Exercise, cells: list[Cell]) -> Mark:
    """The written answer, for the teacher to read: its cell, or what stands between two statements."""
    id = f"ex-{exercise.chapter:02}-{exercise.number}-resposta"
    found = [cell for cell in cells if cell.id == id]
    if not found:
        after = [*itertools.dropwhile(lambda cell: exercise.label not in cell.labels, cells)]
        if not after:
            return Mark(exercise.name, NOT_FOUND, "a célula da resposta não existe no notebook")
        found = itertools.takewhile(lambda cell: not cell.labels, after[1:])
    return _to_read(exercise.name, "\n\n".join(cell.source.strip() for cell in found).strip())


def _project_marks(cells: list[Cell]) -> list[Mark]:
    """What was written for each criterion of the project, if this is its notebook."""
    found = {cell.id: cell.source.strip() for cell in cells}
    marks = [_to_read(criterion.cell, found.get(criterion.cell, "")) for criterion in criteria()]
    return marks if any(mark.exercise in found for mark in marks) else []


def _to_read(name: str, text: str) -> Mark:
    blank = not text or text == INVITATION
    return Mark(name, BLANK) if blank else Mark(name, TO_READ, text[:LONGEST])
