"""Labelled examples of the user's: texts with classes from a CSV, words with tags from CoNLL-U.

Both are split into a part to learn from and a part to be examined on. What cannot be used is refused before
any work, in one sentence that names the line or the column.
"""

import codecs
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
USUAL = ("texto", "text", "frase", "sentence"), ("rotulo", "rótulo", "label", "classe", "class")
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
    header, *rows = read_rows(path)
    at = columns(path, header, (text, label))
    named = [header[i] for i in at]
    pairs = [(row[at[0]], row[at[1]]) for row in rows]
    if label is None and named[1].casefold() not in USUAL[1] and named[1] in {c for _, c in pairs}:
        told = f"{named[1]!r}, na primeira linha, é um dos rótulos"
        raise Refusal(f"{path} parece não ter cabeçalho: {told}; ponha antes dela os nomes das colunas.")
    first = dict(reversed([(t, c) for t, c in pairs if t and c]))  # of each text
    notes = [f"Texto da coluna {named[0]!r}, rótulo da coluna {named[1]!r}."]
    if empty := sum(not t or not c for t, c in pairs):
        notes.append(f"Linhas sem texto ou sem rótulo, deixadas de fora: {empty}.")
    if again := len(pairs) - empty - len(first):
        other = sum(bool(t and c) and first[t] != c for t, c in pairs)
        told = f"; com um rótulo diferente do primeiro: {other}" if other else ""
        notes.append(f"Textos repetidos, deixados de fora para não estarem nas duas partes: {again}{told}.")
    return Table([Example(t, c) for t, c in reversed(first.items())], notes)


def read_rows(path: Path) -> list[list[str]]:
    """The rows of a CSV in which anything is written, all as long as the first, which is the header."""
    # Spreadsheets may write which separator follows, in a line before the header.
    content = re.sub(r'\A"?sep=."?(?=\n)', "", decoded(path))
    if not content.strip():
        raise Refusal(f"{path} está vazio: é preciso um cabeçalho e uma linha por exemplo.")
    begin = content.lstrip(" \n")[: csv.field_size_limit()]
    separator = max(SEPARATORS, key=lambda s: len(next(csv.reader(io.StringIO(begin), delimiter=s))))
    reader = csv.reader(io.StringIO(content), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error:
        told = f"aspas que não se fecham, ou um campo enorme, perto da linha {reader.line_num}"
        raise Refusal(f"{path} não é um CSV bem formado: há {told}.") from None
    width, name = len(rows[0][1]), SEPARATORS[separator]
    if width < 2:
        known = ", ".join(SEPARATORS.values())
        raise Refusal(f"{path} tem uma só coluna na primeira linha: separe texto e rótulo por {known}.")
    for number, row in rows:
        if len(row) != width:
            told = f"a linha {number} tem {len(row)} colunas, e o cabeçalho, {width}"
            raise Refusal(f"{path} está irregular: {told}; um texto com {name} vai entre aspas.")
    return [[cell.strip() for cell in row] for _, row in rows]


def columns(path: Path, header: list[str], asked: Sequence[str | None]) -> list[int]:
    """Where text and label are: in the columns asked for, in those of the usual names, or in the only two."""
    lower, at = [name.casefold() for name in header], []
    for name, usual in zip(asked, USUAL, strict=True):
        names = usual if name is None else (name.casefold(),)
        at.append(next((lower.index(n) for n in names if n in lower), -1))
    for place, name in enumerate(asked):
        if at[place] < 0 and name is None and len(header) == 2:
            at[place] = place if at[1 - place] < 0 else 1 - at[1 - place]
        if at[place] < 0:
            wanted = repr(name) if name else f"chamada {USUAL[place][0]!r}"
            there, option = ", ".join(map(repr, header)), ("--texto", "--rotulo")[place]
            raise Refusal(f"{path} não tem a coluna {wanted}; há {there}: diga qual com {option}.")
    if at[0] == at[1]:
        raise Refusal(f"o texto e o rótulo não podem vir da mesma coluna, {header[at[0]]!r}.")
    return at


def require_classes(path: Path, labels: Sequence[str], what: str, notes: Sequence[str] = ()) -> None:
    """Refuse what nothing can be learnt from: too little, one class only, or almost as many as examples.

    `notes` are what was noticed while reading, which may be why there is too little.
    """
    counts = Counter(labels)
    if len(labels) < FEWEST:
        told = f"traz poucos exemplos que servem: {len(labels)}; são precisos pelo menos {FEWEST}"
        raise Refusal(" ".join([f"{path} {told}.", *notes]))
    if len(counts) < 2:
        raise Refusal(f"{path} tem uma só {what}, {labels[0]!r}: não há o que distinguir.")
    if len(counts) > len(labels) / FEWEST_A_CLASS:
        told = f"{len(counts)} classes em {len(labels)} exemplos"
        raise Refusal(f"{path} tem {told}: a coluna é mesmo a do rótulo?")


def read_treebank(path: Path) -> list[TaggedSentence]:
    """Sentences with a part of speech for each word, from CoNLL-U."""
    decoded(path)
    if path.read_bytes().startswith(codecs.BOM_UTF8):  # the first line would not be taken for what it is
        raise Refusal(f"{path} começa com uma marca de ordem de bytes: salve-o em UTF-8 sem ela (sem BOM).")
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
