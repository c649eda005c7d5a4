"""Labelled examples of the user's: texts with classes from a CSV, words with tags from CoNLL-U.

Both are split into a part to learn from and a part to be examined on. What cannot be used is refused before
any work, in one sentence that names the line or the column.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from lib.commands.console import Refusal
from lib.commands.texts import decoded
from lib.corpus.porttinari import TaggedSentence, read_conllu
from lib.training.data import generator

SEPARATORS = {",": "vírgula", ";": "ponto e vírgula", "\t": "tabulação"}
TEXT_NAMES = ("texto", "text", "frase", "sentence")
LABEL_NAMES = ("rotulo", "rótulo", "label", "classe", "class")
FEWEST, FEWEST_A_CLASS, FEWEST_SENTENCES, EXAMINED = 20, 2, 10, 0.2


class Example(NamedTuple):
    text: str
    label: str


class Table(NamedTuple):
    """The examples of a CSV, and what was noticed on the way, as sentences for the user."""

    examples: list[Example]
    notes: list[str]


def read_csv(path: Path, text: str | None = None, label: str | None = None) -> Table:
    """Texts with their classes from a CSV with a header; each text once."""
    content = decoded(path)
    if not content.strip():
        raise Refusal(f"{path} está vazio: é preciso um cabeçalho e uma linha por exemplo.")
    separator = max(SEPARATORS, key=lambda s: len(next(csv.reader(io.StringIO(content), delimiter=s), [])))
    reader = csv.reader(io.StringIO(content), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error:
        told = f"aspas que não se fecham, ou um campo enorme, perto da linha {reader.line_num}"
        raise Refusal(f"{path} não é um CSV bem formado: há {told}.") from None
    header = [cell.strip() for cell in rows[0][1]]
    if len(header) < 2:
        known = ", ".join(SEPARATORS.values())
        raise Refusal(f"{path} tem uma só coluna na primeira linha: separe texto e rótulo por {known}.")
    at = column(path, header, text, TEXT_NAMES, 0), column(path, header, label, LABEL_NAMES, 1)
    if at[0] == at[1]:
        raise Refusal(f"o texto e o rótulo não podem vir da mesma coluna, {header[at[0]]!r}.")
    for number, row in rows[1:]:
        if len(row) != len(header):
            told = f"a linha {number} tem {len(row)} colunas, e o cabeçalho, {len(header)}"
            raise Refusal(f"{path} está irregular: {told}; um {SEPARATORS[separator]} no texto pede aspas.")
    pairs = [(row[at[0]].strip(), row[at[1]].strip()) for _, row in rows[1:]]
    unique = dict(reversed([(t, c) for t, c in pairs if t and c]))  # the first of each text
    notes = [f"Texto da coluna {header[at[0]]!r}, rótulo da coluna {header[at[1]]!r}."]
    if empty := sum(not t or not c for t, c in pairs):
        notes.append(f"{empty} linhas sem texto ou sem rótulo ficaram de fora.")
    if again := len(pairs) - empty - len(unique):
        notes.append(f"{again} textos repetidos ficaram de fora: estariam nas duas partes.")
    return Table([Example(t, c) for t, c in reversed(unique.items())], notes)


def column(path: Path, header: list[str], asked: str | None, usual: Sequence[str], place: int) -> int:
    """Where the column is: the one asked for, one of the usual names, or its place among two."""
    lower = [name.casefold() for name in header]
    for name in (asked,) if asked else usual:
        if name.casefold() in lower:
            return lower.index(name.casefold())
    if asked is None and len(header) == 2:
        return place
    option = ("--texto", "--rotulo")[place]
    wanted = repr(asked) if asked else f"chamada {usual[0]!r}"
    there = ", ".join(map(repr, header))
    raise Refusal(f"{path} não tem a coluna {wanted}; há {there}: diga qual com {option}.")


def require_classes(path: Path, labels: Sequence[str], what: str) -> None:
    """Refuse what nothing can be learnt from: too little, one class only, or almost as many as examples."""
    counts = Counter(labels)
    if len(labels) < FEWEST:
        raise Refusal(
            f"{path} traz poucos exemplos que servem: {len(labels)}; são precisos pelo menos {FEWEST}."
        )
    if len(counts) < 2:
        raise Refusal(f"{path} tem uma só {what}, {labels[0]!r}: não há o que distinguir.")
    if len(counts) > len(labels) / FEWEST_A_CLASS:
        told = f"{len(counts)} classes em {len(labels)} exemplos"
        raise Refusal(f"{path} tem {told}: a coluna é mesmo a do rótulo?")


def read_treebank(path: Path) -> list[TaggedSentence]:
    """Sentences with a part of speech for each word, from CoNLL-U."""
    decoded(path)
    try:
        sentences = list(read_conllu(path))
    except ValueError as error:
        found = re.search(r"got (\d+) in line (\d+)", str(error))
        told = f"a linha {found[2]} tem {found[1]}" if found else "há linhas sem número ou sem palavra"
        raise Refusal(f"{path} não é CoNLL-U, que tem 10 colunas, separadas por tabulação; {told}.") from None
    if len(sentences) < FEWEST_SENTENCES:
        told = f"só {len(sentences)} frases anotadas" if sentences else "nenhuma frase anotada"
        raise Refusal(f"{path} tem {told}; são precisas pelo menos {FEWEST_SENTENCES}.")
    return sentences


def split_by_class(examples: list[Example]) -> tuple[list[Example], list[Example]]:
    """A part to learn from and a fifth to be examined on, with the same share of each class."""
    order = torch.randperm(len(examples), generator=generator(0, "split")).tolist()
    total, taken = Counter(e.label for e in examples), Counter()
    examined = set()
    for i in order:
        label = examples[i].label
        if taken[label] < round(EXAMINED * total[label]):
            taken[label] += 1
            examined.add(i)
    return [e for i, e in enumerate(examples) if i not in examined], [examples[i] for i in sorted(examined)]


def split_by_document(
    sentences: list[TaggedSentence],
) -> tuple[list[TaggedSentence], list[TaggedSentence]]:
    """A part to learn from and about a fifth to be examined on, by document where documents are named."""
    names = [sentence.document or str(i) for i, sentence in enumerate(sentences)]
    if len(set(names)) * EXAMINED < 1:
        names = [str(i) for i in range(len(sentences))]
    documents = sorted(set(names))
    order = torch.randperm(len(documents), generator=generator(0, "split")).tolist()
    examined = {documents[i] for i in order[: max(1, round(EXAMINED * len(documents)))]}
    named = list(zip(sentences, names, strict=True))
    return [s for s, n in named if n not in examined], [s for s, n in named if n in examined]
