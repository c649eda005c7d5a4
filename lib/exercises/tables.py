"""The table of a grading, for a spreadsheet (CSV) and for a browser (HTML), in Portuguese."""

import csv
import html
import io
from pathlib import Path

from lib.exercises.answers import BROKEN
from lib.exercises.catalogue import all_exercises
from lib.exercises.grading import Report
from lib.files import write_atomically


def write_csv(reports: list[Report], path: Path) -> None:
    """One row per notebook and exercise. A cell that a spreadsheet would take for a formula is quoted."""
    table = csv.writer(text := io.StringIO(newline=""))
    table.writerow(["notebook", "capítulo", "exercício", "situação", "detalhe"])
    titles = {e.name: (e.chapter, e.title) for e in all_exercises()}
    for report in reports:
        if report.problem:
            table.writerow([_tame(report.notebook), "", "", BROKEN, _tame(report.problem)])
        for mark in report.marks:
            chapter, title = titles.get(mark.exercise, ("", mark.exercise))
            table.writerow([_tame(report.notebook), chapter, _tame(title), mark.status, _tame(mark.detail)])
    _put(path, text.getvalue())


def _tame(text: str) -> str:
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") or text[:1] in ("\t", "\r", "\n") else text


def _put(path: Path, text: str) -> None:
    """Names of files that are not UTF-8 are escaped."""
    write_atomically(path, text.encode("utf-8", "backslashreplace"))


STYLE = """
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { border: 1px solid #8888; padding: .3rem .6rem; text-align: left; vertical-align: top }
pre { white-space: pre-wrap; margin: .3rem 0 }
"""


def write_html(reports: list[Report], path: Path) -> None:
    """A page with a summary and, below it, every exercise. Nothing of a notebook is markup here."""
    summary, sections = [], ""
    for i, report in enumerate(reports):
        name, problem = html.escape(report.notebook), html.escape(report.problem)
        summary.append((f'<a href="#n{i}">{name}</a>', f"{report.right} de {report.checked}", problem))
        sections += f'<h2 id="n{i}">{name}</h2><p>{problem}</p>{_marks(report)}'
    overview = _table(("notebook", "certos", "problema"), summary)
    page = (
        f'<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><title>Correção</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><main>'
        f"<h1>Correção</h1>{overview}{sections}</main></body></html>\n"
    )
    _put(path, page)


def _marks(report: Report) -> str:
    titles = {e.name: f"{e.chapter}.{e.number} {e.title}" for e in all_exercises()}
    rows = []
    for mark in report.marks:
        detail = f"<details><summary>ver</summary><pre>{html.escape(mark.detail)}</pre></details>"
        title = html.escape(titles.get(mark.exercise, mark.exercise))
        rows.append((title, html.escape(mark.status), detail if mark.detail else ""))
    return _table(("exercício", "situação", "detalhe"), rows) if rows else ""


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    columns = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"
