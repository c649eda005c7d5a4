"""Quiz of chapter 3: bidirectional encoders."""

import math

from lib.numbers import pt
from lib.parameters import count
from lib.presets import preset
from lib.quizzes.question import Question, ask, right, wrong
from lib.tokenizer import greedy_wordpiece


def questions() -> list[Question]:
    return [
        _what_enters_an_output(),
        _order(),
        _removing_the_mask(),
        _the_mask_that_stays(),
        _greedy_pieces(),
        _shared_piece(),
        _attention_parameters(),
        _parameters_of_the_mask(),
        _weights_and_outputs(),
        _spread_of_a_score(),
        _large_weight(),
    ]


def _what_enters_an_output() -> Question:
    return ask(
        "Em um codificador bidirecional, de que entradas depende o vetor de saída do segundo token?",
        right("De todas, a dele inclusive.", "Sem a máscara causal, todo peso da linha é positivo."),
        wrong("Só dele e do primeiro token.", "Assim seria com a máscara causal."),
        wrong("De todas, menos da dele.", "A diagonal fica: cada token olha também para si."),
        wrong("Só das duas vizinhas.", "A atenção não tem vizinhança: alcança qualquer posição em um passo."),
        section="O que entra na conta de cada saída",
    )


def _order() -> Question:
    return ask(
        "Sem embeddings de posição e sem máscara, duas palavras da frase trocam de lugar. O que acontece?",
        right(
            "Os vetores delas trocam de lugar e não mudam.",
            "A atenção sem posições comuta com permutações: não vê a ordem.",
        ),
        wrong(
            "Os vetores de todas as palavras mudam.",
            "Cada uma continua a ver o mesmo conjunto de palavras; a média ponderada é a mesma.",
        ),
        wrong("Só os vetores das duas mudam de valor.", "Os valores são os mesmos; mudam de linha, e só."),
        wrong(
            "Depende dos pesos do modelo.",
            "Vale para quaisquer pesos: é uma propriedade da fórmula.",
        ),
        section="A ordem não vem da atenção",
    )


def _removing_the_mask() -> Question:
    return ask(
        "Tira-se a máscara causal, com as mesmas pontuações. O que acontece com os pesos que um token "
        "dava ao passado?",
        right(
            "Encolhem todos pelo mesmo fator.",
            "O denominador cresce; as razões entre os pesos do passado não mudam.",
        ),
        wrong("Ficam como estavam, e somam-se os do futuro.", "A linha passaria a somar mais de um."),
        wrong(
            "Encolhem, e os mais distantes encolhem mais que os próximos.",
            "A distância não entra na conta: só as pontuações.",
        ),
        wrong("Viram zero: a atenção passa para o futuro.", "Sem máscara, todo peso é positivo."),
        section="Exemplo: o que *pulou* considera",
    )


def _the_mask_that_stays() -> Question:
    return ask(
        "Que máscara um codificador bidirecional continua a usar?",
        right("A de preenchimento.", "Sem ela, os vetores dependeriam de quantos `[PAD]` a frase recebeu."),
        wrong(
            "Nenhuma: bidirecional quer dizer sem máscara.", "Frases de tamanhos diferentes pedem `[PAD]`."
        ),
        wrong("A causal, mas só na última camada.", "A causal não é usada em camada alguma."),
        wrong("A diagonal, para um token não se ver.", "Cada token se vê; nada o impede."),
        section="Duas coisas que não desaparecem",
    )


def _greedy_pieces() -> Question:
    vocabulary = {
        "gat",
        "gato",
        "g",
        "##a",
        "##at",
        "##inho",
        "##in",
        "##ho",
        "##i",
        "##n",
        "##h",
        "##o",
        "##t",
    }
    word = "gatinho"
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


def _shared_piece() -> Question:
    return ask(
        "Duas palavras têm um pedaço em comum no WordPiece. O que elas compartilham, com certeza?",
        right("Uma linha da tabela de embeddings.", "Pedaço em comum é linha em comum, e nada além disso."),
        wrong("Um radical da gramática.", "O corte segue frequências, não a gramática."),
        wrong(
            "Parte do significado.",
            "O vetor do pedaço é ponto de partida; o sentido vem do contexto, se o treino o aprendeu.",
        ),
        wrong(
            "Nada que se possa dizer.",
            "O vocabulário de pedaços é um só, para todas as palavras.",
        ),
        section="Exemplo: *correr*, *correndo*, *correu*",
    )


def _attention_parameters() -> Question:
    bert = preset("bert-base")
    d, heads = bert.d, bert.heads
    per_layer = count(bert).attention // bert.layers
    return ask(
        f"No BERT-base, d = {d} e h = {heads}. Quantos parâmetros tem a atenção de uma camada, com vieses?",
        right(
            pt(per_layer, 0),
            "Quatro matrizes d × d, de consultas, chaves, valores e saída, e quatro vieses.",
        ),
        wrong(pt(per_layer * 3 // 4, 0), "Faltou a projeção de saída."),
        wrong(pt(4 * d * d, 0), "Faltaram os vieses."),
        wrong(pt(per_layer * heads, 0), "As cabeças dividem d entre si; não o multiplicam."),
        section="Quanto pesa um codificador",
    )


def _parameters_of_the_mask() -> Question:
    return ask(
        "Quantos parâmetros um modelo ganha ou perde ao trocar a máscara causal pela atenção bidirecional?",
        right("Nenhum.", "A máscara é fixa: não se aprende nada nela."),
        wrong("Ganha os pesos das posições do futuro.", "Pesos de atenção são calculados, não armazenados."),
        wrong("Perde metade da matriz de atenção.", "Essa matriz depende da frase; não é parâmetro."),
        wrong(
            "Depende do comprimento máximo das frases.",
            "Só a tabela de posições depende dele, e ela é a mesma nos dois casos.",
        ),
        section="Quanto pesa um codificador",
    )


def _weights_and_outputs() -> Question:
    return ask(
        "Em H = AV, qual matriz pode ter entradas negativas, mesmo sem máscara e com tudo certo?",
        right("H.", "É uma média de valores, e valores podem ter qualquer sinal."),
        wrong("A.", "A softmax só devolve números positivos, e cada linha soma um."),
        wrong("A e H.", "H pode; A, não: suas linhas são distribuições."),
        wrong("Nenhuma das duas.", "H herda os sinais de V."),
        section="A atenção como função",
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


def _large_weight() -> Question:
    return ask(
        "Uma cabeça põe quase todo o peso em `[CLS]`. Antes de chamá-lo de importante, o que olhar?",
        right(
            "O tamanho do valor que ele entrega.",
            "O que chega é A vezes v: peso grande de um valor quase nulo é nada.",
        ),
        wrong(
            "Se as outras cabeças da mesma camada fazem o mesmo.",
            "Muitas fazem, e isso só torna a pergunta mais urgente.",
        ),
        wrong(
            "Se a linha de pesos soma um.",
            "Soma sempre: é isso que obriga a cabeça a pôr o peso em algum lugar.",
        ),
        wrong("A pontuação, antes da softmax.", "Ela explica o peso, não o que ele entrega."),
        section="Um peso grande que não entrega nada",
    )


def _pieces(tokens) -> str:
    return " ".join(f"`{token}`" for token in tokens)
