"""The errata: each example of a document with its verdict, and the statements that are corrected.

A page shows a table, one row an item, with the figures folded below it; a terminal, the same as text. Nothing
here is typed: verdicts come from `judge`, statements from `data/statements_*.toml`.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from html import escape
from pathlib import Path

from lib.sources.catalog import DATA, example, example_ids, flatten
from lib.sources.comparison import AGREES, CORRECTED, Comparison, Verdict
from lib.sources.recompute import judge

HEADINGS = ("Onde", "O documento traz", "O correto")
SHOWN = 3  # differing entries of one figure that a row of the table shows
KINDS = {
    "afirmação": "uma frase que não é verdade como está escrita",
    "cálculo": "uma conta ou um intervalo errado fora dos exemplos",
    "código": "o código não faz o que o texto diz",
    "demonstração": "um passo que não leva ao seguinte",
    "diagrama": "o desenho não mostra o que a legenda diz",
    "notação": "dois nomes para uma coisa, ou um nome para duas",
    "empírico": "uma questão de medida apresentada como consequência lógica",
}


@dataclass(frozen=True)
class Statement:
    """A corrected statement of a document."""

    id: str
    where: str
    says: str
    why: str
    right: str
    kind: str


@dataclass(frozen=True)
class View:
    """Text for a terminal, HTML for a page: the same facts."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def load_statements(folder: Path = DATA) -> dict[str, tuple[Statement, ...]]:
    """Corrected statements by document ("01"), from `statements_*.toml`."""
    found: dict[str, tuple[Statement, ...]] = {}
    for path in sorted(folder.glob("statements_*.toml")):
        document = path.stem[-2:]
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
        found[document] = tuple(_statement(f"{document}.{name}", entry) for name, entry in entries.items())
    return found


def _statement(id: str, entry: dict[str, dict[str, str]]) -> Statement:
    """One table of a file, which is called [name."kind"]."""
    kind, *others = entry
    if kind not in KINDS or others:
        raise ValueError(f"{id}: kind must be one of {', '.join(KINDS)}, got {', '.join(entry)}")
    texts, expected = entry[kind], {field.name for field in fields(Statement)} - {"id", "kind"}
    if texts.keys() != expected or not all(isinstance(v, str) and v.strip() for v in texts.values()):
        raise ValueError(f"{id} must have exactly {sorted(expected)}, all text")
    return Statement(id, kind=kind, **texts)


@cache
def _statements() -> dict[str, tuple[Statement, ...]]:
    return load_statements()


def statements(document: str) -> tuple[Statement, ...]:
    """The corrected statements of `document` ("01")."""
    if document not in _statements():
        raise ValueError(f"document must be one of {', '.join(_statements())}, got {document!r}")
    return _statements()[document]


def overview() -> View:
    """How many examples, figures and statements of each document agree and how many are corrected."""
    names = ("documento", "exemplos", "conferem", "valores", "conferem", "afirmações corrigidas")
    rows = [_counts(document) for document in _statements()]
    lines = [", ".join(f"{name} {n}" for name, n in zip(names, row, strict=True)) for row in rows]
    head, body = _head(names), ""
    for id, *counts in rows:
        cells = "".join(f"<td>{n}</td>" for n in counts)
        body += f'<tr><td><a href="#errata-{id}">{id}</a></td>{cells}</tr>'
    return View("\n".join(lines), f'<table class="errata-counts">{head}{body}</table>')


def items(document: str) -> View:
    """The table of `document` ("01"): a row for each example and each corrected statement."""
    comparisons, entries = _judged(document), statements(document)
    rows = "".join([*map(_example_row, comparisons), *map(_statement_row, entries)])
    text = [*map(_example_line, comparisons), *map(_statement_text, entries)]
    table = f'<table class="errata">\n{_head(HEADINGS)}\n<tbody>\n{rows}</tbody>\n</table>'
    return View("\n".join(text), table)


def figures(document: str) -> View:
    """Every figure of every example of `document`, folded: inputs, printed, computed, verdict."""
    comparisons = _judged(document)
    if not comparisons:
        raise ValueError(f"document must be one with numerical examples, got {document!r}")
    return View("\n\n".join(map(_example_text, comparisons)), "\n".join(map(_example_details, comparisons)))


def _head(names: Sequence[str]) -> str:
    return "<thead><tr>" + "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr></thead>"


def _judged(document: str) -> list[Comparison]:
    return [judge(id) for id in example_ids() if id.startswith(f"{document}.")]


def _counts(document: str) -> tuple[str | int, ...]:
    comparisons = _judged(document)
    verdicts = [v.verdict for c in comparisons for v in c.verdicts]
    agreeing = sum(c.verdict == AGREES for c in comparisons)
    of_figures = len(verdicts), verdicts.count(AGREES)
    return document, len(comparisons), agreeing, *of_figures, len(statements(document))


def _example_text(c: Comparison) -> str:
    e = example(c.id)
    lines = [f"Exemplo {c.id} ({e.where}), {e.title}: {c.verdict}"]
    lines += [f"  dado {name} = {value}" for name, value in e.inputs.items()]
    for v in c.verdicts:
        lines += v.lines() + ([f"    nota: {v.figure.note}"] if v.figure.note else [])
    return "\n".join(lines)


def _example_line(c: Comparison) -> str:
    return f"{c.id} {example(c.id).title}: {c.verdict}"


def _example_details(c: Comparison) -> str:
    """An example's figures, folded under its name and verdict."""
    summary = f"Exemplo {c.id}, {example(c.id).title}: <strong>{c.verdict}</strong>"
    inputs = [f"{name} = {value}" for name, value in example(c.id).inputs.items()]
    given = ["<p>Dados</p>", _box(inputs, "inputs")] if inputs else []
    parts = [*given, *map(_verdict_html, c.verdicts)]
    return f'<details class="errata"><summary>{summary}</summary>\n' + "\n".join(parts) + "\n</details>"


def _verdict_html(v: Verdict) -> str:
    head, *body = v.lines()
    label, _, rest = head.strip().rpartition(": ")
    note = f"<br>{escape(v.figure.note)}" if v.figure.note else ""
    text = f"<p>{escape(label)}: <strong>{escape(rest)}</strong>{note}</p>"
    return text + (_box([line[4:] for line in body]) if body else "")


def _box(lines: list[str], kind: str = "figures") -> str:
    return f'<pre class="{kind}" tabindex="0">' + escape("\n".join(lines)) + "</pre>"


def _row(id: str, name: str, where: str, printed: str, right: str) -> str:
    """A row that can be linked to, as `errata-01-3` or `errata-01-s3`."""
    anchor = f"errata-{id.replace('.', '-')}"
    head = f'<th scope="row"><a href="#{anchor}">{id}</a> {name}<br><small>{escape(where)}</small></th>'
    cells = zip(HEADINGS[1:], (printed, right), strict=True)
    row = "".join(f'<td data-label="{title}">{text}</td>' for title, text in cells)
    return f'<tr id="{anchor}">{head}{row}</tr>\n'


def _example_row(c: Comparison) -> str:
    wrong = [v for v in c.verdicts if v.verdict == CORRECTED]
    printed = "<br>".join(f"{escape(v.figure.label)}: {_entries(v, v.figure.content)}" for v in wrong)
    right = "<br>".join(_entries(v, v.computed) for v in wrong)
    agree = f"{len(c.verdicts)} de {len(c.verdicts)} valores" if not wrong else printed
    return _row(c.id, f"exemplo, <strong>{c.verdict}</strong>", example(c.id).title, agree, right or AGREES)


def _entries(v: Verdict, content: object) -> str:
    """The first entries that differ; all entries where there are more or fewer than there should be."""
    leaves = [str(leaf) for leaf in flatten(content)]
    if v.differs is None:
        return escape(" · ".join(leaves))
    differing = [leaf for leaf, differs in zip(leaves, v.differs, strict=True) if differs]
    return escape(" · ".join(differing[:SHOWN])) + (" …" if len(differing) > SHOWN else "")


def _statement_row(s: Statement) -> str:
    why = f"<details><summary>por quê</summary>{escape(s.why)}</details>"
    return _row(s.id, s.kind, s.where, escape(s.says), escape(s.right) + why)


def _statement_text(s: Statement) -> str:
    return f"{s.id} [{s.kind}] {s.where}\n  diz: {s.says}\n  problema: {s.why}\n  correto: {s.right}"
