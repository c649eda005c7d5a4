"""Quiz of chapter 2: masked language models."""

import math

import torch

from lib.corruption import BERT_CHANNEL
from lib.losses import IGNORE_INDEX
from lib.numbers import pt
from lib.quizzes.question import Question, ask, read, right, wrong

RATE = 0.15  # of the tokens are selected, as in BERT


def questions() -> list[Question]:
    written = read(__file__)
    return [
        written["how_the_answer_is_hidden"],
        _renormalised_weight(),
        _share_of_mask(),
        _two_draws(),
        _no_selection(),
        written["why_not_only_mask"],
        _logits(),
        _where_the_loss_counts(),
        _nsp_loss(),
        written["what_nsp_teaches"],
        written["one_cosine"],
    ]


def _renormalised_weight() -> Question:
    row = torch.tensor([0.2, 0.3, 0.4, 0.1], dtype=torch.float64)
    seen = row[:2]
    listed = ", ".join(pt(w, 1) for w in row)
    return ask(
        f"Sem máscara, o segundo token reparte seu peso assim: {listed}. Com a máscara causal e as mesmas "
        "pontuações, quanto ele dá ao primeiro?",
        right(pt(seen[0] / seen.sum(), 2), "O que sobra no passado é dividido pela sua soma."),
        wrong(pt(row[0], 2), "A linha precisa somar um: sem o futuro, os pesos que ficam crescem."),
        wrong(pt(seen[1] / seen.sum(), 2), "Esse é o peso que ele dá a si mesmo."),
        wrong(
            pt(row[0] + row[2:].sum() / 2, 2),
            "O peso do futuro não se reparte por igual: as razões entre os do passado não mudam.",
        ),
        section="Exemplo: o gato preto dorme",
    )


def _share_of_mask() -> Question:
    channel = BERT_CHANNEL
    return ask(
        "Com a receita do BERT, que fração de *todos* os tokens aparece como `[MASK]`, em média?",
        right(_percent(RATE * channel.mask), "A taxa de seleção vezes a fatia do canal que vira `[MASK]`."),
        wrong(_percent(channel.mask), "Essa é a fração dos selecionados, não de todos."),
        wrong(_percent(RATE), "Esses são os selecionados; nem todos viram `[MASK]`."),
        wrong(_percent(RATE * (1 - channel.keep)), "Isso inclui também os trocados por palavra sorteada."),
        section="Corromper para aprender",
    )


def _two_draws() -> Question:
    random, keep = BERT_CHANNEL.random, BERT_CHANNEL.keep
    return ask(
        f"Um código sorteia {_percent(random)} dos selecionados para palavra aleatória e, *entre os que "
        f"sobram*, mantém {_percent(keep)}; o resto vira `[MASK]`. Que fração deles vira `[MASK]`?",
        right(
            _percent((1 - random) * (1 - keep)),
            "O segundo sorteio age só sobre o que sobrou do primeiro. Com um sorteio único, a conta fecha.",
        ),
        wrong(_percent(1 - random - keep), "Seria assim com um sorteio só, de três resultados."),
        wrong(_percent(1 - random), "Faltou tirar os que foram mantidos."),
        wrong(_percent((1 - random) * keep), "Esses são os mantidos."),
        section="Corromper para aprender",
    )


def _no_selection() -> Question:
    n = 6
    return ask(
        f"Cada um dos {n} tokens de uma frase é selecionado com probabilidade {_percent(RATE)}, sem cota. "
        "Qual é a chance de nenhum ser?",
        right(_percent((1 - RATE) ** n), "Todos têm de escapar, e os sorteios são independentes."),
        wrong(
            _percent(1 - n * RATE), "Somar as chances conta duas vezes as frases com mais de um selecionado."
        ),
        wrong(_percent(1 - RATE), "Essa é a chance de um token escapar, não de todos."),
        wrong(_percent(0), "Só haveria garantia com uma cota por frase."),
        section="Corromper para aprender",
    )


def _logits() -> Question:
    n, d, v = 6, 768, 30522
    return ask(
        f"Os vetores de {n} posições, de dimensão {d}, são multiplicados por Eᵀ, com {v} itens no "
        "vocabulário. Qual é a forma do resultado?",
        right(f"{n} × {v}", "Um logit por item do vocabulário, em cada posição."),
        wrong(f"{n} × {d}", "Essa é a forma dos vetores antes da cabeça."),
        wrong(f"{d} × {v}", "Essa é a forma de Eᵀ."),
        wrong(f"{v} × {n}", "Cada linha é uma posição; cada coluna, um item do vocabulário."),
        section="Do vetor à palavra",
    )


def _where_the_loss_counts() -> Question:
    return ask(
        f"Uma palavra foi selecionada e mantida. Seu rótulo é {pt(IGNORE_INDEX, 0)} (ignorar) ou a palavra?",
        right(
            "A palavra: selecionadas contam sempre.",
            "O que decide é a seleção, não o que se lê ali. O gradiente nos logits dela não é zero.",
        ),
        wrong(
            "Ignorar: o modelo está vendo a resposta.",
            "Ele não sabe que é a resposta: poderia ser uma palavra sorteada. É isso que o exercício treina.",
        ),
        wrong(
            "Ignorar: só `[MASK]` conta na perda do modelo mascarado.",
            "Contam os três destinos: mascaradas, trocadas e mantidas.",
        ),
        wrong(
            "A palavra, e também a de todas as outras posições da frase.",
            "As não selecionadas são lidas, mas não cobradas: copiá-las seria fácil e dominaria a média.",
        ),
        section="A perda só onde se selecionou",
    )


def _nsp_loss() -> Question:
    p = 0.1
    return ask(
        f"Em um par de sentenças *não* seguidas, o modelo dá probabilidade {pt(p, 1)} a “é a próxima”. "
        "Qual é a perda, em nats?",
        right(pt(-math.log(1 - p), 3), "A resposta certa é “não”, que recebeu o resto da probabilidade."),
        wrong(pt(-math.log(p), 3), "Essa seria a perda se as sentenças fossem seguidas."),
        wrong(pt(math.log(2), 3), "Essa é a perda de quem joga uma moeda."),
        wrong(pt(p, 3), "A perda é o logaritmo da probabilidade da resposta certa, com sinal trocado."),
        section="Exemplo: três sentenças",
    )


def _percent(share: float) -> str:
    return f"{pt(100 * share, 0)}%"
