"""The figures in the quiz of chapter 4: cross-entropy and next-word prediction."""

import math

import torch

from lib.losses import cross_entropy, entropy, perplexity, to_bits, to_nats
from lib.quizzes.question import Figures


def surprise_in_bits() -> Figures:
    p = 0.0625
    nats = -math.log(p)
    return dict(p=p, bits=to_bits(nats), nats=nats, missing=1 - p, decimal=-math.log10(p))


def uniform_guess() -> Figures:
    v = 30522
    return dict(v=v, nats=math.log(v), bits=math.log2(v), decimal=math.log10(v), one=1)


def floor() -> Figures:
    p = [0.5, 0.25, 0.25]
    nats = entropy(p)
    return dict(p=p, nats=nats.item(), zero=0, uniform=math.log(3), bits=to_bits(nats).item())


def perplexity_of_bits() -> Figures:
    bits = 3
    return dict(bits=bits, perplexity=perplexity(to_nats(bits)), natural=math.exp(bits), squared=bits**2)


def gradient() -> Figures:
    p = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)
    u = p.log().requires_grad_()
    (gradients,) = torch.autograd.grad(cross_entropy(u[None], torch.tensor([0])), u)
    gradient = gradients[0].item()
    return dict(p=p[0], gradient=gradient, opposite=-gradient, by_probability=-1 / p[0])


def what_the_loss_teaches() -> Figures:
    yes, bold, shy = 0.7, 0.95, 0.55

    def loss(q: float) -> float:
        return -yes * math.log(q) - (1 - yes) * math.log(1 - q)

    said = dict(honest=loss(yes), of_the_bold=loss(bold), of_the_shy=loss(shy))
    return dict(yes=yes, bold=bold, shy=shy, **said)
