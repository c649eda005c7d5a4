"""Checkers of chapter 1: masks, softmax, and the two together."""

import math

import torch
from torch import Tensor

from lib.attention import attention, causal_mask, padding_mask, softmax
from lib.exercises.student import AnyOf, Student, checker, number_checker

READY = {"softmax", "log_softmax", "softmin", "Softmax", "LogSoftmax", "Softmin"}


@checker
def check_causal_mask(student: Student) -> None:
    for n in (3, 1, 4, *(int(torch.randint(5, 12, (), generator=g)) for g in student.randoms(3))):
        m = causal_mask(n)
        student.expect(
            student(n=n),
            m,
            diagonal=m.tril(-1),
            invertida=~m,
            transposta=m.T,
            aditiva=torch.zeros(n, n).masked_fill(~m, -math.inf),
            cheia=torch.ones(n, n, dtype=torch.bool),
        )
    student.require(not student.code["loop"], "laco", "comparações entre tensores", "um laço")


@checker
def check_softmax(student: Student) -> None:
    ready = READY.intersection(student.code["names"])
    student.require(not ready, "pronta", "exp, soma e divisão", f"uma softmax pronta: {', '.join(ready)}")
    small = torch.tensor([[0.0, math.log(2.0), math.log(5.0)], [0.0, 0.0, math.log(2.0)]])
    _expect_softmax(student, small)
    _expect_softmax(student, torch.tensor([0.0, math.log(3.0)]))
    for s in (
        [[1000.0, 1001.0], [0.0, 1.0]],
        [[-1001.0, -1000.0], [0.0, 0.0]],
        [[900.0, 901.0], [-900.0, -901.0]],
    ):
        s = torch.tensor(s)
        student.expect(student(s=s), softmax(s), "instavel", maximo_global=_unshifted(s - s.max()))
    student.expect(student(s=torch.tensor([[0.0, -math.inf]])), torch.tensor([[1.0, 0.0]]))
    for g in student.randoms():
        _expect_softmax(student, 5 * torch.randn(2, 3, 4, generator=g))


def _expect_softmax(student: Student, s: Tensor) -> None:
    e = torch.exp(s - s.max())
    student.expect(
        student(s=s),
        softmax(s),
        eixo=softmax(s, dim=0) if s.dim() > 1 else softmax(s),
        total=e / e.sum(),
        sem_normalizar=torch.exp(s),
        logaritmo=softmax(s).log(),
        maximo_de_outro_eixo=_unshifted(s - s.max(0, keepdim=True).values),
        linear=s / s.sum(-1, keepdim=True),
    )


@checker
def check_batch_mask(student: Student) -> None:
    fixed = [(torch.tensor([1, 3]), 3), (torch.tensor([1, 4, 2]), 4)]
    drawn = [(torch.randint(1, 7, (3,), generator=g), 6) for g in student.randoms()]
    for lengths, n in (*fixed, *drawn):
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
def check_masked_weights(student: Student) -> None:
    g = torch.Generator().manual_seed(5)
    q, k = (2 * torch.randn(3, 2, generator=g).round() for _ in range(2))
    _expect_weights(student, q, k, causal_mask(3))
    large = torch.tensor([[40.0, 0.0], [0.0, 40.0]])
    got = student(q=large, k=-large, mascara=causal_mask(2))  # scores of about -1000: only -inf is below
    student.expect(
        got, attention(large, -large, large, causal_mask(2))[1], finito=torch.tensor([[0.0, 1.0], [1, 0]])
    )
    for g in student.randoms():
        mask = causal_mask(4) & padding_mask([4, 2], 4)  # (2, 4, 4)
        q, k = torch.randn(2, 2, 4, 3, generator=g)
        _expect_weights(student, q, k, mask)


def _expect_weights(student: Student, q: Tensor, k: Tensor, mask: Tensor) -> None:
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
