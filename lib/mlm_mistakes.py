"""A masking function with the mistakes that hasty MLM code makes, kept to be run and looked at.

What is right is in `lib.corruption`. Each mistake is named where it is made.
"""

import torch
from torch import Tensor


def flattened_masking(
    ids: Tensor, *, pad_id: int, mask_id: int, rate: float = 0.15, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Corrupted ids and labels, both wrong, for ids of shape (B, N)."""
    chosen = (torch.rand(ids.shape, generator=generator) < rate) & (ids != pad_id)  # 1: [CLS], [SEP] too
    indices = chosen.nonzero().flatten()  # 2: rows and columns in one list
    noisy = ids.clone()
    noisy[indices] = mask_id  # 3: one index into (B, N) is a whole row; and it is always [MASK]
    return noisy, ids  # 4: every position is a label, and the labels are the input itself
