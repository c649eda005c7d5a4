"""Quiz of chapter 4: cross-entropy and next-word prediction."""

import math

import torch

from lib.losses import cross_entropy, entropy, perplexity, to_bits, to_nats
from lib.numbers import pt
from lib.quizzes.question import Question, ask, right, wrong


def questions() -> list[Question]:
    return [
        _surprise_in_bits(),
        _uniform_guess(),
        _floor(),
        _perplexity(),
        _look_up(),
        _gradient(),
        _what_the_loss_teaches(),
        _convexity(),
        _shift_by_one(),
        _below_the_floor(),
        _free_running(),
    ]


def _surprise_in_bits() -> Question:
    p = 0.125
    return ask(
        f"O modelo deu probabilidade {pt(p, 3)} à palavra certa. Qual é a perda, em bits?",
        right(
            pt(to_bits(-math.log(p)), 3),
            "É −log₂ p: quantas perguntas de sim ou não a resposta vale.",
        ),
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
        right(
            pt(math.log(v), 1),
            "É o logaritmo natural do tamanho do vocabulário, seja qual for o texto.",
        ),
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
        wrong(
            pt(math.log(3), 2),
            "Isso custa o palpite uniforme, que ignora que uma palavra é mais comum.",
        ),
        wrong(pt(to_bits(entropy(p)).item(), 2), "O valor está certo, mas em bits."),
        section="Entropia, entropia cruzada e o que sobra",
    )


def _perplexity() -> Question:
    bits = 3
    return ask(
        f"A perda média é de {bits} bits por palavra. Qual é a perplexidade?",
        right(
            pt(perplexity(to_nats(bits)), 0),
            "Dois elevado aos bits, ou e elevado aos nats: dá o mesmo.",
        ),
        wrong(pt(math.exp(bits), 0), "A exponencial natural pede nats; com bits, a base é dois."),
        wrong(pt(bits, 0), "Essa é a perda. A perplexidade a traduz em número de palavras."),
        wrong(pt(bits**2, 0), "O expoente é a perda, não a base."),
        section="Entropia, entropia cruzada e o que sobra",
    )


def _look_up() -> Question:
    return ask(
        "Por que as bibliotecas pedem o índice da palavra certa, e não o vetor *one-hot*?",
        right(
            "Porque multiplicar por zeros e somar é o mesmo que ler uma só entrada.",
            "O índice dá o mesmo número sem guardar nem multiplicar um vetor do tamanho do vocabulário.",
        ),
        wrong(
            "Porque o vetor *one-hot* daria um gradiente diferente.",
            "Dá exatamente a mesma perda e o mesmo gradiente; só custa mais.",
        ),
        wrong(
            "Porque um vetor *one-hot* não é uma distribuição.",
            "É, sim: uma distribuição que põe tudo em uma palavra.",
        ),
        wrong(
            "Porque assim a perda pune também as palavras parecidas.",
            "Nenhuma das duas formas olha para palavras parecidas: só conta a probabilidade da certa.",
        ),
        section="Milhares de classes, e um vetor *one-hot* que é uma consulta",
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


def _what_the_loss_teaches() -> Question:
    return ask(
        "O que a entropia cruzada treina o modelo a fazer?",
        right(
            "A dar a cada palavra a probabilidade que ela tem.",
            "O mínimo é atingido só na própria distribuição da língua.",
        ),
        wrong(
            "A apostar tudo na palavra mais frequente.",
            "Isso custa mais que o palpite uniforme, quando as outras aparecem.",
        ),
        wrong(
            "A acertar o maior número de palavras.",
            "Dois modelos com os mesmos acertos podem ter perdas muito diferentes.",
        ),
        wrong(
            "A diminuir a distância entre duas distribuições.",
            "Nem a entropia cruzada nem a divergência são distâncias: trocar os papéis muda o valor.",
        ),
        section="Entropia, entropia cruzada e o que sobra",
    )


def _convexity() -> Question:
    return ask(
        "A perda de uma posição é convexa em relação a quê?",
        right("Aos logits.", "É o logaritmo de uma soma de exponenciais menos um termo linear: convexa."),
        wrong("Aos pesos da rede.", "Com mais de uma camada, não: há vales separados por uma crista."),
        wrong("A tudo: a entropia cruzada é convexa.", "Compor com a rede destrói a convexidade."),
        wrong(
            "A nada: por isso se usa gradiente.",
            "O gradiente serve nos dois casos, e nos logits ela é convexa.",
        ),
        section="O que é convexo e o que não é",
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


def _below_the_floor() -> Question:
    return ask(
        "Em frases novas, a perda média de um modelo causal ficou bem abaixo da entropia exata da gramática. "
        "O que pensar?",
        right(
            "Que a medida está errada, ou o futuro vaza.",
            "Ninguém bate o piso em média. Procure o vazamento.",
        ),
        wrong(
            "Que o modelo superou a gramática porque aprendeu regularidades mais finas.",
            "As probabilidades da gramática são as verdadeiras; não há o que aprender além delas.",
        ),
        wrong("Que ele decorou o treino.", "Decorar o treino não ajuda em frases novas."),
        wrong(
            "Que basta esperar: com mais passos a perda volta a subir até o piso.",
            "Mais passos não consertam uma conta que deu um resultado impossível.",
        ),
        section="Um modelo treinado, e o piso que ele persegue",
    )


def _free_running() -> Question:
    return ask(
        "No treino com *teacher forcing*, o que o modelo nunca vê e encontra quando escreve sozinho?",
        right(
            "Prefixos que ele mesmo errou.",
            "No treino, o prefixo é sempre o verdadeiro; na escrita, é o que ele acabou de sortear.",
        ),
        wrong("Palavras fora do vocabulário.", "O vocabulário é o mesmo no treino e na escrita."),
        wrong("A palavra seguinte na entrada.", "Essa não se vê nem no treino: a máscara causal a esconde."),
        wrong(
            "Frases mais curtas que as do treino, que terminam antes da hora.",
            "Todo prefixo curto aparece no treino; o que não aparece é um prefixo errado.",
        ),
        section="Quando o professor vai embora",
    )
