"""Checkers of chapter 3: WordPiece, input embeddings, heads, pooling and parameters."""

import torch

from lib.encoder import Config
from lib.exercises.student import Student, checker, number_checker
from lib.parameters import count
from lib.tokenizer import greedy_wordpiece

UNK = "[UNK]"


@checker
def check_wordpiece(student: Student) -> None:
    known = "gat g ##a ##t ##inho ##in ##ho ##i ##n ##o gato des ##feito inho"
    vocabulary = set(known.split())

    def cut(word: str, vocabulary: set = vocabulary) -> list:
        return student(palavra=word, vocabulario=vocabulary)

    student.expect(cut("gato"), ["gato"], menor_primeiro=["g", "##a", "##t", "##o"], unk=[UNK])
    student.expect(
        cut("gatinho"),
        ["gat", "##inho"],
        sem_marca=["gat", "inho"],
        marca_em_todos=["##gat", "##inho"],
        menor_primeiro=["g", "##a", "##t", "##i", "##n", "##ho"],
        so_o_primeiro=["gat"],
        unk=[UNK],
        texto="gat ##inho",
    )
    student.expect(cut("gatox"), [UNK], unk_parcial=["gato", UNK], pula=["gato"], letra=["gato", "##x"])
    student.expect(cut("xgato"), [UNK], unk_parcial=[UNK, "##gato"], pula=["gato"])
    either = {"a", "ab", "##bc", "##c"}  # in "abc" the longest piece from the right is another
    student.expect(cut("abbc", either), ["ab", "##bc"])
    student.expect(cut("abc", either), ["ab", "##c"], da_direita=["a", "##bc"])
    stuck = {"a", "ab", "##bd", "##b"}  # "ab" is taken and "##d" is missing; "a" and "##bd" would do
    student.expect(cut("abd", stuck), [UNK], volta_atras=["a", "##bd"])
    pieces = {"a", "b", "##a", "##b", "ab", "##ba", "##ab", "aab", "##bba"}
    for g in student.randoms():
        word = "".join("ab"[i] for i in torch.randint(2, (7,), generator=g))
        student.expect(cut(word, pieces), greedy_wordpiece(word, pieces).tokens)


@checker
def check_sum_embeddings(student: Student) -> None:
    shapes = [(2, 4), (1, 5), (3, 6), (4, 3), (2, 1), (3, 3)]
    for g, (b, n) in zip((torch.Generator().manual_seed(0), *student.randoms()), shapes, strict=True):
        E, P, S = (torch.randn(rows, 2, generator=g) for rows in (9, 12, 2))
        ids = torch.randint(1, 9, (b, n), generator=g)
        segments = torch.randint(2, (b, n), generator=g).sort(-1).values
        if (b, n) == (2, 4):  # the first one is always the same: every mistake below is another number there
            ids = torch.tensor([[3, 1, 4, 1], [5, 2, 6, 5]])
            segments = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 1]])
        token, segment, position = E[ids], S[segments], P[:n]
        student.expect(
            student(ids=ids, segmentos=segments, E=E, P=P, S=S),
            token + position + segment,
            sem_posicao=token + segment,
            sem_segmento=token + position,
            so_tokens=token,
            posicao_do_id=token + P[ids] + segment,
            posicao_da_frase=token + P[:b][:, None] + segment,
            a_partir_de_um=token + P[1 : n + 1] + segment,
            media=(token + position + segment) / 3,
            concatena=torch.cat([token, position.expand_as(token), segment], -1),
        )


@checker
def check_split_heads(student: Student) -> None:
    shapes = [(1, 3, 4, 2), (2, 4, 6, 3), (2, 5, 8, 2), (1, 6, 6, 6)]
    for b, n, d, h in shapes:
        x = torch.arange(b * n * d, dtype=torch.get_default_dtype()).view(b, n, d)
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
def check_mean_pool(student: Student) -> None:
    fixed = torch.tensor([[[2.0, 0.0], [4.0, 6.0], [9.0, 9.0]], [[1.0, 1.0], [2.0, 3.0], [6.0, 2.0]]])
    cases = [(fixed, torch.tensor([2, 3]))]
    cases += [
        (torch.randn(3, 5, 4, generator=g), torch.randint(1, 6, (3,), generator=g)) for g in student.randoms()
    ]
    for hidden, lengths in cases:
        real = torch.arange(hidden.shape[1]) < lengths[:, None]
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
        )


@checker
def check_count_parameters(student: Student) -> None:
    for V, positions, segments, d, d_ff, layers in (
        (20, 7, 3, 6, 8, 2),  # sizes for which no two of the mistakes below give the same total
        (10, 6, 2, 4, 8, 1),
        (30522, 512, 2, 768, 3072, 12),
        (1000, 128, 0, 32, 64, 2),
    ):
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
