"""The two ends of a masked model as one: a table that is read and that scores, with one gradient for both.

The token table E reads the tokens (some of its rows) and scores them (all of it), so autograd makes two
gradients of V d numbers, and a third for their sum. But the first is zero except in the rows that were read:
here those rows are added in place to the gradient of the scores, which backpropagation has finished by then.
The gradient of the loss for the scores, p - 1 at the label and p elsewhere, is written down as it is, instead
of being put together from a matrix of zeros and another of logarithms.
"""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F


class TiedTable:
    """E (V, d) in one step of training: `read` first, then the `loss` of what was computed from the rows."""

    def __init__(self, E: Tensor, padding_id: int | None) -> None:
        self.E, self.padding_id = E, padding_id
        self.read_with_gradient = False
        self.gradient: Tensor | None = None  # on its way back from `loss` to `read`

    def read(self, ids: Tensor) -> Tensor:
        """E[ids], (..., d)."""
        self.read_with_gradient = self.E.requires_grad and torch.is_grad_enabled()
        return _Read.apply(self.E, ids, self)

    def loss(self, t: Tensor, b: Tensor, labels: Tensor) -> Tensor:
        """The sum of the cross-entropies of `labels` (M,) under the scores t E^T + b of `t` (M, d)."""
        return _Loss.apply(t, self.E, b, labels, self)


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


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t: Tensor, E: Tensor, b: Tensor, labels: Tensor, table: TiedTable) -> Tensor:
        log_p = F.linear(t, E, b).log_softmax(-1)  # (M, V)
        ctx.save_for_backward(t, E, log_p, labels)
        ctx.table = table
        return -log_p.gather(-1, labels[:, None]).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor | None, Tensor, None, None]:
        t, E, log_p, labels = ctx.saved_tensors
        p = log_p.exp()
        p[torch.arange(len(p)), labels] -= 1  # the gradient, but for a factor that smaller matrices can take
        for_E = p.T @ (t * grad) if ctx.needs_input_grad[1] else None  # (V, d)
        if ctx.table.read_with_gradient:
            ctx.table.gradient, for_E = for_E, None
        return (p @ E) * grad, for_E, p.sum(0) * grad, None, None
