"""A masking function with the mistakes that hasty MLM code makes, kept to be run and looked at.

What is right is in `lib.corruption`. The numbers mark the mistakes: special tokens may be chosen (1); rows
and columns fall into one list (2), so that each index names a whole row, and always becomes [MASK] (3);
every position is a label, and the labels are the input itself (4).
"""

import torch
from torch import Tensor


def flattened_masking(
    ids: Tensor,  # (B, N)
    *,
    pad_id: int,
    mask_id: int,
    rate: float = 0.15,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """Corrupted ids and labels, both wrong."""
    chosen = torch.rand(ids.shape, generator=generator) < rate
    chosen &= ids != pad_id  # 1
    indices = chosen.nonzero().flatten()  # 2
    noisy = ids.clone()
    noisy[indices] = mask_id  # 3
    return noisy, ids  # 4
