"""Five ways to get the causal mask wrong, each as people really write it, and the weights that result.

Chapter 1 and the mask explorer show them beside the right weights; nothing else should use them.
"""

import math

from torch import Tensor

from lib.attention import causal_mask, softmax


def hides_diagonal(s: Tensor) -> Tensor:
    """The diagonal is hidden too: no token sees itself, and the first one sees nothing at all."""
    return softmax(s.masked_fill(~causal_mask(len(s)).tril(-1), -math.inf))


def inverted(s: Tensor) -> Tensor:
    """True read as "hide" where it means "allow": each token sees only its future, the last one nothing."""
    return softmax(s.masked_fill(causal_mask(len(s)), -math.inf))


def after_softmax(s: Tensor) -> Tensor:
    """The weights, not the scores, are masked: the future already took part in the normalisation."""
    return softmax(s) * causal_mask(len(s))


def forgotten(s: Tensor) -> Tensor:
    """No mask: every token sees the whole sentence."""
    return softmax(s)


def zeroed(s: Tensor) -> Tensor:
    """Hidden scores become 0 instead of -inf, and exp(0) = 1 is a weight like any other."""
    return softmax(s.masked_fill(~causal_mask(len(s)), 0.0))


MISTAKES = {
    "diagonal": hides_diagonal,
    "invertida": inverted,
    "depois": after_softmax,
    "esquecida": forgotten,
    "zerada": zeroed,
}


def mistaken_weights(kind: str, scores: Tensor, d_k: int = 1) -> Tensor:
    """The weights that the mistake `kind` makes of square `scores` (before the division by sqrt(d_k))."""
    if kind not in MISTAKES:
        raise ValueError(f"kind must be one of {', '.join(MISTAKES)}, got {kind!r}")
    if scores.dim() != 2 or scores.shape[0] != scores.shape[1]:
        raise ValueError(f"scores must be a square matrix (N, N), got shape {tuple(scores.shape)}")
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
    return MISTAKES[kind](scores / math.sqrt(d_k))
