"""The figures in the quiz of chapter 2: masked language models."""

import math

import torch

from lib.corruption import BERT_CHANNEL
from lib.losses import IGNORE_INDEX
from lib.numbers import pt
from lib.quizzes.question import Figures

RATE = 0.15  # of the tokens are selected, as in BERT


def renormalised_weight() -> Figures:
    row = torch.tensor([0.2, 0.3, 0.4, 0.1], dtype=torch.float64)
    weight, of_itself = row[:2] / row[:2].sum()
    listed, spread = ", ".join(pt(w, 1) for w in row), row[0] + row[2:].sum() / 2
    return dict(row=listed, weight=weight, unchanged=row[0], of_itself=of_itself, spread=spread)


def share_of_mask() -> Figures:
    rate, mask = 0.4, BERT_CHANNEL.mask  # not BERT's rate: its answer stands in the chapter
    return dict(
        masked=rate * mask, of_the_selected=mask, selected=rate, changed=rate * (1 - BERT_CHANNEL.keep)
    )


def two_draws() -> Figures:
    random, keep = BERT_CHANNEL.random, BERT_CHANNEL.keep
    left = 1 - random
    mistakes = dict(one_draw=left - keep, first_draw=left, kept=left * keep)
    return dict(random=random, keep=keep, masked=left * (1 - keep), **mistakes)


def no_selection() -> Figures:
    n = 4
    return dict(n=n, rate=RATE, none=(1 - RATE) ** n, summed=1 - n * RATE, one=1 - RATE, never=0)


def logits() -> Figures:
    return dict(n=6, d=768, v=30522)


def where_the_loss_counts() -> Figures:
    return dict(ignored=IGNORE_INDEX)


def nsp_loss() -> Figures:
    p = 0.3
    return dict(p=p, loss=-math.log(1 - p), if_next=-math.log(p), coin=math.log(2))
