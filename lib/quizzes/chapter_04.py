"""Quiz of chapter 4: cross-entropy and next-word prediction."""

import math

import torch

from lib.losses import cross_entropy, entropy, perplexity, to_bits, to_nats
from lib.numbers import pt
from lib.quizzes.question import Question, ask, read, right, wrong


def questions() -> list[Question]:
    written = read(__file__)
    return [
        _surprise_in_bits(),
        _uniform_guess(),
        _floor(),
        _perplexity(),
        written["look_up"],
        _gradient(),
        written["what_the_loss_teaches"],
        written["convexity"],
        _shift_by_one(),
        written["below_the_floor"],
        written["free_running"],
    ]


def _surprise_in_bits() -> Question:
    p = 0.125
    return ask(
        f"O modelo deu probabilidade {pt(p, 3)} à palavra certa. Qual é a perda, em bits?",
        right(pt(to_bits(-math.log(p)), 3), "É −log₂ p: quantas perguntas de sim ou não a resposta vale."),
        wrong(pt(-math.log(p), 3), "Isso são nats. Para bits, divida pelo logaritmo natural de dois."),
        wrong(pt(1 - p, 3), "A perda não é a probabilidade que faltou: é um logaritmo."),
        wrong(pt(-math.log10(p), 3), "Esse é o logaritmo decimal."),
        section="A perda",
    )


def _uniform_guess() -> Question:
    v = 30522
    return ask(
        f"Um modelo que ainda não aprendeu nada dá a mesma probabilidade às {v} palavras do vocabulário. "
        "Que perda inicial se deve ver, em nats?",
        right(pt(math.log(v), 1), "É o logaritmo natural do tamanho do vocabulário, seja qual for o texto."),
        wrong(pt(math.log2(v), 1), "Isso são bits."),
        wrong(pt(math.log10(v), 1), "Esse é o logaritmo decimal; a perda usa o natural."),
        wrong(pt(1, 1), "Não há teto em um: a surpresa cresce sem limite quando a probabilidade cai."),
        section="Entropia, entropia cruzada e o que sobra",
    )


def _floor() -> Question:
    p = [0.5, 0.25, 0.25]
    return ask(
        f"Depois de certo contexto, a língua usa três palavras, com probabilidades {pt(p[0], 2)}, "
        f"{pt(p[1], 2)} e {pt(p[2], 2)}. Qual é a menor perda média possível, em nats?",
        right(pt(entropy(p).item(), 2), "É a entropia: a dúvida que a própria língua deixa."),
        wrong(pt(0, 2), "Zero só se a resposta fosse certa. Aqui nem o modelo perfeito acerta sempre."),
        wrong(pt(math.log(3), 2), "Isso custa o palpite uniforme, que ignora que uma palavra é mais comum."),
        wrong(pt(to_bits(entropy(p)).item(), 2), "O valor está certo, mas em bits."),
        section="Entropia, entropia cruzada e o que sobra",
    )


def _perplexity() -> Question:
    bits = 3
    return ask(
        f"A perda média é de {bits} bits por palavra. Qual é a perplexidade?",
        right(pt(perplexity(to_nats(bits)), 0), "Dois elevado aos bits, ou e elevado aos nats: dá o mesmo."),
        wrong(pt(math.exp(bits), 0), "A exponencial natural pede nats; com bits, a base é dois."),
        wrong(pt(bits, 0), "Essa é a perda. A perplexidade a traduz em número de palavras."),
        wrong(pt(bits**2, 0), "O expoente é a perda, não a base."),
        section="Entropia, entropia cruzada e o que sobra",
    )


def _gradient() -> Question:
    p = torch.tensor([0.3, 0.5, 0.2], dtype=torch.float64)
    u = p.log().requires_grad_()
    (gradients,) = torch.autograd.grad(cross_entropy(u[None], torch.tensor([0])), u)
    gradient = gradients[0].item()
    return ask(
        f"A palavra certa tem probabilidade {pt(p[0], 1)}. Qual é a derivada da perda em relação ao "
        "logit dela?",
        right(pt(gradient, 2), "Previsto menos observado: o logit é empurrado pelo que faltou."),
        wrong(pt(-gradient, 2), "O sinal está trocado: aumentar o logit da palavra certa baixa a perda."),
        wrong(pt(-1 / p[0], 2), "Essa é a derivada em relação à probabilidade, não ao logit."),
        wrong(pt(p[0], 2), "Faltou descontar o observado, que na palavra certa vale um."),
        section="O gradiente: previsto menos observado",
    )


def _shift_by_one() -> Question:
    words = ["o", "sol", "brilha", "forte", "."]
    at = words.index("brilha")
    return ask(
        "No *teacher forcing* com *o sol brilha forte .*, qual é o alvo de quem acaba de ler *brilha*?",
        right(f"*{words[at + 1]}*", "Cada posição prevê a palavra seguinte à que leu."),
        wrong(
            f"*{words[at]}*", "Prever o que se acabou de ler é copiar a entrada: faltou deslocar os alvos."
        ),
        wrong(f"*{words[at + 2]}*", "Os alvos foram deslocados duas vezes, um engano comum em bibliotecas."),
        wrong(f"*{words[at - 1]}*", "O deslocamento foi para o lado errado: isso é o passado."),
        section="Teacher forcing: todas as posições de uma vez",
    )
