"""Checkers of chapter 1: masks, softmax, attention, and experiments on who sees the future."""

import math

import torch
from torch import Tensor

from lib.attention import attention, causal_mask, padding_mask, softmax
from lib.exercises.student import number_checker
from lib.exercises.trials import AnyOf, Dice, Trial, checker


@checker
def check_causal_mask(student: Trial) -> None:
    sizes = [dice.whole(5, 40) if k else dice.whole(520, 900) for k, dice in enumerate(student.dice(6))]
    for n in (3, 1, 4, 2, *sizes):
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
    student.require(not student.ask("trace", 41)["loop"], "laco", "comparações entre tensores", "um laço")
    student.expect(student(n=0), causal_mask(0))


@checker
def check_softmax(student: Trial) -> None:
    small = torch.tensor([[0.0, math.log(2.0), math.log(5.0)], [0.0, 0.0, math.log(2.0)]])
    _expect_softmax(student, small)
    for dice in student.dice(18, long=2):
        shape = [dice.length(1, 4) for _ in range(dice.whole(0, 3))] + [dice.length(1, 40)]
        _expect_softmax(student, 5 * dice.real(*shape))
    for k, dice in enumerate(student.dice(8)):
        s = dice.far(dice.whole(1, 3), dice.whole(2, 5))
        if k % 2:  # further apart than float64 can take, and with more axes
            s = (s.double() + 3000 * dice.wholes(0, 1, *s.shape))[None, None]
        student.expect(student(s=s), softmax(s), "instavel", maximo_global=_unshifted(s - s.max()))
        hidden = small.masked_fill(dice.chance(0.4, 2, 1) & torch.tensor([False, True, True]), -math.inf)
        _expect_softmax(student, hidden, "instavel")
    student.conclude()
    ready = student.ask("trace", small)["softmaxes"]
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
    n = dice.whole(200, 400)
    cases.append((dice.wholes(0, n, 2), n))
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
def check_attention(student: Trial) -> None:
    for dice in student.dice(18, long=1):
        n, d = dice.length(1, 30), dice.length(1, 9)
        batch = [dice.length(1, 3) for _ in range(dice.whole(0, 2))]
        q, k = 2 * dice.normal(*batch, n, d), 2 * dice.normal(*batch, n, d)
        v = dice.normal(*batch, n, d + dice.whole(0, 2))
        mask = causal_mask(n)
        if dice.whole(0, 2):  # any mask in which every row sees something, for the batch or for all
            mask = dice.some_in_each_row((1, n)[dice.whole(0, 1)], n)
        if batch and dice.whole(0, 1):
            mask = mask & padding_mask(dice.wholes(1, n, batch[-1]), n) | torch.eye(n, dtype=torch.bool)
        _expect_attention(student, q, k, v, mask)
    for dice in student.dice(3):
        large, v = torch.diag(dice.wholes(60, 90, 2).to(dice.normal().dtype)), dice.normal(2, 2)
        got = student(
            q=large, k=-large, v=v, mascara=causal_mask(2)
        )  # scores of some -4000: only -inf is below
        swapped = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        student.expect(got, [*attention(large, -large, v, causal_mask(2))], finito=[swapped @ v, swapped])


def _expect_attention(student: Trial, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> None:
    d = q.shape[-1]
    s = q @ k.transpose(-2, -1)

    def both(weights: Tensor) -> list[Tensor]:
        return [weights @ v, weights]

    def weighed(
        scores: Tensor, hidden: Tensor = ~mask, value: float = -math.inf, dim: int = -1
    ) -> list[Tensor]:
        return both(torch.softmax(scores.masked_fill(hidden, value), dim))

    right, a = attention(q, k, v, mask)
    student.expect(
        student(q=q, k=k, v=v, mascara=mask),
        [right, a],
        sem_escala=weighed(s),
        escala_sem_raiz=weighed(s / d),
        escala_do_tamanho=weighed(s / math.sqrt(q.shape[-2])),
        escala_multiplica=weighed(s * math.sqrt(d)),
        depois=both(weighed(s / math.sqrt(d), torch.zeros_like(mask))[1] * mask),
        esquecida=weighed(s / math.sqrt(d), torch.zeros_like(mask)),
        zerada=weighed(s / math.sqrt(d), value=0.0),
        invertida=AnyOf(weighed(s / math.sqrt(d), mask, value) for value in (-math.inf, -1e30)),
        eixo=weighed(s / math.sqrt(d), dim=-2),
        trocadas=weighed(s.transpose(-2, -1) / math.sqrt(d)),
        pontuacoes=both((s / math.sqrt(d)).masked_fill(~mask, -math.inf)),
        so_os_pesos=a,
        trocado=[a, right],
        com_chaves=[a @ k, a],
    )


@checker
def check_padding_defect(student: Trial) -> None:
    for dice in student.dice(18, long=1):
        n = dice.length(1, 20)
        lengths = dice.wholes(1, n, dice.length(1, 5))
        s = 3 * dice.normal(len(lengths), n, n) + 60 * dice.wholes(-1, 1, len(lengths), 1, 1)
        real = padding_mask(lengths, n)  # (B, 1, N)
        right = s.masked_fill(~real, -math.inf).softmax(-1)
        rows = s.masked_fill(~real.transpose(1, 2), -math.inf).softmax(-1)
        student.expect(
            student(s=s, comprimentos=lengths),
            right,
            como_estava=AnyOf((rows.nan_to_num(1 / n), rows.nan_to_num(0.0))),
            linhas_zeradas=AnyOf(
                (right * real.transpose(1, 2), right.masked_fill(~real.transpose(1, 2), 1 / n))
            ),
            sem_mascara=s.softmax(-1),
            depois=s.softmax(-1) * real,
            causal=s.masked_fill(~(real & causal_mask(n)), -math.inf).softmax(-1),
        )


class _Box:
    """A layer (N, d) -> (N, d) that may see the future: all of it, in one place, or hardly."""

    __name__ = "modelo"

    def __init__(self, dice: Dice, d: int, seen: Tensor, hint: Tensor, turned: bool) -> None:
        self.W, self.seen, self.hint, self.turned = dice.normal(d, d), seen, hint, turned

    def __call__(self, x: Tensor) -> Tensor:
        if self.turned:  # blind to how long a row is
            x = x / x.norm(dim=-1, keepdim=True).clamp_min(1e-12)
        a = (x @ self.W @ x.T).tanh().exp() * self.seen  # (N, N)
        return a @ x / (a.sum(-1, keepdim=True) + (self.hint @ x.square()).sum(-1, keepdim=True))


@checker
def check_leak_experiment(student: Trial) -> None:
    for dice in student.dice(8):
        n, d = dice.whole(2, 7), dice.whole(2, 5)
        past, x = causal_mask(n).float(), dice.normal(n, d)
        i = dice.whole(0, n - 2)
        one, far = torch.zeros(2, n, n)
        one[i, i + 1] = far[i, dice.whole(min(i + 2, n - 1), n - 1)] = 1.0
        none, alone = torch.zeros(n, n), torch.eye(n)
        boxes = [  # what it averages, what else enters the denominator, and whether it sees directions only
            (past, none, False),
            (alone, none, False),
            (past, 0.01 * alone, False),
            (torch.ones(n, n), none, False),
            (past + one, none, False),
            (past, 0.05 * one, False),
            (past + far, none, False),
            (past, none, True),
            (past + far, none, True),
        ]
        for seen, hint, turned in boxes:
            ahead = ((seen + hint) * (1 - past)).nonzero()
            student.expect(
                student(modelo=_Box(dice, d, seen, hint, turned), x=x),
                len(ahead) > 0,
                so_a_seguinte=bool((ahead[:, 1] == ahead[:, 0] + 1).any()),
                multiplica=len(ahead) > 0 and not turned,
                so_o_ultimo=bool((ahead[:, 1] == n - 1).any()),
                so_a_primeira=bool((ahead[:, 0] == 0).any()),
                sempre_sim=True,
                sempre_nao=False,
            )


check_weight_by_hand = number_checker(
    "weight_by_hand", 2 / 3, digits=2, sem_mascara=2 / 9, outra_coluna=1 / 3, sem_exponencial=1.0
)
check_changed_outputs = number_checker(
    "changed_outputs", 7, sem_a_propria=6, sem_mascara=10, so_ela=1, o_passado=4, por_camada=21
)


def _unshifted(s: Tensor) -> Tensor:
    return torch.exp(s) / torch.exp(s).sum(-1, keepdim=True)
