"""The figures in the quiz before chapter 1: a diagnostic of what the course takes for known."""

import math

import torch

from lib.attention import softmax
from lib.losses import to_bits
from lib.quizzes.question import Figures


def row_of_a_table() -> Figures:
    return dict(id=12, twice=2 * 12)


def padding() -> Figures:
    return dict(long=7, short=4)


def softmax_by_hand() -> Figures:
    scores = torch.tensor([2.0, 6.0], dtype=torch.float64).log()
    weights, shares = softmax(scores), scores / scores.sum()
    return dict(a=2, b=6, weight=weights[1], first=weights[0], share=shares[1], equal=1 / len(scores))


def surprise() -> Figures:
    p = 0.25
    nats = -math.log(p)
    return dict(p=p, nats=nats, missing=1 - p, bits=to_bits(nats))


def floor_of_a_die() -> Figures:
    n = 6
    return dict(n=n, nats=math.log(n), bits=math.log2(n), zero=0, chance=1 / n)


def shape_of_a_product() -> Figures:
    x, w = torch.ones(2, 3), torch.ones(3, 4)
    inner, stacked = (x.shape[1], w.shape[0]), (*x.shape, w.shape[1])
    return dict(x=tuple(x.shape), w=tuple(w.shape), shape=tuple((x @ w).shape), inner=inner, stacked=stacked)


def broadcasting() -> Figures:
    row, column = torch.arange(4)[None], torch.arange(3)[:, None]
    compared = (row < column).numel()
    figures = dict(row=tuple(row.shape), column=tuple(column.shape), compared=compared)
    return figures | dict(longest=row.numel(), added=row.numel() + column.numel())
