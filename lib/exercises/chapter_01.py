"""Checkers of chapter 1: masks, softmax, and the two together."""

import math

import torch
from torch import Tensor

from lib.attention import attention, causal_mask, padding_mask, softmax
from lib.exercises.student import number_checker
from lib.exercises.trials import AnyOf, Trial, checker


@checker
def check_causal_mask(student: Trial) -> None:
    for n in (3, 1, 4, 2, *(dice.whole(5, 40) for dice in student.dice(6))):
        m = causal_mask(n)
        student.expect(
            student(n=n),
            m,
            diagonal=m.tril(-1),
            invertida=~m,
            transposta=m.T,
            aditiva=torch.zeros(n, n).masked_fill(~m, -math.inf),
            cheia=torch.ones(n, n, dtype=torch.bool),
            um_a_mais=torch.ones(n, n).tril(1).bool(),
            so_a_propria=torch.eye(n, dtype=torch.bool),
        )
    student.conclude()
    student.require(not student.asked("trace", 41)["loop"], "laco", "comparações entre tensores", "um laço")
    student.expect(student(n=0), causal_mask(0))


@checker
def check_softmax(student: Trial) -> None:
    small = torch.tensor([[0.0, math.log(2.0), math.log(5.0)], [0.0, 0.0, math.log(2.0)]])
    _expect_softmax(student, small)
    for dice in student.dice(18, long=2):
        shape = [dice.length(1, 4) for _ in range(dice.whole(0, 3))] + [dice.length(1, 40)]
        _expect_softmax(student, 5 * dice.real(*shape))
    for dice in student.dice(8):
        s = dice.far(dice.whole(1, 3), dice.whole(2, 5))
        student.expect(student(s=s), softmax(s), "instavel", maximo_global=_unshifted(s - s.max()))
        hidden = small.masked_fill(dice.chance(0.4, 2, 1) & torch.tensor([False, True, True]), -math.inf)
        _expect_softmax(student, hidden, "instavel")
    student.conclude()
    ready = student.asked("trace", small)["softmaxes"]
    student.require(not ready, "pronta", "exp, soma e divisão", f"uma softmax pronta: {', '.join(ready)}")


def _expect_softmax(student: Trial, s: Tensor, otherwise: str = "") -> None:
    e = torch.exp(s - s.max())
    student.expect(
        student(s=s),
        softmax(s),
        otherwise,
        eixo=softmax(s, dim=0) if s.dim() > 1 else softmax(s),
        total=e / e.sum(),
        sem_normalizar=torch.exp(s),
        logaritmo=softmax(s).log(),
        maximo_de_outro_eixo=_unshifted(s - s.max(0, keepdim=True).values),
        linear=s / s.sum(-1, keepdim=True),
    )


@checker
def check_batch_mask(student: Trial) -> None:
    cases = [(torch.tensor([1, 3]), 3), (torch.tensor([1, 4, 2]), 4)]
    for dice in student.dice(15, long=1):
        n = dice.length(1, 30)
        cases.append((dice.wholes(0, n, dice.length(1, 6)), n))
    for lengths, n in cases:
        causal, real = causal_mask(n), padding_mask(lengths, n)  # (n, n), (B, 1, n)
        every = torch.ones(len(lengths), n, n, dtype=torch.bool)
        student.expect(
            student(comprimentos=lengths, n=n),
            causal & real,
            so_causal=causal & every,
            so_padding=real & every,
            diagonal=causal.tril(-1) & real,
            ou=causal | real,
            linhas=causal & real.transpose(1, 2),
            invertida=~(causal & real),
            um_a_mais=causal & padding_mask((lengths + 1).clamp(max=n), n),
            futuro=causal.T & real,
        )


@checker
def check_masked_weights(student: Trial) -> None:
    for dice in student.dice(18, long=1):
        n, d = dice.length(1, 30), dice.length(1, 9)
        batch = [dice.length(1, 3) for _ in range(dice.whole(0, 2))]
        q, k = 2 * dice.normal(*batch, n, d), 2 * dice.normal(*batch, n, d)
        mask = causal_mask(n)
        if dice.whole(0, 2):  # any mask in which every row sees something, for the batch or for all
            mask = dice.some_in_each_row(n, n)
        if batch and dice.whole(0, 1):
            mask = mask & padding_mask(dice.wholes(1, n, batch[-1]), n) | torch.eye(n, dtype=torch.bool)
        _expect_weights(student, q, k, mask)
    for dice in student.dice(3):
        large = torch.diag(dice.wholes(60, 90, 2).to(dice.normal().dtype))
        got = student(q=large, k=-large, mascara=causal_mask(2))  # scores of some -4000: only -inf is below
        swapped = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        student.expect(got, attention(large, -large, large, causal_mask(2))[1], finito=swapped)


def _expect_weights(student: Trial, q: Tensor, k: Tensor, mask: Tensor) -> None:
    d = q.shape[-1]
    s = q @ k.transpose(-2, -1)

    def weights(scores: Tensor, hidden: Tensor = ~mask, value: float = -math.inf, dim: int = -1) -> Tensor:
        return torch.softmax(scores.masked_fill(hidden, value), dim)

    student.expect(
        student(q=q, k=k, mascara=mask),
        attention(q, k, q, mask)[1],
        sem_escala=weights(s),
        escala_sem_raiz=weights(s / d),
        escala_do_tamanho=weights(s / math.sqrt(q.shape[-2])),
        escala_multiplica=weights(s * math.sqrt(d)),
        depois=weights(s / math.sqrt(d), torch.zeros_like(mask)) * mask,
        esquecida=weights(s / math.sqrt(d), torch.zeros_like(mask)),
        zerada=weights(s / math.sqrt(d), value=0.0),
        invertida=AnyOf(weights(s / math.sqrt(d), mask, value) for value in (-math.inf, -1e30)),
        eixo=weights(s / math.sqrt(d), dim=-2),
        trocadas=weights(s.transpose(-2, -1) / math.sqrt(d)),
        pontuacoes=(s / math.sqrt(d)).masked_fill(~mask, -math.inf),
    )


check_weight_by_hand = number_checker(
    "weight_by_hand", 2 / 3, digits=2, sem_mascara=2 / 9, outra_coluna=1 / 3, sem_exponencial=1.0
)
check_allowed_pairs = number_checker(
    "allowed_pairs", 5050, sem_diagonal=4950, sem_mascara=10_000, metade=5000
)


def _unshifted(s: Tensor) -> Tensor:
    return torch.exp(s) / torch.exp(s).sum(-1, keepdim=True)
