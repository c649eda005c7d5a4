"""Random tensors that a seed decides, for tests of what holds for any numbers."""

import torch
from hypothesis import strategies as st
from torch import Generator, Tensor

SEEDS = st.integers(0, 2**31)


def seeded(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=seeded(seed), dtype=torch.float64)
