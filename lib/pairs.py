"""Next sentence prediction, the second exercise of BERT: does B follow A?

`next_sentence_pairs` draws the pairs from documents as BERT does, `MatchedPairs` so that B alone tells
nothing, and `pair_batch` writes them as BERT reads them.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from lib import checks
from lib.vocabulary import Vocabulary, pad, segments

Document = Sequence[Sequence[int]]  # sentences of token ids
IS_NEXT, NOT_NEXT = 0, 1  # as in BERT's own data, and the reverse of what "is next?" suggests


class SentencePair(NamedTuple):
    a: list[int]
    b: list[int]
    label: int  # IS_NEXT or NOT_NEXT


class PairBatch(NamedTuple):
    ids: Tensor  # (B, N): [CLS] A [SEP] B [SEP] [PAD]...
    segment_ids: Tensor  # (B, N): 0 up to the first [SEP], 1 up to the last, 0 at padding
    lengths: Tensor  # (B,)
    labels: Tensor  # (B,)


def next_sentence_pairs(
    documents: Sequence[Document], *, generator: torch.Generator, next_rate: float = 0.5
) -> list[SentencePair]:
    """For each sentence that has a next one: that one (IS_NEXT), or one of another document (NOT_NEXT).

    A document is a list of sentences, a sentence a list of ids. Half of the pairs are true ones on average.
    With a single document a "random" sentence could be the true next, labelled as false: that is refused.
    In documents of many sentences B alone gives hints: only a false one can be an opening (`MatchedPairs`).
    """
    checks.generator(generator)
    checks.probability("next_rate", next_rate)
    documents = [_sentences(document) for document in checks.instance("documents", documents, Sequence)]
    documents = [document for document in documents if document]
    if len(documents) < 2 and next_rate < 1:
        raise ValueError(f"documents must be at least two, for a NOT_NEXT sentence, got {len(documents)}")
    pairs = []
    for d, document in enumerate(documents):
        for a, b in pairwise(document):
            label = IS_NEXT if torch.rand((), generator=generator) < next_rate else NOT_NEXT
            if label == NOT_NEXT:
                other = int(torch.randint(len(documents) - 1, (), generator=generator))
                strangers = documents[other + (other >= d)]
                b = strangers[int(torch.randint(len(strangers), (), generator=generator))]
            pairs.append(SentencePair(list(a), list(b), label))
    return pairs


class MatchedPairs:
    """Pairs of neighbours, or of strangers, in which neither sentence alone hints at the label.

    The documents stand in a circle, each as often as it has pairs of neighbours, the largest at most as often
    as all the others together. A comes from a place drawn uniformly; B from the same place, or from one so
    far round the circle that it is another document. A turned circle is as uniform as it was, so a document
    gives B equally often under both labels, and then any sentence of it that follows another equally often.
    """

    def __init__(self, documents: Sequence[Document]):
        neighbours = sorted((list(pairwise(d)) for d in documents if len(d) > 1), key=len)
        if len(neighbours) < 2:
            raise ValueError("documents must be two or more with two sentences or more, to draw pairs from")
        *others, largest = neighbours
        self.farthest = min(len(largest), sum(map(len, others)))  # places that one document may take
        self.circle = [largest] * self.farthest + [pairs for pairs in others for _ in pairs]

    def draw(self, generator: torch.Generator) -> SentencePair:
        """One pair; the labels are equally likely."""

        def number(stop: int) -> int:
            return int(torch.randint(stop, (), generator=generator))

        label, place, size = number(2), number(len(self.circle)), len(self.circle)
        here = self.circle[place]
        a, b = here[number(len(here))]
        if label == NOT_NEXT:
            turn = self.farthest + number(size - 2 * self.farthest + 1)
            there = self.circle[(place + turn) % size]
            b = there[number(len(there))][1]
        return SentencePair(list(a), list(b), label)


def _sentences(document: Document) -> Document:
    checks.several("documents", document, Sequence, "lists of sentences")
    for sentence in document:
        if isinstance(sentence, str) or not isinstance(sentence, Sequence) or not len(sentence):
            raise ValueError(f"documents must hold sentences of at least one id each, got {sentence!r}")
    return document


def truncate_pair(
    a: Sequence[int], b: Sequence[int], longest: int, *, generator: torch.Generator | None = None
) -> tuple[list[int], list[int]]:
    """Shorten the longer of the two, token by token, until both together have `longest` tokens.

    With a generator a coin says from which end, as in BERT's training data; without one, from the right.
    """
    checks.integer("longest", longest, 0)
    if generator is not None:
        checks.generator(generator)
    a, b = list(a), list(b)
    while len(a) + len(b) > longest:
        longer = a if len(a) > len(b) else b
        front = generator is not None and bool(torch.rand((), generator=generator) < 0.5)
        longer.pop(0 if front else -1)
    return a, b


def pair_batch(
    pairs: Sequence[SentencePair],
    vocabulary: Vocabulary,
    *,
    max_length: int | None = None,
    generator: torch.Generator | None = None,
) -> PairBatch:
    """Write pairs as BERT reads them: [CLS] A [SEP] B [SEP], the last [SEP] too, padded to one length."""
    if max_length is not None:
        checks.integer("max_length", max_length, 5)  # [CLS] A [SEP] B [SEP]
    checks.instance("vocabulary", vocabulary, Vocabulary)
    rows, segment_ids = [], []
    for a, b, label in checks.instance("pairs", pairs, Sequence):
        if not len(a) or not len(b):
            raise ValueError("pairs must hold sentences of at least one token; one of them is empty")
        for i in (*a, *b):
            checks.integer("an id of a pair", i, 0)
        if label not in (IS_NEXT, NOT_NEXT):
            raise ValueError(f"label must be {IS_NEXT} (next) or {NOT_NEXT} (not next), got {label!r}")
        if max_length is not None:
            a, b = truncate_pair(a, b, max_length - 3, generator=generator)
        rows.append(vocabulary.frame(a, b))
        segment_ids.append(torch.tensor(segments(a, b)))
    if not rows:
        raise ValueError("pairs must hold at least one pair, got none")
    ids, real = vocabulary.pad(rows)
    return PairBatch(ids, pad(segment_ids, 0), real.sum(1), torch.tensor([pair.label for pair in pairs]))
