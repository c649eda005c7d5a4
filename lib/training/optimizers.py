"""How to descend: the recipe of a training, and the optimizers that follow it."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lib import checks


@dataclass(frozen=True)
class Recipe:
    """How to descend. `warmup` is the share of the steps in which the rate rises; then it falls to zero.
    `beta_2` says how slowly AdamW forgets squared gradients: BERT took 0.999, RoBERTa 0.98 (Liu 2019). With
    `muon`, a learning rate, the matrices of the blocks and heads are left to Muon."""

    steps: int
    lr: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    beta_2: float = 0.999
    muon: float | None = None

    def __post_init__(self):
        checks.integer("steps", self.steps, 1)
        checks.number("lr", self.lr, above=0)
        checks.probability("warmup", self.warmup)
        checks.number("weight_decay", self.weight_decay, 0)
        checks.number("clip", self.clip, above=0)
        checks.number("beta_2", self.beta_2, above=0, below=1)
        if self.muon is not None:
            checks.number("muon", self.muon, above=0)

    def rate(self, step: int, peak: float | None = None) -> float:
        """The learning rate of a step, counted from 0: a straight line up to `peak` (`lr`), and down."""
        peak, rising = self.lr if peak is None else peak, round(self.warmup * self.steps)
        if step < rising:
            return peak * (step + 1) / rising
        return peak * (self.steps - step) / (self.steps - rising)


def optimizers(model: nn.Module, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """AdamW for every weight; or, if the recipe says so, for all but the matrices that Muon takes.

    Tables are not matrices in this sense: their rows are looked up one by one, not multiplied together.
    """
    if recipe.muon is None:
        return [adamw(model, recipe)]
    tables = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    matrices = [p for p in model.parameters() if p.dim() == 2 and id(p) not in tables]
    taken = {id(p) for p in matrices}
    return [adamw(model, recipe, {id(p) for p in model.parameters()} - taken), Muon(matrices, recipe.muon)]


def adamw(model: nn.Module, recipe: Recipe, only: set[int] | None = None) -> torch.optim.AdamW:
    """AdamW, for all weights or for the ids in `only`; as in BERT, weight decay pulls on matrices, not on
    biases and norms."""
    weights = [p for p in model.parameters() if only is None or id(p) in only]
    groups = [
        {"params": [p for p in weights if p.dim() >= 2], "weight_decay": recipe.weight_decay},
        {"params": [p for p in weights if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.lr, betas=(0.9, recipe.beta_2), fused=True)


class Muon(torch.optim.Optimizer):
    """Steps of the same size in every direction of a matrix (Jordan et al., 2024).

    The momentum of the gradient, U S V^T, is replaced by U V^T, or nearly: a few rounds of an odd polynomial
    push its singular values towards one. Directions that the gradient hardly shows are learnt as fast as the
    loud ones. Matrices of one shape, or of its transpose, go through the rounds together.
    """

    MOMENTUM, ROUNDS = 0.95, 5
    POLYNOMIAL = (3.4445, -4.7750, 2.0315)  # of Jordan: steep at zero, between 0.7 and 1.2 after five rounds

    def __init__(self, matrices: Iterable[Tensor], lr: float) -> None:
        super().__init__(matrices, {"lr": lr})
        if odd := [tuple(p.shape) for g in self.param_groups for p in g["params"] if p.dim() != 2]:
            raise ValueError(f"matrices must have two axes, got shapes {odd}")

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        for group in self.param_groups:
            alike: dict[tuple[int, ...], list[Tensor]] = {}
            for p in group["params"]:
                if p.grad is not None:
                    alike.setdefault(tuple(sorted(p.shape)), []).append(p)
            for matrices in alike.values():
                directions = (self._direction(p) for p in matrices)
                wide = torch.stack([d.T if len(d) > d.shape[1] else d for d in directions])
                for p, step in zip(matrices, self.orthogonal(wide), strict=True):
                    rows, columns = p.shape
                    size = group["lr"] * max(1, rows / columns) ** 0.5
                    p.sub_(step.T if rows > columns else step, alpha=size)

    def _direction(self, p: Tensor) -> Tensor:
        """The gradient with its momentum, one step ahead (Nesterov)."""
        assert p.grad is not None  # `step` leaves the others out
        state = self.state[p]
        if not state:
            state["momentum"] = torch.zeros_like(p)
        state["momentum"].lerp_(p.grad, 1 - self.MOMENTUM)
        return p.grad.lerp(state["momentum"], self.MOMENTUM)

    @classmethod
    def orthogonal(cls, x: Tensor) -> Tensor:
        """U V^T, nearly, for each matrix U S V^T of x (n, rows, columns)."""
        a, b, c = cls.POLYNOMIAL
        x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)  # singular values of at most one
        for _ in range(cls.ROUNDS):
            square = x @ x.mT  # (n, rows, rows)
            x = a * x + (b * square + c * square @ square) @ x
        return x


# What an optimizer remembers of each weight.
MOMENTS = {torch.optim.AdamW: ("step", "exp_avg", "exp_avg_sq"), Muon: ("momentum",)}
