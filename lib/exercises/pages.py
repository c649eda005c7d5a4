"""The pages of a grading: one for each student, and one for the class with what it got wrong most.

Nothing of a notebook is markup here.
"""

import html
import re
import unicodedata
from collections import Counter

from lib.exercises.answers import NOT_FOUND, TO_READ
from lib.exercises.catalogue import Exercise, general_mistakes
from lib.exercises.classes import Hand, Hands, Pupil, asked_of, number, project_points, title, total
from lib.exercises.project import PROJECT, criteria
from lib.exercises.student import RIGHT

STYLE = """
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { border: 1px solid #8888; padding: .3rem .6rem; text-align: left; vertical-align: top }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 }
@media (max-width: 40rem) {
  thead { display: none }
  tr, td { display: block }
  tr { margin-bottom: 1.5rem }
  td::before { content: attr(data-name) ": "; font-weight: bold }
}
"""
# On Windows these are devices, whatever comes after the point.
RESERVED = ("con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(1, 10)))
Cell = tuple[str, str]  # how it is marked up, and its text


def file_names(class_: list[Pupil]) -> dict[str, str]:
    """For each student the name of a page that every system accepts, different from all others'."""
    found: dict[str, str] = {}
    taken = {"", *RESERVED}
    for pupil in class_:
        # Composed: some systems take both ways of writing an accent for one name. And a name has 255 bytes.
        composed = unicodedata.normalize("NFC", pupil.name.encode("utf-8", "replace").decode())
        plain = re.sub(r"[^\w-]+", "_", composed).encode()[:120].decode("utf-8", "ignore")
        name, i = plain, 2
        while name.casefold() in taken:
            name, i = f"{plain}-{i}", i + 1
        taken.add(name.casefold())
        found[pupil.name] = f"{name}.html"
    return found


def student_page(pupil: Pupil, asked: list[Exercise], hands: Hands) -> str:
    """Each exercise with its points, the mistake and its hint, and what the teacher wrote."""
    body = "".join(f"<p>{html.escape(problem)}</p>" for problem in pupil.problems)
    for chapter in sorted({e.chapter for e in asked}):
        rows, of_chapter = [], [e for e in asked if e.chapter == chapter]
        for e in of_chapter:
            mark, hand = pupil.marks.get(e.name), hands.get((pupil.name, title(e)), Hand())
            said = "\n\n".join(
                filter(None, (mark.detail if mark else "", hand.comment and f"✎ {hand.comment}"))
            )
            status = mark.status if mark else NOT_FOUND
            if status == TO_READ and hand.points is not None:
                status = "lida"
            rows.append(
                [("td", title(e)), ("td", status), ("td", number(pupil.points(e, hands))), ("pre", said)]
            )
        points = number(total([pupil.points(e, hands) for e in of_chapter]))
        body += f"<h2>Capítulo {chapter}: {points} pontos</h2>"
        body += _table(("exercício", "situação", "pontos", "comentário"), rows)
    of_project = (PROJECT, *(criterion.question for criterion in criteria()))
    given = [(question, hands.get((pupil.name, question), Hand())) for question in of_project]
    if said := [(q, hand) for q, hand in given if hand.points is not None or hand.comment]:
        body += f"<h2>{PROJECT}: {number(project_points(pupil.name, hands))} pontos</h2>"
        rows = [[("td", q), ("td", number(hand.points)), ("pre", hand.comment)] for q, hand in said]
        body += _table(("critério", "pontos", "comentário"), rows)
    return _page(pupil.name, body)


def class_page(class_: list[Pupil], hands: Hands, links: dict[str, str]) -> str:
    """The students with their totals, and the exercises from the one most missed on."""
    asked = asked_of(class_)
    people = []
    for pupil in class_:
        project = project_points(pupil.name, hands)
        points = total([*(pupil.points(e, hands) for e in asked), project])
        people.append(
            [(links[pupil.name], pupil.name), ("td", number(points)), ("td", "; ".join(pupil.problems))]
        )
    missed = []
    for e in (e for e in asked if e.answer):
        marks = [pupil.marks[e.name] for pupil in class_ if e.name in pupil.marks]
        right = sum(mark.status == RIGHT for mark in marks)
        mistakes = Counter(mark.mistake for mark in marks if mark.mistake).most_common(1)
        hints = general_mistakes() | e.mistakes
        common = f"{hints[mistakes[0][0]]} ({mistakes[0][1]} de {len(marks)})" if mistakes else ""
        missed.append(
            (len(marks) - right, [("td", title(e)), ("td", f"{right} de {len(marks)}"), ("td", common)])
        )
    missed.sort(key=lambda row: -row[0])
    return _page(
        "Correção da turma",
        _table(("estudante", "pontos", "observações"), people)
        + "<h2>O que a turma mais errou</h2>"
        + _table(("exercício", "certos", "engano mais comum"), [row for _, row in missed]),
    )


def _page(heading: str, body: str) -> str:
    heading = html.escape(heading)
    return (
        f'<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><title>{heading}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><main>'
        f"<h1>{heading}</h1>{body}</main></body></html>\n"
    )


def _table(head: tuple[str, ...], rows: list[list[Cell]]) -> str:
    columns = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, head, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"


def _cell(name: str, cell: Cell) -> str:
    how, text = cell[0], html.escape(cell[1])
    if how == "pre":
        text = f"<pre>{text}</pre>"
    elif how != "td":
        text = f'<a href="{html.escape(how)}">{text}</a>'
    return f'<td data-name="{name}">{text}</td>'
