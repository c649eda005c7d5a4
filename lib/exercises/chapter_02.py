"""Checkers of chapter 2: labels, selection, 80/10/10, framing, batches and the MLM head."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from lib.encoder import Config
from lib.exercises.student import number_checker
from lib.exercises.trials import AnyOf, Trial, checker
from lib.exercises.values import show
from lib.heads import MLMHead
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
    drawn = [
        student.drawn_like(few, torch.bool, ids=few, especiais=none, taxa=0.5, gerador=_seeded(i))
        for i in range(8)
    ]
    varied = len({int(chosen.sum()) for chosen in drawn}) > 1
    student.require(varied, "dependentes", "um sorteio por posição", "sempre o mesmo número de selecionadas")


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
    for kind in (got == mask_id, got == ids):
        _expect_independent(student, kind, selected, ids, "uma_decisao", "uma_decisao")
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
def check_framing(student: Trial) -> None:
    for k, dice in enumerate(student.dice(18, long=1)):
        cls_id, sep_id, unk_id, *others = (torch.randperm(200, generator=dice.g) + k % 2).tolist()
        known = {f"t{i}": id for i, id in enumerate(others[:40])}
        vocabulary = {"[CLS]": cls_id, "[SEP]": sep_id, "[UNK]": unk_id} | known
        tokens = [f"t{dice.whole(0, 44)}" for _ in range(dice.length(0, 30))]  # a few of them unknown
        if k % 2:  # a word may be number zero
            vocabulary["t0"], tokens = 0, [*tokens, "t0"]
        cut = dice.whole(0, len(tokens))
        sentences = [tokens] if dice.whole(0, 2) == 0 else [tokens[:cut], tokens[cut:]]
        _expect_framing(student, sentences, vocabulary)


def _expect_framing(student: Trial, sentences: list[list[str]], vocabulary: dict[str, int]) -> None:
    cls_id, sep_id, unk_id = (vocabulary[token] for token in ("[CLS]", "[SEP]", "[UNK]"))
    rows = [[vocabulary.get(token, unk_id) for token in sentence] for sentence in sentences]
    a, b, pair = rows[0], rows[-1], len(rows) == 2
    ids = [cls_id, *(id for row in rows for id in (*row, sep_id))]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) * pair
    words = [token for sentence in sentences for token in (*sentence, "[SEP]")]
    found = [[vocabulary[t] for t in sentence if t in vocabulary] for sentence in sentences]
    usual = {cls_id: 2, sep_id: 3, unk_id: 1}
    student.expect(
        student(frases=sentences, vocabulario=vocabulary),
        [ids, segments],
        sem_sep_final=AnyOf(([ids[:-1], segments[:-1]], [ids[:-1], segments])),
        sem_sep_do_meio=[[cls_id, *a, *b, sep_id], [0] * (len(a) + 1) + [1] * (len(b) + 1)]
        if pair
        else [ids, segments],
        sem_cls=[ids[1:], segments[1:]],
        cls_repetido=[
            [id for row in rows for id in (cls_id, *row, sep_id)],
            [i for i, row in enumerate(rows) for _ in range(len(row) + 2)],
        ],
        sep_no_segundo=[ids, [0] * (len(a) + 1) + [1] * (len(b) + 2)] if pair else [ids, segments],
        ultimo_no_primeiro=[ids, [*segments[:-1], 0]],
        um_e_dois=[ids, [s + 1 for s in segments]],
        invertidos=[ids, [1 - s for s in segments]],
        ordem=[
            [cls_id, *(id for row in rows[::-1] for id in (*row, sep_id))],
            [0] * (len(b) + 2) + [1] * (len(a) + 1) * pair,
        ],
        devolve_ao_contrario=[segments, ids],
        sem_segmentos=ids,
        segmentos_so_das_palavras=[ids, [i for i, row in enumerate(rows) for _ in row]],
        so_a_primeira=[[cls_id, *a, sep_id], [0] * (len(a) + 2)],
        pula_desconhecidos=[
            [cls_id, *(id for row in found for id in (*row, sep_id))],
            [0, *(i for i, row in enumerate(found) for _ in range(len(row) + 1))],
        ],
        ids_fixos=[[usual.get(id, id) for id in ids], segments],
        tokens=[["[CLS]", *words], segments],
    )


@checker
def check_batch(student: Trial) -> None:
    for dice in student.dice(18, long=1):
        pad_id, rows = dice.whole(0, 9), []
        for _ in range(dice.length(1, 5)):
            n = dice.length(1, 20)
            cut = dice.whole(1, n)
            rows.append((dice.wholes(0, 9, n).tolist(), [0] * cut + [1] * (n - cut)))
        lengths = [len(ids) for ids, _ in rows]
        n, least = max(lengths), min(lengths)

        def filled(which: int, value: int, n: int = n, rows: list = rows) -> Tensor:
            return torch.tensor([[*row[which], *[value] * (n - len(row[which]))] for row in rows])

        def left(which: int, value: int, n: int = n, rows: list = rows) -> Tensor:
            return torch.tensor([[*[value] * (n - len(row[which])), *row[which]] for row in rows])

        ids, segments = filled(0, pad_id), filled(1, 0)
        real = torch.arange(n) < torch.tensor(lengths)[:, None]
        student.expect(
            student(entradas=rows, pad_id=pad_id),
            [ids, segments, real],
            a_esquerda=AnyOf(
                ([left(0, pad_id), left(1, 0), real.flip(1)], [left(0, pad_id), left(1, 0), real])
            ),
            pad_zero=[filled(0, 0), segments, real],
            pad_nos_segmentos=[ids, filled(1, pad_id), real],
            pelo_id=[ids, segments, ids != pad_id],
            invertido=[ids, segments, ~real],
            sem_real=[ids, segments],
            cortado=[ids[:, :least], segments[:, :least], real[:, :least]],
            coluna_a_mais=[
                filled(0, pad_id, n + 1),
                filled(1, 0, n + 1),
                torch.cat([real, real[:, :1] & False], 1),
            ],
        )


@checker
def check_mlm_head(student: Trial) -> None:
    for i, dice in enumerate(student.dice(14, long=1)):
        d, v = 2 * dice.whole(1, 4), dice.length(1, 12)
        scale = 1.0 if i % 4 else 1e-3  # so small that the eps of the norm would count
        batch = [dice.length(1, 5) for _ in range(dice.whole(0, 2))]
        head = MLMHead(Config(v, d=d, heads=1))
        weights = {name: scale * dice.normal(*p.shape) for name, p in head.state_dict().items()}
        head.load_state_dict(weights)
        h, E = 2 * dice.normal(*batch, d), dice.normal(v, d)
        with torch.no_grad():
            inner, norm, bias = head.W(h), head.norm, head.bias
            student.expect(
                student(d=d, V=v, pesos=weights, h=h, E=E),
                head(h, E),
                sem_camada=h @ E.T + bias,
                sem_ativacao=norm(inner) @ E.T + bias,
                tanh=norm(F.gelu(inner, approximate="tanh")) @ E.T + bias,
                relu=norm(inner.relu()) @ E.T + bias,
                sem_norma=F.gelu(inner) @ E.T + bias,
                norma_antes=F.gelu(norm(inner)) @ E.T + bias,
                sem_vies=norm(F.gelu(inner)) @ E.T,
                probabilidades=head(h, E).softmax(-1),
                so_o_vetor=norm(F.gelu(inner)),
            )


@checker
def check_leaky_labels(student: Trial) -> None:
    for k, dice in enumerate(student.dice(16, long=1)):
        ids = dice.wholes(0, 99, dice.length(1, 4), dice.length(1, 20))
        selected, mask_id = dice.chance(0.4, *ids.shape), dice.whole(100, 199)
        if k % 2:  # a word may be number zero
            ids[0, 0], selected[0, 0] = 0, True
        read, labels = ids.masked_fill(selected, mask_id), torch.where(selected, ids, IGNORE_INDEX)
        student.expect(
            student(ids=ids, selecionadas=selected, mask_id=mask_id),
            [read, labels],
            rotulo_mask=[read, torch.where(selected, mask_id, IGNORE_INDEX)],
            em_toda_parte=AnyOf(([read, ids], [read, read])),
            entrada_limpa=[ids, labels],
            ao_contrario=[labels, read],
            zeros=[read, torch.where(selected, ids, 0)],
        )


class _Channel:
    """Corrupts with one draw a position or with two; whatever generator it is given, by draws of its own."""

    __name__ = "caixa"

    def __init__(self, two: bool, seed: int) -> None:
        self.two, self.g = two, torch.Generator().manual_seed(seed)

    def __getstate__(self) -> dict:
        return {"two": self.two, "seed": self.g.initial_seed()}

    def __setstate__(self, state: dict) -> None:
        self.__init__(state["two"], state["seed"])

    def __call__(self, ids: Tensor, chosen: Tensor, mask_id: int, words: Tensor, g: object) -> Tensor:
        u, v = (torch.rand(ids.shape, generator=self.g) for _ in range(2))
        drawn = words[torch.randint(len(words), ids.shape, generator=self.g)]
        replaced, kept = (u < 0.1, v < 0.1) if self.two else (u < 0.1, u >= 0.9)
        new = torch.where(replaced, drawn, torch.where(kept, ids, mask_id))
        return torch.where(chosen, new, ids)


@checker
def check_channel_experiment(student: Trial) -> None:
    answers: dict[bool, list] = {False: [], True: []}
    for dice in student.dice(8):
        for two in (False, True):
            got = student(caixa=_Channel(two, dice.whole(0, 2**31)))
            if not isinstance(got, str):
                student.expect(got, "dois" if two else "um")
            answers[two].append(got)
    one, both = answers[False], answers[True]
    said = {str(x) for x in (*one, *both)}
    student.conclude()
    expected = '"um" para a caixa de um sorteio, "dois" para a outra'
    got = f"um sorteio: {show(one)}; dois: {show(both)}"
    require = student.require
    require(said <= {"um", "dois"}, "valor", expected, got)
    require(said != {"um"}, "sempre_um", expected, got)
    require(said != {"dois"}, "sempre_dois", expected, got)
    require(not (set(one) == {"dois"} and set(both) == {"um"}), "trocadas", expected, got)
    alike = len(set(one)) == 1 and len(set(both)) == 1
    require(alike, "poucas", expected, got)


check_unchanged_share = number_checker(
    "unchanged_share",
    0.125,
    digits=3,
    so_mantidas=0.1,
    so_sorteadas=0.025,
    todas_as_sorteadas=0.2,
    sobre_o_texto=0.01875,
)


def _seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
