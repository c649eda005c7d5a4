"""Where batches come from. Every batch is a pure function of the seed and of the number of the step.

So the position in the data and the state of every random draw ARE the pair (seed, step): a run that was
killed goes on exactly where it stopped, evaluating in between disturbs nothing, and every process of a
group can draw the whole batch and keep its own rows of it, without a message.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lib import checks
from lib.corpus import Grammar, paragraphs, sample
from lib.corpus.entropy import length_distribution
from lib.pairs import (
    Document,
    MatchedPairs,
    PairBatch,
    SentencePair,
    next_sentence_pairs,
    pair_batch,
    truncate_pair,
)
from lib.vocabulary import PAD, Vocabulary, pad

CHUNK = 16  # batches sampled from a grammar at a time, because one call for many sentences is cheaper


def generator(seed: int, *place: int | str) -> torch.Generator:
    """A generator for one purpose and place of a run, e.g. `generator(0, "order", epoch)`."""
    digest = hashlib.sha256("/".join(map(str, (seed, *place))).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


def seed_dropout(seed: int, *place: int | str) -> None:
    """Make what dropout draws next, from the global generators, depend on this place of a run alone.

    As `torch.manual_seed`, which writes down the stack of calls for each kind of device that is absent.
    """
    value = generator(seed, "dropout", *place).initial_seed()
    torch.default_generator.manual_seed(value)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(value)


class Batch(NamedTuple):
    """What one step reads: `labels` hold the token to predict, IGNORE_INDEX where there is none."""

    ids: Tensor  # (B, N)
    labels: Tensor  # (B, N)
    real: Tensor  # (B, N), False at padding
    segments: Tensor | None = None  # (B, N)
    is_next: Tensor | None = None  # (B,), the label of a pair of sentences

    def share(self, rank: int, world: int) -> "Batch":
        """The rows of one process among `world`: all of them together are the batch."""
        return self.rows(slice(rank, None, world))

    def rows(self, at: slice) -> "Batch":
        """Some of the rows."""
        return self._replace(**{name: x[at] for name, x in self._asdict().items() if x is not None})


class GrammarSource:
    """Fresh sentences of a grammar at every step: no sentence list, no epochs, nothing to overfit."""

    def __init__(self, grammar: Grammar, batch: int, seed: int = 0):
        self.grammar, self.batch, self.seed = grammar, checks.integer("batch", batch, 1), seed
        self.vocabulary = grammar.vocabulary
        self.max_length = len(length_distribution(grammar)) + 1  # the longest sentence, [CLS] and [SEP]
        self._chunk: tuple[int, Tensor] = (-1, torch.empty(0))

    def sentences(self, step: int) -> Tensor:
        """(B, N) rows [CLS] ... [SEP], padded."""
        chunk, place = divmod(step, CHUNK)
        if self._chunk[0] != chunk:
            drawn = sample(self.grammar, CHUNK * self.batch, generator(self.seed, "sentences", chunk)).ids
            self._chunk = chunk, self.vocabulary.frame_rows(drawn)
        return self.vocabulary.trim(self._chunk[1][place * self.batch : (place + 1) * self.batch])

    def pairs(self, step: int) -> PairBatch:
        """[CLS] A [SEP] B [SEP]: two sentences of one paragraph, or of two."""
        draw = generator(self.seed, "pairs", step)
        seed = int(torch.randint(2**62, (), generator=draw))
        drawn = paragraphs(self.grammar, max(2, self.batch), 2, seed)
        sentences = [[int(i) for i in row if i != PAD] for row in drawn.ids]
        documents = list(zip(sentences[::2], sentences[1::2], strict=True))
        pairs = next_sentence_pairs(documents, generator=draw)[: self.batch]
        return pair_batch(pairs, self.vocabulary)


class TextSource:
    """Blocks of a tokenised text, every one once an epoch, in an order that the seed and the epoch decide."""

    def __init__(
        self,
        documents: Sequence[Document],
        vocabulary: Vocabulary,
        batch: int,
        seed: int = 0,
        max_length: int = 64,
    ):
        self.batch, self.seed = checks.integer("batch", batch, 1), seed
        self.vocabulary, self.max_length = vocabulary, max_length
        self.documents = [[s for s in document if len(s)] for document in documents]
        blocks = fill_blocks(self.documents, max_length - 2, vocabulary.pad_id)
        self.blocks = vocabulary.frame_rows(blocks)  # (blocks, N)
        self._order: tuple[int, Tensor] = (-1, torch.empty(0))
        self._matched: MatchedPairs | None = None

    def sentences(self, step: int) -> Tensor:
        """(B, N) rows [CLS] ... [SEP], padded."""
        rows = self.blocks[[self._place(i) for i in range(step * self.batch, (step + 1) * self.batch)]]
        return self.vocabulary.trim(rows)

    def pairs(self, step: int) -> PairBatch:
        """[CLS] A [SEP] B [SEP]: neighbours in a document, or sentences of two documents.

        Each gets half of the row: if only the longer one were cut, the length of B would tell that of A.
        """
        draw, half = generator(self.seed, "pairs", step), (self.max_length - 3) // 2
        if self._matched is None:
            self._matched = MatchedPairs(self.documents)
        pairs = []
        for _ in range(self.batch):
            a, b, label = self._matched.draw(draw)
            a, b = (truncate_pair(s, (), half, generator=draw)[0] for s in (a, b))
            pairs.append(SentencePair(a, b, label))
        return pair_batch(pairs, self.vocabulary)

    def _place(self, i: int) -> int:
        """Which block is the i-th to be read, counting through all epochs."""
        epoch, position = divmod(i, len(self.blocks))
        if self._order[0] != epoch:
            draw = generator(self.seed, "order", epoch)
            self._order = epoch, torch.randperm(len(self.blocks), generator=draw)
        return int(self._order[1][position])


Source = GrammarSource | TextSource


def fill_blocks(documents: Sequence[Document], size: int, pad_id: int = PAD) -> Tensor:
    """Neighbouring sentences of a document laid end to end in rows of at most `size` tokens, (blocks, N).

    A sentence that does not fit into what is left opens a new row; one longer than a row is cut.
    """
    checks.integer("size", size, 1)
    blocks: list[list[int]] = []
    for document in documents:
        blocks.append([])
        for sentence in document:
            for i in range(0, len(sentence), size):
                piece = sentence[i : i + size]
                if len(blocks[-1]) + len(piece) > size:
                    blocks.append([])
                blocks[-1].extend(piece)
    rows = [torch.tensor(block) for block in blocks if block]
    if not rows:
        raise ValueError("documents hold no token at all: there is nothing to train on")
    return pad(rows, pad_id)
