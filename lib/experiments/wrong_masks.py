"""Five ways to get the causal mask wrong, each as people really write it, and the weights that result.

Chapter 1 and the mask explorer show them beside the right weights; nothing else should use them.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from lib import checks
from lib.attention import attention, causal_mask, softmax


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
    checks.one_of("kind", kind, MISTAKES)
    if scores.dim() != 2 or scores.shape[0] != scores.shape[1]:
        raise ValueError(f"scores must be a square matrix (N, N), got shape {tuple(scores.shape)}")
    return MISTAKES[kind](scores / math.sqrt(checks.integer("d_k", d_k, 1)))


def losses_on_noise(
    masked: bool, *, vocabulary: int = 8, n: int = 12, steps: int = 300, seed: int = 0
) -> list[float]:
    """Train one attention layer to predict the next token of pure noise; return the loss at each step.

    Nobody can predict a die, so an honest model cannot do better than ln(vocabulary), a uniform guess.
    Without the mask the answer stands in the input, one position to the right, and the layer copies it.
    """
    g = torch.Generator().manual_seed(seed)
    d = 32
    shapes = ((vocabulary, d), (n, d), (d, d), (d, d), (d, d), (d, vocabulary))
    weights = [torch.randn(shape, generator=g).mul_(d**-0.5).requires_grad_() for shape in shapes]
    token, position, w_q, w_k, w_v, out = weights
    optimizer = torch.optim.AdamW(weights, lr=0.02)
    mask = causal_mask(n) if masked else None
    losses = []
    for _ in range(steps):
        ids = torch.randint(vocabulary, (64, n + 1), generator=g)  # fresh noise: nothing can be memorised
        x = token[ids[:, :-1]] + position  # (B, N, d)
        h, _ = attention(x @ w_q, x @ w_k, x @ w_v, mask)
        logits = (x + h) @ out  # (B, N, V)
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
