"""Quiz of chapter 3: bidirectional encoders."""

import math

from lib.numbers import pt
from lib.parameters import count
from lib.presets import preset
from lib.quizzes.question import Question, ask, read, right, wrong
from lib.tokenizer import greedy_wordpiece


def questions() -> list[Question]:
    written = read(__file__)
    return [
        written["what_enters_an_output"],
        written["order"],
        written["removing_the_mask"],
        written["the_mask_that_stays"],
        _greedy_pieces(),
        written["shared_piece"],
        _attention_parameters(),
        written["parameters_of_the_mask"],
        written["weights_and_outputs"],
        _spread_of_a_score(),
        written["large_weight"],
    ]


def _greedy_pieces() -> Question:
    word, known = "gatinho", "gat gato g ##a ##at ##inho ##in ##ho ##i ##n ##h ##o ##t"
    vocabulary = set(known.split())
    pieces = greedy_wordpiece(word, vocabulary).tokens
    listed = ", ".join(f"`{piece}`" for piece in sorted(vocabulary) if len(piece.strip("#")) > 1)
    return ask(
        f"O vocabulário tem {listed} e todas as letras avulsas. Como o WordPiece corta *{word}*?",
        right(_pieces(pieces), "Sempre o maior pedaço que serve, da esquerda para a direita."),
        wrong(_pieces(["gato", "##inho"]), "Os pedaços têm de soletrar a palavra: *gato* não é começo dela."),
        wrong(_pieces(["gat", "##in", "##ho"]), "Depois de `gat` há um pedaço maior que serve: `##inho`."),
        wrong(_pieces(["[UNK]"]), "Com todas as letras no vocabulário, nenhuma palavra delas vira `[UNK]`."),
        section="Subpalavras",
    )


def _attention_parameters() -> Question:
    bert = preset("bert-base")
    d, heads = bert.d, bert.heads
    per_layer = count(bert).attention // bert.layers
    return ask(
        f"No BERT-base, d = {d} e h = {heads}. Quantos parâmetros tem a atenção de uma camada, com vieses?",
        right(
            pt(per_layer, 0), "Quatro matrizes d × d, de consultas, chaves, valores e saída, e quatro vieses."
        ),
        wrong(pt(per_layer * 3 // 4, 0), "Faltou a projeção de saída."),
        wrong(pt(4 * d * d, 0), "Faltaram os vieses."),
        wrong(pt(per_layer * heads, 0), "As cabeças dividem d entre si; não o multiplicam."),
        section="Quanto pesa um codificador",
    )


def _spread_of_a_score() -> Question:
    d_k = 64
    return ask(
        f"As componentes de q e k são independentes, de média zero e variância um, e dₖ = {d_k}. Qual é o "
        "desvio-padrão de q · k, antes de dividir pela raiz?",
        right(
            pt(math.sqrt(d_k), 0),
            "A variância é dₖ, e o desvio-padrão é a raiz dela: é por ela que se divide.",
        ),
        wrong(pt(d_k, 0), "Essa é a variância."),
        wrong(pt(1, 0), "Esse é o desvio-padrão depois da divisão."),
        wrong(pt(d_k**2, 0), "As variâncias de parcelas independentes se somam; não se multiplicam."),
        section="Por que a raiz",
    )


def _pieces(tokens) -> str:
    return " ".join(f"`{token}`" for token in tokens)
