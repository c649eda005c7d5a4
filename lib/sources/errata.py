"""The errata: every figure of a document with its verdict, and the statements that are corrected.

Both come as cards that a page shows as Markdown (stacked, so that a phone can show them) and a terminal as
text. Nothing here is typed: verdicts come from `judge`, statements from `data/statements_*.toml`.
"""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from lib.sources.catalog import DATA, Example, example, example_ids
from lib.sources.comparison import CORRECTED, Comparison, Verdict
from lib.sources.recompute import judge

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
class Cards:
    """Text for a terminal, Markdown for a page: the same facts."""

    text: str
    markdown: str

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.markdown


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


def figure_cards(document: str) -> Cards:
    """Every example of `document` ("01"): its inputs, what is printed, what is computed, and the verdict."""
    ids = [id for id in example_ids() if id.startswith(f"{document}.")]
    if not ids:
        raise ValueError(f"document must be one of 01, 02, 03, 04, got {document!r}")
    comparisons = [judge(id) for id in ids]
    return Cards(
        "\n\n".join(_example_text(c) for c in comparisons),
        "\n\n".join(_example_markdown(c) for c in comparisons),
    )


def statement_cards(document: str) -> Cards:
    """The corrected statements of `document` ("01")."""
    entries = statements(document)
    return Cards("\n\n".join(map(_statement_text, entries)), "\n\n".join(map(_statement_markdown, entries)))


def summary() -> str:
    """How many figures of each document agree and how many are corrected, one line per document."""
    lines = []
    for document in sorted({id[:2] for id in example_ids()}):
        verdicts = [v for id in example_ids() if id.startswith(document) for v in judge(id).verdicts]
        corrected = sum(v.verdict == CORRECTED for v in verdicts)
        lines.append(
            f"documento {document}: {len(verdicts)} figuras impressas, {len(verdicts) - corrected} conferem, "
            f"{corrected} corrigidas; {len(_statements()[document])} afirmações corrigidas"
        )
    return "\n".join(lines)


def _inputs(e: Example) -> list[str]:
    return [f"{name} = {value}" for name, value in e.inputs.items()]


def _example_text(c: Comparison) -> str:
    e = example(c.id)
    lines = [f"Exemplo {c.id} ({e.where}), {e.title}: {c.verdict}"]
    lines += [f"  dado {line}" for line in _inputs(e)]
    for v in c.verdicts:
        lines += v.lines() + ([f"    nota: {v.figure.note}"] if v.figure.note else [])
    return "\n".join(lines)


def _example_markdown(c: Comparison) -> str:
    e = example(c.id)
    parts = [f"**Exemplo {c.id}: {e.title}**  \n{e.where} · **{c.verdict}**"]
    parts += ["Dados:\n\n" + _fence(_inputs(e))] if e.inputs else []
    return "\n\n".join([*parts, *map(_verdict_markdown, c.verdicts)])


def _verdict_markdown(v: Verdict) -> str:
    head, *body = v.lines()
    label, _, rest = head.strip().replace("(*)", r"(\*)").rpartition(": ")
    text = f"- {label}: **{rest}**" + (f"  \n  {v.figure.note}" if v.figure.note else "")
    return text + ("\n\n" + _fence([line[4:] for line in body], "  ") if body else "")


def _fence(lines: list[str], margin: str = "") -> str:
    return "\n".join(f"{margin}{line}" for line in ["```text", *lines, "```"])


def _statement_text(s: Statement) -> str:
    return f"{s.id} [{s.kind}] {s.where}\n  diz: {s.says}\n  problema: {s.why}\n  correto: {s.right}"


def _statement_markdown(s: Statement) -> str:
    return (
        f"**{s.id} · {s.where}** ({s.kind})\n\n- **O documento diz:** {s.says}\n- **O problema:** {s.why}\n"
        f"- **O correto:** {s.right}"
    )
