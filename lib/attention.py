"""Attention, rung by rung: plain, masked, with many heads, fused.

    softmax                 weights from scores
    attention               H = A V with A = softmax(Q K^T / sqrt(d_k) + M), every step in sight
    causal_mask, padding_mask, additive, boolean            what M hides
    MultiHeadAttention      h of them side by side
    fused_attention         the same H by torch's kernel, which never writes A down

One convention for masks, everywhere in the course: a mask is boolean and **True where attention is
allowed**, with a shape that broadcasts to (..., N_q, N_k): one row per query, one column per key.
The additive form of the papers (0 where allowed, -inf where hidden) is one call away, `additive`, and
`boolean` comes back. A query with no key left to attend to gets zero weights and a zero output, never NaN.
"""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lib import checks
from lib.dropout import dropout_factors

FEW_KEYS = 64  # up to here the fused kernel spends more on its tiles than it saves in memory
TOO_LARGE = "q, k and v must be finite, and their products fit the dtype"


# Plain


def softmax(scores: Tensor, dim: int = -1) -> Tensor:
    """exp(s) / sum(exp(s)), safe for scores of any size; all -inf along `dim` gives zeros."""
    if not checks.tensor("scores", scores).is_floating_point():
        raise TypeError(f"scores must be floating point, got {scores.dtype}")
    if scores.numel() == 0:
        return scores.clone()
    m = scores.detach().amax(dim, keepdim=True)
    if m.isnan().any() or (m == math.inf).any():
        raise checks.NotFinite("scores hold NaN or +inf: softmax is not defined there")
    # torch's kernel subtracts the maximum of each row, which changes nothing in the ratio and keeps exp from
    # overflowing. It is also bit by bit what the reference implementations compute. A row of only -inf has
    # no maximum to subtract: it goes in as zeros and comes out as zeros.
    empty = m == -math.inf
    return torch.softmax(scores.masked_fill(empty, 0), dim).masked_fill(empty, 0)


def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """H = A V with A = softmax(Q K^T / sqrt(d_k) + M): the readable version, which returns (H, A)."""
    checks.attention_inputs(q, k, v, mask)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else checks.number("scale", scale)
    s = q @ k.transpose(-2, -1) * scale  # (..., N_q, N_k)
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    a = softmax(s)  # (..., N_q, N_k)
    return checks.finite(a @ v, "the results", TOO_LARGE), a  # (..., N_q, d_v)


# Masked


def causal_mask(n: int, *, device: torch.device | None = None) -> Tensor:
    """True on and below the diagonal: position i sees positions j <= i, itself included."""
    i = torch.arange(checks.integer("n", n, 0), device=device)
    return i[None, :] <= i[:, None]  # (N, N)


def padding_mask(lengths: Tensor | list[int], n: int | None = None) -> Tensor:
    """True at the real tokens of each sentence, as (B, 1, N): the same columns for every query."""
    lengths, n = checks.lengths(lengths, n)
    return torch.arange(n, device=lengths.device)[None, None, :] < lengths[:, None, None]  # (B, 1, N)


def additive(mask: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """The papers' M: 0 where `mask` allows, -inf where it hides. It is added to the scores."""
    checks.attention_mask(mask)
    dtype = checks.instance("dtype", dtype or torch.get_default_dtype(), torch.dtype)
    if not dtype.is_floating_point:
        raise TypeError(f"dtype must be a floating-point type, because only those have -inf, got {dtype}")
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, -math.inf)


def boolean(additive_mask: Tensor) -> Tensor:
    """The inverse of `additive`: True where the additive mask is 0."""
    if not checks.tensor("additive_mask", additive_mask).is_floating_point():
        raise TypeError(f"additive_mask must be floating point (0 and -inf), got {additive_mask.dtype}")
    allowed, hidden = additive_mask == 0, additive_mask == -math.inf
    if not (allowed | hidden).all():
        raise ValueError("additive_mask must hold only 0 (allowed) and -inf (hidden); it holds other values")
    return allowed


# With many heads


@dataclass
class Trace:
    """What a model computed on the way: `encoder(ids, mask, trace=(trace := Trace()))` fills it."""

    hidden: list[Tensor] = field(default_factory=list)  # L + 1 times (B, N, d); [0] is the embeddings
    scores: list[Tensor] = field(default_factory=list)  # L times (B, h, N, N), before mask and softmax
    weights: list[Tensor] = field(default_factory=list)  # L times (B, h, N, N), rows add up to 1
    heads: list[Tensor] = field(default_factory=list)  # L times (B, h, N, d_k), before W_O mixes them


class MultiHeadAttention(nn.Module):
    """h attentions side by side, each on its own d_k = d / h numbers, mixed again by W_O."""

    def __init__(self, d: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.h, self.p = heads, dropout
        self.W_Q = nn.Linear(d, d)
        self.W_K = nn.Linear(d, d)
        self.W_V = nn.Linear(d, d)
        self.W_O = nn.Linear(d, d)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        trace: Trace | None = None,
        queries: Tensor | None = None,
    ) -> Tensor:
        """Every row of `queries` (default: of x itself) attends to the rows of x that `mask` allows."""
        q = self.split(self.W_Q(x if queries is None else queries))
        k, v = self.split(self.W_K(x)), self.split(self.W_V(x))
        if trace is None:
            heads = fused_attention(q, k, v, mask, causal=causal, dropout=self.p if self.training else 0.0)
        else:
            heads = self.traced(q, k, v, mask, causal, trace)
        return self.W_O(self.merge(heads))

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.h, -1)).transpose(1, 2)  # (B, N, d) -> (B, h, N, d_k)

    def merge(self, heads: Tensor) -> Tensor:
        return heads.transpose(1, 2).flatten(2)  # (B, h, N, d_k) -> (B, N, d)

    def traced(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, trace: Trace
    ) -> Tensor:
        """The written-out attention, which has scores and weights to show; the fused one never makes them."""
        if causal:
            lower = causal_mask(q.shape[-2], device=q.device)
            mask = lower if mask is None else mask & lower
        heads, weights = attention(q, k, v, mask)
        trace.scores.append(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))  # (B, h, N, N)
        trace.weights.append(weights)
        trace.heads.append(heads)
        return heads


# Fused


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, causal: bool = False, dropout: float = 0.0
) -> Tensor:
    """The same H by torch's fused kernel, which never builds the N x N matrix when `causal` says it all.

    While training the weights are written out in two cases: with dropout, which no fused kernel does on a
    processor, and under a mask of few keys, where plain products and their gradients take half of the time.
    """
    checks.attention_inputs(q, k, v, mask)
    checks.probability("dropout", dropout)
    if checks.flag("causal", causal) and q.shape[-2] != k.shape[-2]:
        raise ValueError(f"causal needs as many queries as keys, got {q.shape[-2]} and {k.shape[-2]}")
    if causal and mask is not None:
        mask, causal = mask & causal_mask(q.shape[-2], device=q.device), False
    few = mask is not None and k.shape[-2] <= FEW_KEYS and q.requires_grad and torch.is_grad_enabled()
    if dropout or few:
        mask = causal_mask(q.shape[-2], device=q.device) if causal else mask
        a = _weights(q, k, mask)  # (..., N_q, N_k)
        h = (a * dropout_factors(a, dropout) if dropout else a) @ v
    else:
        h = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
    if mask is not None and not (has_keys := mask.any(-1, keepdim=True)).all():
        # The kernels disagree on a row without keys (NaN in some, zero in others); we promise zero.
        h = h.masked_fill(~has_keys, 0.0)
    return checks.finite(h, "the results", TOO_LARGE)


def _weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(d_k)) in as few passes as there are; a row without keys is even, not zero."""
    s = q @ (k / math.sqrt(k.shape[-1])).transpose(-2, -1)
    if mask is not None:
        # A sum, because its gradient costs nothing. Half of the lowest number, not -inf: beside it a score is
        # lost in rounding, and in a row that holds nothing else, -inf would make NaN gradients.
        s = s.add_((~mask).to(s.dtype).mul_(torch.finfo(s.dtype).min / 2))
    return s.softmax(-1)
