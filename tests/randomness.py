"""Random tensors that a seed decides, for tests of what holds for any numbers."""

import torch
from hypothesis import strategies as st
from torch import Tensor

SEEDS = st.integers(0, 2**31)


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
