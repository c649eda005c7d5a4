"""Checkers of chapter 2: labels, selection, 80/10/10, sentence pairs and spans."""

import math

import torch
from torch import Tensor

from lib import vocabulary
from lib.exercises.student import number_checker
from lib.exercises.trials import AnyOf, Trial, checker
from lib.exercises.values import show
from lib.losses import IGNORE_INDEX

MANY = 400_000  # positions drawn to measure a frequency: one standard deviation is below 0.001
WITHIN = 0.005


@checker
def check_mlm_labels(student: Trial) -> None:
    cases = [(torch.tensor([[2, 7, 5, 9, 3]]), torch.tensor([[False, True, False, True, False]]))]
    cases.append((cases[0][0], torch.zeros_like(cases[0][1])))  # nothing selected
    for dice in student.dice(15, long=1):
        shape = dice.length(1, 5), dice.length(1, 40)
        cases.append(
            (
                dice.wholes(0, 6 * dice.room, *shape),
                dice.chance((0.0, 0.4, 0.4, 1.0)[dice.whole(0, 3)], *shape),
            )
        )
    for ids, selected in cases:
        student.expect(
            student(ids=ids, selecionadas=selected),
            torch.where(selected, ids, IGNORE_INDEX),
            em_toda_parte=ids,
            invertida=torch.where(selected, IGNORE_INDEX, ids),
            zero=torch.where(selected, ids, 0),
            menos_um=torch.where(selected, ids, -1),
            marcas=torch.where(selected, 1, IGNORE_INDEX),
            so_as_selecionadas=ids[selected],
        )


@checker
def check_select_positions(student: Trial) -> None:
    cases = [(torch.tensor([[2, 7, 5, 9, 6, 3, 0, 0]]), torch.arange(4))] * 2
    for dice in student.dice(12):  # special ids are the ones given, not the smallest
        ids = dice.wholes(0, 12, dice.length(1, 4), dice.length(1, 12))
        cases.append((ids, dice.wholes(0, 12, dice.whole(1, 5))))
    for i, (ids, special) in enumerate(cases):
        words, certain = ~torch.isin(ids, special), (i + 1) % 2
        student.expect(
            student(ids=ids, especiais=special, taxa=float(certain), gerador=_seeded(i)),
            words & bool(certain),
            especiais=AnyOf(wrong & bool(certain) for wrong in (words | True, ids != special[0])),
            especiais_fixos=(ids > 3) & bool(certain),
            invertida=~words & bool(certain),
            nenhuma=words & (not certain),
        )
    student.conclude()
    _expect_rate(student)
    few, none = torch.arange(4, 64)[None], torch.arange(4)
    student.expect_reproducible(lambda g: student(ids=few, especiais=none, taxa=0.5, gerador=g))


def _expect_rate(student: Trial) -> None:
    """Of many positions the share asked for is selected, each by a draw of its own."""
    [dice] = student.dice(1)
    ids, special = dice.wholes(4, 40, 150, 160), dice.wholes(4, 40, 5)
    ids[dice.chance(0.4, *ids.shape)] = special[0]
    words = ~torch.isin(ids, special)
    for rate in (0.15, dice.whole(40, 70) / 100):
        got = student.drawn_like(
            ids, torch.bool, ids=ids, especiais=special, taxa=rate, gerador=_seeded(dice.whole(0, 99))
        )
        student.require(not got[~words].any(), "especiais", "nenhum token especial selecionado", got)
        _expect_independent(student, got, words, ids, "uma_por_lote", "dependentes")
        share = got[words].double().mean().item()
        expected, found = f"{rate:.0%} das palavras", f"{share:.1%} das palavras"
        student.require(abs(share - 1 + rate) > 0.02 or abs(rate - 0.5) < 0.02, "comparacao", expected, found)
        wrong = "taxa" if rate == 0.15 else "taxa_fixa"
        student.require(abs(share - rate) < 0.02, wrong, expected, found)


def _expect_independent(
    student: Trial, drawn: Tensor, among: Tensor, ids: Tensor, column: str, other: str
) -> None:
    """How much the number drawn varies from group to group: as for independent draws, in every grouping."""
    places = torch.arange(ids.numel()).view_as(ids)
    rows, columns = places // ids.shape[1], places % ids.shape[1]
    groupings = {"coluna": columns, "frase": rows, "par de vizinhas": places // 2, "palavra": ids}
    for name, groups in groupings.items():
        kinds, index = groups[among].unique(return_inverse=True)
        x = drawn[among].double()
        share, sizes = x.mean(), torch.bincount(index)
        sums = torch.zeros(len(kinds)).double().index_add(0, index, x - share)
        spread = (sums.square() / (sizes * share * (1 - share))).mean()  # one, if each draw is its own
        fine = not abs(spread - 1) > 0.05 + 6 * math.sqrt(2 / len(kinds))  # nan where all or none was drawn
        got = f"decisões ligadas dentro de cada {name}"
        student.require(
            fine, column if name == "coluna" and spread > 1 else other, "um sorteio por posição", got
        )


@checker
def check_corrupt(student: Trial) -> None:
    for dice in student.dice(6):
        ids, words = dice.wholes(0, 99, dice.length(1, 4), dice.length(1, 9)), dice.wholes(200, 299, 5)
        mask_id, none = dice.whole(100, 199), torch.zeros_like(ids, dtype=torch.bool)
        got = student(ids=ids, selecionadas=none, mask_id=mask_id, palavras=words, gerador=_seeded(0))
        student.expect(got, ids, "fora", fora=torch.full_like(ids, mask_id))
    student.conclude()
    _expect_channel(student)
    _expect_every_word(student)
    few, words = torch.arange(5, 105)[None], torch.arange(5, 1005)
    every = torch.ones_like(few, dtype=torch.bool)
    student.expect_reproducible(
        lambda g: student(ids=few, selecionadas=every, mask_id=4, palavras=words, gerador=g)
    )


def _expect_channel(student: Trial) -> None:
    """Over very many positions: the three shares, any of the words, and a draw for each position."""
    require, [dice] = student.require, student.dice(1)
    shuffled = 5 + torch.randperm(2000, generator=dice.g)
    words, mask_id, columns = shuffled[:1000], int(shuffled[1000]), dice.whole(90, 120)
    ids = words[dice.wholes(0, 499, MANY // columns, columns)]  # not all words are in the text
    selected = dice.chance(0.6, *ids.shape)
    inputs = dict(ids=ids, selecionadas=selected, mask_id=mask_id, palavras=words)
    got = student.drawn_like(ids, torch.int64, **inputs, gerador=_seeded(dice.whole(0, 99)))
    require(torch.equal(got[~selected], ids[~selected]), "fora", "só as selecionadas mudam", got)
    _expect_independent(student, got == mask_id, selected, ids, "uma_decisao", "uma_decisao")
    _expect_shares(student, ids[selected], got[selected], mask_id)
    changed = selected & (got != mask_id) & (got != ids)
    replaced = got[changed]
    require(torch.isin(replaced, words).all(), "especial_sorteado", "ids de palavras", "outros ids")
    counts = torch.bincount(replaced, minlength=2005)[words]
    require(
        (counts[:500] == 0).any() or counts[500:].any(),
        "do_texto",
        "qualquer das palavras",
        "só ids do texto",
    )
    uneven = (counts - counts.double().mean()).square().mean() / counts.double().mean()
    same = [(a == b)[x & y].double().mean() for a, b, x, y in _neighbours(got, changed)]
    require(uneven < 1.4 and max(same) < 0.05, "uma_palavra", "um sorteio por posição", "as mesmas palavras")


def _neighbours(x: Tensor, y: Tensor) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
    return [(x[1:], x[:-1], y[1:], y[:-1]), (x[:, 1:], x[:, :-1], y[:, 1:], y[:, :-1])]


def _expect_every_word(student: Trial) -> None:
    """Another [MASK] and a handful of scattered words: each of them comes up, the first and the last too."""
    [dice] = student.dice(1)
    kinds = torch.randperm(900, generator=dice.g)[: dice.whole(4, 6)]
    (old, mask_id), words = kinds[:2].tolist(), kinds[2:]
    ids = torch.full((50, 100), old)
    every = torch.ones_like(ids, dtype=torch.bool)
    inputs = dict(ids=ids, selecionadas=every, mask_id=mask_id, palavras=words)
    found = (
        student.drawn_like(ids, torch.int64, **inputs, gerador=_seeded(dice.whole(0, 99))).unique().tolist()
    )
    listed = f"ids {show(found)}"
    missing = {*words.tolist()} - {*found}
    student.require(not missing, "palavra_de_fora", f"também {show(missing)}", listed)
    student.require(
        {*found} <= {*kinds.tolist()}, "especial_sorteado", f"só as palavras {show(words)}", listed
    )


def _expect_shares(student: Trial, old: Tensor, new: Tensor, mask_id: int) -> None:
    """The frequencies of [MASK], another word and the same word; known wrong mixtures are named."""
    usual = int(new.mode().values)
    fixed = usual != mask_id and (new == usual).double().mean() > 0.5
    student.require(not fixed, "mask_fixo", f"mask_id = {mask_id} na maior parte", f"{usual} na maior parte")
    masked, kept = (new == mask_id).double().mean().item(), (new == old).double().mean().item()
    found = (masked, 1 - masked - kept, kept)
    wrong = {
        "oitenta_e_um": [(0.81, 0.10, 0.09), (0.81, 0.09, 0.10)],
        "so_mask": [(1.0, 0.0, 0.0)],
        "ninguem_fica": [(0.8, 0.2, 0.0), (0.9, 0.1, 0.0)],
        "ninguem_trocado": [(0.8, 0.0, 0.2), (0.9, 0.0, 0.1)],
        "do_resto": [(0.8, 0.02, 0.18), (0.8, 0.18, 0.02)],
        "trocadas": [(0.1, 0.8, 0.1), (0.1, 0.1, 0.8), (0.2, 0.4, 0.4)],
        "nada": [(0.0, 0.0, 1.0)],
    }
    got = "[MASK] {:.1%}, outra palavra {:.1%}, a mesma {:.1%}".format(*found)
    expected = "[MASK] 80%, outra palavra 10%, a mesma 10%"

    def near(mixture: tuple[float, ...]) -> bool:
        return all(abs(f - m) < WITHIN for f, m in zip(found, mixture, strict=True))

    for mistake, mixtures in wrong.items():
        student.require(not any(map(near, mixtures)), mistake, expected, got)
    student.require(near((0.8, 0.1, 0.1)), "proporcoes", expected, got)


@checker
def check_sentence_pair(student: Trial) -> None:
    cases = [([7, 8, 9], [5, 6], 2, 3), ([7], [5], 2, 3)]
    for dice in student.dice(15, long=1):
        cls_id, sep_id, *words = torch.randperm(200, generator=dice.g).tolist()
        a, b = dice.length(0, 40), dice.length(0, 40)
        cases.append((words[:a], words[a : a + b], cls_id, sep_id))
    for a, b, cls_id, sep_id in cases:
        ids, segments = [cls_id, *a, sep_id, *b, sep_id], vocabulary.segments(a, b)
        first, second = len(a), len(b)
        student.expect(
            student(a=a, b=b, cls_id=cls_id, sep_id=sep_id),
            [ids, segments],
            ids_fixos=[[2, *a, 3, *b, 3], segments],
            devolve_ao_contrario=[segments, ids],
            sem_sep_final=[ids[:-1], segments[:-1]],
            sem_sep_do_meio=[[cls_id, *a, *b, sep_id], [0] * (first + 1) + [1] * (second + 1)],
            sem_cls=[ids[1:], segments[1:]],
            cls_repetido=[[cls_id, *a, sep_id, cls_id, *b, sep_id], [0] * (first + 2) + [1] * (second + 2)],
            sep_no_segundo=[ids, [0] * (first + 1) + [1] * (second + 2)],
            ultimo_no_primeiro=[ids, [0] * (first + 2) + [1] * second + [0]],
            um_e_dois=[ids, [s + 1 for s in segments]],
            invertidos=[ids, [1 - s for s in segments]],
            ordem=[[cls_id, *b, sep_id, *a, sep_id], [0] * (second + 2) + [1] * (first + 1)],
            sem_segmentos=ids,
            segmentos_so_das_palavras=[ids, [0] * first + [1] * second],
        )


@checker
def check_mark_spans(student: Trial) -> None:
    free, walled = [True] * 8, [c == "1" for c in "01110110"]
    cases = [
        ([(2, 3)], free, 8),
        ([(6, 3)], free, 8),
        ([(0, 3), (5, 3)], free, 4),
        ([(5, 2), (0, 3)], free, 3),
    ]
    cases += [([(1, 3), (2, 3), (6, 2)], free, 6), ([(2, 4), (6, 2)], walled, 8), ([], free, 3)]
    for dice in student.dice(24, long=2):
        n = dice.length(1, 40)
        allowed = dice.chance((0.7, 1.0)[dice.whole(0, 1)], n).tolist()
        spans = [(dice.whole(0, n - 1), dice.whole(1, 6)) for _ in range(dice.whole(1, 4))]
        cases.append((spans, allowed, dice.whole(0, n + 1)))
    for spans, allowed, budget in cases:
        right, places = _marked(spans, allowed, budget), range(len(allowed))
        wrapped = [*spans, *((0, a + n - len(allowed)) for a, n in spans)]
        student.expect(
            student(trechos=spans, permitidas=allowed, orcamento=budget),
            right,
            so_o_inicio=AnyOf(
                ([i in dict(spans) for i in places], [any(a <= i < b for a, b in spans) for i in places])
            ),
            um_a_mais=_marked(spans, allowed, budget, more=1),
            um_a_menos=_marked(spans, allowed, budget, more=-1),
            indices=[i for i in places if right[i]],
            da_a_volta=AnyOf(
                (
                    [any((i - a) % len(allowed) < n for a, n in spans) for i in places],
                    _marked(wrapped, allowed, budget),
                )
            ),
            estoura=AnyOf(
                (_marked(spans, allowed, budget, whole=True), _marked(spans, allowed, len(allowed)))
            ),
            descarta=_marked(spans, allowed, budget, drop=True),
            conta_duas_vezes=_marked(spans, allowed, budget, twice=True),
            fora_de_ordem=_marked(sorted(spans), allowed, budget),
            especiais=_marked(spans, allowed, budget, special=True),
            atravessa=_marked(spans, allowed, budget, skip=True),
            um_no_orcamento=AnyOf(_marked(spans, allowed, budget + more) for more in (1, -1)),
        )


def _marked(
    spans: list,
    allowed: list,
    budget: int,
    *,
    more: int = 0,
    skip: bool = False,
    special: bool = False,
    twice: bool = False,
    drop: bool = False,
    whole: bool = False,
) -> list[bool]:
    """The positions that the spans cover, or what one of the mistakes marks."""
    marked, left = [False] * len(allowed), budget
    for start, length in spans:
        if (drop and length > left) or (whole and left <= 0):
            continue
        for i in range(start, min(start + length + more, len(allowed))):
            if not (allowed[i] or special or skip) or (left <= 0 and not whole):
                break
            if allowed[i] or special:
                left -= 1 if twice else not marked[i]
                marked[i] = True
    return marked


check_unchanged_share = number_checker(
    "unchanged_share",
    0.125,
    digits=3,
    so_mantidas=0.1,
    so_sorteadas=0.025,
    todas_as_sorteadas=0.2,
    sobre_o_texto=0.01875,
)
check_masked_share = number_checker(
    "masked_share", 0.24, digits=3, so_selecionadas=0.4, so_mask=0.6, percentual=24.0
)


def _seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
