"""Pairs of sentences, as next sentence prediction sees them: exact posteriors of the label and of the words.

Half of the pairs are two sentences of one paragraph, which share their topic t; the others are two
independent draws. For what is seen of a pair (A, B), whole or corrupted,
    P(A, B | next) = sum_t P(t) P(A | t) P(B | t)        P(A, B | not next) = P(A) P(B)
and both together are  sum_t P(t) P(A | t) (P(B | t) + P(B)) / 2:  all that B says about A is a new weight for
each topic. So the words of A have the posterior of a single sentence, under that weight instead of P(t).
"""

import torch
from torch import Tensor

from lib.corpus.entropy import BATCH, Floor, ratio_of_sums, row_entropies
from lib.corpus.grammar import Grammar
from lib.corpus.inference import channel_posterior, topic_log_joint
from lib.corpus.sampling import paragraphs, sample
from lib.corruption import Channel


def next_sentence_posterior(grammar: Grammar, first: Tensor, second: Tensor) -> Tensor:
    """P(second follows first | both), for padded rows of ids: `(B,)`. [MASK] hides a word."""
    return _label_posterior(grammar, topic_log_joint(grammar, first), topic_log_joint(grammar, second))


def pair_posterior(
    grammar: Grammar, first: Tensor, second: Tensor, channel: Channel, rate: float = 0.15
) -> tuple[Tensor, Tensor, Tensor]:
    """Posteriors given a corrupted pair: words of the first `(B, N, V)`, of the second, and P(next) `(B,)`.

    As in `posterior`, row i of a sentence answers "what was here, if i was selected?".
    """
    a = topic_log_joint(grammar, first, channel, rate)  # (B, T)
    b = topic_log_joint(grammar, second, channel, rate)
    words_of_first = channel_posterior(grammar, first, first, channel, rate, _topic_weights(grammar, b))
    words_of_second = channel_posterior(grammar, second, second, channel, rate, _topic_weights(grammar, a))
    return words_of_first, words_of_second, _label_posterior(grammar, a, b)


def next_sentence_floor(grammar: Grammar, pairs: int = 4096, seed: int = 0) -> Floor:
    """Lowest loss of a next-sentence classifier on whole sentences: nats per pair, with a 95% interval."""
    if pairs < 4 or pairs % 2:
        raise ValueError(f"pairs must be an even number of at least 4, got {pairs}")
    follow, strangers = paragraphs(grammar, pairs // 2, 2, seed), sample(grammar, pairs, seed + 1)
    losses = []
    for batch in (follow, strangers):
        for first, second in zip(batch.ids[::2].split(BATCH), batch.ids[1::2].split(BATCH), strict=True):
            p = next_sentence_posterior(grammar, first, second)
            losses.append(row_entropies(torch.stack([p, 1 - p], -1)))
    return ratio_of_sums(torch.cat(losses), torch.ones(pairs, dtype=torch.float64))


def _label_posterior(grammar: Grammar, a: Tensor, b: Tensor) -> Tensor:
    apart = torch.logsumexp(a, -1) + torch.logsumexp(b, -1)
    if not apart.isfinite().all():
        raise ValueError("first, second: a sentence has probability zero under the grammar")
    together = torch.logsumexp(a + b - grammar.topic_prior.log(), -1)
    return torch.sigmoid(together - apart)


def _topic_weights(grammar: Grammar, other: Tensor) -> Tensor:
    """P(t) (P(other | t) + P(other)) / 2, up to a factor per row: `(B, T)` from log P(t, other)."""
    evidence = torch.logsumexp(other, -1, keepdim=True)
    weights = torch.logaddexp(other, grammar.topic_prior.log() + evidence)
    return weights.softmax(-1)
