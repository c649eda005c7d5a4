"""Corruption: how a sentence becomes an exercise for a masked language model.

Two questions, kept apart. *Where?* `select_tokens`, `select_words` and `select_spans` return a boolean
tensor, True at the positions that the model will have to predict. *What happens there?* A `Channel` says,
80/10/10 in BERT, and `corrupt` applies it, with labels at the selected positions and nowhere else.
`mask_tokens`, BERT's own way, asks both in one call, for ids of shape (..., N). Whole words go on by the
channel token by token, spans in one draw each: `corrupt(..., by_span=True)`.
Special tokens, padding among them, are never selected and never drawn as a random replacement.

Every draw comes from the `torch.Generator` passed in: same seed, same corruption.

>>> vocabulary = Vocabulary.of_size(10)
>>> ids = torch.tensor([[2, 7, 5, 9, 6, 3, 0]])  # [CLS] four words [SEP] [PAD]
>>> noisy, labels = mask_tokens(ids, vocabulary, rate=0.5, generator=torch.Generator().manual_seed(1))
>>> int((labels != -100)[:, [0, 5, 6]].sum())  # at [CLS], [SEP] and [PAD]
0
>>> seen = torch.tensor([4, 7, 5])  # instead of word 7: [MASK], itself, another
>>> [round(p, 3) for p in BERT_CHANNEL.likelihood(seen, torch.tensor(7), vocabulary).tolist()]
[0.8, 0.12, 0.02]
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from lib import checks
from lib.losses import IGNORE_INDEX
from lib.vocabulary import Vocabulary

SPAN_P, LONGEST_SPAN = 0.2, 10  # SpanBERT's


@dataclass(frozen=True)
class Channel:
    """What happens at a selected position, as probabilities: [MASK], a random word, or the word itself.

    The random word is uniform over the ordinary tokens, and it may be the original again (so it is
    in BERT's code). With W words a selected word is thus really unchanged with probability keep + random/W.
    """

    mask: float = 0.8
    random: float = 0.1
    keep: float = 0.1

    def __post_init__(self):
        shares = (self.mask, self.random, self.keep)
        for share in shares:
            checks.probability("mask, random and keep", share)
        if abs(sum(shares) - 1) > 1e-9:
            raise ValueError(f"mask, random and keep must be probabilities that sum to 1, got {shares}")

    def likelihood(
        self, observed: Tensor, original: Tensor, vocabulary: Vocabulary, rate: float = 1.0
    ) -> Tensor:
        """P(observed id | original word), exactly, in float64; the two ids broadcast.

        `rate` is the probability that the position was selected: 1 where a label says so; 0.15 at any
        position of a corrupted sentence, as far as its reader knows.
        """
        checks.probability("rate", rate)
        original, observed = checks.tensor("original", original), checks.tensor("observed", observed)
        if not _ordinary(original.reshape(-1), vocabulary).all():
            raise ValueError("original must hold words only: special tokens do not pass through the channel")
        is_word = vocabulary.is_ordinary(observed.reshape(-1)).view(observed.shape)
        same, masked = observed == original, observed == vocabulary.mask_id
        by_chance = self.random / len(vocabulary.ordinary_ids)
        selected = self.mask * masked.double() + by_chance * is_word.double() + self.keep * same.double()
        return rate * selected + (1 - rate) * same.double()


BERT_CHANNEL = Channel()
MASK_ONLY = Channel(mask=1.0, random=0.0, keep=0.0)


class Corrupted(NamedTuple):
    ids: Tensor  # what the model reads
    labels: Tensor  # the original ids where selected, `ignore_index` elsewhere


# Where


def select_tokens(
    maskable: Tensor, rate: float = 0.15, *, generator: torch.Generator, selection: str = "bernoulli"
) -> Tensor:
    """Select positions of `maskable` (..., N) one by one.

    "bernoulli" tosses one coin per position, so a short sentence may get none (RoBERTa and transformers'
    collator). "exact" takes max(1, round(rate * n)) of a row's n maskable positions (BERT's way; its code
    counts [CLS] and [SEP] in n, ours does not).
    """
    _check_selection(maskable, rate, generator, selection)
    u = torch.rand(maskable.shape, generator=generator, dtype=torch.float64)
    if selection == "bernoulli":
        return maskable & (u < rate)
    # The k smallest draws of a row are a uniform choice of k positions; the rest are pushed beyond 1.
    rank = torch.where(maskable, u, 2.0).argsort(-1).argsort(-1)  # (..., N)
    return maskable & (rank < _budget(maskable, rate)[..., None])


def select_words(
    word_ids: Tensor,
    maskable: Tensor,
    rate: float = 0.15,
    *,
    generator: torch.Generator,
    selection: str = "bernoulli",
) -> Tensor:
    """Select whole words: all subwords of a word, or none of them.

    Neighbours with the same `word_ids` (..., N) form a word; negative means no word ([CLS], padding).
    "bernoulli" tosses one coin per word. "exact" shuffles the words and takes each that still fits into
    max(1, round(rate * n)) tokens; the first is taken even if it does not, so that no row is left without.
    """
    _check_selection(maskable, rate, generator, selection)
    word_ids = _words_of(word_ids, maskable)
    maskable = word_ids >= 0
    word = _runs(word_ids)  # (..., N) 0 1 1 2 ...
    if selection == "bernoulli":
        u = torch.rand(maskable.shape, generator=generator, dtype=torch.float64)
        return maskable & (u.gather(-1, word) < rate)
    selected = []
    for words_of_row, allowed, left in _rows(word, maskable, rate):
        sizes = Counter(w for w, ok in zip(words_of_row, allowed, strict=True) if ok)
        words, chosen = list(sizes), set()
        for k in torch.randperm(len(words), generator=generator).tolist():
            if left > 0 and (sizes[words[k]] <= left or not chosen):
                chosen.add(words[k])
                left -= sizes[words[k]]
        selected.append([w in chosen for w in words_of_row])
    return torch.tensor(selected, dtype=torch.bool).view(maskable.shape)


def span_lengths(p: float = SPAN_P, longest: int = LONGEST_SPAN) -> Tensor:
    """P(length = 1..longest) of SpanBERT: geometric, cut at `longest` and normalised again (mean 3.8)."""
    if checks.probability("p", p) == 0:
        raise ValueError("p must be above 0: with p = 0 a span never ends")
    checks.integer("longest", longest, 1)
    weights = p * (1 - p) ** torch.arange(longest, dtype=torch.float64)
    return weights / weights.sum()


def select_spans(
    maskable: Tensor,
    rate: float = 0.15,
    *,
    generator: torch.Generator,
    word_ids: Tensor | None = None,
    p: float = SPAN_P,
    longest: int = LONGEST_SPAN,
) -> Tensor:
    """Select spans of neighbouring words until max(1, round(rate * n)) tokens are selected (SpanBERT).

    A span starts at the word of a random token that is still free and runs to the right for a random number
    of words, or until the sentence or the budget ends; spans that meet become one. The budget cuts the last
    span short, inside a word if need be, as SpanBERT's code does. Without `word_ids` each token is a word.
    """
    _check_selection(maskable, rate, generator, "exact")
    lengths = span_lengths(p, longest)
    starts = torch.ones_like(maskable)
    if word_ids is not None:
        word_ids = _words_of(word_ids, maskable)
        maskable, starts = word_ids >= 0, _run_starts(word_ids)
    selected = []
    for start, allowed, budget in _rows(starts, maskable, rate):
        taken = [False] * len(allowed)
        while (left := budget - sum(taken)) > 0:
            free = [i for i, ok in enumerate(allowed) if ok and not taken[i]]
            i = free[int(torch.randint(len(free), (), generator=generator))]
            words = 1 + int(torch.multinomial(lengths, 1, generator=generator))
            _take_span(taken, allowed, start, i, words, left)
        selected.append(taken)
    return torch.tensor(selected, dtype=torch.bool).view(maskable.shape)


def _rows(x: Tensor, maskable: Tensor, rate: float) -> Iterator[tuple[list, list[bool], int]]:
    """For each sentence: its row of `x`, where something may be selected, and how many tokens to select."""
    if n := maskable.shape[-1]:
        columns = (x.reshape(-1, n), maskable.reshape(-1, n), _budget(maskable, rate).reshape(-1))
        yield from zip(*(column.tolist() for column in columns), strict=True)


def _take_span(
    taken: list[bool], allowed: list[bool], start: list[bool], i: int, words: int, left: int
) -> None:
    """Mark `words` words from the one that holds position i, at most `left` new tokens."""
    while not start[i]:
        i -= 1
    while i < len(taken) and allowed[i] and left > 0:
        words -= start[i]
        if words < 0:
            return
        left -= not taken[i]
        taken[i] = True
        i += 1


# What happens there


def corrupt(
    ids: Tensor,
    selected: Tensor,
    vocabulary: Vocabulary,
    channel: Channel = BERT_CHANNEL,
    *,
    generator: torch.Generator,
    by_span: bool = False,
    ignore_index: int = IGNORE_INDEX,
) -> Corrupted:
    """Send the selected positions of `ids` through the channel. `ids` is left as it was.

    With `by_span` a run of selected neighbours shares one decision: all [MASK], all random or all kept.
    """
    checks.generator(generator)
    checks.instance("channel", channel, Channel)
    checks.integer("ignore_index", ignore_index)
    ordinary = _ordinary(ids, vocabulary)
    if (checks.tensor("selected", selected, checks.BOOLEAN, ids.shape) & ~ordinary).any():
        raise ValueError("selected is True at a special token; only words may be corrupted")
    # One draw decides among the three. With two (10% random; of the rest, 10% kept) it would be 81/10/9.
    u = torch.rand(ids.shape, generator=generator, dtype=torch.float64)
    if by_span:
        u = u.gather(-1, _runs(selected))
    drawn = torch.randint(len(vocabulary.ordinary_ids), ids.shape, generator=generator)
    word = vocabulary.ordinary_ids[drawn].to(ids.dtype)
    noisy = torch.where(u < channel.mask, vocabulary.mask_id, torch.where(u < 1 - channel.keep, word, ids))
    return Corrupted(torch.where(selected, noisy, ids), torch.where(selected, ids, ignore_index))


def mask_tokens(
    ids: Tensor,
    vocabulary: Vocabulary,
    *,
    generator: torch.Generator,
    rate: float = 0.15,
    channel: Channel = BERT_CHANNEL,
    selection: str = "bernoulli",
) -> Corrupted:
    """Masked language modelling as in BERT: tokens selected one by one, then the channel."""
    selected = select_tokens(_ordinary(ids, vocabulary), rate, generator=generator, selection=selection)
    return corrupt(ids, selected, vocabulary, channel, generator=generator)


def epoch_generator(seed: int, epoch: int, copies: int | None = None) -> torch.Generator:
    """The generator for corrupting the whole data set, in its own order, in this epoch.

    Dynamic masking (RoBERTa), `copies=None`: every epoch is corrupted anew. Static masking (BERT, with
    `copies=10`): the corruption was drawn that many times beforehand, and epochs go round the copies.
    """
    checks.integer("seed", seed, 0)
    checks.integer("epoch", epoch, 0)
    copy = epoch if copies is None else epoch % checks.integer("copies", copies, 1)
    # A prime far above any number of epochs keeps (seed, epoch) and (seed + 1, epoch - 1) apart.
    return torch.Generator().manual_seed((seed * 1_000_003 + copy) % 2**63)  # what torch takes as a seed


def _ordinary(ids: Tensor, vocabulary: Vocabulary) -> Tensor:
    return checks.instance("vocabulary", vocabulary, Vocabulary).is_ordinary(ids)


def _budget(maskable: Tensor, rate: float) -> Tensor:
    """How many positions of each row to select: max(1, round(rate * n)), but 0 of 0, and 0 at rate 0."""
    n = maskable.sum(-1)
    return (n.double() * rate).round().long().clamp(min=1 if rate > 0 else 0).minimum(n)


def _run_starts(x: Tensor) -> Tensor:
    """True where a new run of equal neighbours begins along the last axis."""
    starts = torch.ones_like(x, dtype=torch.bool)
    starts[..., 1:] = x[..., 1:] != x[..., :-1]
    return starts


def _runs(x: Tensor) -> Tensor:
    """Number the runs of equal neighbours along the last axis: 5 5 2 5 becomes 0 0 1 2."""
    return _run_starts(x).cumsum(-1) - 1


def _words_of(word_ids: Tensor, maskable: Tensor) -> Tensor:
    """`word_ids` with -1 wherever nothing may be selected, so that no word reaches across a special token."""
    checks.tensor("word_ids", word_ids, checks.INTEGERS, maskable.shape)
    return torch.where(maskable, word_ids, -1).clamp(min=-1)


def _check_selection(maskable: Tensor, rate: float, generator: torch.Generator, selection: str) -> None:
    checks.generator(generator)
    checks.probability("rate", rate)
    checks.one_of("selection", selection, ("bernoulli", "exact"))
    checks.tensor("maskable", maskable, checks.BOOLEAN, "(..., N)")
