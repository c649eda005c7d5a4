"""Real Brazilian Portuguese: a treebank of the package `dante-corpora`, read straight from CoNLL-U.

Porttinari-base (Pardo et al., 2021; Duran et al., 2023) is news from Folha de São Paulo with universal parts
of speech, CC BY 4.0 in Universal Dependencies.

Words  Universal Dependencies take contractions apart (`de a`). Most sentences of the package keep the written
       form, and it is used; the others lost it, and the rules of the language give it back (they agree with
       the written form in 98% of the sentences that have both; `em um` for `num` is the usual difference).
       A contraction has the tags of its parts: `da` is `ADP+DET`.
Split  By document, so that no article is on both sides: 80% train, 10% dev, 10% test by the CRC-32 of the
       document's name. A sentence that occurs more than once is kept the first time only.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lib import checks
from lib.files import package_folder

SPLITS = ("train", "dev", "test")
OTHERS = ("petrogold", "dantestocks", "danteshots")  # academic prose, and two of tweets
ATTRIBUTION = "Porttinari-base (Pardo et al., 2021; Duran et al., 2023), CC BY 4.0"


@dataclass(frozen=True)
class TaggedSentence:
    """Written words with their parts of speech; `document` decides the split."""

    name: str
    document: str
    words: tuple[str, ...]
    tags: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.words)


def load(split: str) -> tuple[TaggedSentence, ...]:
    """The sentences of one split, in the order of the corpus."""
    checks.one_of("split", split, SPLITS)
    return tuple(sentence for sentence in _corpus() if split_of(sentence.document) == split)


def split_of(document: str) -> str:
    """The split of a document, from its name alone."""
    bucket = zlib.crc32(document.encode()) % 10
    return "dev" if bucket == 8 else "test" if bucket == 9 else "train"


@cache
def _corpus() -> tuple[TaggedSentence, ...]:
    seen: dict[tuple[str, ...], TaggedSentence] = {}
    for sentence in read_conllu(corpus_path()):
        seen.setdefault(sentence.words, sentence)
    return tuple(seen.values())


def other_text(corpus: str) -> tuple[str, ...]:
    """The sentences of another corpus of the package, to train on; their terms are not known: print none."""
    folder, mark = corpus_path().parents[1] / checks.one_of("corpus", corpus, OTHERS), "# text = "
    lines = (folder / "annotated.conllu").read_text(encoding="utf-8").split("\n")
    return tuple(line.removeprefix(mark) for line in lines if line.startswith(mark))


def corpus_path() -> Path:
    """Where the installed package keeps the corpus. The package itself is never imported."""
    return package_folder("dante", "dante-corpora==2.0.5") / "data" / "porttinari" / "annotated.conllu"


def read_conllu(path: str | Path) -> Iterator[TaggedSentence]:
    """Every sentence of a CoNLL-U file, with contractions put together again."""
    name, rows = "", []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("# sent_id = "):
                name = line.removeprefix("# sent_id = ")
            elif line and not line.startswith("#"):
                columns = line.split("\t")
                if len(columns) != 10:
                    raise ValueError(f"{path} must have 10 columns, got {len(columns)} in line {number}")
                rows.append(columns)
            elif not line and rows:
                yield _sentence(name, rows)
                name, rows = "", []
    if rows:
        yield _sentence(name, rows)


def _sentence(name: str, rows: list[list[str]]) -> TaggedSentence:
    ranges = [row for row in rows if "-" in row[0]]
    parts = [(int(row[0]), row[1], row[3]) for row in rows if row[0].isdigit()]
    pairs = _as_written(ranges, parts) if ranges else _contracted([(word, tag) for _, word, tag in parts])
    words, tags = zip(*pairs, strict=True)
    document = name.partition("_SENT")[0]  # FOLHA_DOC000001 of FOLHA_DOC000001_SENT003
    return TaggedSentence(name, document, words, tags)


def _as_written(ranges: list[list[str]], parts: list[tuple[int, str, str]]) -> list[tuple[str, str]]:
    """Words with the written form of each range of parts, e.g. `3-4 da`."""
    written = {}
    for row in ranges:
        first, last = map(int, row[0].split("-"))
        written[first] = last, row[1]
    pairs, i = [], 0
    while i < len(parts):
        number, word, _ = parts[i]
        last, form = written.get(number, (number, word))
        inside = parts[i : i + last - number + 1]
        pairs.append((form, "+".join(tag for _, _, tag in inside)))
        i += len(inside)
    return pairs


def _contractions() -> dict[tuple[str, str], str]:
    """(preposition, next word) to the written form."""
    articles = ("o", "a", "os", "as")
    pointing = tuple(f"{stem}{end}" for stem in ("est", "ess", "aquel") for end in ("e", "a", "es", "as"))
    others = ("ele", "ela", "eles", "elas", "isto", "isso", "aquilo")
    table = {}
    for word in (*articles, *pointing, *others, "aqui", "aí", "ali"):
        table["de", word] = "d" + word
        if word not in ("aqui", "aí", "ali"):
            table["em", word] = "n" + word
    for word in articles:
        table["por", word] = "pel" + word
        table["a", word] = "à" + word[1:] if word[0] == "a" else "a" + word
    for word in (*pointing[8:], "aquilo"):
        table["a", word] = "à" + word[1:]
    return table | {("com", "mim"): "comigo", ("com", "si"): "consigo", ("com", "nós"): "conosco"}


CONTRACTIONS = _contractions()


def _contracted(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join prepositions and what follows by rule, for sentences that lost their written forms."""
    pairs, i = [], 0
    while i < len(parts):
        form = _contraction(parts[i : i + 3])
        pairs.append((form, f"{parts[i][1]}+{parts[i + 1][1]}") if form else parts[i])
        i += 2 if form else 1
    return pairs


def _contraction(parts: list[tuple[str, str]]) -> str | None:
    if len(parts) < 2 or parts[0][1] != "ADP" or parts[1][1] not in ("DET", "PRON", "ADV"):
        return None
    (first, _), (second, tag) = parts[:2]
    form = CONTRACTIONS.get((first.lower(), second.lower()))
    # "de o ver": a pronoun before its verb stays apart. "do que", "dos que": here it does not.
    clitic = tag == "PRON" and second in ("o", "a", "os", "as")
    if form is None or (clitic and (len(parts) < 3 or parts[2][1] in ("VERB", "AUX"))):
        return None
    return form.capitalize() if first[0].isupper() else form
