"""Checkers of chapter 5: aligned labels, neighbours, z-scores, answer spans and pseudo-perplexity."""

import torch
from torch import Tensor

from lib.exercises.student import AnyOf, Student, checker, number_checker
from lib.exercises.values import passes_for
from lib.heads import best_span
from lib.losses import IGNORE_INDEX, pseudo_perplexity


@checker
def check_subword_labels(student: Student) -> None:
    fixed = ([None, 0, 0, 1, 2, 2, 2, None], [5, 0, 7])
    drawn = []
    for g in student.randoms():
        pieces = torch.randint(1, 4, (4,), generator=g).tolist()
        words = [None, *(w for w, n in enumerate(pieces) for _ in range(n)), None, None]
        drawn.append((words, torch.randint(0, 9, (4,), generator=g).tolist()))
    for words, labels in (fixed, *drawn):
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
            em_ordem=[*labels, *[IGNORE_INDEX] * (len(words) - len(labels))],
        )


@checker
def check_nearest_neighbour(student: Student) -> None:
    # Of the first vector the cosine, the dot product and the distance each choose another neighbour.
    fixed = torch.tensor([[1.0, 0.0], [1.0, 0.5], [0.0, 1.0], [0.1, 0.01], [9.0, 9.0], [-1.0, 0.1]])
    drawn = [2 * torch.randn(6, 3, generator=g) for g in student.randoms()]
    opposed = torch.tensor([[1.0, 0.0], [-1.0, 0.5], [-1.0, -2.0], [-3.0, 1.0]])  # all cosines are negative
    for vectors in (fixed, opposed, *drawn):
        unit = vectors / vectors.norm(dim=-1, keepdim=True)
        for i in range(0, len(vectors), 2):
            others = torch.arange(len(vectors)) != i

            def best(scores: Tensor, others: Tensor = others) -> int:
                return int(scores.masked_fill(~others, -torch.inf).argmax())

            cosine, distance = unit @ unit[i], (vectors - vectors[i]).norm(dim=-1)
            student.expect(
                student(vetores=vectors, i=i),
                best(cosine),
                a_si_mesmo=i,
                indice_deslocado=int(cosine[others].argmax()),
                produto=best(vectors @ vectors[i]),
                euclidiana=best(-distance),
                mais_distante=best(-cosine),
                o_cosseno=cosine[others].max(),
                todos=cosine,
            )


@checker
def check_zscore(student: Student) -> None:
    fixed = (
        torch.tensor([[3.0, 10.0], [5.0, 40.0]]),
        torch.tensor([[1.0, 0.0], [3.0, 20.0], [5.0, 40.0], [3.0, 30.0]]),
    )
    drawn = [
        (torch.randn(3, 4, generator=g), 3 * torch.randn(9, 4, generator=g) + 1) for g in student.randoms()
    ]
    for x, corpus in (fixed, *drawn):
        mean, std = corpus.mean(0), corpus.std(0)
        got = student(x=x, corpus=corpus)
        # Both definitions of the deviation are right.
        if passes_for(got, (x - mean) / corpus.std(0, correction=0)):
            continue
        student.expect(
            got,
            (x - mean) / std,
            estatisticas_de_x=AnyOf((x - x.mean(0)) / x.std(0, correction=c) for c in (0, 1)),
            por_vetor=AnyOf(
                (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=c) for c in (0, 1)
            ),
            so_centra=x - mean,
            so_divide=x / std,
            variancia=(x - mean) / corpus.var(0),
            global_=(x - corpus.mean()) / corpus.std(),
            sem_parenteses=x - mean / std,
            o_corpus=(corpus - mean) / std,
            norma=x / x.norm(dim=-1, keepdim=True),
        )


@checker
def check_answer_span(student: Student) -> None:
    fixed = [
        # The best end comes before the best start.
        ([0.0, 0.0, 5.0, 0.0, 0.0, 1.0], [6.0, 0.0, 1.5, 2.0, 4.0, 0.0], 6),
        ([5.0, 4.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 6.0, 6.5], 3),  # the best ordered pair is too long
        ([0.0, 9.0, 0.0], [0.0, 9.0, 8.0], 3),  # one token is best
        ([-3.0, -1.0, -4.0], [-2.0, -5.0, -3.0], 2),
        ([7.0, 1.0, 0.0, 2.0], [0.0, 1.0, 8.0, 2.0], 4),  # the first token belongs to it
        ([0.0, 6.0, 0.0, 5.0], [4.0, 0.0, 1.0, 7.0], 1),
    ]
    drawn = [(*torch.randn(2, 7, generator=g).tolist(), 1 + i) for i, g in enumerate(student.randoms())]
    for start, end, longest in (*fixed, *drawn):
        _expect_span(student, torch.tensor(start), torch.tensor(end), longest)


def _expect_span(student: Student, start: Tensor, end: Tensor, longest: int) -> None:
    n = len(start)
    i, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    total = start[:, None] + end[None, :]

    def best(scores: Tensor, allowed: Tensor) -> list[int]:
        if not allowed.any():
            return []
        return list(divmod(int(scores.masked_fill(~allowed, -torch.inf).argmax()), n))

    allowed = (i <= j) & (j - i < longest)
    right = best_span(start[None], end[None], torch.ones(1, n, dtype=torch.bool), longest)[0].tolist()
    student.expect(
        student(inicio=start, fim=end, maior=longest),
        right,
        um_a_mais=best(total, (i <= j) & (j - i <= longest)),
        sem_limite=best(total, i <= j),
        independentes=[int(start.argmax()), int(end.argmax())],
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
def check_pseudo_perplexity(student: Student) -> None:
    ids = torch.tensor([1, 5, 3, 6, 4, 2])
    counted = torch.tensor([False, True, True, True, True, False])
    for g in (torch.Generator().manual_seed(0), *student.randoms(3)):
        _expect_pseudo(student, _Model(g), ids, counted)


class _Model:
    """A toy model whose logits (N, V) at a place depend on the token there and on its neighbours."""

    __name__ = "modelo"

    def __init__(self, g: torch.Generator) -> None:
        self.own, self.near = 2 * torch.randn(8, 8, generator=g), torch.randn(2, 8, 8, generator=g)

    def __call__(self, ids: Tensor) -> Tensor:
        left, right = self.near[0][ids.roll(1)], self.near[1][ids.roll(-1)]
        return self.own[ids] + left + right


def _expect_pseudo(student: Student, model, ids: Tensor, counted: Tensor) -> None:
    mask_id = 0
    places = counted.nonzero().flatten().tolist()

    def losses(inputs: dict[int, Tensor], shift: int = 0) -> Tensor:
        return torch.stack([-model(x)[i + shift].log_softmax(-1)[ids[i]] for i, x in inputs.items()])

    def holes(*at: int) -> Tensor:
        return ids.index_fill(0, torch.tensor(at, dtype=torch.long), mask_id)

    one_each = losses({i: holes(i) for i in places})
    right = pseudo_perplexity(
        lambda rows: torch.stack([*map(model, rows)]), ids[None], mask_id, counted[None]
    )
    student.expect(
        student(modelo=model, ids=ids, mask_id=mask_id, contam=counted),
        torch.tensor(right),
        sem_mascarar=losses({i: ids for i in places}).mean().exp(),
        todas_de_uma_vez=losses({i: holes(*places) for i in places}).mean().exp(),
        acumula=losses({i: holes(*places[: k + 1]) for k, i in enumerate(places)}).mean().exp(),
        com_especiais=losses({i: holes(i) for i in range(len(ids))}).mean().exp(),
        posicao_errada=losses({i: holes(i) for i in places}, shift=-1).mean().exp(),
        soma=one_each.sum().exp(),
        divide_por_n=(one_each.sum() / len(ids)).exp(),
        media_das_exponenciais=one_each.exp().mean(),
        sem_exponencial=one_each.mean(),
        sinal=(-one_each.mean()).exp(),
    )


check_spans_by_hand = number_checker(
    "spans_by_hand", 27, sem_limite=55, sem_ordem=100, sem_as_pontas=30, um_token_nao=17, um_a_mais=34
)
check_zscore_by_hand = number_checker(
    "zscore_by_hand", 2.0, digits=2, sinal=-2.0, variancia=1.0, so_centra=4.0
)
