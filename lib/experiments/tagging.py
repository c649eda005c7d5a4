"""Part-of-speech tagging of real Portuguese: the tags, two simple bars, and an encoder that reads looks too.

The bars know no context: a word's most frequent tag, and for words never seen the most frequent tag of those
that look like them. The encoder is shown the same looks: BERT's third table of embeddings, which elsewhere
says sentence A or B, here says how the word is written, how it begins and how it ends.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from lib.corpus.porttinari import TaggedSentence
from lib.encoder import Encoder, initialise
from lib.heads import FineTuned, WordHead
from lib.training.fine_tuning import Labelled, fine_tune
from lib.vocabulary import Vocabulary, pad

Sentences = Sequence[TaggedSentence]
OFTEN = 3  # times that a look must occur to be learnt


def tag_names(sentences: Sentences) -> tuple[str, ...]:
    """The tags that occur, sorted: their place is their number."""
    return tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))


# Tables, without context


def most_frequent_tag(training: Sentences, test: Sentences) -> float:
    """Accuracy of the simplest tagger: a word's most frequent tag; for unknown words, the commonest."""
    return table_accuracy(training, test, lambda word: [word.lower(), ""])


def tag_of_the_looks(training: Sentences, test: Sentences) -> float:
    """Accuracy of the same table, in which an unknown word shares a row with those that look like it."""

    def rows(word: str) -> list[str]:
        return [word, *(f"{shape_of(word)} {word[-n:].lower()}" for n in (4, 3, 2, 1)), shape_of(word), ""]

    return table_accuracy(training, test, rows)


def table_accuracy(training: Sentences, test: Sentences, rows: Callable[[str], list[str]]) -> float:
    """Accuracy of the most frequent tag in the first row of a word that training has filled."""
    seen: dict[str, Counter] = {}
    for sentence in training:
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            for row in rows(word):
                seen.setdefault(row, Counter())[tag] += 1
    if not seen:
        raise ValueError("training must hold at least one sentence, got none")
    best = {row: counts.most_common(1)[0][0] for row, counts in seen.items()}
    right = [
        next(best[row] for row in rows(word) if row in best) == tag
        for sentence in test
        for word, tag in zip(sentence.words, sentence.tags, strict=True)
    ]
    return sum(right) / len(right)


def shape_of(word: str) -> str:
    """How a word is written: "Xx" for "Brasil", "X" for "PT", "d,d" for "2,5", "x-x" for "vice-campeã"."""
    kinds = ["X" if c.isupper() else "d" if c.isdigit() else "x" if c.isalpha() else c for c in word]
    return "".join(kind for kind, before in zip(kinds, ["", *kinds], strict=False) if kind != before)


# The encoder's own


class Looks:
    """What a word looks like: shape, first letters, last one to four; those that training shows often."""

    def __init__(self, training: Sentences):
        counts = Counter(look for sentence in training for word in sentence.words for look in self.of(word))
        frequent = sorted(look for look, count in counts.items() if count >= OFTEN)
        self.numbers = {look: i for i, look in enumerate(frequent, 1)}
        self.combined: dict[tuple[int, ...], int] = {
            (0,) * len(self.of("")): 0
        }  # the looks of one word -> its number

    @staticmethod
    def of(word: str) -> list[str]:
        begins, ends = f"3- {word[:3].lower()}", (f"-{n} {word[-n:].lower()}" for n in (1, 2, 3, 4))
        return [shape_of(word), begins, *ends]

    def number(self, word: str) -> int:
        looks = tuple(self.numbers.get(look, 0) for look in self.of(word))
        return self.combined.setdefault(looks, len(self.combined))

    def shown(self, sentences: Sentences, examples: Labelled) -> Labelled:
        """The examples with the number of each word's looks at its pieces, where segments stand elsewhere."""
        rows = pad([torch.tensor([0, *map(self.number, s.words), 0]) for s in sentences], 0)  # by word
        assert examples.words is not None  # `tagged` counts them
        return examples._replace(segments=rows.gather(1, examples.words.clamp(min=0)))


class LookTable(nn.Embedding):
    """The third table of the embeddings: a vector for every look, and for a word the sum of those it has."""

    def __init__(self, looks: Looks, d: int):
        super().__init__(len(looks.numbers) + 1, d, padding_idx=0)
        self.combined: Tensor
        self.register_buffer("combined", torch.tensor(list(looks.combined)))  # (words that look alike, 6)
        self.apply(initialise)

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(self.combined[input]).sum(-2)  # (B, N) -> (B, N, 6, d) -> (B, N, d)


def fine_tune_tagger(
    encoder: Encoder,
    looks: Looks,
    lessons: Labelled,
    labels: int,
    vocabulary: Vocabulary,
    *,
    epochs: int = 6,
    seed: int = 0,
) -> FineTuned:
    """An encoder without segments becomes a tagger of words; the settings were chosen on the dev part."""
    encoder.config = replace(encoder.config, segments=len(looks.combined))
    encoder.embeddings.segment = LookTable(looks, encoder.config.d)
    head = WordHead(encoder.config, labels)
    how = {"epochs": epochs, "batch": 8, "lr": 1e-3, "hide": 0.2}
    return fine_tune(encoder, head, lessons, vocabulary=vocabulary, seed=seed, **how)
