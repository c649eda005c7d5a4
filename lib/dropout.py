"""Dropout for less: the same lottery from fewer random bits.

Drawing is the expensive part of dropout on a processor: one call of the generator a number, on one core. Here
64 random bits decide four numbers, 16 bits each. The probability is thus a multiple of 1/65536, the nearest
to the one asked for, and the numbers that stay are scaled by it, so that the mean is kept exactly.
"""

import torch
from torch import Tensor, nn

LEVELS = 2**16


def dropout_factors(like: Tensor, p: float) -> Tensor:
    """What to multiply `like` by: 0 with probability p, else 1 / (1 - p)."""
    dropped = round(p * LEVELS)
    if dropped == LEVELS:
        return torch.zeros_like(like)
    words = torch.empty(-(-like.numel() // 4), dtype=torch.int64, device=like.device).random_(-(2**63), None)
    bits = words.view(torch.int16)[: like.numel()].view(like.shape)  # evenly from -LEVELS / 2 on
    return (bits >= dropped - LEVELS // 2) * like.new_tensor(LEVELS / (LEVELS - dropped))


class Dropout(nn.Module):
    """While training, each number is zero with probability p, and the others make up for it."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return x * dropout_factors(x, self.p) if self.training and self.p else x
