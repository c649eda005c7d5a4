"""One process or many: what the training loop must know of the group that torchrun started, if any.

Under torchrun every process finds its number and the size of the group in the environment. They talk through
torch.distributed: gloo on processors, nccl where every process has a GPU.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class World:
    """This process among its equals; alone, every method gives back what it was given."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """True in the one process that writes files and speaks to the user."""
        return self.rank == 0

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module with its gradients averaged over the group after every backward pass."""
        return DistributedDataParallel(module) if self.size > 1 else module

    def total(self, values: Tensor) -> Tensor:
        """The sum of `values` over all processes."""
        if self.size > 1:
            values = values.clone()
            dist.all_reduce(values)
        return values

    def from_leader(self, value):
        """Whatever the leading process holds, for all: only it reads the files."""
        box = [value]
        if self.size > 1:
            dist.broadcast_object_list(box)
        return box[0]


ALONE = World()


@contextmanager
def joined() -> Iterator[World]:
    """The group that torchrun made, joined for the length of a `with`; ALONE without torchrun."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield ALONE
        return
    on_gpu = torch.cuda.is_available() and torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if on_gpu else "gloo")
    try:
        yield World(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
