"""Attention: masks, a safe softmax and the scaled dot product, written to be read.

One convention for masks, everywhere in the course: a mask is boolean and **True where attention is
allowed**, with a shape that broadcasts to (..., N_q, N_k): one row per query, one column per key.
The additive form of the papers (0 where allowed, -inf where hidden) is one call away, `additive`, and
`boolean` comes back. A query with no key left to attend to gets zero weights and a zero output, never NaN.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from lib import require
from lib.dropout import keep

FEW_KEYS = 64  # up to here the fused kernel spends more on its tiles than it saves in memory


def causal_mask(n: int, *, device: torch.device | None = None) -> Tensor:
    """True on and below the diagonal: position i sees positions j <= i, itself included."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ValueError(f"n must be an integer >= 0 (the number of tokens), got {n!r}")
    i = torch.arange(n, device=device)
    return i[None, :] <= i[:, None]  # (N, N)


def padding_mask(lengths: Tensor | list[int], n: int | None = None) -> Tensor:
    """True at the real tokens of each sentence, as (B, 1, N): the same columns for every query."""
    if not isinstance(lengths, Tensor | list | tuple):
        raise TypeError(f"lengths must be a tensor or a list of integers, got {lengths!r}")
    lengths = torch.as_tensor(lengths, dtype=None if len(lengths) else torch.long)
    if lengths.dim() != 1 or lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise ValueError(
            f"lengths must be a vector of integers, one per sentence, "
            f"got shape {tuple(lengths.shape)} and dtype {lengths.dtype}"
        )
    longest = int(lengths.max()) if lengths.numel() else 0
    n = longest if n is None else require.integer("n", n, 0)
    if lengths.numel() and (int(lengths.min()) < 0 or longest > n):
        raise ValueError(f"lengths must lie between 0 and n={n}, got {lengths.tolist()}")
    return torch.arange(n, device=lengths.device)[None, None, :] < lengths[:, None, None]  # (B, 1, N)


def additive(mask: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """The papers' M: 0 where `mask` allows, -inf where it hides. It is added to the scores."""
    _require_boolean(mask)
    dtype = require.instance("dtype", dtype or torch.get_default_dtype(), torch.dtype)
    if not dtype.is_floating_point:
        raise TypeError(f"dtype must be a floating-point type, because only those have -inf, got {dtype}")
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, -math.inf)


def boolean(additive_mask: Tensor) -> Tensor:
    """The inverse of `additive`: True where the additive mask is 0."""
    if not require.tensor("additive_mask", additive_mask).is_floating_point():
        raise TypeError(f"additive_mask must be floating point (0 and -inf), got {additive_mask.dtype}")
    allowed, hidden = additive_mask == 0, additive_mask == -math.inf
    if not (allowed | hidden).all():
        raise ValueError("additive_mask must hold only 0 (allowed) and -inf (hidden); it holds other values")
    return allowed


def softmax(scores: Tensor, dim: int = -1) -> Tensor:
    """exp(s) / sum(exp(s)), safe for scores of any size; all -inf along `dim` gives zeros."""
    if not require.tensor("scores", scores).is_floating_point():
        raise TypeError(f"scores must be floating point, got {scores.dtype}")
    if scores.numel() == 0:
        return scores.clone()
    m = scores.detach().amax(dim, keepdim=True)
    if m.isnan().any() or (m == math.inf).any():
        raise require.NotFinite("scores hold NaN or +inf: softmax is not defined there")
    # torch's kernel subtracts the maximum of each row, which changes nothing in the ratio and keeps exp from
    # overflowing. It is also bit by bit what the reference implementations compute. A row of only -inf has
    # no maximum to subtract: it goes in as zeros and comes out as zeros.
    empty = m == -math.inf
    return torch.softmax(scores.masked_fill(empty, 0), dim).masked_fill(empty, 0)


def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """H = A V with A = softmax(Q K^T / sqrt(d_k) + M): the readable version, which returns (H, A)."""
    _check(q, k, v, mask)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else require.number("scale", scale)
    s = q @ k.transpose(-2, -1) * scale  # (..., N_q, N_k)
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    a = softmax(s)  # (..., N_q, N_k)
    return _finite(a @ v), a  # (..., N_q, d_v)


def fast_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, causal: bool = False, dropout: float = 0.0
) -> Tensor:
    """The same H by torch's fused kernel, which never builds the N x N matrix when `causal` says it all.

    While training the weights are written out in two cases: with dropout, which no fused kernel does on a
    processor, and under a mask of few keys, where plain products and their gradients take half of the time.
    """
    _check(q, k, v, mask)
    require.probability("dropout", dropout)
    if require.flag("causal", causal) and q.shape[-2] != k.shape[-2]:
        raise ValueError(
            f"causal needs as many queries as keys, got {q.shape[-2]} and {k.shape[-2]}; pass a mask instead"
        )
    if causal and mask is not None:
        mask, causal = mask & causal_mask(q.shape[-2], device=q.device), False
    few = mask is not None and k.shape[-2] <= FEW_KEYS and q.requires_grad and torch.is_grad_enabled()
    if dropout or few:
        mask = causal_mask(q.shape[-2], device=q.device) if causal else mask
        a = _weights(q, k, mask)  # (..., N_q, N_k)
        h = (a * keep(a, dropout) if dropout else a) @ v
    else:
        h = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
    if mask is not None and not (seeing := mask.any(-1, keepdim=True)).all():
        # The kernels disagree on a row without keys (NaN in some, zero in others); we promise zero.
        h = h.masked_fill(~seeing, 0.0)
    return _finite(h)


def _weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(d_k)) in as few passes as there are; a row without keys is even, not zero."""
    s = q @ (k / math.sqrt(k.shape[-1])).transpose(-2, -1)
    if mask is not None:
        # A sum, because its gradient costs nothing. Half of the lowest number, not -inf: beside it a score is
        # lost in rounding, and in a row that holds nothing else, -inf would make NaN gradients.
        s = s.add_((~mask).to(s.dtype).mul_(torch.finfo(s.dtype).min / 2))
    return s.softmax(-1)


def _finite(h: Tensor) -> Tensor:
    if not require.all_finite(h):
        raise require.NotFinite(
            "the result holds NaN or infinity: q, k and v must be finite, and their products fit the dtype"
        )
    return h


def _require_boolean(mask: Tensor) -> None:
    if require.tensor("mask", mask).dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean, True where attention is allowed, got {mask.dtype}; "
            "turn an additive mask (0 and -inf) into one with boolean()"
        )


def _check(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if require.tensor(name, x).dim() < 2 or not x.is_floating_point():
            raise ValueError(
                f"{name} must be a floating-point tensor of shape (..., N, d), "
                f"got shape {tuple(x.shape)} and dtype {x.dtype}"
            )
        if x.dtype != q.dtype:
            raise TypeError(f"q, k and v must share one dtype, got {q.dtype} for q and {x.dtype} for {name}")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q and k must share d_k, their last size, got {q.shape[-1]} and {k.shape[-1]}")
    if q.shape[-1] == 0:
        raise ValueError("d_k, the last size of q and k, must be at least 1, got 0")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k and v must have one row per key, got {k.shape[-2]} and {v.shape[-2]} rows")
    try:
        batch = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except RuntimeError:
        shapes = ", ".join(str(tuple(x.shape)) for x in (q, k, v))
        raise ValueError(f"q, k and v must agree in the sizes before (N, d), got {shapes}") from None
    if mask is None:
        return
    _require_boolean(mask)
    scores = (*batch, q.shape[-2], k.shape[-2])
    try:
        fits = torch.broadcast_shapes(mask.shape, scores) == scores
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"mask must broadcast to the scores' shape {scores}, got {tuple(mask.shape)}")
    if mask.numel() and not mask.any():
        raise ValueError("mask hides every key from every query; True means allowed: is it inverted?")
