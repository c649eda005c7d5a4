"""Checkers of chapter 4: cross-entropy, its gradient, teacher forcing, perplexity and divergence."""

import math

import torch
from torch import Tensor
from torch.nn.functional import kl_div

from lib.exercises.student import number_checker
from lib.exercises.trials import AnyOf, Trial, checker
from lib.losses import IGNORE_INDEX, cross_entropy, kl, surprisal


@checker
def check_shift(student: Trial) -> None:
    drawn = [d.wholes(0, 99, d.length(1, 5), d.length(2, 40)) for d in student.dice(16, long=1)]
    for ids in (torch.tensor([[5, 6, 7, 8]]), *drawn):
        ahead, behind = ids[:, :-1], ids[:, 1:]
        student.expect(
            student(ids=ids),
            [ahead, behind],
            lado_errado=[behind, ahead],
            sem_deslocar=[ids, ids],
            copia=AnyOf(([ahead, ahead], [behind, behind])),
            da_a_volta=[ids, ids.roll(-1, 1)],
            da_a_volta_para_tras=[ids, ids.roll(1, 1)],
            sem_cortar=[ids, behind],
            dois=[ids[:, :-2], ids[:, 2:]],
            eixo=[ids[:-1], ids[1:]],
            so_alvos=behind,
            so_entrada=ahead,
        )


@checker
def check_cross_entropy(student: Trial) -> None:
    logits = torch.tensor([[0.0, math.log(3.0)], [0.0, math.log(2.0)], [math.log(7.0), 0.0]])
    _expect_loss(student, logits, torch.tensor([1, 0, 1]))
    _expect_loss(student, logits, torch.tensor([1, IGNORE_INDEX, 1]))
    for dice in student.dice(18, long=1):
        m, v = dice.length(1, 30), dice.length(2, 12)
        labels = dice.wholes(0, v - 1, m)
        labels[(~dice.some_in_each_row(1, m))[0]] = IGNORE_INDEX
        _expect_loss(student, 2 * dice.normal(m, v), labels)
    for dice in student.dice(6):
        m, v = dice.whole(2, 4), dice.whole(2, 4)
        logits = dice.far(m, v)
        labels = dice.wholes(0, v - 1, m)
        student.expect(
            student(logits=logits, alvos=labels),
            cross_entropy(logits, labels),
            "zero_na_probabilidade",
            instavel=_naive_loss(logits, labels),
            maximo_global=_naive_loss(logits - logits.max(), labels),
        )


def _naive_loss(logits: Tensor, labels: Tensor) -> Tensor:
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    return -p[range(len(labels)), labels].log().mean()


def _expect_loss(student: Trial, logits: Tensor, labels: Tensor) -> None:
    each = surprisal(logits, labels)
    right = logits.softmax(-1)[labels != IGNORE_INDEX].gather(-1, labels[labels != IGNORE_INDEX][:, None])
    as_zero = labels.clamp(min=0)
    last = torch.where(labels == IGNORE_INDEX, logits.shape[-1] - 1, labels)
    student.expect(
        student(logits=logits, alvos=labels),
        each.mean(),
        todas_as_posicoes=each.sum() / len(labels),
        soma=each.sum(),
        sinal=-each.mean(),
        bits=each.mean() / math.log(2),
        log_da_media=-right.mean().log(),
        sem_log=AnyOf((right.mean(), -right.mean())),
        softmax_duas_vezes=cross_entropy(logits.softmax(-1), labels),
        eixo=-logits.log_softmax(0)[range(len(labels)), as_zero][labels != IGNORE_INDEX].mean(),
        so_o_logit=-logits[range(len(labels)), as_zero][labels != IGNORE_INDEX].mean(),
        ignora_o_ignorar=surprisal(logits, as_zero).mean(),
        ignorar_como_indice=surprisal(logits, last).mean(),
        por_posicao=each,
    )


@checker
def check_loss_gradient(student: Trial) -> None:
    fixed = [(torch.tensor([0.0, math.log(2.0), math.log(5.0)]), target) for target in (1, 0, 2)]
    drawn = []
    for dice in student.dice(16, long=1):
        v = dice.length(1, 30)
        drawn.append((2 * dice.normal(v), dice.whole(0, v - 1)))
        if v > 1:
            drawn.append((dice.far(1, v)[0], dice.whole(0, v - 1)))
    large = [(torch.tensor([1000.0, 0.0, 0.0]), 1), (torch.tensor([1000.0, 1001.0, 0.0]), 2)]
    for logits, target in (*fixed, *large, *drawn):
        p = logits.softmax(-1)
        one_hot = torch.nn.functional.one_hot(torch.tensor(target), len(logits)).to(p.dtype)
        naive = logits.exp() / logits.exp().sum()
        student.expect(
            student(logits=logits, alvo=target),
            p - one_hot,
            "instavel" if logits.abs().max() > 80 else "",
            sinal=one_hot - p,
            so_softmax=p,
            so_na_certa=(p - one_hot) * one_hot,
            zero_na_certa=p * (1 - one_hot),
            nas_probabilidades=-one_hot / p,
            sem_softmax=logits - one_hot,
            soma_um=p + one_hot,
            media=(p - one_hot) / len(logits),
            instavel=naive - one_hot,
            a_perda=-p[target].log(),
        )


@checker
def check_perplexity(student: Trial) -> None:
    fixed = torch.tensor([[1.0, 3.0, 2.0, 2.0], [0.5, 9.0, 9.0, 9.0]]) * math.log(2.0)
    cases = [(fixed, torch.arange(4) < torch.tensor([[4], [1]]))]
    for dice in student.dice(16, long=1):
        rows, columns = dice.length(1, 5), dice.length(1, 30)
        real = dice.some_in_each_row(rows, columns)  # real tokens need not come first
        losses = dice.normal(rows, columns).abs() * dice.chance(0.9, rows, columns)
        cases.append((torch.where(real, losses, 20 * losses), real))
    for losses, real in cases:
        mean = losses[real].mean()
        by_sentence = (losses * real).sum(1) / real.sum(1)
        student.expect(
            student(perdas=losses, real=real),
            mean.exp(),
            com_padding=losses.mean().exp(),
            invertida=losses[~real].mean().exp(),
            padding_no_denominador=((losses * real).sum() / losses.numel()).exp(),
            media_das_exponenciais=losses[real].exp().mean(),
            prefixo=losses[torch.arange(real.shape[1]) < real.sum(1, keepdim=True)].mean().exp(),
            por_frase=by_sentence.mean().exp(),
            por_frase_media=by_sentence.exp().mean(),
            uma_por_frase=by_sentence.exp(),
            base_dois=2**mean,
            sem_exponencial=mean,
            soma=losses[real].sum().exp(),
            sinal=(-mean).exp(),
        )


@checker
def check_divergence(student: Trial) -> None:
    fixed = [([0.6, 0.3, 0.1], [0.2, 0.3, 0.5]), ([0.8, 0.2], [0.5, 0.5])]
    fixed += [([0.5, 0.5, 0.0], [0.25, 0.5, 0.25]), ([0.5, 0.5, 0.0], [0.75, 0.25, 0.0])]
    drawn = []
    for dice in student.dice(16, long=1):
        v = dice.length(1, 20)
        p, q = (2 * dice.normal(2, v)).softmax(-1)
        if dice.whole(0, 1):
            p = p * dice.some_in_each_row(1, v)[0]
            q = q * ((p > 0) | dice.chance(0.5, v))
        drawn.append((p / p.sum(), q / q.sum()))
    for p, q in (*map(torch.tensor, fixed), *drawn):
        cross, own = -(p * q.log()).nan_to_num(0.0).sum(), -(p * p.log()).nan_to_num(0.0).sum()
        student.expect(
            student(p=p, q=q),
            kl(p, q),
            # First: elsewhere too, what is nan is nan for this reason.
            zero_log_zero=AnyOf(((p * (p / q).log()).sum(), kl_div(q.log(), p, reduction="sum"))),
            trocada=kl(q, p),
            entropia_cruzada=cross,
            entropia=own,
            sinal=-kl(p, q),
            bits=kl(p, q) / math.log(2),
            media=kl(p, q) / len(p),
            sem_peso=(p / q).log().sum(),
            por_entrada=p * (p / q).log(),
        )
    for dice in student.dice(3):
        p = dice.normal(dice.whole(2, 5)).softmax(-1)
        q = p.index_fill(0, torch.tensor(dice.whole(0, len(p) - 1)), 0.0)
        student.expect(student(p=p, q=q / q.sum()), torch.tensor(math.inf), "negada")


check_bits_by_hand = number_checker(
    "bits_by_hand", 3.0, digits=2, nats=math.log(8), sinal=-3.0, probabilidade=0.125, perplexidade=8.0
)
check_gradient_by_hand = number_checker(
    "gradient_by_hand", -0.7, digits=3, sinal=0.7, so_softmax=0.3, nas_probabilidades=-1 / 0.3
)
