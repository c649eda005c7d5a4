"""Checkers of chapter 3: WordPiece, and the encoder from its embeddings to its last block."""

from collections.abc import Iterable
from typing import TypeVar

import torch
from torch import Tensor, nn

from lib.attention import MultiHeadAttention, Trace, attention, causal_mask
from lib.encoder import Block, Config, Embeddings, Encoder
from lib.exercises.student import number_checker
from lib.exercises.trials import AnyOf, Dice, Trial, checker
from lib.tokenizer import greedy_wordpiece

UNK = "[UNK]"
TINY = 1e-3  # weights and inputs so small that the eps of a norm would count
Module = TypeVar("Module", bound=nn.Module)


@checker
def check_wordpiece(student: Trial) -> None:
    known = "gat g ##a ##t ##inho ##in ##ho ##i ##n ##o gato des ##feito inho"
    vocabulary = set(known.split())

    def expect(word: str, vocabulary: set, right: list) -> None:
        got = student(palavra=word, vocabulario=vocabulary)
        student.expect(got, right, **_mistaken_cuts(word, vocabulary))

    for word, right in (
        ("gato", ["gato"]),
        ("gatinho", ["gat", "##inho"]),
        ("gatox", [UNK]),
        ("xgato", [UNK]),
    ):
        expect(word, vocabulary, right)
    expect("gato", {"gato"}, ["gato"])
    expect("desfeito", {"des", "##feito"}, ["des", "##feito"])
    either = {"a", "ab", "##bc", "##c"}  # in "abc" the longest piece from the right is another
    expect("abbc", either, ["ab", "##bc"])
    expect("abc", either, ["ab", "##c"])
    for a, b, d in ("abd", "oia", "eus"):  # "ab" is taken and "##d" is missing; "a" and "##bd" would do
        expect(a + b + d, {a, a + b, f"##{b}{d}", f"##{b}"}, [UNK])
    expect("pé", {"pé"}, ["pé"])
    for dice in student.dice(24, long=2):
        letters = "abcé"[: dice.whole(2, 4)]

        def text(low: int, high: int, dice: Dice = dice, letters: str = letters) -> str:
            return "".join(letters[i] for i in dice.wholes(0, len(letters) - 1, dice.length(low, high)))

        word = text(1, 30)
        pieces = {mark + letter for mark in ("", "##") for letter in letters if dice.whole(0, dice.room)}
        pieces |= {("", "##")[dice.whole(0, 1)] + text(2, 4) for _ in range(12)}
        expect(word, pieces, greedy_wordpiece(word, pieces).tokens)


def _mistaken_cuts(word: str, vocabulary: set) -> dict:
    """What each mistake in the loop makes of a word."""

    def cut(word: str, short: bool = False, on_unknown: str = "unk", inside: str = "##") -> list:
        pieces, start = [], 0
        while start < len(word):
            ends = range(start + 1, len(word) + 1) if short else range(len(word), start, -1)
            mark = inside if start else ""
            end = next((end for end in ends if mark + word[start:end] in vocabulary), None)
            if end is None and on_unknown in ("unk", "partial", "stop"):
                return {"unk": [UNK], "partial": [*pieces, UNK], "stop": pieces}[on_unknown]
            if end is not None or on_unknown == "letter":
                pieces.append(mark + word[start : end or start + 1])
            start = end or start + 1
        return pieces

    def backtracking(rest: str, mark: str = "") -> list:
        for end in range(len(rest), 0, -1):
            if mark + rest[:end] in vocabulary:
                tail = backtracking(rest[end:], "##") if rest[end:] else []
                if tail != [UNK]:
                    return [mark + rest[:end], *tail]
        return [UNK]

    def from_the_right() -> list:
        pieces, end = [], len(word)
        while end:
            found = (s for s in range(end) if ("##" if s else "") + word[s:end] in vocabulary)
            if (start := next(found, None)) is None:
                return [UNK]
            pieces.insert(0, ("##" if start else "") + word[start:end])
            end = start
        return pieces

    right = cut(word)
    bare = [piece.removeprefix("##") for piece in right]
    marked = ["##" + piece for piece in bare]
    return dict(
        sem_marca=AnyOf((bare, cut(word, inside=""))),
        marca_em_todos=AnyOf(right if kept else marked for kept in (False, right == [UNK], right == [word])),
        menor_primeiro=cut(word, short=True),
        so_o_primeiro=AnyOf((right[:1], cut(word, on_unknown="stop")[:1] or [UNK])),
        unk=[word] if word in vocabulary else [UNK],
        unk_parcial=cut(word, on_unknown="partial"),
        pula=AnyOf((cut(word, on_unknown="skip"), cut(word, on_unknown="stop"))),
        letra=cut(word, on_unknown="letter"),
        texto=" ".join(right),
        da_direita=from_the_right(),
        volta_atras=backtracking(word),
    )


@checker
def check_embeddings(student: Trial) -> None:
    for i, dice in enumerate(student.dice(16, long=1)):
        b, n, d = dice.length(1, 5), dice.length(1, 30), 2 * dice.whole(1, 3)
        words, kinds = dice.whole(1, 40), dice.whole(1, 3)
        places = n + dice.whole(0, 1) * dice.whole(1, 50)
        config = Config(words, d=d, heads=1, positions=places, segments=kinds, pad_id=None, dropout=0.0)
        reference, weights = _drawn(Embeddings(config), dice, 1.0 if i % 4 else TINY)
        E, P, S = (weights[f"{table}.weight"] for table in ("token", "position", "segment"))
        ids, segments = dice.wholes(0, words - 1, b, n), dice.wholes(0, kinds - 1, b, n)
        token, segment, position, norm = E[ids], S[segments], P[:n], reference.norm
        with torch.no_grad():
            student.expect(
                student(V=words, posicoes=places, segmentos=kinds, d=d, pesos=weights, ids=ids, seg=segments),
                reference(ids, segments),
                sem_posicao=norm(token + segment),
                sem_segmento=norm(token + position),
                so_tokens=norm(token),
                posicao_do_id=norm(token + P[ids.clamp(max=places - 1)] + segment),
                posicao_da_frase=norm(token + P[torch.arange(b).clamp(max=places - 1)][:, None] + segment),
                a_partir_de_um=norm(token + P[torch.arange(1, n + 1).clamp(max=places - 1)] + segment),
                media=(token + position + segment) / 3,
                concatena=torch.cat([token, position.expand_as(token), segment], -1),
                sem_norma=token + position + segment,
                norma_de_cada=norm(token) + norm(position) + norm(segment),
            )


def _drawn(module: Module, dice: Dice, scale: float = 1.0) -> tuple[Module, dict[str, Tensor]]:
    """With weights drawn anew, which no initialisation makes special; and these, as a student's has them."""
    weights = {name: scale * dice.normal(*p.shape) for name, p in module.state_dict().items()}
    module.load_state_dict(weights)
    return module.eval(), {name.replace("feed_forward.", ""): w for name, w in weights.items()}


@checker
def check_split_heads(student: Trial) -> None:
    for dice in student.dice(16, long=1):
        b, n, h = dice.length(1, 3), dice.length(1, 30), dice.length(1, 6)
        d = h * dice.length(1, 5)
        x = dice.wholes(-9999, 9999, b, n, d).to(dice.real().dtype)
        student.expect(
            student(x=x, h=h),
            torch.stack(x.chunk(h, -1), 1),
            sem_transpor=x.view(b, n, h, d // h),
            embaralha=x.view(b, h, n, d // h),
            intercala=x.view(b, n, d // h, h).permute(0, 3, 1, 2),
            transposta=x.view(b, n, h, d // h).permute(0, 2, 3, 1),
            lote_e_cabeca=x.view(b, n, h, d // h).permute(2, 0, 1, 3),
            lista=list(x.chunk(h, -1)),
        )


@checker
def check_heads(student: Trial) -> None:
    for dice in student.dice(14, long=1):
        b, n, h = dice.length(1, 3), dice.length(1, 12), dice.length(1, 4)
        d = h * dice.length(1, 4)
        reference, weights = _drawn(MultiHeadAttention(d, h), dice)
        x, mask = dice.normal(b, n, d), dice.some_in_each_row(b * n, n).view(b, 1, n, n)
        if dice.whole(0, 1):
            mask = dice.some_in_each_row(b, n)[:, None, None, :]
        with torch.no_grad():
            reference(x, mask, trace=(trace := Trace()))
            _expect_heads(student, reference, weights, x, mask, trace)


def _expect_heads(
    student: Trial, module: MultiHeadAttention, weights: dict, x: Tensor, mask: Tensor, trace: Trace
) -> None:
    [a], [heads], mix = trace.weights, trace.heads, module.W_O
    d, h = x.shape[-1], module.h
    Q, K, V = (W(x) for W in (module.W_Q, module.W_K, module.W_V))
    whole, one = attention(Q, K, V, mask[:, 0])
    every = attention(module.split(Q), module.split(K), module.split(V))
    swapped = attention(module.split(K), module.split(Q), module.split(V), mask)
    student.expect(
        student(d=d, h=h, pesos=weights, x=x, mascara=mask),
        [right := mix(module.merge(heads)), a],
        sem_saida=[module.merge(heads), a],
        juntadas_tortas=[mix(heads.reshape(x.shape)), a],
        uma_cabeca=AnyOf(([mix(whole), one], [mix(whole), one[:, None]])),
        sem_mascara=[mix(module.merge(every[0])), every[1]],
        so_a_saida=right,
        trocadas=[mix(module.merge(swapped[0])), swapped[1]],
        valores_crus=[mix(module.merge(a @ module.split(x))), a],
        media_dos_pesos=[right, a.mean(1)],
    )


@checker
def check_block(student: Trial) -> None:
    for i, dice in enumerate(student.dice(14, long=1)):
        b, n, h = dice.length(1, 3), dice.length(1, 10), dice.length(1, 3)
        scale = 1.0 if i % 4 else TINY
        d, d_ff = 2 * h * dice.whole(1, 2), dice.whole(1, 9)
        config = Config(9, d=d, heads=h, d_ff=d_ff, dropout=0.0)
        reference, weights = _drawn(Block(config), dice, scale)
        x, mask = scale * dice.normal(b, n, d), dice.some_in_each_row(b, n)[:, None, None, :]
        with torch.no_grad():
            reference(x, mask, trace=(trace := Trace()))
            _expect_block(student, (d, h, d_ff), reference, weights, x, mask, trace.weights[0])


def _expect_block(
    student: Trial, sizes: tuple, module: Block, weights: dict, x: Tensor, mask: Tensor, a: Tensor
) -> None:
    d, h, d_ff = sizes
    f, first, second = module.feed_forward, module.norm_1, module.norm_2
    z = module.attention(x, mask)
    y = first(x + z)
    before = x + module.attention(first(x), mask, trace=(trace := Trace()))
    student.expect(
        student(d=d, h=h, d_ff=d_ff, pesos=weights, x=x, mascara=mask),
        [right := module(x, mask), a],
        sem_residuo_1=[second(first(z) + f(first(z))), a],
        sem_residuo_2=[second(f(y)), a],
        norma_antes=[before + f(second(before)), trace.weights[0]],
        norma_sem_soma=[(w := x + first(z)) + second(f(w)), a],
        residuo_do_bloco=[second(x + f(y)), a],
        uma_norma=[y + f(y), a],
        norma_trocada=[first((w := second(x + z)) + f(w)), a],
        so_a_saida=right,
        relu=[second(y + f.W_2(f.W_1(y).relu())), a],
    )


@checker
def check_encoder(student: Trial) -> None:
    for dice in student.dice(10, long=1):
        b, n, layers = dice.length(1, 3), dice.length(1, 9), dice.whole(1, 3)
        sizes = dict(V=dice.whole(2, 20), d=4, h=2, d_ff=dice.whole(1, 6), camadas=layers)
        causal, kinds = bool(dice.whole(0, 1)), dice.whole(1, 3)
        config = Config(
            sizes["V"], d=4, layers=layers, heads=2, d_ff=sizes["d_ff"], positions=n + 2, segments=kinds,
            pooler=False, pad_id=None, dropout=0.0,
        )  # fmt: skip
        reference, weights = _drawn(Encoder(config), dice)
        ids, segments = dice.wholes(0, sizes["V"] - 1, b, n), dice.wholes(0, kinds - 1, b, n)
        real = torch.arange(n) < dice.wholes(1, n, b)[:, None]

        def run(
            mask: Tensor,
            segments: Tensor = segments,
            blocks: Iterable[nn.Module] | None = None,
            model: Encoder = reference,
            ids: Tensor = ids,
        ) -> list:
            """Hidden states and maps."""
            x = model.embeddings(ids, segments)
            states, maps = [x], []
            for block in blocks or model.blocks:
                x = block(x, mask[:, None], trace=(trace := Trace()))
                states.append(x)
                maps.append(trace.weights[0])
            return [states, maps]

        columns, past = real[:, None, :].expand(b, n, n), causal_mask(n).expand(b, n, n)
        mask = columns & past if causal else columns
        with torch.no_grad():
            states, maps = run(mask)
            apart = [run(mask, blocks=[block]) for block in reference.blocks]
            student.expect(
                student(
                    **sizes,
                    posicoes=n + 2,
                    segmentos=kinds,
                    causal=causal,
                    pesos=weights,
                    ids=ids,
                    seg=segments,
                    real=real,
                ),
                [states, maps],
                sem_mascara=run(past if causal else torch.ones_like(past)),
                sempre_causal=run(columns & past),
                nunca_causal=run(columns),
                so_o_ultimo=AnyOf((states[-1], [states[-1], maps[-1]], [states[-1], maps])),
                sem_embeddings=[states[1:], maps],
                sem_o_ultimo=[states[:-1], maps],
                blocos_ao_contrario=run(mask, blocks=[*reference.blocks][::-1]),
                todos_do_comeco=[
                    [states[0], *(found[0][1] for found in apart)],
                    [found[1][0] for found in apart],
                ],
                sem_mapas=AnyOf((states, [states, []])),
                segmentos_zero=run(mask, torch.zeros_like(segments)),
            )


@checker
def check_batched_heads_defect(student: Trial) -> None:
    for i, dice in enumerate(student.dice(16, long=1)):
        b, h, n, d = dice.length(1, 4), dice.length(1, 4), dice.length(1, 12), dice.length(1, 5)
        if i == 0:  # one sentence and one head, on every day
            b = h = 1
        real = torch.arange(n) < dice.wholes(1, n, b)[:, None]
        q, k, v = dice.normal(3, b * h, n, d)

        def out(mask: Tensor, q: Tensor = q, k: Tensor = k, v: Tensor = v) -> Tensor:
            return attention(q, k, v, mask)[0]

        every, rows = torch.ones(1, 1, n, dtype=torch.bool), real.repeat_interleave(h, 0)[:, :, None]
        student.expect(
            student(q=q, k=k, v=v, real=real),
            out(real.repeat_interleave(h, 0)[:, None]),
            como_estava=out(real.repeat(h, 1)[:, None]),
            sem_mascara=out(every),
            da_primeira=out(real[:1, None]),
            comum=AnyOf((out(real.all(0)[None, None]), out(real.any(0)[None, None]))),
            linhas=AnyOf(out(every).masked_fill(~rows, empty) for empty in (torch.nan, 0.0)),
        )


class _Reader:
    """A layer (N, d) -> (N, d) of attention, with positions or without, in all places or in one."""

    __name__ = "modelo"

    def __init__(self, dice: Dice, own: Tensor, seen: Tensor, ordered: Tensor) -> None:
        self.W, self.own, self.seen, self.ordered = dice.normal(4, 4), own, seen, ordered

    def __call__(self, x: Tensor) -> Tensor:
        a = (x @ self.W @ x.T).tanh().exp() * self.seen  # (N, N)
        a = a / a.sum(-1, keepdim=True)
        return x @ self.W + self.own + a @ x + self.ordered @ x.square()


@checker
def check_order_experiment(student: Trial) -> None:
    for k, dice in enumerate(student.dice(8)):
        n = dice.whole(3, 6) if k else 4
        x, own, zero, every = dice.normal(n, 4), dice.normal(n, 4), torch.zeros(n, n), torch.ones(n, n)
        i, j = dice.whole(0, n - 1), dice.whole(1, n - 1)
        one, looks, others = zero.clone(), (i + j) % n, [place for place in range(n) if place != i]
        if k == 0:  # which who turns all the others round puts where it was, on every day
            looks = others[len(others) // 2]
        one[i, looks] = 1.0
        boxes = [
            (0 * own, every, zero, False),
            (own, torch.eye(n), zero, False),  # places, and no mixing
            (own, every, zero, False),  # each knows its own place, and not the others'
            (0 * own, every, dice.normal(n, n), True),
            (0 * own, torch.eye(n), one, True),  # one place looks at one other
            (0 * own, causal_mask(n).float(), zero, True),  # a causal mask tells before from after
        ]
        for places, seen, ordered, sees in boxes:
            student.expect(
                student(modelo=_Reader(dice, places, seen, ordered), x=x),
                sees,
                trocou_tudo=sees or bool(places.any()),
                so_a_primeira=bool(ordered[0].any()),
                so_a_ultima=bool(ordered[-1].any()),
                inverteu=sees
                and not (ordered is one and others.index(looks) == len(others) - 1 - others.index(looks)),
                sempre_sim=True,
                sempre_nao=False,
            )


check_block_by_hand = number_checker(
    "block_by_hand", 74, sem_vies=56, sem_normas=66, sem_saida=68, sem_atencao=50
)
