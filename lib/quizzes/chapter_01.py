"""Quiz of chapter 1: causal masking."""

import math

import torch

from lib.attention import attention, causal_mask, softmax
from lib.experiments.wrong_masks import mistaken_weights
from lib.numbers import pt
from lib.quizzes.question import Question, ask, read, right, wrong


def questions() -> list[Question]:
    written = read(__file__)
    return [
        written["reading_the_matrix"],
        _allowed_pairs(),
        _one_row(),
        _zero_instead_of_infinity(),
        _what_row_sums_reveal(),
        written["after_the_softmax"],
        _perturbing_a_token(),
        written["price_of_the_mask"],
        _memory(),
    ]


def _allowed_pairs() -> Question:
    n = 6
    allowed = int(causal_mask(n).sum())
    return ask(
        f"Com {n} tokens e a máscara causal, quantos pares (quem olha, quem é olhado) são permitidos?",
        right(pt(allowed, 0), "É o triângulo inferior com a diagonal: meia matriz e mais meia diagonal."),
        wrong(pt(allowed - n, 0), "Faltou a diagonal: cada token também olha para si mesmo."),
        wrong(pt(n * n / 2, 0), "É metade da matriz. A diagonal, que fica inteira, soma mais meia."),
        wrong(pt(n * n, 0), "São todos os pares, como em um codificador: nenhum foi proibido."),
        section="Exemplo: quem olha para quem",
    )


def _one_row() -> Question:
    row, d_k = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64), 4
    scaled = row / math.sqrt(d_k)
    answer = softmax(scaled[:2])[1]
    return ask(
        f"A segunda linha das pontuações é {_list(row)} e dₖ = {d_k}. "
        "Com a máscara causal, qual é o peso do segundo token sobre si mesmo?",
        right(pt(answer, 3), "Só as duas primeiras contam, divididas pela raiz de dₖ antes da softmax."),
        wrong(pt(softmax(row[:2])[1], 3), "Faltou dividir pela raiz de dₖ antes da softmax."),
        wrong(pt(softmax(scaled)[1], 3), "O terceiro token, que é futuro, entrou no denominador."),
        wrong(pt(softmax(scaled[:2])[0], 3), "Esse é o peso sobre o primeiro token."),
        section="O que a softmax faz com o infinito",
    )


def _zero_instead_of_infinity() -> Question:
    scores = torch.tensor([[2.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    leak = mistaken_weights("zerada", scores)[0, 1]
    return ask(
        f"A primeira linha das pontuações é {_list(scores[0])}, já escalada. Um código troca a pontuação do "
        "futuro por zero. Que peso o primeiro token dá ao futuro?",
        right(pt(leak, 3), "Zero é uma pontuação como outra qualquer, e sua exponencial vale um."),
        wrong(pt(0, 3), "Seria assim com −∞. A exponencial de zero vale um, e um não é nada desprezível."),
        wrong(
            pt(softmax(scores[0])[1], 3), "Esse é o peso sem máscara alguma; o zero diminui, mas não apaga."
        ),
        wrong(pt(0.5, 3), "Seria assim se a outra pontuação também fosse zero."),
        section="Quando a máscara está errada",
    )


def _what_row_sums_reveal() -> Question:
    s = torch.randn(4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    names = {
        "esquecida": "Esquecer a máscara.",
        "depois": "Aplicá-la depois da softmax.",
        "invertida": "Trocar `True` por `False`.",
        "diagonal": "Esconder também a diagonal.",
    }
    why = {
        "esquecida": "Cada linha é uma softmax inteira e soma um. Vaza tudo, e a soma não acusa nada.",
        "depois": "O futuro já entrou no denominador: as linhas que têm futuro somam menos de um.",
        "invertida": "A última linha fica sem ninguém para olhar: soma zero, ou vira `nan`.",
        "diagonal": "A primeira linha fica sem ninguém para olhar: soma zero, ou vira `nan`.",
    }
    silent = {
        kind for kind in names if torch.allclose(mistaken_weights(kind, s).sum(-1), torch.ones(4).double())
    }
    choices = [(right if kind in silent else wrong)(names[kind], why[kind]) for kind in names]
    return ask(
        "Um teste confere só a forma da matriz e se toda linha soma um. Qual engano passa por ele?",
        *choices,
        section="Quando a máscara está errada",
    )


def _perturbing_a_token() -> Question:
    n, changed = 5, 3
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, 4, generator=g)
    other = x.clone()
    other[changed - 1] += 1

    def stack(v):
        for _ in range(3):
            v = v + torch.tanh(attention(v, v, v, causal_mask(n))[0])
        return v

    moved = [i + 1 for i in range(n) if not torch.equal(stack(x)[i], stack(other)[i])]
    return ask(
        f"Em uma pilha de camadas causais com {n} tokens, muda-se só a entrada da posição {changed}. "
        "Quais saídas podem mudar?",
        right(
            f"As das posições {_list(moved)}.",
            "O presente depende do passado e de si mesmo; o futuro dele, também.",
        ),
        wrong(f"Só a da posição {changed}.", "As posições seguintes olham para ela, em todas as camadas."),
        wrong(
            f"As das posições {_list(range(1, changed + 1))}.",
            "É o contrário: quem vem antes não pode olhar para ela. É isso que a máscara garante.",
        ),
        wrong(
            f"Todas as {n}, se houver camadas bastantes.",
            "Empilhar não abre caminho para trás: cada camada preserva a causalidade.",
        ),
        section="Uma camada, e depois todas",
    )


def _memory() -> Question:
    n, size = 2048, torch.float32.itemsize
    mib = n * n / 2**20
    return ask(
        f"Quanto ocupa, em números de {size} bytes, a matriz de uma máscara aditiva para {n} tokens?",
        right(f"{pt(size * mib, 0)} MiB", f"N² entradas de {size} bytes. Um núcleo causal nem precisa dela."),
        wrong(f"{pt(mib, 0)} MiB", f"São N² entradas, mas cada uma ocupa {size} bytes, não um."),
        wrong(f"{pt(size * mib / 2, 0)} MiB", "Quase metade das entradas vale −∞, mas também ocupa lugar."),
        wrong(f"{pt(2 * size * mib, 0)} MiB", f"Assim seria com números de {2 * size} bytes."),
        section="Quanto custa a própria máscara",
    )


def _list(values) -> str:
    """(1.0, 2.0, 3.0) becomes "1, 2 e 3"."""
    *first, last = [pt(float(value), 0) for value in values]
    return f"{', '.join(first)} e {last}" if first else last
