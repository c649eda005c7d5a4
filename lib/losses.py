"""Losses: how surprised a model is by the right answer, in nats.

From logits and labels, as a model is trained: `surprisal` is -log p(label) at each selected position,
`cross_entropy` its mean, `perplexity` the exponential of that mean, and `pseudo_perplexity` the same for
a masked language model, which has no left-to-right probability. Positions whose label is `ignore_index`
are not selected: they enter neither the sum nor the count, and their logits get a gradient of exactly zero.

Between two distributions, as the theory is written: `entropy`, `cross_entropy_of` and `kl`, tied by
H(p, q) = H(p) + KL(p || q).

Infinity has a meaning here and is returned: a logit of -inf is a probability of 0, and a label of
probability 0 costs +inf. NaN has none: whatever would lead to it is an error.

>>> logits = torch.tensor([[2.0, 1.0, 0.1], [0.0, 0.0, 0.0]])
>>> round(cross_entropy(logits, torch.tensor([0, 2])).item(), 4)
0.7578
>>> round(perplexity(to_nats(3.0)), 6)
8.0
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar, overload

import torch
from torch import Tensor

from lib import checks

IGNORE_INDEX = -100  # PyTorch's default: a label that no vocabulary can hold
Measure = TypeVar("Measure", float, Tensor)  # a number gives a number, a tensor a tensor


def surprisal(logits: Tensor, labels: Tensor, ignore_index: int = IGNORE_INDEX) -> Tensor:
    """-log p(label) in nats at each selected position, in reading order, as a vector of M numbers.

    `logits` is (..., V) and `labels` (...) of integers. Half precision is computed in float32.
    """
    checks.logits_and_labels(logits, labels, ignore_index)
    selected = labels != ignore_index
    x = logits[selected]  # (M, V)
    x = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    y = labels[selected]  # (M,)
    # log p(y) = x_y - log(sum(exp(x))), and a shift of all logits cancels in it. Shifting by the maximum
    # makes the largest term exp(0) = 1, where exp(x) itself overflows from 89 on in float32.
    x = x - x.detach().amax(-1, keepdim=True)
    log_z = torch.exp(x).sum(-1).log()  # (M,)
    if not log_z.isfinite().all():
        wrong = f"{int((~log_z.isfinite()).sum())} of {len(y)} selected positions do not"
        raise ValueError(f"logits must hold no NaN, no +inf and at least one finite number; {wrong}")
    # The one-hot vector of the formula only picks one logit: a look-up does it without the product.
    return log_z - x.gather(-1, y.long()[:, None]).squeeze(-1)  # (M,)


def cross_entropy(logits: Tensor, labels: Tensor, ignore_index: int = IGNORE_INDEX) -> Tensor:
    """The mean of -log p(label) over the selected positions only, in nats: a scalar."""
    return surprisal(logits, labels, ignore_index).mean()


def entropy(p: Tensor | Sequence[float]) -> Tensor:
    """H(p) = -sum p log p in nats over the last axis, with 0 log 0 = 0."""
    p = checks.distribution("p", p)
    return 0 - _x_log_y(p, p).sum(-1)  # a plain minus would turn the zero of a certainty into -0.0


def cross_entropy_of(p: Tensor | Sequence[float], q: Tensor | Sequence[float]) -> Tensor:
    """H(p, q) = -sum p log q in nats: what it costs to expect q when p is true. +inf where only q is 0."""
    p, q = checks.two_distributions(p, q)
    return 0 - _x_log_y(p, q).sum(-1)


def kl(p: Tensor | Sequence[float], q: Tensor | Sequence[float]) -> Tensor:
    """KL(p || q) = sum p log(p / q) in nats: the part of that cost which a better q would save."""
    p, q = checks.two_distributions(p, q)
    return (_x_log_y(p, p) - _x_log_y(p, q)).sum(-1)


def conditional_entropy(
    sentences: Mapping[Sequence[str], float], target: int, given: Collection[int]
) -> float:
    """H(word at `target` | words at `given`), in nats; `sentences` maps each sentence to its probability."""
    if not sentences:
        raise ValueError("sentences must hold at least one sentence")
    total = sum(sentences.values())
    if min(sentences.values()) < 0 or not math.isclose(total, 1, abs_tol=1e-9):
        raise ValueError(f"sentences must have probabilities >= 0 that add up to 1, got a sum of {total}")
    joint, context = defaultdict(float), defaultdict(float)
    for words, p in sentences.items():
        seen = tuple(words[i] for i in sorted(given))
        joint[seen, words[target]] += p
        context[seen] += p
    return 0.0 - sum(p * math.log(p / context[seen]) for (seen, _), p in joint.items() if p > 0)


def to_bits(nats: Measure) -> Measure:
    """One nat is log2(e) = 1.4427 bits."""
    checks.nats("nats", nats)
    return nats / math.log(2)


def to_nats(bits: Measure) -> Measure:
    """One bit is ln(2) = 0.6931 nats."""
    checks.nats("bits", bits)
    return bits * math.log(2)


@overload
def perplexity(loss: float) -> float: ...
@overload
def perplexity(loss: Tensor) -> Tensor: ...
def perplexity(loss: float | Tensor) -> float | Tensor:
    """exp(loss) for a mean cross-entropy in nats: the number of equally likely words it amounts to."""
    checks.nats("loss", loss)
    nats = torch.as_tensor(loss, dtype=None if isinstance(loss, Tensor) else torch.float64)
    # An entropy of zero can be rounded to just below zero; a clearly negative one was not a cross-entropy.
    if not (nats >= -1e-6).all():
        raise ValueError(f"loss must be a mean cross-entropy in nats, so >= 0 and not NaN, got {loss}")
    return nats.exp() if isinstance(loss, Tensor) else nats.exp().item()


def pseudo_log_likelihood(
    logits_fn: Callable[[Tensor], Tensor],
    ids: Tensor,
    mask_id: int,
    scored: Tensor | None = None,
    *,
    batch_size: int = 64,
) -> Tensor:
    """For each row of `ids` (B, N), the sum of log p(token | all the others) over its scored positions: (B,).

    A masked model is asked about one position at a time, with [MASK] there and every other token in
    sight (Salazar et al., 2020): N sentences with one hole each, run through `logits_fn` in batches.
    `logits_fn` takes ids (b, N) and returns logits (b, N, V). `scored` is True at the tokens that count;
    leave out special tokens and padding.
    """
    scored = _scored(ids, mask_id, scored)
    checks.integer("batch_size", batch_size, 1)
    if not callable(logits_fn):
        raise TypeError(f"logits_fn must be a function from ids to logits, got {logits_fn!r}")
    total = torch.zeros(len(ids), dtype=torch.float64, device=ids.device)
    with torch.no_grad():
        for holes in scored.nonzero().split(batch_size):
            row, position = holes.unbind(-1)  # (b,), (b,)
            each = torch.arange(len(row), device=ids.device)
            masked = ids[row]  # (b, N), a copy
            masked[each, position] = mask_id
            logits = checks.tensor("what logits_fn returns", logits_fn(masked))  # (b, N, V)
            if logits.dim() != 3 or logits.shape[:2] != masked.shape:
                wanted = (*masked.shape, "V")
                raise ValueError(f"logits_fn must return logits of shape {wanted}, got {tuple(logits.shape)}")
            # Named by no label of the vocabulary, so that an id of -100 is refused and never skipped.
            log_p = -surprisal(logits[each, position], ids[row, position], ignore_index=-1)
            total.index_add_(0, row, log_p.double())
    return total


def pseudo_perplexity(
    logits_fn: Callable[[Tensor], Tensor],
    ids: Tensor,
    mask_id: int,
    scored: Tensor | None = None,
    *,
    batch_size: int = 64,
) -> float:
    """exp(-mean pseudo-log-likelihood per scored token) over all rows; see `pseudo_log_likelihood`."""
    scored = _scored(ids, mask_id, scored)
    if not scored.any():
        raise ValueError("scored selects no token: the mean of nothing is not a pseudo-perplexity")
    log_p = pseudo_log_likelihood(logits_fn, ids, mask_id, scored, batch_size=batch_size)
    return perplexity(-log_p.sum().item() / int(scored.sum()))


def _x_log_y(x: Tensor, y: Tensor) -> Tensor:
    """x log y with 0 log 0 = 0, whose gradient is not NaN there either."""
    return x * torch.log(y.masked_fill((x == 0) & (y == 0), 1.0))


def _scored(ids: Tensor, mask_id: int, scored: Tensor | None) -> Tensor:
    checks.integer("mask_id", mask_id, 0)
    checks.tensor("ids", ids, checks.INTEGERS, "(B, N)")
    scored = torch.ones_like(ids, dtype=torch.bool) if scored is None else scored
    checks.tensor("scored", scored, checks.BOOLEAN, ids.shape)
    if (scored & (ids == mask_id)).any():
        raise ValueError(f"ids hold mask_id={mask_id} at a scored position: what was there cannot be scored")
    return scored
