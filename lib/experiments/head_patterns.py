"""Where attention goes: how much of each head's weight falls on the previous token, the next, [CLS], ...

Clark 2019 reads the heads of BERT with shares like these. A share is an average over the queries that are
words, so it says where a head looks on the whole, and nothing about why, or about what the values carry.
"""

import torch
from torch import Tensor

PATTERNS = ("previous", "self", "next", "first", "last", "elsewhere")


def shares(weights: Tensor) -> dict[str, Tensor]:
    """Mean weight that the inner tokens of a sentence give to each of PATTERNS, per head.

    `weights` is (..., N, N), rows that add up to 1, of a sentence that starts with [CLS] and ends with [SEP].
    Their own rows are left out, and so are words next to them: for these, "previous" would be [CLS] itself.
    The shares, each of shape (...), add up to 1.
    """
    n = weights.shape[-1]
    if weights.dim() < 2 or weights.shape[-2] != n or n < 5:
        raise ValueError(f"weights must be (..., N, N) with N >= 5, got {tuple(weights.shape)}")
    if not torch.allclose(weights.sum(-1), weights.new_ones(()), atol=1e-4):
        raise ValueError("weights must have rows that add up to 1: pass the weights, not the scores")
    i = torch.arange(2, n - 2, device=weights.device)
    columns = {"previous": i - 1, "self": i, "next": i + 1, "first": 0 * i, "last": 0 * i + n - 1}
    found = {name: weights[..., i, j].mean(-1) for name, j in columns.items()}  # (..., N, N) -> (...)
    return found | {"elsewhere": 1 - sum(found.values(), weights.new_zeros(()))}


def mean_shares(sentences: list[Tensor]) -> dict[str, Tensor]:
    """The shares of several sentences, each (..., N, N) with an N of its own, averaged."""
    if not sentences:
        raise ValueError("sentences must hold the weights of at least one sentence, got none")
    each = [shares(weights) for weights in sentences]
    return {name: torch.stack([s[name] for s in each]).mean(0) for name in PATTERNS}
