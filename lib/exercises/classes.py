"""A class: who handed in what, points by exercise and chapter, and the marks that the teacher gives by hand.

The folder says who: each first folder below it is a student; of a notebook that lies in none, the name of the
file, up to the number of the chapter (`ana_01_masking.ipynb` is ana's). Of an exercise that was handed in
more than once, the best counts. Points given by hand are kept in one file, merged with each new grading.
"""

import csv
import io
import math
import re
from pathlib import PurePath
from typing import NamedTuple

from lib.exercises.answers import TO_READ, Mark
from lib.exercises.catalogue import OPEN, Exercise, all_exercises
from lib.exercises.grading import Report
from lib.exercises.project import PROJECT, criteria
from lib.exercises.student import RIGHT, WRONG

COLUMNS = ("estudante", "questão", "pontos", "comentário", "aviso", "resposta")
CHANGED = "a resposta mudou depois da nota"
RANK = (TO_READ, WRONG, RIGHT)  # from worse to better; what is not here is worse still
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class Hand(NamedTuple):
    """What the teacher wrote on one answer; no points yet are None."""

    points: float | None = None
    comment: str = ""
    warning: str = ""
    answer: str = ""


Hands = dict[tuple[str, str], Hand]  # by student and question


class Pupil(NamedTuple):
    name: str
    marks: dict[str, Mark]  # by the name of the exercise
    problems: list[str]

    def points(self, exercise: Exercise, hands: Hands) -> float | None:
        """One for a right answer; of an open question, what the teacher gave, and None until then."""
        if exercise.kind == OPEN:
            return hands.get((self.name, title(exercise)), Hand()).points
        return float(exercise.name in self.marks and self.marks[exercise.name].status == RIGHT)


def title(exercise: Exercise) -> str:
    return f"{exercise.chapter}.{exercise.number} {exercise.title}"


def owner(notebook: str) -> str:
    """The student whose notebook it is, by its path in the class's folder."""
    path = PurePath(notebook)
    if len(path.parts) > 1:
        return path.parts[0]
    return re.split(r"[ _.-]+(?=0\d_)", path.stem)[0]


def pupils(reports: list[Report]) -> list[Pupil]:
    found: dict[str, Pupil] = {}
    for report in reports:
        name = owner(report.notebook)
        pupil = found.setdefault(name, Pupil(name, {}, []))
        for mark in report.marks:
            before = pupil.marks.get(mark.exercise)
            if before is None or _rank(mark) >= _rank(before):
                pupil.marks[mark.exercise] = mark
        if report.problem:
            pupil.problems.append(f"{report.notebook}: {report.problem}")
    return sorted(found.values())


def _rank(mark: Mark) -> int:
    return RANK.index(mark.status) if mark.status in RANK else -1


def asked_of(class_: list[Pupil]) -> list[Exercise]:
    """The exercises of the chapters that somebody handed in."""
    handed = {name for pupil in class_ for name in pupil.marks}
    return [exercise for exercise in all_exercises() if exercise.name in handed]


def merged(class_: list[Pupil], hands: Hands) -> Hands:
    """The teacher's marks with a place for each open answer and each project; nothing given is lost.

    A project that was handed in as a notebook has a place for each criterion, any other has one.
    """
    texts = {}
    for pupil in class_:
        written = {c.question: pupil.marks[c.cell].detail for c in criteria() if c.cell in pupil.marks}
        texts |= {(pupil.name, question): text for question, text in (written or {PROJECT: ""}).items()}
    for exercise in asked_of(class_):
        for pupil in class_:
            mark = pupil.marks.get(exercise.name)
            if mark is not None and mark.status == TO_READ:
                texts[pupil.name, title(exercise)] = mark.detail
    new = dict(hands)
    for key, text in texts.items():
        old = hands.get(key, Hand(answer=text))
        changed = old.points is not None and _one_line(old.answer) != _one_line(text)
        new[key] = old._replace(answer=text, warning=CHANGED if changed else old.warning)
    return dict(sorted(new.items()))


def project_points(name: str, hands: Hands) -> float | None:
    """What a project got, criterion by criterion or as a whole; None before that."""
    questions = (PROJECT, *(criterion.question for criterion in criteria()))
    given = [hands.get((name, question), Hand()).points for question in questions]
    return None if all(points is None for points in given) else total(given)


def _one_line(text: str) -> str:
    """A spreadsheet may change how lines end."""
    return " ".join(text.split())


def hands_from(file: bytes) -> Hands:
    """The teacher's marks as a spreadsheet saved them; ValueError, with a sentence, if they are not."""
    try:
        text = file.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = file.decode("cp1252", "replace")  # what Excel in Portuguese writes
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(";,\t", key=text.partition("\n")[0].count))
    try:
        head, *rest = [*rows] or [[]]
    except csv.Error:  # a quotation mark that does not close takes the rest of the file for one cell
        raise ValueError(f"a tabela quebra depois da linha {rows.line_num}") from None
    if missing := [column for column in COLUMNS[:4] if column not in head]:
        raise ValueError(f"falta a coluna {missing[0]!r} na primeira linha; esperava {', '.join(COLUMNS)}")
    most = {criterion.question: criterion.points for criterion in criteria()}
    hands: Hands = {}
    for number, row in enumerate(rest, 2):
        cell = {column: tamed_back(value) for column, value in zip(head, row, strict=False)}
        if not any(cell.values()):
            continue
        given = cell.get("pontos", "").strip()
        try:
            points = float(given.replace(",", ".")) if given else None
        except ValueError:
            points = math.nan
        if points is not None and not 0 <= points < math.inf:
            raise ValueError(f"na linha {number}, pontos é {given!r}; esperava um número, como 0,5, ou nada")
        key = (cell.get("estudante", ""), cell.get("questão", ""))
        if points is not None and points > most.get(key[1], math.inf):
            raise ValueError(f"na linha {number}, pontos é {given!r}, e o critério vale até {most[key[1]]}")
        hands[key] = Hand(points, *(cell.get(column, "") for column in COLUMNS[3:]))
    return hands


def csv_of(rows: list[list[str]]) -> bytes:
    """For Excel in Portuguese and for Moodle: semicolons, UTF-8 with its mark, no cell taken for a formula.

    Names of files that are not UTF-8 are escaped.
    """
    table = csv.writer(text := io.StringIO(newline=""), delimiter=";")
    table.writerows([tamed(cell) for cell in row] for row in rows)
    return b"\xef\xbb\xbf" + text.getvalue().encode("utf-8", "backslashreplace")


def tamed(text: str) -> str:
    return f"'{text}" if text.lstrip(" '").startswith(FORMULA) else text


def tamed_back(text: str) -> str:
    return text[1:] if text[:1] == "'" and tamed(text[1:]) != text[1:] else text


def number(points: float | None) -> str:
    """With a decimal comma; nothing for no points yet."""
    return "" if points is None else f"{points:g}".replace(".", ",")


def hands_csv(hands: Hands) -> bytes:
    rows = [[*key, number(h.points), h.comment, h.warning, h.answer] for key, h in hands.items()]
    return csv_of([list(COLUMNS), *rows])


def grades_csv(class_: list[Pupil], hands: Hands) -> bytes:
    """A row for each student: points by exercise, totals by chapter, the project, all, what went wrong."""
    asked = asked_of(class_)
    chapters = sorted({exercise.chapter for exercise in asked})
    head = ["estudante"]
    for chapter in chapters:
        head += [title(e) for e in asked if e.chapter == chapter] + [f"Capítulo {chapter}"]
    rows = [[*head, PROJECT, "Total", "Observações"]]
    for pupil in class_:
        row = [pupil.name]
        for chapter in chapters:
            given = [pupil.points(e, hands) for e in asked if e.chapter == chapter]
            row += map(number, (*given, total(given)))
        project = project_points(pupil.name, hands)
        everything = total([*(pupil.points(e, hands) for e in asked), project])
        rows.append([*row, number(project), number(everything), "; ".join(pupil.problems)])
    return csv_of(rows)


def total(points: list[float | None]) -> float:
    return sum(given for given in points if given is not None)
