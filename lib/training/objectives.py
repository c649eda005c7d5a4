"""What is predicted: masked words, masked words and the next sentence, or the next word.

An objective holds a model, draws its exercise for a step from a source of text, and returns sums of losses,
one per term, not means: a process that holds a part of the batch can then divide by the count of all.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lib import checks
from lib.corpus import Grammar, next_word, pair_posterior, posterior
from lib.corruption import BERT_CHANNEL, Channel, corrupt, select_spans, select_tokens, select_words
from lib.encoder import Config
from lib.heads import CausalLM, MaskedLM, PairsLM
from lib.losses import IGNORE_INDEX
from lib.pairs import IS_NEXT
from lib.training.data import Batch, Source, generator
from lib.training.shortcuts import hidden_at, tied_table
from lib.training.tied import TiedTable
from lib.vocabulary import MASK, PAD, SEP, SPECIAL_TOKENS

FLOOR_ROWS = 256  # sentences whose exact posteriors are held in memory at a time
# What is hidden whole; spans, as SpanBERT has them, are of words.
UNITS = {
    "tokens": lambda v, ids, rate, g: select_tokens(v.is_ordinary(ids), rate, generator=g),
    "words": lambda v, ids, rate, g: select_words(v.word_ids(ids), v.is_ordinary(ids), rate, generator=g),
    "spans": lambda v, ids, rate, g: select_spans(
        v.is_ordinary(ids), rate, generator=g, word_ids=v.word_ids(ids)
    ),
}


class Objective(nn.Module):
    """What the three have in common. `terms` names the parts of the loss.

    It starts from a configuration, with fresh weights, or goes on from a model of its `kind`.
    """

    kind: type[MaskedLM | CausalLM]
    terms: tuple[str, ...]
    model: MaskedLM | CausalLM
    causal = False
    pooler = False

    def __init__(self, start: Config | MaskedLM | CausalLM) -> None:
        super().__init__()
        if not isinstance(start, Config | self.kind):
            told = f"a Config or a {self.kind.__name__}, got {type(start).__name__}"
            raise TypeError(f"start must be {told}")
        self.model = self.kind(start) if isinstance(start, Config) else start

    def draw(self, source: Source, step: int) -> Batch:
        raise NotImplementedError

    def floors(self, grammar: Grammar, batch: Batch) -> dict[str, Tensor]:
        """What the exact posterior loses at each prediction of the batch, for each term."""
        raise NotImplementedError

    def counts(self, batch: Batch) -> Tensor:
        """How many predictions each term of `forward` sums, (terms,)."""
        return (batch.labels != IGNORE_INDEX).sum().double().reshape(1)

    def zero(self) -> Tensor:
        """Zero, but connected to every weight: a process without a prediction still joins the average."""
        return sum((p.sum() for p in self.parameters()), torch.zeros(())) * 0.0


class Masked(Objective):
    """BERT's first exercise: `rate` of the words pass through `channel`, and are to be told.

    While it trains, it may hide more at first: with `early` = (share, steps) the rate comes down in a line
    from that share to `rate`. Each sentence then teaches more words (Wettig 2023). `units` are what is hidden
    whole: tokens, words (all pieces of one) or spans of words (SpanBERT). Evaluation hides tokens, at `rate`:
    its figures compare with one another, and with the floor.
    """

    kind = MaskedLM
    terms = ("mlm",)
    model: MaskedLM

    def __init__(
        self,
        start: Config | MaskedLM,
        rate: float = 0.15,
        channel: Channel = BERT_CHANNEL,
        early: tuple[float, int] | None = None,
        units: str = "tokens",
    ):
        super().__init__(start)
        self.rate, self.channel, self.early = rate, channel, early
        self.units = checks.one_of("units", units, UNITS)

    def rate_at(self, step: int) -> float:
        """The share of words hidden at a step of training; in evaluation mode, always `rate`."""
        if self.early is None or not self.training:
            return self.rate
        share, steps = self.early
        return self.rate + (share - self.rate) * max(0.0, 1 - step / steps)

    def draw(self, source: Source, step: int) -> Batch:
        return self.corrupted(source.sentences(step), source, step)

    def corrupted(self, ids: Tensor, source: Source, step: int) -> Batch:
        """The sentences as an exercise: some words corrupted, and these as labels."""
        draw, units = generator(source.seed, "mask", step), self.units if self.training else "tokens"
        selected = UNITS[units](source.vocabulary, ids, self.rate_at(step), draw)
        noisy, labels = corrupt(
            ids, selected, source.vocabulary, self.channel, generator=draw, by_span=units == "spans"
        )
        return Batch(noisy, labels, ids != source.vocabulary.pad_id)

    def forward(self, batch: Batch) -> Tensor:
        selected = batch.labels != IGNORE_INDEX
        if not selected.any():
            return self.zero().reshape(1)
        table = tied_table(self.model)
        hidden = hidden_at(self.model.encoder, batch.ids, selected, batch.real, table=table)  # (M, d)
        return self.word_loss(hidden, batch.labels[selected], table).reshape(1)

    def word_loss(self, hidden: Tensor, labels: Tensor, table: TiedTable) -> Tensor:
        head = self.model.head
        return table.loss(head.transform(hidden), head.bias, labels)

    def floors(self, grammar: Grammar, batch: Batch) -> dict[str, Tensor]:
        observed = batch.ids[:, 1:].masked_fill(batch.ids[:, 1:] == SEP, PAD)  # (B, N - 1), words only
        exact = posterior(grammar, observed, channel=self.channel, rate=self.rate)  # (B, N - 1, V)
        return {"mlm": label_surprisal(exact, batch.labels[:, 1:])}


class MaskedPairs(Masked):
    """BERT's two exercises at once: masked words in [CLS] A [SEP] B [SEP], and does B follow A?"""

    kind = PairsLM
    terms = ("mlm", "nsp")
    model: PairsLM
    pooler = True

    def draw(self, source: Source, step: int) -> Batch:
        pairs = source.pairs(step)
        batch = self.corrupted(pairs.ids, source, step)
        return batch._replace(segments=pairs.segment_ids, is_next=pairs.labels)

    def counts(self, batch: Batch) -> Tensor:
        return torch.cat([super().counts(batch), torch.tensor([float(len(batch.ids))]).double()])

    def forward(self, batch: Batch) -> Tensor:
        pooler, is_next = self.model.encoder.pooler, batch.is_next
        assert pooler is not None and is_next is not None  # `__init__` asked for it, and `draw` made it
        selected = batch.labels != IGNORE_INDEX
        wanted = selected.clone()
        wanted[:, 0] = True  # [CLS], which is never masked
        table = tied_table(self.model)
        encoder = self.model.encoder
        hidden = hidden_at(encoder, batch.ids, wanted, batch.real, batch.segments, table=table)  # (M + B, d)
        is_cls = (torch.arange(wanted.shape[1]) == 0).expand(wanted.shape)[wanted]
        scores = self.model.nsp(pooler(hidden[is_cls][:, None]))  # (B, 2)
        nsp = F.cross_entropy(scores, is_next, reduction="sum")
        return torch.stack([self.word_loss(hidden[~is_cls], batch.labels[selected], table), nsp])

    def floors(self, grammar: Grammar, batch: Batch) -> dict[str, Tensor]:
        """The words of A inform those of B through the topic, if B follows: one chance in two."""
        (first, labels_a), (second, labels_b) = sentences_apart(batch)
        words_a, words_b, follows = pair_posterior(grammar, first, second, self.channel, self.rate)
        words = torch.cat([label_surprisal(words_a, labels_a), label_surprisal(words_b, labels_b)])
        return {"mlm": words, "nsp": -torch.where(batch.is_next == IS_NEXT, follows, 1 - follows).log()}


class NextWord(Objective):
    """GPT's exercise: every token after [CLS], [SEP] included, from those on its left."""

    kind = CausalLM
    terms = ("causal",)
    model: CausalLM
    causal = True

    def draw(self, source: Source, step: int) -> Batch:
        ids = source.sentences(step)
        real = ids != source.vocabulary.pad_id
        labels = torch.full_like(ids, IGNORE_INDEX)
        labels[:, :-1] = ids[:, 1:].masked_fill(~real[:, 1:], IGNORE_INDEX)
        return Batch(ids, labels, real)

    def forward(self, batch: Batch) -> Tensor:
        selected = batch.labels != IGNORE_INDEX
        # Padding on the right is in nobody's past: the causal mask alone hides it.
        hidden = self.model.encoder(batch.ids)[selected]  # (M, d)
        logits = self.model.logits(hidden)  # (M, V)
        return F.cross_entropy(logits, batch.labels[selected], reduction="sum").reshape(1)

    def floors(self, grammar: Grammar, batch: Batch) -> dict[str, Tensor]:
        words = batch.ids[:, 1:-1].masked_fill(batch.ids[:, 1:-1] == SEP, PAD)  # (B, N - 2)
        exact = next_word(grammar, words)  # (B, N - 1, V)
        return {"causal": label_surprisal(exact, batch.labels[:, :-1])}


OBJECTIVES: dict[str, type[Objective]] = {"mlm": Masked, "mlm+nsp": MaskedPairs, "causal": NextWord}


def sentences_apart(batch: Batch) -> list[tuple[Tensor, Tensor]]:
    """The ids and labels, (B, N) each, of A and of B in rows [CLS] A [SEP] B [SEP], without the frame."""
    place = torch.arange(batch.ids.shape[1])  # (N,)
    cut = (batch.ids == SEP).byte().argmax(1, keepdim=True)  # (B, 1), the first [SEP]
    is_word = (batch.ids >= len(SPECIAL_TOKENS)) | (batch.ids == MASK)  # (B, N)
    halves = []
    for begin, inside in ((torch.ones_like(cut), place < cut), (cut + 1, place > cut)):
        shifted = place + begin  # (B, N): each sentence moves to the left edge
        at = shifted.clamp(max=len(place) - 1)
        there = (is_word & inside).gather(1, at) & (shifted < len(place))
        ids = batch.ids.gather(1, at).masked_fill(~there, PAD)
        halves.append((ids, batch.labels.gather(1, at).masked_fill(~there, IGNORE_INDEX)))
    return halves


def label_surprisal(exact: Tensor, labels: Tensor) -> Tensor:
    """-log p(label) where there is a label, (M,), from exact distributions (B, N, V)."""
    selected = labels != IGNORE_INDEX
    return -exact[selected].gather(-1, labels[selected][:, None]).squeeze(-1).log()


@torch.no_grad()
def predictions(objective: Objective, ids: Tensor, position: int, top: int = 3) -> list[tuple[int, float]]:
    """The likeliest tokens at one position of a row of ids (N,), with their probabilities.

    A masked model tells the token of that position, a causal one the token after it.
    """
    training = objective.training
    objective.eval()
    best = objective.model(ids[None])[0, position].softmax(-1).topk(top)
    objective.train(training)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
