"""Checkers of chapter 5: aligned labels, vectors, answer spans, pseudo-perplexity and a design of runs."""

from itertools import product

import torch
from torch import Tensor

from lib.exercises.student import number_checker
from lib.exercises.trials import AnyOf, Dice, Raised, Trial, checker
from lib.exercises.values import passes_for
from lib.heads import best_span
from lib.losses import IGNORE_INDEX

NEAR = 1e-5  # two cosines that are nearer than that may change places by rounding


@checker
def check_subword_labels(student: Trial) -> None:
    fixed = ([None, 0, 0, 1, 2, 2, 2, None], [5, 0, 7])
    drawn = []
    for dice in student.dice(18, long=1):
        row: list[int | None] = []
        count = dice.length(0, 20)
        for word in range(count):
            row += [None] * (dice.whole(0, 3) == 0)
            row.extend([word] * dice.whole(-1, 4))  # of some words nothing is left
        labels = dice.wholes(0, 9, count).tolist()
        drawn.append(([*[None] * dice.whole(0, 2), *row, *[None] * dice.whole(0, 2)], labels))
    alone = ([0] * dice.whole(1, 3), [dice.whole(0, 9)])  # between no special tokens
    missed = ([None, 0, *[2] * dice.whole(1, 3), None], dice.wholes(0, 9, 3).tolist())
    for words, labels in (fixed, alone, missed, *drawn):
        everywhere = [IGNORE_INDEX if w is None else labels[w] for w in words]
        first = [i == words.index(w) for i, w in enumerate(words)]
        last = [w not in words[i + 1 :] for i, w in enumerate(words)]
        tokens = [*zip(words, everywhere, first, strict=True)]
        student.expect(
            student(palavra_de=words, rotulos=labels),
            [y if f else IGNORE_INDEX for _, y, f in tokens],
            repete=everywhere,
            ultima=[y if f else IGNORE_INDEX for y, f in zip(everywhere, last, strict=True)],
            especiais_zero=[0 if w is None else y if f else IGNORE_INDEX for w, y, f in tokens],
            continuacao_zero=[y if f or w is None else 0 for w, y, f in tokens],
            sem_especiais=[y if f else IGNORE_INDEX for w, y, f in tokens if w is not None],
            palavra_zero=[y if f and w else IGNORE_INDEX for w, y, f in tokens],
            por_palavra=labels,
            outro_ignorado=AnyOf(
                [(y if f else inside) if w is not None else special for w, y, f in tokens]
                for special, inside in product((IGNORE_INDEX, -1, 100, None), repeat=2)
            ),
            em_ordem=[*labels, *[IGNORE_INDEX] * (len(words) - len(labels))],
        )


@checker
def check_mean_pool(student: Trial) -> None:
    for dice in student.dice(16, long=1):
        b, n = dice.length(1, 5), dice.length(1, 30)
        real = dice.some_in_each_row(b, n)  # real tokens need not come first
        hidden = dice.normal(b, n, dice.length(1, 5)).masked_fill(dice.chance(0.1, b, n, 1), 0.0)
        total = (hidden * real[..., None]).sum(1)
        student.expect(
            student(H=hidden, real=real),
            torch.stack([h[r].mean(0) for h, r in zip(hidden, real, strict=True)]),
            com_padding=hidden.mean(1),
            divide_por_n=total / hidden.shape[1],
            sem_dividir=total,
            primeiro=hidden[:, 0],
            do_lote=total / real.sum(),
            eixo=hidden.mean(-1),
            maximo=hidden.masked_fill(~real[..., None], -torch.inf).amax(1),
            invertida=(hidden * ~real[..., None]).sum(1) / (~real).sum(1, keepdim=True),
            media_geral=hidden[real].mean(0),
            prefixo=torch.stack([h[: r.sum()].mean(0) for h, r in zip(hidden, real, strict=True)]),
        )


@checker
def check_nearest_neighbour(student: Trial) -> None:
    # Of the first vector the cosine, the dot product and the distance each choose another neighbour.
    fixed = torch.tensor([[1.0, 0.0], [1.0, 0.5], [0.0, 1.0], [0.1, 0.01], [9.0, 9.0], [-1.0, 0.1]])
    drawn = []
    for dice in student.dice(18, long=3):
        m, d = dice.length(2, 30), dice.length(2, 8)
        drawn.append(dice.normal(m, d) * 10 ** dice.normal(m, 1))  # short and long vectors
    opposed = torch.tensor([[1.0, 0.0], [-1.0, 0.5], [-1.0, -2.0], [-3.0, 1.0]])  # all cosines are negative
    for vectors in (fixed, opposed, *drawn):
        unit = vectors / vectors.norm(dim=-1, keepdim=True)
        for i in {0, len(vectors) // 2, len(vectors) - 1}:
            others = torch.arange(len(vectors)) != i

            def best(scores: Tensor, others: Tensor = others) -> int:
                return int(scores.masked_fill(~others, -torch.inf).argmax())

            cosine, distance = unit @ unit[i], (vectors - vectors[i]).norm(dim=-1)
            ahead = cosine.topk(min(3, len(vectors))).values.diff().abs()
            if ahead.min() < NEAR:  # rounding decides, and either answer is right
                continue
            student.expect(
                student(vetores=vectors, i=i),
                best(cosine),
                a_si_mesmo=i,
                zero_no_proprio=int(cosine.index_fill(0, torch.tensor(i), 0.0).argmax()),
                indice_deslocado=int(cosine[others].argmax()),
                produto=best(vectors @ vectors[i]),
                euclidiana=best(-distance),
                mais_distante=best(-cosine),
                o_cosseno=cosine[others].max(),
                todos=cosine,
            )


@checker
def check_zscore(student: Trial) -> None:
    fixed = (
        torch.tensor([[3.0, 10.0], [5.0, 40.0]]),
        torch.tensor([[1.0, 0.0], [3.0, 20.0], [5.0, 40.0], [3.0, 30.0]]),
    )
    drawn = []
    for dice in student.dice(16, long=1):
        d, dtype = dice.length(1, 8), dice.real().dtype
        corpus = 10 ** dice.normal(d) * dice.normal(dice.length(3, 40), d) + 3 * dice.normal(d)
        drawn.append((dice.normal(dice.length(1, 5), d).to(dtype), corpus.to(dtype)))
    for x, corpus in (fixed, *drawn):
        mean, std = corpus.mean(0), corpus.std(0)
        got = student(x=x, corpus=corpus)
        # Both definitions of the deviation are right.
        if passes_for(got, (x - mean) / corpus.std(0, correction=0)):
            continue
        student.expect(
            got,
            (x - mean) / std,
            estatisticas_de_x=AnyOf(_standardised(x, 0, c) for c in (0, 1)),
            por_vetor=AnyOf(_standardised(x, 1, c) for c in (0, 1)),
            so_centra=x - mean,
            so_divide=x / std,
            variancia=(x - mean) / corpus.var(0),
            global_=(x - corpus.mean()) / corpus.std(),
            sem_parenteses=x - mean / std,
            o_corpus=(corpus - mean) / std,
            norma=x / x.norm(dim=-1, keepdim=True),
        )


def _standardised(x: Tensor, dim: int, correction: int) -> Tensor:
    """By its own statistics; nan, without the warning of `std`, where it has too few entries."""
    centred = x - x.mean(dim, keepdim=True)
    return centred / (centred.square().sum(dim, keepdim=True) / (x.shape[dim] - correction)).sqrt()


@checker
def check_answer_span(student: Trial) -> None:
    fixed = [
        # The best end comes before the best start.
        ([0.0, 0.0, 5.0, 0.0, 0.0, 1.0], [6.0, 0.0, 1.5, 2.0, 4.0, 0.0], 6),
        ([5.0, 4.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 6.0, 6.5], 3),  # the best ordered pair is too long
        ([0.0, 9.0, 0.0], [0.0, 9.0, 8.0], 3),  # one token is best
        ([-3.0, -1.0, -4.0], [-2.0, -5.0, -3.0], 2),
        ([7.0, 1.0, 0.0, 2.0], [0.0, 1.0, 8.0, 2.0], 4),  # the first token belongs to it
        ([0.0, 6.0, 0.0, 5.0], [4.0, 0.0, 1.0, 7.0], 1),
        ([-400.0, -200.0], [-300.0, -100.0], 2),  # all are low
        ([0.0] * 15 + [4.0] + [0.0] * 4, [0.0] * 16 + [4.0] + [0.0] * 3, 3),  # it is far from the beginning
    ]
    drawn = []
    for dice in student.dice(24, long=2):
        n, scale = dice.length(1, 30), dice.whole(1, 20)
        start, end = scale * (dice.normal(2, n) + 4 * dice.whole(-1, 1))
        longest, first = dice.whole(1, n + 1), dice.whole(0, n - 1)
        if (
            last := first + longest - dice.whole(0, 1)
        ) < n:  # a good pair, as long as allowed or one too long
            start[first], end[last] = start.max() + 2 * scale, end.max() + 2 * scale
        drawn.append((start.tolist(), end.tolist(), longest))
    for first, longest in ((dice.whole(0, 3), dice.whole(17, 30)), (dice.whole(20, 30), dice.whole(1, 5))):
        start, end = dice.normal(2, 60)
        start[first] = end[first + longest - 1] = 9.0  # a long one, and one that is far from the beginning
        drawn.append((start.tolist(), end.tolist(), longest))
    for start, end, longest in (*fixed, *drawn):
        _expect_span(student, torch.tensor(start), torch.tensor(end), longest)


def _expect_span(student: Trial, start: Tensor, end: Tensor, longest: int) -> None:
    n = len(start)
    i, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    total = start[:, None] + end[None, :]

    def best(scores: Tensor, allowed: Tensor) -> list[int]:
        if not allowed.any():
            return [0, 0]
        return list(divmod(int(scores.masked_fill(~allowed, -torch.inf).argmax()), n))

    allowed = (i <= j) & (j - i < longest)
    right = best_span(start[None], end[None], torch.ones(1, n, dtype=torch.bool), longest)[0].tolist()
    student.expect(
        student(inicio=start, fim=end, maior=longest),
        right,
        um_a_mais=best(total, (i <= j) & (j - i <= longest)),
        sem_limite=best(total, i <= j),
        independentes=AnyOf(([int(start.argmax()), int(end.argmax())], best(total, (i - j).abs() < longest))),
        negativas=[0, 0] if total.max() < 0 else right,
        um_a_menos=best(total, (i <= j) & (j - i < longest - 1)),
        um_token_nao=best(total, (i < j) & (j - i < longest)),
        so_um_token=best(total, i == j),
        produto=best(start[:, None] * end[None, :], allowed),
        inicio_primeiro=best(total, allowed & (i == start.argmax())),
        fim_primeiro=best(total, allowed & (j == end.argmax())),
        trocados=right[::-1],
        comprimento=[right[0], right[1] - right[0] + 1],
        fim_de_fora=[right[0], right[1] + 1],
        pontuacao=total[right[0], right[1]],
    )


@checker
def check_pseudo_perplexity(student: Trial) -> None:
    for dice in student.dice(18, long=2):
        n, v = dice.length(1, 25), dice.whole(5, 12)
        special = dice.whole(0, v - 1)
        ids, counted = dice.wholes(0, v - 1, n), dice.some_in_each_row(1, n)[0]
        if n > 2 and dice.whole(0, 1):  # as between [CLS] and [SEP]
            counted = torch.arange(n) % (n - 1) > 0
        _expect_pseudo(student, _Model(dice, v), ids, special, counted)


class _Model:
    """A toy model whose logits (N, V) at a place depend on the token there and on all the others."""

    __name__ = "modelo"

    def __init__(self, dice: Dice, v: int) -> None:
        self.own, self.near, self.rest = 2 * dice.normal(v, v), dice.normal(2, v, v), dice.normal(v, v)

    def __call__(self, ids: Tensor) -> Tensor:
        left, right = self.near[0][ids.roll(1)], self.near[1][ids.roll(-1)]
        return self.own[ids] + left + right + self.rest[ids].mean(0)


def _expect_pseudo(student: Trial, model: _Model, ids: Tensor, mask_id: int, counted: Tensor) -> None:
    places = counted.nonzero().flatten().tolist()

    def losses(inputs: dict[int, Tensor], shift: int = 0) -> Tensor:
        each = [-model(x)[(i + shift) % len(ids)].log_softmax(-1)[ids[i]] for i, x in inputs.items()]
        return torch.stack(each) if each else torch.tensor([torch.nan])

    def holes(*at: int, by: int = mask_id) -> Tensor:
        return ids.index_fill(0, torch.tensor(at, dtype=torch.long), by % len(model.own))

    one_each = losses({i: holes(i) for i in places})
    student.expect(
        student(modelo=model, ids=ids, mask_id=mask_id, contam=counted),
        one_each.mean().exp(),
        sem_mascarar=losses({i: ids for i in places}).mean().exp(),
        mask_fixo=AnyOf(losses({i: holes(i, by=by) for i in places}).mean().exp() for by in (0, 1, 4, 103)),
        sem_as_pontas=losses({i: holes(i) for i in range(1, len(ids) - 1)}).mean().exp(),
        todas_de_uma_vez=losses({i: holes(*places) for i in places}).mean().exp(),
        acumula=losses({i: holes(*places[: k + 1]) for k, i in enumerate(places)}).mean().exp(),
        com_especiais=losses({i: holes(i) for i in range(len(ids))}).mean().exp(),
        posicao_errada=losses({i: holes(i) for i in places}, shift=-1).mean().exp(),
        posicao_seguinte=losses({i: holes(i) for i in places}, shift=1).mean().exp(),
        soma=one_each.sum().exp(),
        divide_por_n=(one_each.sum() / len(ids)).exp(),
        media_das_exponenciais=one_each.exp().mean(),
        sem_exponencial=one_each.mean(),
        sinal=(-one_each.mean()).exp(),
    )


@checker
def check_accuracy_defect(student: Trial) -> None:
    for dice in student.dice(18, long=3):
        b, n, c = dice.length(1, 4), dice.length(1, 20), dice.whole(2, 6)
        logits, labels = dice.normal(b, n, c), dice.wholes(0, c - 1, b, n)
        found = logits.argmax(-1)
        labels = torch.where(dice.chance(0.5, b, n), found, labels)  # a model that has learnt something
        labels = labels.masked_fill(~dice.some_in_each_row(b, n), IGNORE_INDEX)
        right, asked = found == labels, labels != IGNORE_INDEX
        share = right[asked].double().mean()
        student.expect(
            student(logits=logits, rotulos=labels),
            share,
            como_estava=right.double().mean(),
            por_frase=(right.sum(1) / asked.sum(1)).mean(),
            contam_como_certas=(right | ~asked).double().mean(),
            erros=1 - share,
            quantidade=right.sum().double(),
            so_o_zero=right[labels != 0].double().mean(),
        )


@checker
def check_runs_experiment(student: Trial) -> None:
    got = student()
    if isinstance(got, Raised):
        student.expect(got, [])
    rows = [[*row] for row in got] if isinstance(got, list) and all(isinstance(r, list) for r in got) else []
    well_made = rows and all(
        len(r) == 4 and all(isinstance(x, int) for x in r) and min(r[1:3]) > 0 for r in rows
    )
    student.require(bool(well_made), "tipo", "uma lista de (booleano, inteiro, inteiro, inteiro)", got)
    student.require(len(rows) <= RUNS, "caras", f"no máximo {RUNS} corridas", f"{len(rows)} corridas")
    runs = [(bool(p), n, steps, seed) for p, n, steps, seed in rows]
    student.require(len(set(runs)) == len(runs), "repetida", "corridas diferentes", got)
    settings: dict[tuple, set[int]] = {}
    for *setting, seed in runs:
        settings.setdefault(tuple(setting), set()).add(seed)
    varied = [len(set(values)) for values in zip(*settings, strict=True)]
    student.require(min(varied) > 1, "nao_varia", "as três causas variam", got)
    student.require(_separates([*settings]), "confundidas", "cada causa separada das outras", got)
    seeds = [*settings.values()]
    student.require(min(map(len, seeds)) >= 3, "sem_repeticao", "três sementes em cada configuração", got)
    student.require(all(s == seeds[0] for s in seeds), "sementes_diferentes", "as mesmas sementes", got)


RUNS = 16


def _separates(settings: list[tuple]) -> bool:
    """Whether no two worlds, each with effects of its own, give these settings the same results.

    Each value of a cause may have any effect, so a result is a sum of one unknown for each; with as many
    independent settings as unknowns, the results tell all of them.
    """
    values = [sorted(set(column)) for column in zip(*settings, strict=True)]
    design = [[1.0, *(float(row[c] == v) for c in range(3) for v in values[c][1:])] for row in settings]
    table = torch.tensor(design)
    return int(torch.linalg.matrix_rank(table)) == table.shape[1]


check_spans_by_hand = number_checker(
    "spans_by_hand", 27, sem_limite=55, sem_ordem=100, sem_as_pontas=30, um_token_nao=17, um_a_mais=34
)
