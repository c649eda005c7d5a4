"""The text of a project: documents of sentences, some to learn from and some to be examined on.

Without a path it is the news of Porttinari, whose documents are articles. Otherwise it is a file, or the .txt
files of a folder: each file is a document where there are many, each paragraph where there are few.
A sentence that comes again is left out, so none stands on both sides; and no document is cut in two.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.commands.console import Refusal
from lib.commands.texts import decoded, files_of, paragraphs_of, read_texts, split
from lib.corpus.porttinari import ATTRIBUTION, corpus_path, read_conllu, split_of

FEWEST_WORDS = 500
MANY_FILES = 20  # from here on a file is a document
HELD_OUT = 0.1
RUN = 8  # words: who copies writes as many in a row, who writes on the same subject seldom does
YEAR = r"(?:1[5-9]|20)\d\d"
PERSONAL = {
    "e-mails": r"[\w.+-]+@[\w-]+\.\w",
    # Two years, as in "1939-1945", are no number to call.
    "telefones": rf"(?<!\d)(?:\(?\d{{2}}\)?[ -])?(?!{YEAR}[ -]{YEAR})9?\d{{4}}[ -]\d{{4}}(?!\d)",
    "CPFs": r"(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)",
    "perfis com @": r"(?<![\w.])@\w+",
    "endereços da rede": r"https?://|www\.",
}
Document = list[str]


@dataclass(frozen=True)
class Text:
    """Documents to learn from and documents held out, with what is known of where they came from."""

    source: str
    licence: str
    training: list[Document]
    held_out: list[Document]
    repeated: int  # sentences that had come before, and were left out

    @property
    def lessons(self) -> Document:
        """The sentences to learn from."""
        return [sentence for document in self.training for sentence in document]

    @property
    def exam(self) -> Document:
        """The sentences held out."""
        return [sentence for document in self.held_out for sentence in document]

    def some_of_the_exam(self, count: int) -> Document:
        """About so many of them, from all over."""
        return self.exam[:: max(1, len(self.exam) // count)][:count]


def read_text(path: str | Path | None = None, source: str = "", licence: str = "") -> Text:
    """The text of a project; a Refusal, in one sentence, if it cannot be used."""
    if path is None:
        named = news()
        parts = [[d for name, d in named.items() if split_of(name) == part] for part in ("train", "dev")]
        return _text(ATTRIBUTION.rpartition(", ")[0], ATTRIBUTION.rpartition(", ")[2], *parts)
    training, held_out = split(documents_of(Path(path)), HELD_OUT)
    return _text(source or str(path), licence or "não declarada", training, held_out)


def news() -> dict[str, Document]:
    """The articles of Porttinari by name, with every sentence that they have."""
    articles: dict[str, Document] = {}
    for sentence in read_conllu(corpus_path()):
        articles.setdefault(sentence.document, []).append(str(sentence))
    return articles


def documents_of(path: Path) -> list[Document]:
    text = read_texts([path], FEWEST_WORDS)  # all of it is checked before any of it is used
    if len(files := files_of(path)) < MANY_FILES:
        return paragraphs_of(text)
    return [[s for paragraph in paragraphs_of(decoded(file)) for s in paragraph] for file in files]


def _text(source: str, licence: str, training: list[Document], held_out: list[Document]) -> Text:
    seen: set[tuple[str, ...]] = set()
    found = sum(map(len, training + held_out))
    training, held_out = ([_new(document, seen) for document in part] for part in (training, held_out))
    kept = [[document for document in part if document] for part in (training, held_out)]
    if not all(kept):
        raise Refusal(f"{source} repete sempre as mesmas frases: sem as repetidas, não sobra prova.")
    return Text(source, licence, *kept, repeated=found - len(seen))


def _new(document: Document, seen: set[tuple[str, ...]]) -> Document:
    """The sentences whose words had not been seen in this order; now they have."""
    fresh = []
    for sentence in document:
        if (words := tuple(words_of(sentence))) not in seen:
            seen.add(words)
            fresh.append(sentence)
    return fresh


def data_card(text: Text) -> dict[str, object]:
    """What a reader must know of the data before she believes a number that rests on them."""
    words = [word for sentence in text.lessons for word in words_of(sentence)]
    counts = Counter(words)
    once = sum(count == 1 for count in counts.values())
    everything = "\n".join(text.lessons + text.exam)
    return {
        "fonte": text.source,
        "licença": text.licence,
        "documentos": f"{len(text.training)} para o treino, {len(text.held_out)} para a prova",
        "frases": f"{len(text.lessons)} para o treino, {len(text.exam)} para a prova",
        "palavras de treino": f"{len(words)}, {len(counts)} diferentes",
        "vistas uma só vez": f"{once / len(counts):.0%} das diferentes",
        "as mais comuns": " ".join(word for word, _ in counts.most_common(12)),
        "frases repetidas": f"{text.repeated}, retiradas",
        "trechos comuns": f"{shared_runs(text.lessons, text.exam):.2%} dos de {RUN} palavras da prova",
        "dados pessoais": ", ".join(f"{n} {what}" for what, n in personal(everything).items()),
    }


def words_of(sentence: str) -> list[str]:
    """Words in lower case, without punctuation."""
    return re.findall(r"[^\W_]+(?:-[^\W_]+)*", sentence.lower())


def shared_runs(training: Iterable[str], held_out: Iterable[str], length: int = RUN) -> float:
    """Share of the runs of `length` words of the held-out sentences that some training sentence has too."""
    known = {run for sentence in training for run in _runs(sentence, length)}
    asked = [run for sentence in held_out for run in _runs(sentence, length)]
    return sum(run in known for run in asked) / max(1, len(asked))


def shared_sentences(text: Text, others: Iterable[str]) -> int:
    """How many others are, word for word, among the sentences to learn from."""
    known = {tuple(words_of(sentence)) for sentence in text.lessons}
    return sum(tuple(words_of(other)) in known for other in others)


def _runs(sentence: str, length: int) -> Sequence[tuple[str, ...]]:
    words = words_of(sentence)
    return [tuple(words[i : i + length]) for i in range(len(words) - length + 1)]


def personal(text: str) -> dict[str, int]:
    """How often the text holds what may identify somebody and has a form; names of people have none."""
    return {what: len(re.findall(form, text)) for what, form in PERSONAL.items()}
