"""A masked model asked about a text, one token at a time, all the others in sight; and what counting answers.

The question is that of the pseudo-perplexity (Salazar et al., 2020). Models of n-grams answer the same one:
their probability of the sentence with each token in the hole, compared.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lib.experiments.ngrams import KneserNey
from lib.heads import MaskedLM
from lib.losses import perplexity
from lib.progress import track
from lib.training.shortcuts import hidden_at

Rows = Sequence[Sequence[int]]  # [CLS] ... [SEP]
ORDERS = {1: "só a frequência", 2: "bigramas", 3: "trigramas"}


class Filled(NamedTuple):
    """The answers, one per token in reading order, (M,)."""

    truth: Tensor
    guess: Tensor
    confidence: Tensor  # the probability of the guess
    surprisal: Tensor  # of the truth, in nats

    @property
    def right(self) -> Tensor:
        return self.truth == self.guess

    @property
    def perplexity(self) -> float:
        """The pseudo-perplexity: as if the model hesitated between so many equally likely tokens."""
        return perplexity(float(self.surprisal.mean()))


@torch.no_grad()
def fill_each(model: MaskedLM, rows: Rows, mask_id: int) -> Filled:
    """Hide each token of the rows by turns, [CLS] and [SEP] excepted, and ask the model for it."""
    answers = []
    for row in rows:
        ids = torch.tensor(row)
        hole = torch.eye(len(row), dtype=torch.bool)[1:-1]  # (N - 2, N), one row for each question
        asked = ids.expand(hole.shape).masked_fill(hole, mask_id)
        log_p = model.logits(hidden_at(model.encoder, asked, hole)).log_softmax(-1)  # (N - 2, V)
        best, truth = log_p.max(-1), ids[1:-1]
        surprisal = -log_p.gather(-1, truth[:, None])[:, 0]
        answers.append(Filled(truth, best.indices, best.values.exp(), surprisal))
    return Filled(*(torch.cat(parts) for parts in zip(*answers, strict=True)))


def perplexities_of_counts(training: Rows, rows: Rows, size: int) -> dict[str, float]:
    """The pseudo-perplexities of Kneser-Ney models that look at nothing, at one neighbour, at two a side."""
    return {
        name: KneserNey(training, size, order).pseudo_perplexity(rows)
        for order, name in track([*ORDERS.items()], "contagens")
    }
