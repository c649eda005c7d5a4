"""One gradient for a table that is used twice.

The token table E reads the tokens (some of its rows) and scores them (all of it), so autograd makes two
gradients of V d numbers, and a third for their sum. But the first is zero except in the rows that were read:
here those rows are added in place to the gradient of the scores, which backpropagation has finished by then.
"""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F


class TiedTable:
    """E (V, d) in one step of training: `read` first, then `score` what was computed from the rows."""

    def __init__(self, E: Tensor, padding_id: int | None) -> None:
        self.E, self.padding_id = E, padding_id
        self.read_with_gradient = False
        self.gradient: Tensor | None = None  # on its way back from `score` to `read`

    def read(self, ids: Tensor) -> Tensor:
        """E[ids], (..., d)."""
        self.read_with_gradient = self.E.requires_grad and torch.is_grad_enabled()
        return _Read.apply(self.E, ids, self)

    def score(self, t: Tensor, b: Tensor) -> Tensor:
        """t E^T + b, (..., d) -> (..., V), where `t` depends on what was read."""
        return _Score.apply(t, self.E, b, self)


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx, E: Tensor, ids: Tensor, table: TiedTable) -> Tensor:
        ctx.save_for_backward(ids)
        ctx.table, ctx.shape = table, E.shape
        return F.embedding(ids, E)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:
        (ids,), table = ctx.saved_tensors, ctx.table
        if table.padding_id is not None:
            grad = grad.masked_fill((ids == table.padding_id)[..., None], 0.0)
        gradient, table.gradient = table.gradient, None  # nobody else may hold it, or autograd would copy it
        if gradient is None:
            gradient = grad.new_zeros(ctx.shape)
        return gradient.index_add_(0, ids.flatten(), grad.flatten(0, -2)), None, None


class _Score(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t: Tensor, E: Tensor, b: Tensor, table: TiedTable) -> Tensor:
        ctx.save_for_backward(t, E)
        ctx.table = table
        return F.linear(t, E, b)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor | None, Tensor, None]:
        t, E = ctx.saved_tensors
        for_E = grad.T @ t if ctx.needs_input_grad[1] else None  # (V, d)
        if ctx.table.read_with_gradient:
            ctx.table.gradient, for_E = for_E, None
        return grad @ E, for_E, grad.sum(0), None
