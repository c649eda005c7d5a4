"""Floors: the lowest loss, in nats per predicted token, that any model can reach on a grammar's sentences.

    causal         next word given those to its left; n + 1 tokens a sentence, since the end (`[SEP]`) counts
    bidirectional  one word hidden, chosen uniformly among all words, all others and the length seen
    mlm            each word selected with probability `rate`, then sent through a channel; loss at these

Each is an average over tokens, as a training loss is: expected sum of losses over expected number of
predicted tokens. Where all that a model can see is enumerable the floor is exact. Otherwise sentences and
corruptions are drawn, the entropy of the EXACT posterior is taken at each predicted token, and the ratio of
the sums is given with a 95% interval (central limit theorem; the bias of a ratio is of order 1/sentences, far
below it). Averaging entropies, not log-probabilities of the words drawn, has the same mean and less variance.
"""

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from lib import checks
from lib.corpus.grammar import Grammar
from lib.corpus.inference import (
    TINY,
    channel_posterior,
    evidence,
    initial,
    leave_one_out,
    messages,
    next_word,
)
from lib.corpus.sampling import sample
from lib.corruption import BERT_CHANNEL, Channel, corrupt, select_tokens
from lib.vocabulary import MASK, PAD, SEP, SPECIAL_TOKENS

ENUMERABLE = 200_000
READINGS = 100  # no sentence of a sensible grammar has more readings than this, so counting them is enough
BATCH = 512
Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Floor:
    """Nats per predicted token; `half_width` of the 95% interval (0 if exact), and the sentences drawn."""

    value: float
    half_width: float
    exact: bool
    sentences: int

    def __str__(self) -> str:
        kind = "exact" if self.exact else f"± {self.half_width:.4f}, 95%, {self.sentences} sentences"
        return f"{self.value:.4f} nats ({kind})"


def causal_floor(grammar: Grammar, sentences: int = 4096, seed: int = 0, limit: int = ENUMERABLE) -> Floor:
    """Entropy of a sentence over its expected number of tokens, `[SEP]` included."""
    exact = _sentence_entropy(grammar, limit)
    if exact is not None:
        return Floor(exact / (expected_length(grammar) + 1), 0.0, True, 0)
    return _estimate(grammar, sentences, seed, lambda ids, _: next_word(grammar, ids), ends=1)


def bidirectional_floor(
    grammar: Grammar, sentences: int = 4096, seed: int = 0, limit: int = ENUMERABLE
) -> Floor:
    """Mean entropy of a word given all the others."""
    table = sentence_table(grammar, limit)
    if table is not None:
        ids, probability = table
        total = sum(
            probability[rows] @ row_entropies(leave_one_out(grammar, ids[rows])).sum(1)
            for rows in _batches(ids)
        )
        return Floor(float(total) / expected_length(grammar), 0.0, True, 0)
    return _estimate(grammar, sentences, seed, lambda ids, _: leave_one_out(grammar, ids))


def mlm_floor(
    grammar: Grammar,
    channel: Channel = BERT_CHANNEL,
    rate: float = 0.15,
    sentences: int = 4096,
    seed: int = 0,
    limit: int = ENUMERABLE,
) -> Floor:
    """Mean entropy of a selected word given the corrupted sentence."""
    if not checks.probability("rate", rate) > 0:
        raise ValueError(f"rate must be above 0, or no word is ever selected, got {rate!r}")
    observed = _observations(grammar, channel, limit)
    if observed is not None:
        lost = sum(_observation_losses(grammar, rows, channel, rate) for rows in observed)
        return Floor(lost / expected_length(grammar), 0.0, True, 0)

    # Selections are independent, so position i may be taken as selected while the others are drawn as usual:
    # every position of a sentence then counts, not only the few that a draw selects.
    def posteriors(ids: Tensor, generator: torch.Generator) -> Tensor:
        words = ids != PAD
        selected = select_tokens(words, rate, generator=generator)
        observed, _ = corrupt(ids, selected, grammar.vocabulary, channel, generator=generator)
        own, _ = corrupt(ids, words, grammar.vocabulary, channel, generator=generator)
        return channel_posterior(grammar, observed, own, channel, rate)

    return _estimate(grammar, sentences, seed, posteriors)


def row_entropies(probabilities: Tensor) -> Tensor:
    """Entropy in nats over the last dimension; a row of zeros (padding) has entropy 0."""
    return torch.special.entr(probabilities).sum(-1)


def expected_length(grammar: Grammar) -> float:
    """Exact mean number of words in a sentence."""
    return float(sum(n * p for n, p in enumerate(length_distribution(grammar))))


def length_distribution(grammar: Grammar) -> Tensor:
    """P(a sentence has n words) for n = 0, 1, ..., up to a remaining mass of at most 1e-15."""
    alive = initial(grammar)  # (Q,)
    distribution = []
    while alive.sum() > 1e-15:
        distribution.append(grammar.node_end @ alive)
        steps = alive[grammar.arc_source] * grammar.arc_probability
        alive = torch.zeros_like(alive).index_add_(0, grammar.arc_target, steps)
    return torch.stack(distribution)


def sentence_table(grammar: Grammar, limit: int = ENUMERABLE) -> tuple[Tensor, Tensor] | None:
    """Every sentence (padded ids) and its probability, or None if there are more than `limit`."""
    if _derivations(grammar) > READINGS * limit:
        return None
    prefixes, finished = [((), _start(grammar), 1.0)], []
    while prefixes:
        grown = []
        for words, belief, mass in prefixes:
            for word, child, share in _successors(grammar, belief):
                (finished if word == SEP else grown).append(((*words, word), child, mass * share))
        if len(grown) + len(finished) > limit:
            return None
        prefixes = grown
    width = max(len(words) - 1 for words, _, _ in finished)
    ids = torch.tensor([[*words[:-1], *[PAD] * (width - len(words) + 1)] for words, _, _ in finished])
    return ids, torch.tensor([mass for _, _, mass in finished], dtype=torch.float64)


def _derivations(grammar: Grammar) -> float:
    """In how many ways the automaton can give a sentence; infinite if it has a loop.

    At least the number of sentences, and more if some of them can be read in several ways.
    """
    choices = (grammar.emission > 0).sum(1).double()[grammar.arc_class]  # (A,)
    ways = torch.zeros_like(grammar.node_end)  # (Q,)
    ways[: len(grammar.topics)] = 1
    total = 0.0
    for _ in range(len(ways) + 1):
        total += float(ways[grammar.node_end > 0].sum())
        ways = torch.zeros_like(ways).index_add_(0, grammar.arc_target, ways[grammar.arc_source] * choices)
        if not ways.any():
            return total
    return math.inf


def _estimate(grammar: Grammar, sentences: int, seed: int, posteriors, ends: int = 0) -> Floor:
    """Entropy of the `posteriors` of sampled sentences, per word; `ends` more are told in each of them."""
    generator = torch.Generator().manual_seed(seed)
    ids = sample(grammar, checks.integer("sentences", sentences, 2), generator).ids
    order = _batches(ids)
    losses = [row_entropies(posteriors(ids[rows], generator)).sum(1) for rows in order]
    return ratio_of_sums(torch.cat(losses), (ids[torch.cat(order)] != PAD).sum(1).double() + ends)


def ratio_of_sums(loss: Tensor, count: Tensor) -> Floor:
    """Loss per token from losses and token counts of independent draws, with its 95% interval."""
    value = loss.sum() / count.sum()
    residual = loss - value * count
    half_width = Z_95 * residual.std() / (math.sqrt(len(loss)) * count.mean())
    return Floor(float(value), float(half_width), False, len(loss))


def _batches(ids: Tensor) -> list[Tensor]:
    """Rows sorted by length in blocks, so that a block holds few different lengths."""
    return list(torch.argsort((ids != PAD).sum(1), stable=True).split(BATCH))


def _observations(grammar: Grammar, channel: Channel, limit: int) -> list[Tensor] | None:
    """All that a model may be shown, rows of one length together, or None if that is more than `limit`."""
    lengths = length_distribution(grammar).nonzero().flatten().tolist()
    if channel.random > 0:
        symbols = (MASK, *range(len(SPECIAL_TOKENS), len(grammar)))
        if sum(len(symbols) ** n for n in lengths) > limit:
            return None
        return [torch.tensor(list(itertools.product(symbols, repeat=n))) for n in lengths]
    table = sentence_table(grammar, limit)
    if table is None or len(table[0]) * 2 ** lengths[-1] > limit:
        return None
    ids, seen = table[0], []
    for n in lengths:
        patterns = torch.tensor(list(itertools.product((False, True), repeat=n)))  # (2^n, n)
        sentences = ids[(ids != PAD).sum(1) == n, :n]
        seen.append(torch.where(patterns[:, None], MASK, sentences).flatten(0, 1).unique(dim=0))
    return seen


def _observation_losses(grammar: Grammar, observed: Tensor, channel: Channel, rate: float) -> float:
    """Sum over rows y and positions i of P(y, i selected) H(w_i | y, i selected) / rate."""
    total = 0.0
    for rows in observed.split(BATCH):
        own, others = evidence(grammar, rows, channel, rate)
        cavity, log_evidence = messages(grammar, others)
        scale = log_evidence.exp()[:, None] / (cavity * others).sum(-1)  # (B, N)
        joint = cavity * own * scale[..., None]  # P(w_i, y | i selected), (B, N, V)
        mass = joint.sum(-1, keepdim=True)
        total += float((mass[..., 0] * row_entropies(joint / mass.clamp_min(TINY))).sum())
    return total


# -- the automaton made deterministic: one belief over nodes per distinguishable left context

Belief = tuple[tuple[int, float], ...]


def _start(grammar: Grammar) -> Belief:
    return tuple(enumerate(grammar.topic_prior.tolist()))


def _sentence_entropy(grammar: Grammar, limit: int) -> float | None:
    """Exact entropy of a sentence in nats, by the chain rule over beliefs; None if more than `limit` exist.

    Left contexts with the same belief have the same future, so they are merged; beliefs that differ only by
    rounding are merged too.
    """
    layer, total, visited = {_start(grammar): 1.0}, 0.0, 0
    while layer:
        visited += len(layer)
        if visited > limit:
            return None
        following: dict[Belief, float] = {}
        for belief, mass in layer.items():
            if mass < 1e-15:
                continue
            for word, child, share in _successors(grammar, belief):
                total -= mass * share * math.log(share)
                if word != SEP:
                    following[child] = following.get(child, 0.0) + mass * share
        layer = following
    return total


def _successors(grammar: Grammar, belief: Belief) -> list[tuple[int, Belief, float]]:
    """Each next token, the belief after it, and its probability; `[SEP]` is the end, with an empty belief."""
    outgoing, class_words, node_end = _adjacency(grammar)
    by_word: dict[int, dict[int, float]] = {}
    end = 0.0
    for node, weight in belief:
        end += weight * node_end[node]
        for klass, target, probability in outgoing[node]:
            for word, emission in class_words[klass]:
                targets = by_word.setdefault(word, {})
                targets[target] = targets.get(target, 0.0) + weight * probability * emission
    successors: list[tuple[int, Belief, float]] = [(SEP, (), end)] if end > 0 else []
    for word, targets in by_word.items():
        share = math.fsum(targets.values())
        child = tuple(sorted((node, float(f"{weight / share:.12g}")) for node, weight in targets.items()))
        successors.append((word, child, share))
    return successors


@lru_cache(maxsize=32)
def _adjacency(grammar: Grammar) -> tuple[list[list[tuple[int, int, float]]], list[list], list[float]]:
    """Arcs (class, target, probability) out of each node, words (id, emission) of each class, node_end.

    As Python lists, made once per grammar: walking beliefs touches few arcs at a time.
    """
    outgoing = [[] for _ in range(grammar.node_end.numel())]
    arcs = (grammar.arc_source, grammar.arc_class, grammar.arc_target, grammar.arc_probability)
    for source, *arc in zip(*(column.tolist() for column in arcs), strict=True):
        outgoing[source].append(tuple(arc))
    words = [[(w, float(row[w])) for w in row.nonzero().flatten().tolist()] for row in grammar.emission]
    return outgoing, words, grammar.node_end.tolist()
