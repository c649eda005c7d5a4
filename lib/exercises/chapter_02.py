"""Checkers of chapter 2: labels, selection, 80/10/10, sentence pairs and spans."""

from typing import Any

import torch
from torch import Tensor

from lib import vocabulary
from lib.exercises.solutions.chapter_02 import marcar_trechos
from lib.exercises.student import Student, checker, number_checker
from lib.exercises.values import show
from lib.losses import IGNORE_INDEX

MANY = 200_000  # positions drawn to measure a frequency: one standard deviation is about 0.001
WITHIN = 0.005


@checker
def check_mlm_labels(student: Student) -> None:
    fixed = (torch.tensor([[2, 7, 5, 9, 3]]), torch.tensor([[False, True, False, True, False]]))
    drawn = [
        (torch.randint(1, 30, (2, 6), generator=g), torch.rand(2, 6, generator=g) < 0.4)
        for g in student.randoms()
    ]
    for ids, selected in (fixed, *drawn):
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
def check_select_positions(student: Student) -> None:
    require, special = student.require, torch.tensor([0, 1, 2, 3])
    short = torch.tensor([[2, 7, 5, 9, 6, 3, 0, 0]])

    def draw(ids: Tensor, rate: float, g: torch.Generator) -> Tensor:
        return student(ids=ids, especiais=special, taxa=rate, gerador=g)

    none = torch.zeros_like(short, dtype=torch.bool)
    words = short > 3
    got = draw(short, 1.0, _seeded(0))
    if isinstance(got, Tensor) and got.dtype == torch.bool and got.shape == short.shape:
        require(not (got[words].all() and got[~words].any()), "especiais", words, got)
    student.expect(got, words, invertida=~words, nenhuma=none)
    student.expect(draw(short, 0.0, _seeded(0)), none)
    other = torch.tensor([9, 6])  # special ids are the ones given, not the smallest
    got = student(ids=short, especiais=other, taxa=1.0, gerador=_seeded(0))
    student.expect(got, ~torch.isin(short, other), "especiais_fixos", invertida=torch.isin(short, other))
    long = torch.arange(4, 24).repeat(40, 50)  # (40, 1000), words only
    long[:, ::2] = 1  # and now every other token is special
    got = draw(long, 0.15, _seeded(1))
    require(isinstance(got, Tensor) and got.shape == long.shape, "forma", "um tensor da forma de ids", got)
    require(got.dtype == torch.bool, "dtype", "booleanos", got)
    require(not got[long < 4].any(), "especiais", "nenhum token especial selecionado", got)
    rate = got[long > 3].double().mean().item()
    require(abs(rate - 0.85) > 0.02, "comparacao", "15% das palavras", f"{rate:.1%} das palavras")
    require(abs(rate - 0.15) < 0.02, "taxa", "15% das palavras", f"{rate:.1%} das palavras")
    again = draw(long, 0.6, _seeded(1))[long > 3].double().mean().item()
    require(abs(again - 0.6) < 0.02, "taxa_fixa", "60% das palavras", f"{again:.1%} das palavras")
    columns = got[:, 1::2].double().mean(0)
    require(columns.max() < 0.9, "uma_por_lote", "um sorteio por posição", "as mesmas em todas as frases")
    student.expect_reproducible(lambda g: draw(torch.arange(4, 64)[None], 0.5, g))


@checker
def check_corrupt(student: Student) -> None:
    require, words, mask_id = student.require, torch.arange(5, 1005), 4

    def draw(ids: Tensor, selected: Tensor, g: torch.Generator) -> Tensor:
        return student(ids=ids, selecionadas=selected, mask_id=mask_id, palavras=words, gerador=g)

    ids = torch.tensor([[2, 7, 5, 9, 6, 3]])
    student.expect(
        draw(ids, torch.zeros_like(ids, dtype=torch.bool), _seeded(0)), ids, fora=torch.full_like(ids, 4)
    )
    ids = words[torch.randint(len(words) // 2, (MANY // 100, 100), generator=_seeded(1))]  # not all words
    selected = torch.rand(ids.shape, generator=_seeded(2)) < 0.5
    got = draw(ids, selected, _seeded(3))
    require(isinstance(got, Tensor) and got.shape == ids.shape, "forma", "um tensor da forma de ids", got)
    require(not got.is_floating_point() and got.dtype != torch.bool, "dtype", "inteiros", got)
    require(torch.equal(got[~selected], ids[~selected]), "fora", "só as selecionadas mudam", got)
    old, new = ids[selected], got[selected]
    _expect_shares(student, old, new, mask_id)
    replaced = new[(new != mask_id) & (new != old)]
    require(torch.isin(replaced, words).all(), "especial_sorteado", "ids de palavras", "outros ids")
    seen = len(replaced.unique())
    require(
        seen < 400 or (replaced > ids.max()).any(), "do_texto", "qualquer das palavras", "só ids do texto"
    )
    require(seen > 900, "uma_palavra", "um sorteio por posição", "as mesmas palavras")
    rows = ((got == mask_id) & selected).sum(-1).double() / selected.sum(-1)
    require((rows < 1).double().mean() > 0.9, "uma_decisao", "um sorteio por posição", "um sorteio por frase")
    _expect_every_word(student)
    few = torch.arange(5, 105)[None]
    student.expect_reproducible(lambda g: draw(few, torch.ones_like(few, dtype=torch.bool), g))


def _expect_every_word(student: Student) -> None:
    """Another [MASK] and a handful of scattered words: each of them comes up, the first and the last too."""
    require, words, ids = student.require, torch.tensor([11, 40, 23]), torch.full((50, 100), 70)
    every = torch.ones_like(ids, dtype=torch.bool)
    got = student(ids=ids, selecionadas=every, mask_id=99, palavras=words, gerador=_seeded(4))
    found = got.unique().tolist()
    listed = f"ids {show(found)}"
    require(99 in found, "mask_fixo", "mask_id = 99 na maior parte", listed)
    require(
        set(words.tolist()) <= set(found), "palavra_de_fora", "as três palavras, de vez em quando", listed
    )
    require(set(found) <= {11, 23, 40, 70, 99}, "especial_sorteado", "só as três palavras", listed)


def _expect_shares(student: Student, old: Tensor, new: Tensor, mask_id: int) -> None:
    """The frequencies of [MASK], another word and the same word; known wrong mixtures are named."""
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
def check_sentence_pair(student: Student) -> None:
    drawn = [
        (torch.randint(10, 90, (1 + i,), generator=g).tolist(), [*range(20, 24)])
        for i, g in enumerate(student.randoms())
    ]
    for i, (a, b) in enumerate((([7, 8, 9], [5, 6]), ([7], [5]), *drawn)):
        cls_id, sep_id = (2, 3) if i < 3 else (101, 100 + i)
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
def check_mark_spans(student: Student) -> None:
    def marked(spans: list, allowed: list, budget: int) -> list:
        return student(trechos=spans, permitidas=allowed, orcamento=budget)

    def expect(spans: list, right: str, allowed: list, budget: int, **mistakes: str | list[int]) -> None:
        known: dict[str, Any] = {name: _bits(x) if isinstance(x, str) else x for name, x in mistakes.items()}
        student.expect(marked(spans, allowed, budget), _bits(right), **known)

    free, walled = _bits("11111111"), _bits("01110110")
    expect(
        [(2, 3)],
        "00111000",
        free,
        budget=8,
        so_o_inicio="00100000",
        um_a_mais="00111100",
        um_a_menos="00110000",
        indices=[2, 3, 4],
    )
    expect([(6, 3)], "00000011", free, budget=8, da_a_volta="10000011")
    expect([(0, 3), (5, 3)], "11100100", free, budget=4, estoura="11100111", descarta="11100000")
    expect([(1, 3), (2, 3), (6, 2)], "01111011", free, budget=6, conta_duas_vezes="01111000")
    expect([(5, 2), (0, 3)], "10000110", free, budget=3, fora_de_ordem="11100000")
    expect([(2, 4), (6, 2)], "00110010", walled, budget=8, especiais="00111111", atravessa="00110110")
    for g in student.randoms():
        spans = [tuple(torch.randint(1, 6, (2,), generator=g).tolist()) for _ in range(3)]
        budget = int(torch.randint(1, 6, (), generator=g))
        student.expect(marked(spans, walled, budget), marcar_trechos(spans, walled, budget))


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


def _bits(text: str) -> list[bool]:
    return [c == "1" for c in text]
