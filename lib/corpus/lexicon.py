"""The Portuguese of the corpus: words, what goes with what, and topics. Data only, for `portuguese`.

Notation
    noun       `manga`: gender and plural follow from the ending; `mamão/mamões:m` spells them out
    adjective  `maduro` has four forms, `verde` two; `bom/boa/bons/boas` spells them out
    verb       `cortou`: third person of the past; its plural follows; `fez/fizeram` spells it out
    complement `@fruta` a noun phrase of that category, `!fruta` the same with the definite article;
               `de:fruta`, `em:`, `com:` a prepositional phrase (`da manga`); `?` makes it optional
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Category:
    """Nouns of one meaning. `of` is a category for `do ...` after the noun, `bare_of` for `de` + plural."""

    nouns: str
    adjectives: str = ""
    of: str = ""
    bare_of: str = ""
    plural: float = 0.0
    countable: bool = True
    sense: str = ""


@dataclass(frozen=True)
class Frame:
    """What a subject can do: verbs that select the same complement. `manner` allows `com cuidado`."""

    weight: float
    subject: str
    verbs: str
    complement: str
    polarity: str = ""
    manner: bool = False
    negation: bool = True


@dataclass(frozen=True)
class Quality:
    """Copular sentences: `estava muito madura`. `verb` is the copula."""

    weight: float
    subject: str
    adjectives: str
    polarity: str = ""
    verb: str = "estava/estavam"


@dataclass(frozen=True)
class Topic:
    """`agents`, with people in general, fill the subject called `agente`; `things` are seen, bought, lost.
    What happens at sea (`inland` False) does not happen in São Paulo."""

    agents: str
    places: str
    things: tuple[str, ...]
    frames: tuple[Frame | Quality, ...]
    inland: bool = True


@dataclass(frozen=True)
class Lexicon:
    """All that two grammars of the same Portuguese differ in: what is talked about, and in which words."""

    categories: dict[str, Category]
    topics: dict[str, Topic]
    women: str
    men: str


WOMEN = "Ana Júlia Helena Laura"
MEN = "Pedro João Carlos Paulo"
CITIES = ("em Recife", "em Salvador", "em Santos", "em Fortaleza", "no Rio de Janeiro")
INLAND_CITIES = ("em São Paulo",)
TEAMS = ("Santos", "Flamengo", "Bahia", "Fortaleza", "São Paulo")
SHORT_TIMES = ("ontem", "hoje", "hoje cedo", "de manhã", "à tarde", "à noite", "no sábado")
TIMES = (*SHORT_TIMES, "na semana passada")
DAYS = ("ontem", "hoje", "no sábado", "na semana passada")
MANNERS = ("com cuidado", "com calma", "com pressa", "devagar")
DEGREES = ("muito", "bastante", "bem")  # the last not before an opinion: "bem bom" is clumsy
SHARED_VERBS = "viu comprou procurou encontrou guardou perdeu"

CATEGORIES = {
    "pessoa": Category("moço moça vizinho vizinha homem/homens:m mulher/mulheres:f", "alto", plural=0.2),
    # cozinha
    "cozinheiro": Category("cozinheiro cozinheira", "novo", plural=0.25),
    "cozinha": Category("cozinha restaurante:m feira"),
    "fruta": Category("manga laranja banana mamão/mamões:m", "maduro verde doce", plural=0.3),
    "legume": Category("batata cebola tomate:m", "pequeno"),
    "comida": Category("sopa bolo feijoada torta", "quente"),
    "louça": Category("panela faca prato copo", "limpo grande"),
    "cabo de utensílio": Category("cabo", "solto", of="utensílio"),
    "utensílio": Category("panela faca", sense="louça"),
    "talher": Category("faca", sense="louça"),
    "vela de cera": Category("vela", "aceso branco"),
    # futebol
    "jogador": Category("jogador/jogadores:m jogadora atacante/atacantes:m", "jovem/jovens", plural=0.25),
    "goleiro": Category("goleiro goleira", "jovem/jovens"),
    "treinador": Category("treinador:m treinadora", "novo"),
    "torcida": Category("torcida torcedor:m"),
    "campo de futebol": Category("estádio campo"),
    "bola": Category("bola"),
    "cobrança": Category("pênalti:m falta", "difícil"),
    "gol": Category("gol/gols:m", "bonito", plural=0.3),
    "partida": Category("jogo partida final:f"),
    "rede do gol": Category("rede:f", "branco novo"),
    # música
    "músico": Category("cantor/cantores:m cantora pianista/pianistas:f", "jovem/jovens famoso", plural=0.25),
    "palco": Category("teatro palco estúdio"),
    "canção": Category("música samba:m valsa", "antigo novo"),
    "instrumento": Category("violão:m piano flauta bateria", "novo antigo"),
    "letra de canção": Category("letra", "bonito triste", of="canção"),
    "nota musical": Category("nota", "agudo grave"),
    "canto musical": Category("canto", "lírico popular", countable=False),
    "espetáculo": Category("show:m concerto disco"),
    "público": Category("público plateia"),
    # escola
    "professor": Category("professor/professores:m professora", "novo", plural=0.25),
    "aluno": Category("aluno aluna menino menina", "novo", plural=0.25),
    "escola": Category("escola sala biblioteca"),
    "tarefa": Category("prova exercício trabalho", "difícil fácil longo"),
    "material": Category("livro caderno", "novo velho", plural=0.3),
    "nota escolar": Category("nota", "alto baixo", of="prova", plural=0.2),
    "prova": Category("prova trabalho", sense="tarefa"),
    "folha de papel": Category("folha", "branco rasgado", of="caderno", plural=0.3),
    "caderno": Category("livro caderno", sense="material"),
    "pilha de coisas": Category("pilha", bare_of="caderno"),
    "letra escrita": Category("letra", "pequeno feio", of="aluno"),
    "canto de lugar": Category("canto", of="sala"),
    "sala": Category("sala biblioteca", sense="escola"),
    # mar
    "pescador": Category("pescador/pescadores:m pescadora marinheiro", "velho", plural=0.25),
    "praia": Category("praia porto ilha"),
    "peixe": Category("peixe:m sardinha camarão/camarões:m", "fresco grande", plural=0.3),
    "barco": Category("barco canoa veleiro", "velho branco"),
    "vela de barco": Category("vela", "branco rasgado", of="veleiro", plural=0.3),
    "veleiro": Category("barco veleiro", sense="barco"),
    "rede de pesca": Category("rede/redes:f", "pesado rasgado", plural=0.3),
    "linha de pesca": Category("linha", "fino comprido"),
    "mar": Category("mar:m água"),
    "onda": Category("onda", "grande forte"),
    # finanças
    "cliente": Category(
        "cliente/clientes:m cliente/clientes:f gerente/gerentes:m gerente/gerentes:f", "antigo", plural=0.25
    ),
    "agência": Category("agência escritório"),
    "banco financeiro": Category("banco", "público novo", plural=0.25),
    "crédito": Category("empréstimo crédito"),
    "taxa": Category("taxa tarifa", plural=0.3),
    "conta": Category("conta dívida parcela", "antigo alto"),
    "conta bancária": Category("conta poupança", "novo", sense="conta"),
    "cartão": Category("cartão:m cheque:m", "novo"),
    "dinheiro": Category("dinheiro salário", countable=False),
    "nota de dinheiro": Category("nota", "falso novo", plural=0.3),
    # fazenda
    "fazendeiro": Category("fazendeiro fazendeira vaqueiro", "velho", plural=0.25),
    "fazenda": Category("fazenda pasto sítio"),
    "bicho": Category("cavalo vaca cabra porco", "branco gordo", plural=0.25),
    "macaco animal": Category("macaco", "pequeno esperto"),
    "cereal": Category("milho feijão:m café:m", countable=False),
    "ração": Category("milho capim:m", "seco verde", countable=False, sense="cereal"),
    "folha de planta": Category("folha", "seco verde", of="árvore", plural=0.3),
    "árvore": Category("árvore:f mangueira"),
    "campo de plantio": Category("campo terra horta", "seco", countable=False),
    "construção": Category("cerca porteira", "velho branco"),
    # oficina
    "mecânico": Category(
        "mecânico mecânica motorista/motoristas:m motorista/motoristas:f", "novo", plural=0.25
    ),
    "oficina": Category("oficina garagem:f"),
    "veículo": Category("carro moto:f caminhão:m", "velho vermelho"),
    "motor": Category("motor:m freio pneu:m", "novo gasto", of="carro"),
    "carro": Category("carro moto:f caminhão:m", sense="veículo"),
    "vela de motor": Category("vela", "gasto", of="carro", plural=0.3),
    "bateria de carga": Category("bateria", "fraco novo", of="carro"),
    "banco de carro": Category("banco", "rasgado", of="carro", plural=0.3),
    "peça de carro": Category("peça", "gasto novo", of="carro", plural=0.3),
    "ferramenta": Category("chave:f martelo", "velho pesado"),
    "macaco de carro": Category("macaco", "velho pesado"),
    # informática
    "programador": Category("programador/programadores:m programadora técnico técnica", "novo", plural=0.2),
    "empresa": Category("empresa laboratório"),
    "programa": Category("programa:m código site:m", "novo antigo"),
    "aparelho": Category("computador:m celular:m teclado", "novo lento"),
    "rede de computadores": Category("rede:f", "lento", of="empresa"),
    "cabo elétrico": Category("cabo", "solto azul", of="máquina"),
    "máquina": Category("computador:m teclado", sense="aparelho"),
    "bateria de aparelho": Category("bateria", "fraco novo", of="portátil", sense="bateria de carga"),
    "portátil": Category("celular:m computador:m", sense="aparelho"),
    "pilha elétrica": Category("pilha", "fraco novo", of="controle", plural=0.4),
    "controle": Category("controle:m teclado", sense="aparelho"),
    "botão de aparelho": Category("botão:m", "vermelho azul", of="controle"),
    # costura
    "costureiro": Category("costureira alfaiate/alfaiates:m estilista/estilistas:f", "famoso", plural=0.2),
    "ateliê": Category("ateliê:m loja fábrica"),
    "roupa": Category("camisa vestido saia casaco", "azul branco longo"),
    "peça inteira": Category("camisa vestido casaco", sense="roupa"),
    "manga de roupa": Category("manga", "curto comprido rasgado", of="peça inteira", plural=0.2),
    "parte da roupa": Category("gola bolso", "novo", of="peça inteira"),
    "botão de roupa": Category("botão:m", "dourado solto", of="peça inteira"),
    "tecido": Category("tecido seda", "fino", countable=False),
    "linha de costura": Category("linha", "branco vermelho fino"),
    "peça de roupa": Category("peça", "bonito elegante"),
}

PEOPLE = {"pessoa", "cozinheiro", "jogador", "goleiro", "treinador", "músico", "professor", "aluno"}
PEOPLE |= {"pescador", "cliente", "fazendeiro", "mecânico", "programador", "costureiro", "torcida", "público"}

PLEASED = Quality(0.5, "agente", "feliz/felizes animado", "positivo", "ficou")
UPSET = Quality(0.5, "agente", "triste cansado", "negativo", "ficou")


def opinions(category: str, weight: float = 1.0) -> tuple[Frame, ...]:
    return (
        Frame(0.7 * weight, "agente", "adorou elogiou", f"!{category}", "positivo", negation=False),
        Frame(0.7 * weight, "agente", "detestou criticou", f"!{category}", "negativo", negation=False),
        Frame(0.6 * weight, "agente", "gostou", f"de:{category}", "gostar"),
    )


TOPICS = {
    "cozinha": Topic(
        "cozinheiro",
        "cozinha",
        ("fruta", "legume", "louça", "vela de cera"),
        (
            Frame(2.2, "agente", "cortou descascou lavou", "@fruta com:talher?"),
            Frame(1.6, "agente", "cortou descascou lavou", "@legume", manner=True),
            Frame(2, "agente", "preparou provou fez/fizeram", "@comida", manner=True),
            Frame(1.2, "agente", "lavou quebrou", "@louça"),
            Frame(0.9, "agente", "quebrou consertou", "!cabo-de-utensílio"),
            Frame(1, "agente", "acendeu apagou", "@vela-de-cera", manner=True),
            *opinions("comida"),
            Quality(1.5, "fruta", "maduro verde doce"),
            Quality(0.8, "comida", "quente frio"),
            Quality(0.8, "comida", "gostoso bom/boa/bons/boas", "positivo"),
            Quality(0.8, "comida", "ruim/ruins", "negativo"),
            PLEASED,
            UPSET,
        ),
    ),
    "futebol": Topic(
        "jogador",
        "campo de futebol",
        ("bola",),
        (
            Frame(2, "jogador", "chutou perdeu", "!bola em:partida?"),
            Frame(1.2, "jogador", "cobrou perdeu", "@cobrança"),
            Frame(1.4, "jogador", "marcou perdeu fez/fizeram", "@gol em:partida?"),
            Frame(1.2, "goleiro", "defendeu pegou", "@cobrança em:partida?"),
            Frame(1, "jogador", "balançou", "!rede-do-gol em:partida?", negation=False),
            Frame(0.8, "goleiro", "arrumou consertou rasgou", "!rede-do-gol"),
            Frame(1.2, "treinador", "chamou trocou ajudou", "@jogador"),
            Frame(1, "torcida", "comemorou viu", "@gol em:partida?"),
            Frame(0.8, "torcida", "vaiou criticou", "!jogador", "negativo", negation=False),
            Frame(0.8, "torcida", "aplaudiu elogiou", "!jogador", "positivo", negation=False),
            *opinions("partida", 0.6),
            Quality(0.7, "partida", "difícil longo", "", "foi/foram"),
            Quality(0.7, "partida", "emocionante bom/boa/bons/boas", "positivo", "foi/foram"),
            Quality(0.7, "partida", "ruim/ruins fraco chato", "negativo", "foi/foram"),
            PLEASED,
            UPSET,
        ),
    ),
    "música": Topic(
        "músico",
        "palco",
        ("instrumento",),
        (
            Frame(2, "agente", "cantou gravou", "@canção", manner=True),
            Frame(2, "agente", "tocou afinou", "@instrumento", manner=True),
            Frame(1.4, "agente", "escreveu decorou", "!letra-de-canção"),
            Frame(1.4, "agente", "cantou errou tocou", "@nota-musical"),
            Frame(1, "agente", "estudou ensinou", "@canto-musical"),
            Frame(0.9, "músico", "emocionou", "!público com:canção?"),
            Frame(1, "público", "aplaudiu elogiou adorou", "!espetáculo", "positivo", negation=False),
            Frame(1, "público", "vaiou criticou detestou", "!espetáculo", "negativo", negation=False),
            *opinions("espetáculo", 0.6),
            Quality(0.8, "espetáculo", "bonito bom/boa/bons/boas emocionante", "positivo", "foi/foram"),
            Quality(0.8, "espetáculo", "chato ruim/ruins fraco", "negativo", "foi/foram"),
            PLEASED,
            UPSET,
        ),
    ),
    "escola": Topic(
        "aluno",
        "escola",
        ("material",),
        (
            Frame(1.8, "professor", "corrigiu explicou preparou", "@tarefa", manner=True),
            Frame(1.8, "aluno", "leu entregou fez/fizeram", "@tarefa", manner=True),
            Frame(1.4, "aluno", "recebeu viu esperou", "@nota-escolar"),
            Frame(1, "agente", "rasgou dobrou", "@folha-de-papel"),
            Frame(1, "agente", "arrumou carregou derrubou", "@pilha-de-coisas"),
            Frame(0.8, "professor", "elogiou", "!letra-escrita", "positivo", negation=False),
            Frame(0.8, "professor", "criticou", "!letra-escrita", "negativo", negation=False),
            Frame(1, "aluno", "sentou ficou", "em:canto-de-lugar"),
            Frame(0.9, "professor", "chamou ajudou", "@aluno"),
            Quality(0.9, "tarefa", "difícil longo fácil"),
            Quality(0.6, "tarefa", "bom/boa/bons/boas", "positivo"),
            Quality(0.6, "tarefa", "ruim/ruins chato", "negativo"),
            PLEASED,
            UPSET,
        ),
    ),
    "mar": Topic(
        "pescador",
        "praia",
        ("barco", "peixe", "rede de pesca"),
        (
            Frame(1.8, "pescador", "lançou puxou consertou", "@rede-de-pesca", manner=True),
            Frame(1.8, "agente", "pescou limpou vendeu", "@peixe", manner=True),
            Frame(1.6, "pescador", "baixou puxou rasgou dobrou", "!vela-de-barco", manner=True),
            Frame(1.4, "agente", "pintou consertou vendeu", "@barco"),
            Frame(1, "pescador", "soltou cortou puxou", "!linha-de-pesca"),
            Frame(0.9, "pescador", "esperou enfrentou pegou", "@onda em:mar?"),
            Quality(1, "mar", "calmo frio limpo"),
            Quality(0.8, "peixe", "fresco caro"),
            Quality(0.6, "peixe", "gostoso bom/boa/bons/boas", "positivo"),
            Quality(0.6, "peixe", "ruim/ruins", "negativo"),
            PLEASED,
            UPSET,
        ),
        inland=False,
    ),
    "finanças": Topic(
        "cliente",
        "agência",
        (),
        (
            Frame(1, "agente", "procurou encontrou guardou perdeu", "@cartão"),
            Frame(1.8, "banco financeiro", "aprovou recusou", "!crédito de:cliente?"),
            Frame(1.2, "banco financeiro", "aumentou reduziu cobrou", "!taxa de:crédito?"),
            Frame(1.6, "agente", "pagou negociou", "@conta"),
            Frame(1.2, "agente", "abriu fechou", "@conta-bancária em:banco-financeiro"),
            Frame(1.3, "agente", "sacou depositou", "@dinheiro em:banco-financeiro?"),
            Frame(1.3, "agente", "recusou contou trocou", "@nota-de-dinheiro"),
            Frame(0.9, "agente", "elogiou", "!banco-financeiro", "positivo", negation=False),
            Frame(0.9, "agente", "criticou processou", "!banco-financeiro", "negativo", negation=False),
            Quality(0.9, "taxa", "alto baixo"),
            Quality(0.7, "conta", "alto baixo atrasado"),
            PLEASED,
            UPSET,
        ),
    ),
    "fazenda": Topic(
        "fazendeiro",
        "fazenda",
        ("fruta", "bicho"),
        (
            Frame(1.4, "agente", "plantou colheu vendeu", "@cereal", manner=True),
            Frame(1.3, "agente", "colheu vendeu provou", "@fruta"),
            Frame(1.6, "agente", "alimentou soltou", "@bicho", manner=True),
            Frame(1.2, "macaco animal", "comeu roubou derrubou", "@fruta"),
            Frame(1, "bicho", "comeu", "@ração", negation=False),
            Frame(0.9, "bicho", "comeu arrancou", "@folha-de-planta", negation=False),
            Frame(0.9, "agente", "espantou alimentou", "@macaco-animal"),
            Frame(0.9, "agente", "varreu queimou", "@folha-de-planta"),
            Frame(1, "agente", "limpou preparou", "@campo-de-plantio", manner=True),
            Frame(1, "agente", "pintou consertou fechou", "@construção"),
            Quality(0.9, "bicho", "gordo manso"),
            Quality(0.9, "fruta", "maduro verde doce"),
            Quality(0.7, "campo de plantio", "seco verde"),
            PLEASED,
            UPSET,
        ),
    ),
    "oficina": Topic(
        "mecânico",
        "oficina",
        ("veículo", "ferramenta", "peça de carro"),
        (
            Frame(1.4, "agente", "trocou limpou consertou", "@motor", manner=True),
            Frame(1.3, "agente", "trocou limpou", "@vela-de-motor", manner=True),
            Frame(1.2, "agente", "trocou carregou instalou", "@bateria-de-carga", manner=True),
            Frame(1.2, "agente", "limpou trocou consertou", "@banco-de-carro", manner=True),
            Frame(1.1, "agente", "trocou limpou vendeu", "@peça-de-carro"),
            Frame(1.3, "agente", "consertou lavou vendeu", "@veículo", manner=True),
            Frame(1.2, "agente", "levantou", "@veículo com:macaco-de-carro"),
            Frame(1, "agente", "usou guardou", "@macaco-de-carro"),
            Frame(0.8, "agente", "usou", "@ferramenta"),
            Quality(0.8, "motor", "quente gasto sujo"),
            Quality(0.7, "banco de carro", "rasgado sujo limpo"),
            Quality(0.7, "veículo", "sujo limpo velho caro"),
            PLEASED,
            UPSET,
        ),
    ),
    "informática": Topic(
        "programador",
        "empresa",
        ("aparelho", "cabo elétrico", "pilha elétrica"),
        (
            Frame(1.8, "agente", "corrigiu escreveu testou", "@programa", manner=True),
            Frame(1.4, "agente", "instalou testou derrubou", "!rede-de-computadores", manner=True),
            Frame(1.4, "agente", "ligou consertou", "@aparelho"),
            Frame(1.2, "agente", "ligou trocou soltou", "@cabo-elétrico"),
            Frame(1.1, "agente", "trocou carregou", "@bateria-de-aparelho"),
            Frame(1, "agente", "trocou instalou", "@pilha-elétrica"),
            Frame(1, "agente", "apertou", "@botão-de-aparelho"),
            *opinions("programa", 0.7),
            Quality(0.8, "rede de computadores", "lento rápido"),
            Quality(0.7, "aparelho", "lento rápido caro"),
            Quality(0.6, "programa", "bom/boa/bons/boas", "positivo"),
            Quality(0.6, "programa", "ruim/ruins", "negativo"),
            PLEASED,
            UPSET,
        ),
    ),
    "costura": Topic(
        "costureiro",
        "ateliê",
        ("roupa", "tecido", "linha de costura"),
        (
            Frame(1.6, "agente", "costurou rasgou dobrou", "@manga-de-roupa", manner=True),
            Frame(1.1, "agente", "costurou apertou consertou", "@parte-da-roupa", manner=True),
            Frame(1.4, "agente", "costurou vendeu provou", "@roupa", manner=True),
            Frame(1.1, "agente", "costurou arrancou", "@botão-de-roupa"),
            Frame(1.1, "agente", "cortou escolheu", "@tecido", manner=True),
            Frame(1, "agente", "cortou trocou usou", "@linha-de-costura"),
            Frame(1, "agente", "escolheu entregou", "@peça-de-roupa"),
            *opinions("roupa", 0.7),
            Quality(0.9, "roupa", "curto longo caro"),
            Quality(0.7, "manga de roupa", "curto comprido rasgado"),
            Quality(0.7, "roupa", "bonito elegante", "positivo"),
            Quality(0.7, "roupa", "feio", "negativo"),
            PLEASED,
            UPSET,
        ),
    ),
}

COURSE = Lexicon(CATEGORIES, TOPICS, WOMEN, MEN)
