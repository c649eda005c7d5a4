"""What a function may ask of its arguments, and the sentence that says so when it does not get it.

Every error names the argument, says what was expected and shows what came: "n must be an integer of at least
1, got 0". Checks stand here, so that the other modules show their formulas. The small ones give back the
value that they were asked about.
"""

import math
from collections.abc import Collection, Sequence
from numbers import Real
from typing import TypeVar

import numpy as np  # for shapes: torch's own function imports half a second of torch first
import torch
from torch import Tensor, nn

BOOLEAN, INTEGERS, FLOATS = "boolean", "integers", "a floating-point tensor"  # what a tensor may hold
Kind = TypeVar("Kind")


def tensor(name: str, value: Tensor, holds: str = "", shape: str | Sequence[int] = "") -> Tensor:
    """A tensor; one of BOOLEAN, INTEGERS and FLOATS and of a `shape`, if these are given.

    A shape is a list of sizes, or of names for them: "(B, N)"; with "(..., N)", others may come before.
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(value).__name__}: use torch.tensor()")
    if holds and (kind_of(value) != holds or not _has_shape(value, shape)):
        wanted = shape if isinstance(shape, str) else tuple(shape)
        raise ValueError(f"{name} must be {holds} of shape {wanted}, got {seen(value)}")
    return value


def kind_of(x: Tensor) -> str:
    return BOOLEAN if x.dtype == torch.bool else FLOATS if x.is_floating_point() else INTEGERS


def seen(x: Tensor) -> str:
    return f"shape {tuple(x.shape)} and {x.dtype}"


def _has_shape(x: Tensor, shape: str | Sequence[int]) -> bool:
    if not isinstance(shape, str):
        return x.shape == tuple(shape)
    names = [name for name in shape.strip("()").split(",") if name.strip()]
    return x.dim() >= len(names) - 1 if names[0] == "..." else x.dim() == len(names)


def instance(name: str, value: object, kind: type[Kind], hint: str = "") -> Kind:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be of type {kind.__name__}, got {value!r:.80}" + (hint and f": {hint}"))
    return value


def one_of(name: str, value: str, options: Collection[str]) -> str:
    """One of some names."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {', '.join(options)}, got {value!r}")
    return value


def several(name: str, value: Kind, kind: type, what: str) -> Kind:
    """Some things in a list, or in another `kind` of collection; a text is one thing."""
    if isinstance(value, str) or not isinstance(value, kind):
        raise TypeError(f"{name} must be {what}, got {value!r:.50}")
    return value


def flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return value


def integer(name: str, value: int, least: float = -math.inf) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        bound = "" if least == -math.inf else f" of at least {least}"
        raise ValueError(f"{name} must be an integer{bound}, got {value!r}")
    return value


def number(
    name: str, value: float, least: float = -math.inf, *, above: float = -math.inf, below: float = math.inf
) -> float:
    """A finite number; neither NaN nor a truth value is one."""
    right = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not right or value < least or not above < value < below:
        bounds = {"of at least": least, "above": above, "below": below}
        told = "".join(f" {words} {x}" for words, x in bounds.items() if math.isfinite(x))
        raise ValueError(f"{name} must be a finite number{told}, got {value!r}")
    return value


def probability(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a probability between 0 and 1, got {value!r}")
    return value


def generator(value: torch.Generator | None) -> torch.Generator:
    if not isinstance(value, torch.Generator):
        raise TypeError(f"generator must be a torch.Generator, so that a seed decides all, got {value!r}")
    return value


WEIGHTS_TOO = "the weights do too (a diverged training, a damaged file), or they are too large for the dtype"


class NotFinite(ValueError, FloatingPointError):
    """A NaN or an infinity where none may leave: a wrong input, or a training that diverged."""


def all_finite(x: Tensor) -> bool:
    """No NaN and no infinity. One sum almost always tells, at a tenth of the cost of a look at each number;
    only where it overflows must all be looked at."""
    x = x.detach()
    return bool(x.sum().isfinite()) or bool(x.isfinite().all())


def finite(x: Tensor, name: str, why: str = WEIGHTS_TOO) -> Tensor:
    """The same tensor, or an error: a NaN is cheapest to explain where it is born."""
    if not all_finite(x):
        raise NotFinite(f"{name} hold NaN or infinity: {why}")
    return x


# Tensors


def ids(name: str, value: Tensor, size: int) -> Tensor:
    """Token ids of shape (..., N), all below `size`."""
    if tensor(name, value).dim() < 1 or value.dtype not in (torch.int32, torch.int64):
        raise ValueError(f"{name} must be int32 or int64 of shape (..., N), got {seen(value)}")
    if value.numel() and (int(value.min()) < 0 or int(value.max()) >= size):
        raise ValueError(f"{name} must lie in 0..{size - 1}, got {int(value.min())} to {int(value.max())}")
    return value


def vectors(name: str, x: Tensor, shape: str, layer: nn.Linear) -> None:
    """What `layer` can read: `shape`, such as "(B, N, d)", says how many axes come in."""
    d, dtype = layer.in_features, layer.weight.dtype
    if tensor(name, x).dim() != shape.count(",") + 1 or x.shape[-1] != d:
        raise ValueError(f"{name} must have shape {shape} with d={d}, got {tuple(x.shape)}")
    if x.dtype != dtype:
        raise TypeError(f"{name} must have the dtype of the weights, {dtype}, got {x.dtype}")


# Attention


def lengths(value: Tensor | list[int], n: int | None) -> tuple[Tensor, int]:
    """The numbers of tokens of some sentences, and the length `n` that holds them all."""
    if not isinstance(value, Tensor | list | tuple):
        raise TypeError(f"lengths must be a tensor or a list of integers, got {value!r}")
    value = torch.as_tensor(value, dtype=None if len(value) else torch.long)
    if value.dim() != 1 or kind_of(value) != INTEGERS:
        raise ValueError(f"lengths must be a vector of integers, one per sentence, got {seen(value)}")
    longest = int(value.max()) if value.numel() else 0
    n = longest if n is None else integer("n", n, 0)
    if value.numel() and (int(value.min()) < 0 or longest > n):
        raise ValueError(f"lengths must lie between 0 and n={n}, got {value.tolist()}")
    return value, n


def attention_mask(mask: Tensor) -> Tensor:
    if tensor("mask", mask).dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean, True where attention is allowed, got {mask.dtype}; "
            "turn an additive mask (0 and -inf) into one with boolean()"
        )
    return mask


def attention_inputs(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    """Queries (..., N_q, d_k), keys (..., N_k, d_k), values (..., N_k, d_v), and a mask that fits them."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        if tensor(name, x, FLOATS, "(..., N, d)").dtype != q.dtype:
            raise TypeError(f"q, k and v must share one dtype, got {q.dtype} for q and {x.dtype} for {name}")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q and k must share d_k, their last size, got {q.shape[-1]} and {k.shape[-1]}")
    if q.shape[-1] == 0:
        raise ValueError("d_k, the last size of q and k, must be at least 1, got 0")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k and v must have one row per key, got {k.shape[-2]} and {v.shape[-2]} rows")
    try:
        batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except ValueError:
        shapes = ", ".join(str(tuple(x.shape)) for x in (q, k, v))
        raise ValueError(f"q, k and v must agree in the sizes before (N, d), got {shapes}") from None
    if mask is None:
        return
    attention_mask(mask)
    scores = (*batch, q.shape[-2], k.shape[-2])
    try:
        fits = np.broadcast_shapes(mask.shape, scores) == scores
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"mask must broadcast to the scores' shape {scores}, got {tuple(mask.shape)}")
    if mask.numel() and not mask.any():
        raise ValueError("mask hides every key from every query; True means allowed: is it inverted?")


# Labels and probabilities


def labels_of(ids: Tensor, labels: Tensor, size: int, ignore_index: int) -> None:
    """One id below `size`, or `ignore_index`, for each token of `ids`."""
    if tensor("labels", labels).shape != tensor("ids", ids).shape:
        raise ValueError(f"labels must have the shape of ids, {tuple(ids.shape)}, got {tuple(labels.shape)}")
    if labels.dtype != torch.int64:
        raise TypeError(f"labels must be integers (torch.long), got {labels.dtype}")
    wrong = ((labels < 0) | (labels >= size)) & (labels != ignore_index)
    if wrong.any():
        allowed = f"be {ignore_index} or lie between 0 and {size - 1} (vocab_size={size})"
        raise ValueError(f"labels must {allowed}, got {labels[wrong][0].item()}")


def logits_and_labels(logits: Tensor, labels: Tensor, ignore_index: int) -> None:
    """Logits (..., V), and labels (...) in 0..V-1 or `ignore_index`, not all of them."""
    if tensor("logits", logits, FLOATS, "(..., V)").shape[-1] == 0:
        raise ValueError("logits must have V >= 1, a score for at least one class, got V = 0")
    tensor("labels", labels)
    integer("ignore_index", ignore_index)
    if kind_of(labels) != INTEGERS or labels.is_complex():
        raise TypeError(f"labels must be integers (one class per position), got {labels.dtype}")
    if labels.shape != (shape := logits.shape[:-1]):
        raise ValueError(
            f"labels must have the shape of logits without V, {tuple(shape)}, got {tuple(labels.shape)}"
        )
    selected = labels != ignore_index
    if not selected.any():
        raise ValueError(f"labels select no position: all {labels.numel()} are ignore_index={ignore_index}")
    wrong = selected & ((labels < 0) | (labels >= logits.shape[-1]))
    if wrong.any():
        allowed = f"lie in 0..{logits.shape[-1] - 1} or be ignore_index={ignore_index}"
        raise ValueError(f"labels must {allowed}, got {labels[wrong][0].item()}")


def distribution(name: str, p: Tensor | Sequence[float]) -> Tensor:
    """Probabilities over the last axis, as a tensor of at least single precision."""
    if not isinstance(p, Tensor):
        try:
            p = torch.tensor(p, dtype=torch.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must be a tensor or a list of probabilities: {error}") from None
    tensor(name, p, FLOATS, "(..., V)")
    tolerance = math.sqrt(torch.finfo(p.dtype).eps)
    p = p.float() if p.dtype in (torch.float16, torch.bfloat16) else p
    if not (p >= 0).all():  # NaN fails it too
        raise ValueError(f"{name} must hold no negative number and no NaN, got a minimum of {p.min().item()}")
    total = p.detach().sum(-1)
    if not ((total - 1).abs() <= tolerance).all():
        worst = total.flatten()[(total - 1).abs().argmax()].item()
        raise ValueError(f"{name} must sum to 1 over its last axis (within {tolerance:.1e}), got {worst}")
    return p


def two_distributions(p: Tensor | Sequence[float], q: Tensor | Sequence[float]) -> tuple[Tensor, Tensor]:
    """Two of them over the same outcomes, whose other axes broadcast."""
    p, q = distribution("p", p), distribution("q", q)
    if p.shape[-1] != q.shape[-1]:
        raise ValueError(f"p and q must be over the same outcomes, got {p.shape[-1]} and {q.shape[-1]}")
    try:
        np.broadcast_shapes(p.shape, q.shape)
    except ValueError:
        raise ValueError(f"p and q must broadcast, got {tuple(p.shape)} and {tuple(q.shape)}") from None
    return p, q


def nats(name: str, value: float | Tensor) -> None:
    """A number or a tensor of numbers; infinity is one here, NaN is not."""
    if isinstance(value, bool) or not isinstance(value, Real | Tensor):
        raise TypeError(f"{name} must be a number or a tensor, got {value!r}")
    if value.isnan().any() if isinstance(value, Tensor) else math.isnan(value):
        raise ValueError(f"{name} must not be NaN, got {value}")
