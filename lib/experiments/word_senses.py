"""Words in context: do the vectors of a word (`lib.use.word_vector`) tell its senses apart?

That is asked of cosines: are occurrences of one sense closer to each other than to those of the other?
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from lib import checks


class Separation(NamedTuple):
    same: float  # mean cosine between different occurrences of one sense
    across: float  # mean cosine between occurrences of different senses
    neighbours: int  # occurrences whose nearest other occurrence has their sense


def cosines(vectors: Tensor) -> Tensor:
    """(M, M) cosines between the rows of `vectors` (M, d), in float64."""
    checks.tensor("vectors", vectors, checks.FLOATS, "(M, d)")
    if (vectors.norm(dim=-1) == 0).any():
        raise ValueError("vectors must not hold a zero vector: it has no direction, so no cosine")
    unit = normalize(vectors.double(), dim=-1)
    return unit @ unit.T


def separation(cosine: Tensor, senses: Tensor) -> Separation:
    """How far the `senses` (M,) of the occurrences can be read off their cosines (M, M)."""
    m = len(senses)
    if cosine.shape != (m, m):
        raise ValueError(f"cosine must be ({m}, {m}), one row per sense label, got {tuple(cosine.shape)}")
    itself = torch.eye(m, dtype=torch.bool)
    alike = senses[:, None] == senses[None, :]  # (M, M)
    if not (alike & ~itself).any() or alike.all():
        raise ValueError("senses must hold at least two different ones, and one of them twice")
    nearest = cosine.masked_fill(itself, -2.0).argmax(-1)  # (M,)
    return Separation(
        cosine[alike & ~itself].mean().item(),
        cosine[~alike].mean().item(),
        int((senses[nearest] == senses).sum()),
    )
