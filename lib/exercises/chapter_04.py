"""Checkers of chapter 4: cross-entropy, its gradient, the training loop, perplexity and divergence."""

import math

import torch
from torch import Tensor, nn
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
    for k, dice in enumerate(student.dice(6)):
        m, v = dice.whole(2, 4), dice.whole(2, 4)
        logits = dice.far(m, v)
        if k % 2:  # further apart than float64 can take
            logits = logits.double() + 3000 * dice.wholes(0, 1, m, v)
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
    large = [
        (torch.tensor(values), target)
        for values, target in (
            ([1000.0, 0.0, 0.0], 1),
            ([1000.0, 1001.0, 0.0], 2),
            ([0.0, 1000.0, 0.0], 1),
            ([3000.0, 0.0, -3000.0], 1),
        )
    ]
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
            a_perda=logits.logsumexp(0) - logits[target],
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


torch.optim.AdamW([torch.zeros(1)])  # what torch loads at its first optimizer takes longer than an answer may


class _Line(nn.Module):
    """A model with two numbers to learn, y = a x + b, and its loss on a batch (x, y)."""

    __name__ = "modelo"

    def __init__(self, a: float, b: float) -> None:
        super().__init__()
        self.a, self.b = (nn.Parameter(torch.tensor(x)) for x in (a, b))

    def forward(self, x: Tensor) -> Tensor:
        return self.a * x + self.b


class _Squares:
    __name__ = "perda"

    def __init__(self, line: _Line) -> None:
        self.line = line

    def __call__(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        x, y = batch
        return (self.line(x) - y).square().mean()


@checker
def check_training_loop(student: Trial) -> None:
    for dice in student.dice(12, long=1):
        start, rate = dice.normal(2).tolist(), dice.whole(1, 40) / 100
        batches = [tuple(dice.normal(2, dice.whole(1, 5))) for _ in range(dice.length(1, 20))]
        line = _Line(*start)
        right = _losses(start, batches, rate)
        got = student(modelo=line, perda=_Squares(line), lotes=batches, taxa=rate)
        kept = isinstance(got, list) and any(isinstance(x, Tensor) and x.requires_grad for x in got)
        student.require(not kept, "guarda_o_grafo", right, "uma lista de tensores que ainda se derivam")
        student.expect(
            got,
            right,
            acumula=_losses(start, batches, rate, "accumulates"),
            nao_anda=_losses(start, batches, 0.0),
            um_atrasado=_losses(start, batches, rate, "late"),
            taxa_constante=_losses(start, batches, rate, "constant"),
            sgd=_losses(start, batches, rate, "sgd"),
            depois_do_passo=_losses(start, batches, rate, "after"),
            so_a_ultima=right[-1],
        )


def _losses(start: list[float], batches: list, rate: float, mistake: str = "") -> list[float]:
    """The losses that the loop notes, or that it notes with one thing wrong."""
    line = _Line(*start)
    loss, kind = _Squares(line), torch.optim.SGD if mistake == "sgd" else torch.optim.AdamW
    optimizer, found = kind(line.parameters(), lr=rate), []
    for i, batch in enumerate(batches):
        if mistake != "constant":
            optimizer.param_groups[0]["lr"] = rate * (1 - i / len(batches))
        value = loss(batch)
        if mistake == "late":
            optimizer.step()
        if mistake != "accumulates":
            optimizer.zero_grad()
        value.backward()
        if mistake != "late":
            optimizer.step()
        found.append((loss(batch) if mistake == "after" else value).item())
    return found


@checker
def check_mean_of_means_defect(student: Trial) -> None:
    for dice in student.dice(18, long=1):
        rows, columns, size = dice.length(1, 12), dice.length(1, 20), dice.whole(1, 5)
        real = dice.some_in_each_row(rows, columns)
        losses = dice.normal(rows, columns).abs()
        losses = torch.where(real, losses, 20 * losses)
        parts = [(x[r], len(r)) for x, r in zip(losses.split(size), real.split(size), strict=True)]
        means = torch.stack([x.mean() for x, _ in parts])
        counts = torch.tensor([float(n) for _, n in parts])
        whole = rows - rows % size
        by_sentence = (losses * real).sum(1) / real.sum(1)
        student.expect(
            student(perdas=losses, real=real, lote=size),
            losses[real].mean(),
            como_estava=means.mean(),
            com_padding=AnyOf((losses.mean(), (losses * real).mean())),
            por_frase=by_sentence.mean(),
            por_lote_cheio=(means * counts).sum() / counts.sum(),
            sem_o_resto=losses[:whole][real[:whole]].mean(),
        )


class _Loss:
    """The cross-entropy of rows of logits, right or with one thing wrong."""

    __name__ = "perda"

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        counted = labels != -100
        each = logits.logsumexp(-1)[counted] - logits[counted].gather(-1, labels[counted][:, None])[:, 0]
        if self.wrong == "conta":
            return each.sum() / len(labels)
        return (
            each.sum()
            if self.wrong == "soma"
            else each.mean() / (0.6931471805599453 if self.wrong == "bits" else 1)
        )


@checker
def check_loss_experiment(student: Trial) -> None:
    kinds = ("nenhum", "conta", "bits", "soma")
    for dice in student.dice(6):
        kind = kinds[dice.whole(0, 3)]
        for wrong in (kind, *kinds):
            student.expect(
                student(perda=_Loss(wrong)),
                wrong,
                sem_ignoradas="nenhum" if wrong == "conta" else wrong,
                uma_posicao="nenhum" if wrong == "soma" else wrong,
                sem_bits=AnyOf(other if wrong == "bits" else wrong for other in ("nenhum", "soma", "conta")),
                acusa_a_certa=AnyOf(
                    other if wrong == "nenhum" else wrong for other in ("conta", "bits", "soma")
                ),
                sempre_a_mesma=AnyOf(kinds),
            )


check_first_loss = number_checker(
    "first_loss",
    math.log(1000),
    digits=2,
    bits=math.log2(1000),
    base_dez=3.0,
    probabilidade=0.001,
    perplexidade=1000.0,
    sinal=-math.log(1000),
)
