"""Checkers of chapter 3: WordPiece, input embeddings, heads, pooling and parameters."""

import torch

from lib.encoder import Config
from lib.exercises.student import number_checker
from lib.exercises.trials import AnyOf, Dice, Trial, checker
from lib.parameters import count
from lib.tokenizer import greedy_wordpiece

UNK = "[UNK]"


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
def check_sum_embeddings(student: Trial) -> None:
    for dice in student.dice(16, long=1):
        b, n, d = dice.length(1, 5), dice.length(1, 30), dice.length(1, 5)
        words, kinds = dice.whole(1, 40), dice.whole(1, 3)
        places = n + dice.whole(0, 1) * dice.whole(1, 50)
        E, P, S = (dice.normal(rows, d) for rows in (words, places, kinds))
        ids, segments = dice.wholes(0, words - 1, b, n), dice.wholes(0, kinds - 1, b, n)
        token, segment, position = E[ids], S[segments], P[:n]
        student.expect(
            student(ids=ids, segmentos=segments, E=E, P=P, S=S),
            token + position + segment,
            sem_posicao=token + segment,
            sem_segmento=token + position,
            so_tokens=token,
            posicao_do_id=token + P[ids.clamp(max=places - 1)] + segment,
            posicao_da_frase=token + P[torch.arange(b).clamp(max=places - 1)][:, None] + segment,
            a_partir_de_um=token + P[torch.arange(1, n + 1).clamp(max=places - 1)] + segment,
            media=(token + position + segment) / 3,
            concatena=torch.cat([token, position.expand_as(token), segment], -1),
        )


@checker
def check_split_heads(student: Trial) -> None:
    for dice in student.dice(16, long=1):
        b, n, h = dice.length(1, 3), dice.length(1, 30), dice.length(1, 6)
        d = h * dice.length(1, 5)
        x = dice.wholes(-99, 99, b, n, d).to(dice.real().dtype)
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
def check_count_parameters(student: Trial) -> None:
    drawn = []
    for dice in student.dice(6):
        d = 2 * dice.whole(1, 400)
        sizes = (dice.whole(1, 40_000), dice.whole(1, 600), dice.whole(0, 4))
        drawn.append((*sizes, d, dice.whole(1, 4000), dice.whole(1, 30)))
    # First, sizes for which no two of the mistakes below give the same total.
    for V, positions, segments, d, d_ff, layers in ((20, 7, 3, 6, 8, 2), (10, 6, 2, 4, 8, 1), *drawn):
        sizes = dict(V=V, posicoes=positions, segmentos=segments, d=d, d_ff=d_ff, camadas=layers)
        config = Config(
            V, d=d, layers=layers, heads=2, d_ff=d_ff, positions=positions, segments=segments, pooler=False
        )
        total = count(config).total
        student.expect(
            student(**sizes),
            total,
            sem_vies=total - layers * (4 * d + d_ff + d),
            sem_vies_da_atencao=total - layers * 4 * d,
            sem_vies_do_ff=total - layers * (d_ff + d),
            sem_saida=total - layers * (d * d + d),
            sem_normas=total - layers * 4 * d - 2 * d,
            sem_norma_das_entradas=total - 2 * d,
            uma_norma=total - layers * 2 * d,
            norma_so_ganho=total - layers * 2 * d - d,
            sem_segmentos=total - segments * d,
            sem_posicoes=total - positions * d,
            uma_camada=total - (layers - 1) * (4 * (d * d + d) + 2 * d * d_ff + d_ff + d + 4 * d),
            com_pooler=total + d * d + d,
            mascara_conta=total + positions * positions,
        )


check_block_by_hand = number_checker(
    "block_by_hand", 74, sem_vies=56, sem_normas=66, sem_saida=68, sem_atencao=50
)
check_head_size = number_checker("head_size", 64, por_camada=768, dividido_pelo_total=768 / 144, cabecas=12)
