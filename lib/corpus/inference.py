"""Exact posteriors of hidden words: forward-backward over the automaton of a grammar.

Evidence is a tensor `(B, N, V)`: the likelihood of what is seen at each position, for each word that could
be there. A visible word is one-hot, a hidden one all ones, a corrupted one a column of a noisy channel.
One pass gives the *cavity* of every position, the joint probability of its word and of everything seen at
the OTHER positions; every posterior of this module is a cavity times the evidence of the position itself.

The length is part of what is seen: a bidirectional model sees `[SEP]` at its place. A causal model does not.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from lib import checks
from lib.corpus.grammar import Grammar
from lib.corruption import Channel
from lib.vocabulary import MASK, PAD, SEP, SPECIAL_TOKENS

CHUNK = 128
TINY = torch.finfo(torch.float64).tiny
Sentence = str | Sequence[str] | Tensor


def evidence(grammar: Grammar, observed: Tensor, channel: Channel, rate: float) -> tuple[Tensor, Tensor]:
    """Likelihoods (B, N, V) of what is seen: at a position known to be selected, and at any other.

    Each word is selected with probability `rate`, independently of all others, and then passes the channel.
    The model is not told which visible words were selected, and its loss counts the selected positions only.
    Its output at position i thus matters only when i was selected, and the best one is
    P(w_i | y_1 ... y_N, i selected): the first of these at i, the second at every other position.
    If a visible word cannot have been selected (only [MASK] is left of those that were), its own row is
    one-hot: it is what is seen.
    """
    seen = F.one_hot(observed, len(grammar)).double()  # (B, N, V)
    is_mask = (observed == MASK).unsqueeze(-1)  # (B, N, 1)
    replacement = channel.random / len(grammar.vocabulary.ordinary_ids)
    selected = torch.where(is_mask, channel.mask, channel.keep * seen + replacement)
    unknown = torch.where(is_mask, rate * channel.mask, rate * selected + (1 - rate) * seen)
    if channel.mask == 1:
        selected = torch.where(is_mask, selected, seen)
    return selected, unknown


def posterior(
    grammar: Grammar,
    sentence: Sentence,
    *,
    hidden: Tensor | Sequence[bool] | None = None,
    channel: Channel | None = None,
    rate: float = 0.15,
) -> Tensor:
    """P(word | what is seen) at each position: `(N, V)` for one sentence, `(B, N, V)` for padded rows of ids.

    Without `channel`, `[MASK]` hides a word and so does a True in `hidden` (a word known to be replaced at
    random says nothing either); other words are taken as they are, so their own posterior is one-hot.
    With `channel`, every position was selected with probability `rate` and sent through it, and row i answers
    "what was here, if i was selected?".
    """
    ids, single = _batch(grammar, sentence)
    if hidden is not None:
        hidden = torch.as_tensor(hidden, dtype=torch.bool)
        hidden = hidden.unsqueeze(0) if single else hidden
        if hidden.shape != ids.shape:
            raise ValueError(f"hidden must have shape {tuple(ids.shape)}, got {tuple(hidden.shape)}")
        ids = torch.where(hidden & (ids != PAD), MASK, ids)
    if channel is None:
        result = _normalised(visible_evidence(grammar, ids) * _cavities(grammar, ids))
    else:
        result = channel_posterior(grammar, ids, ids, channel, rate)
    return result[0] if single else result


def channel_posterior(
    grammar: Grammar,
    observed: Tensor,
    own: Tensor,
    channel: Channel,
    rate: float = 0.15,
    topics: Tensor | None = None,
) -> Tensor:
    """P(w_i | `own` seen at i, i selected, `observed` seen at every other position), all `(B, N)` ids.

    With `own` equal to `observed` this is the posterior of a corrupted sentence. With an independent draw it
    asks, in one pass, what every position would be if it had been selected. `topics` as in `messages`.
    """

    result = torch.zeros(*observed.shape, len(grammar), dtype=torch.float64)
    for rows, length in _by_length(observed):
        _, others = evidence(grammar, observed[rows, :length], channel, rate)
        selected, _ = evidence(grammar, own[rows, :length], channel, rate)
        cavity, _ = messages(grammar, others, None if topics is None else topics[rows])
        result[rows, :length] = _normalised(cavity * selected)
    return result


def leave_one_out(grammar: Grammar, sentence: Sentence) -> Tensor:
    """P(word i | all the other words) for each i: the posterior of each word were it the only one hidden."""
    ids, single = _batch(grammar, sentence)
    result = _normalised(_cavities(grammar, ids))
    return result[0] if single else result


def next_word(grammar: Grammar, sentence: Sentence) -> Tensor:
    """P(next | words to the left) for each prefix: `(N+1, V)`, or `(B, N+1, V)` for padded rows of ids.

    Row i is the distribution of word i (row 0 has no left context); `[SEP]` is the end of the sentence.
    """
    ids, single = _batch(grammar, sentence)
    if (ids == MASK).any():
        raise ValueError("sentence must hold words only, got [MASK]")
    result = torch.zeros(len(ids), ids.shape[1] + 1, len(grammar), dtype=torch.float64)
    for rows, length in _by_length(ids):
        result[rows, : length + 1] = _next_word(grammar, ids[rows, :length])
    return result[0] if single else result


def _next_word(grammar: Grammar, ids: Tensor) -> Tensor:
    batch, length = ids.shape
    alpha = initial(grammar).expand(batch, -1).T  # (Q, B)
    rows = []
    for i in range(length + 1):
        arcs = (alpha > 0).any(1)[grammar.arc_source].nonzero().squeeze(1)  # (A_i,)
        steps = alpha[grammar.arc_source[arcs]] * grammar.arc_probability[arcs, None]  # (A_i, B)
        by_class = _scatter(steps, grammar.arc_class[arcs], len(grammar.classes))  # (C, B)
        row = by_class.T @ grammar.emission  # (B, V)
        row[:, SEP] = grammar.node_end @ alpha
        rows.append(row)
        if i < length:
            emitted = grammar.emission[:, ids[:, i]][grammar.arc_class[arcs]]  # (A_i, B)
            alpha = _scatter(steps * emitted, grammar.arc_target[arcs], grammar.node_end.numel())  # (Q, B)
            scale = alpha.sum(0)
            _refuse_impossible(scale == 0)
            alpha = alpha / scale
    return torch.stack(rows, 1)  # (B, N+1, V)


def topic_log_joint(
    grammar: Grammar, sentence: Sentence, channel: Channel | None = None, rate: float = 0.15
) -> Tensor:
    """log P(topic, what is seen, the end): `(T,)`, or `(B, T)` for padded rows of ids. [MASK] is summed out.

    With `channel`, the sentence was corrupted as in `posterior`.
    """
    ids, single = _batch(grammar, sentence)
    result = torch.zeros(len(ids), len(grammar.topics), dtype=torch.float64)
    for rows, length in _by_length(ids):
        seen = ids[rows, :length]
        likely = evidence(grammar, seen, channel, rate)[1] if channel else visible_evidence(grammar, seen)
        result[rows] = _topic_log_joint(grammar, likely)
    return result[0] if single else result


def _topic_log_joint(grammar: Grammar, likelihoods: Tensor) -> Tensor:
    batch, length, _ = likelihoods.shape
    likelihood = likelihoods @ grammar.emission.T  # (B, N, C)
    beta = grammar.node_end[:, None].expand(-1, batch)  # (Q, B)
    log_scale = torch.zeros(batch, dtype=torch.float64)
    for i, arcs in reversed(list(enumerate(_layers(grammar, length)))):
        steps = grammar.arc_probability[arcs, None] * likelihood[:, i].T[grammar.arc_class[arcs]]  # (A_i, B)
        steps = steps * beta[grammar.arc_target[arcs]]
        beta = _scatter(steps, grammar.arc_source[arcs], grammar.node_end.numel())  # (Q, B)
        scale = beta.sum(0).clamp_min(TINY)
        beta, log_scale = beta / scale, log_scale + scale.log()
    topics = beta[: len(grammar.topics)].T  # (B, T)
    return (topics * grammar.topic_prior).log() + log_scale[:, None]


def messages(grammar: Grammar, likelihoods: Tensor, topics: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Cavities `(B, N, V)`, up to a factor per position, and log P(evidence) `(B,)`; all of length N.

    `topics` `(B, T)` takes the place of the grammar's own distribution of topics.
    """
    batch, length, _ = likelihoods.shape
    likelihood = likelihoods @ grammar.emission.T  # (B, N, C)
    layers = _layers(grammar, length)
    if not len(layers[0]):
        raise ValueError(f"sentence: the grammar has no sentence of {length} words")
    alphas = [initial(grammar).expand(batch, -1).T]  # (Q, B)
    if topics is not None:
        alphas[0] = alphas[0].index_copy(0, torch.arange(len(grammar.topics)), topics.T)
    log_total = torch.zeros(batch, dtype=torch.float64)
    for i, arcs in enumerate(layers):
        steps = alphas[-1][grammar.arc_source[arcs]] * grammar.arc_probability[arcs, None]  # (A_i, B)
        steps = steps * likelihood[:, i].T[grammar.arc_class[arcs]]
        alpha = _scatter(steps, grammar.arc_target[arcs], grammar.node_end.numel())  # (Q, B)
        scale = alpha.sum(0)
        _refuse_impossible(scale == 0)
        alphas.append(alpha / scale)
        log_total = log_total + scale.log()
    at_end = grammar.node_end @ alphas[-1]  # (B,)
    _refuse_impossible(at_end == 0)
    cavity = torch.zeros_like(likelihoods)
    beta = grammar.node_end[:, None].expand(-1, batch)  # (Q, B)
    for i in reversed(range(length)):
        arcs = layers[i]
        ahead = beta[grammar.arc_target[arcs]] * grammar.arc_probability[arcs, None]  # (A_i, B)
        both = alphas[i][grammar.arc_source[arcs]] * ahead  # (A_i, B)
        by_class = _scatter(both, grammar.arc_class[arcs], len(grammar.classes))  # (C, B)
        cavity[:, i] = by_class.T @ grammar.emission  # (B, V)
        ahead = ahead * likelihood[:, i].T[grammar.arc_class[arcs]]
        beta = _scatter(ahead, grammar.arc_source[arcs], grammar.node_end.numel())  # (Q, B)
        beta = beta / beta.amax(0).clamp_min(TINY)
    return cavity, log_total + at_end.log()


def visible_evidence(grammar: Grammar, ids: Tensor) -> Tensor:
    """One-hot where a word is seen, ones where `[MASK]` hides it: `(B, N, V)`."""
    seen = F.one_hot(ids, len(grammar)).double()
    return torch.where((ids == MASK).unsqueeze(-1), 1.0, seen)


def _cavities(grammar: Grammar, ids: Tensor) -> Tensor:
    cavity = torch.zeros(*ids.shape, len(grammar), dtype=torch.float64)  # (B, N, V)
    for rows, length in _by_length(ids):
        cavity[rows, :length], _ = messages(grammar, visible_evidence(grammar, ids[rows, :length]))
    return cavity


def _normalised(weights: Tensor) -> Tensor:
    """Rows that sum to 1; rows of zeros, which only padding has, stay zero."""
    return weights / weights.sum(-1, keepdim=True).clamp_min(TINY)


def initial(grammar: Grammar) -> Tensor:
    """How likely a sentence is to start at each node: the topics are the first ones."""
    alpha = torch.zeros(grammar.node_end.numel(), dtype=torch.float64)  # (Q,)
    alpha[: len(grammar.topics)] = grammar.topic_prior
    return alpha


def _scatter(rows: Tensor, index: Tensor, size: int) -> Tensor:
    return torch.zeros(size, rows.shape[1], dtype=rows.dtype).index_add_(0, index, rows)


@lru_cache(maxsize=256)
def _layers(grammar: Grammar, length: int) -> tuple[Tensor, ...]:
    """Arcs that some sentence of this length uses at each position: the others would only add zeros."""
    source, target = grammar.arc_source, grammar.arc_target
    ahead = [grammar.node_end > 0]
    for _ in range(length - 1):
        reach = torch.zeros_like(ahead[-1])
        reach[source[ahead[-1][target]]] = True
        ahead.append(reach)
    behind = initial(grammar) > 0
    layers = []
    for reach in reversed(ahead):
        arcs = (behind[source] & reach[target]).nonzero().squeeze(1)  # (A_i,)
        behind = torch.zeros_like(behind)
        behind[target[arcs]] = True
        layers.append(arcs)
    return tuple(layers)


def _batch(grammar: Grammar, sentence: Sentence) -> tuple[Tensor, bool]:
    if not isinstance(sentence, Tensor):
        return grammar.encode(sentence).unsqueeze(0), True
    if sentence.dim() not in (1, 2) or sentence.dtype != torch.long or sentence.numel() == 0:
        raise ValueError(f"sentence must be ids (N,) or (B, N), got {checks.seen(sentence)}")
    ids = sentence.reshape(-1, sentence.shape[-1])  # (B, N)
    outside = (ids < 0) | (ids >= len(grammar)) | ((ids < len(SPECIAL_TOKENS)) & (ids != PAD) & (ids != MASK))
    if outside.any():
        raise ValueError(f"sentence must hold words, [MASK] and [PAD], got id {int(ids[outside][0])}")
    padding = ids == PAD
    if padding[:, 0].any() or (padding[:, :-1] & ~padding[:, 1:]).any():
        raise ValueError("sentence: [PAD] is allowed only after the last word of a row")
    return ids, sentence.dim() == 1


def _by_length(ids: Tensor) -> Iterator[tuple[Tensor, int]]:
    """The rows of each length in a padded batch, a few at a time so that the work fits in the cache."""
    lengths = (ids != PAD).sum(1)
    for length in lengths.unique().tolist():
        for rows in (lengths == length).nonzero().squeeze(1).split(CHUNK):
            yield rows, length


def _refuse_impossible(impossible: Tensor) -> None:
    if impossible.any():
        raise ValueError("sentence: has probability zero, the grammar never puts these words in this order")
