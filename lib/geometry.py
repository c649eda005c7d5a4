"""The geometry of representations: how much they point the same way, and what standardising them does.

`anisotropy` is the expected cosine of two tokens from different contexts (Ethayarajh, 2019), computed over
all such pairs, not over a sample. It is a sum with one term per dimension (`contributions`), so it also says
who is to blame: one or two rogue dimensions, as a rule (Timkey and van Schijndel, 2021).
"""

import torch
from torch import Tensor
from torch.nn.functional import normalize


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """The cosine of the angle between vectors, along the last axis."""
    _require_vectors("a", a, dims=None)
    _require_vectors("b", b, dims=None)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"a and b must have as many dimensions, got {a.shape[-1]} and {b.shape[-1]}")
    return (_unit("a", a) * _unit("b", b)).sum(-1)


def contributions(vectors: Tensor, contexts: Tensor | None = None) -> Tensor:
    """What each dimension adds to the anisotropy of `vectors` (M, d): (d,), with the anisotropy as its sum.

    `contexts` (M,) says which sentence each came from; pairs from one sentence are left out. Without it,
    every vector is a context of its own.
    """
    _require_vectors("vectors", vectors)
    contexts = torch.arange(len(vectors)) if contexts is None else contexts
    if contexts.shape != vectors.shape[:1]:
        raise ValueError(f"contexts must be {len(vectors)}, one per vector, got {tuple(contexts.shape)}")
    _, context = contexts.unique(return_inverse=True)  # 0, 1, 2, ...
    number = int(context.max()) + 1
    if number < 2:
        raise ValueError("contexts must hold at least two: a pair comes from different ones")
    unit = _unit("vectors", vectors)
    inside = unit.new_zeros(number, unit.shape[1]).index_add_(0, context, unit)  # (contexts, d)
    sizes = context.bincount().double()
    # The sum over all pairs, less the pairs within a context: no pair is ever formed.
    return (unit.sum(0) ** 2 - (inside**2).sum(0)) / (len(unit) ** 2 - (sizes**2).sum())


def anisotropy(vectors: Tensor, contexts: Tensor | None = None) -> float:
    """The mean cosine over all pairs of `vectors` (M, d) that come from different `contexts` (M,)."""
    return contributions(vectors, contexts).sum().item()


def standardize(vectors: Tensor, reference: Tensor | None = None) -> Tensor:
    """Each dimension with mean 0 and standard deviation 1 over `reference` (M, d), the vectors themselves
    if it is not given: (x - mu) / sigma, one mu and one sigma per dimension."""
    reference = vectors if reference is None else reference
    _require_vectors("reference", reference)
    mu, sigma = reference.double().mean(0), reference.double().std(0, correction=0)  # (d,)
    if constant := int((sigma <= 1e-12 * mu.abs()).sum()):
        raise ValueError(f"reference must vary in every dimension; {constant} of {len(sigma)} are constant")
    return (vectors.double() - mu) / sigma


def project(vectors: Tensor, dims: int = 2) -> Tensor:
    """The `vectors` (M, d) on their first principal axes, (M, dims). Signs are fixed, so pictures repeat."""
    _require_vectors("vectors", vectors)
    if not 1 <= dims <= min(vectors.shape):
        raise ValueError(f"dims must lie between 1 and {min(vectors.shape)}, got {dims}")
    centred = vectors.double() - vectors.double().mean(0)
    axes = torch.linalg.svd(centred, full_matrices=False).Vh[:dims]  # (dims, d)
    largest = axes.gather(1, axes.abs().argmax(1, keepdim=True))
    return centred @ (axes * largest.sign()).T


def _unit(name: str, vectors: Tensor) -> Tensor:
    if (vectors == 0).all(-1).any():
        raise ValueError(f"{name} must not hold a zero vector: it has no direction, so no cosine")
    return normalize(vectors.double(), dim=-1, eps=0)


def _require_vectors(name: str, vectors: Tensor, dims: int | None = 2) -> None:
    if not isinstance(vectors, Tensor) or not vectors.is_floating_point():
        raise TypeError(f"{name} must be a floating-point tensor, got {type(vectors).__name__}")
    if (dims is not None and vectors.dim() != dims) or not vectors.numel():
        raise ValueError(f"{name} must be (M, d), at least one vector, got {tuple(vectors.shape)}")
    if not vectors.isfinite().all():
        raise ValueError(f"{name} must be finite; it holds an infinity or NaN")
