"""The Portuguese of the corpus: words, what goes with what, and topics. Data only, for `portuguese`.

Each topic has people, places and two kinds of things, and each kind has verbs that select it. Classes are
wide: which class fits is for a model to learn, which of its words is for chance. So the floors are well above
zero, and a small model comes near them in minutes.

Notation
    noun       `manga`: gender and plural follow from the ending; `mamão/mamões:m` spells them out
    adjective  `maduro` has four forms, `verde` two; `bom/boa/bons/boas` spells them out
    verb       `cortou`: third person of the past; its plural follows; `trouxe/trouxeram` spells it out
    complement `@fruta` a noun phrase of that category, `!fruta` the same with the definite article,
               `de:fruta` a prepositional phrase (`da manga`)
"""

from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Category:
    """Nouns of one meaning, which is the sense of those that have another meaning elsewhere."""

    nouns: str
    adjectives: str = ""
    plural: float = 0.0


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
    polarity: str
    verb: str = "estava/estavam"


@dataclass(frozen=True)
class Topic:
    """`agents`, with people in general, fill the subject called `agente`. What happens at sea (`inland`
    False) does not happen in São Paulo."""

    agents: str
    places: str
    frames: tuple[Frame | Quality, ...]
    inland: bool = True


WOMEN = "Ana Júlia Helena Laura Beatriz Clara Rita Marina"
MEN = "Pedro João Carlos Paulo Tiago Bruno Davi Rafael"
CITIES = ("em Recife", "em Salvador", "em Santos", "em Fortaleza", "no Rio de Janeiro")
INLAND_CITIES = ("em São Paulo",)
TEAMS = ("Santos", "Flamengo", "Bahia", "Fortaleza", "São Paulo")
SHORT_TIMES = ("ontem", "hoje", "hoje cedo", "de manhã", "à tarde", "à noite", "no sábado")
TIMES = (*SHORT_TIMES, "na semana passada")
DAYS = ("ontem", "hoje", "no sábado", "na semana passada")
MANNERS = ("com cuidado", "com calma", "com pressa", "devagar")
DEGREES = ("muito", "bastante")
SHARED_VERBS = "viu comprou procurou encontrou guardou perdeu"
GOOD, BAD = "bom/boa/bons/boas bonito", "ruim/ruins feio"

_people = partial(Category, adjectives="alto novo jovem/jovens famoso", plural=0.2)
_things = partial(Category, plural=0.2)
_objects = partial(Category, adjectives="novo velho pequeno bonito")

CATEGORIES = {
    "pessoa": _people("moço vizinho senhor/senhores:m rapaz/rapazes:m moça vizinha senhora criança"),
    # cozinha
    "cozinheiro": _people(
        "cozinheiro padeiro confeiteiro garçom/garçons:m cozinheira padeira confeiteira copeira"
    ),
    "cozinha": Category("restaurante:m mercado refeitório empório cozinha feira padaria cantina"),
    "fruta": _things(
        "mamão/mamões:m limão/limões:m melão/melões:m caqui/caquis:m abacate/abacates:m figo "
        "manga laranja banana goiaba ameixa pera",
        "maduro verde doce azedo",
    ),
    "utensílio": _objects("prato copo garfo bule:m jarro fogão:m panela faca concha tigela bandeja vela"),
    # costura
    "costureiro": _people(
        "costureiro bordador/bordadores:m alfaiate/alfaiates:m tecelão/tecelões:m "
        "costureira bordadeira estilista/estilistas:f modista"
    ),
    "ateliê": Category("ateliê:m galpão:m brechó:m salão:m loja fábrica oficina butique:f"),
    "roupa": _things(
        "vestido casaco colete/coletes:m terno avental/aventais:m paletó/paletós:m "
        "saia calça blusa jaqueta bermuda camiseta",
        "branco longo curto elegante",
    ),
    "detalhe da roupa": _objects("botão:m bolso zíper:m forro punho ponto manga linha gola barra renda fita"),
    # mar
    "pescador": _people(
        "pescador/pescadores:m marinheiro mergulhador/mergulhadores:m barqueiro "
        "pescadora marinheira mergulhadora barqueira"
    ),
    "praia": Category("porto farol:m canal:m recife:m praia ilha baía enseada"),
    "bicho do mar": _things(
        "peixe/peixes:m camarão/camarões:m polvo siri/siris:m robalo caranguejo "
        "sardinha tainha lula concha ostra garoupa",
        "grande fresco raro colorido",
    ),
    "parte do barco": _objects("cabo remo leme:m mastro motor:m casco vela linha rede:f corda boia âncora"),
    # futebol
    "jogador": _people(
        "jogador/jogadores:m goleiro zagueiro treinador/treinadores:m jogadora goleira zagueira treinadora"
    ),
    "campo de futebol": Category("estádio campo ginásio clube:m quadra arena arquibancada escolinha"),
    "lance": _things(
        "gol/gols:m passe/passes:m drible/dribles:m chute/chutes:m escanteio ponto "
        "falta jogada cobrança defesa virada tabela",
        "rápido bonito perfeito raro",
    ),
    "equipamento": _objects(
        "apito banco placar:m uniforme:m troféu:m cone:m bola rede:f trave:f bandeira chuteira luva"
    ),
    # finanças
    "bancário": _people(
        "bancário gerente/gerentes:m contador/contadores:m corretor/corretores:m "
        "bancária contadora corretora economista/economistas:f"
    ),
    "instituição": Category("banco escritório cartório fórum:m agência empresa bolsa filial:f"),
    "negócio": _things(
        "contrato empréstimo seguro financiamento investimento orçamento "
        "proposta dívida conta parcela tarifa multa",
        "novo antigo caro justo",
    ),
    "papelada": _objects(
        "cartão:m cheque:m cofre:m recibo carimbo documento nota moeda carteira ficha pasta planilha"
    ),
}


def _topic(
    agents: str, places: str, *things: tuple[str, str], good: str = GOOD, bad: str = BAD, inland: bool = True
) -> Topic:
    """Two kinds of things, each with the verbs that select it; opinions are about the first."""
    (first, first_verbs), (second, second_verbs) = things
    frames = (
        Frame(4, "agente", first_verbs, f"@{first}", manner=True),
        Frame(4, "agente", second_verbs, f"@{second}", manner=True),
        Frame(0.56, "agente", "adorou elogiou", f"!{first}", "positivo", negation=False),
        Frame(0.56, "agente", "detestou criticou", f"!{first}", "negativo", negation=False),
        Frame(0.48, "agente", "gostou", f"de:{first}", "gostar"),
        Quality(0.7, first, good, "positivo"),
        Quality(0.7, first, bad, "negativo"),
        Quality(0.5, "agente", "feliz/felizes animado", "positivo", "ficou"),
        Quality(0.5, "agente", "triste cansado", "negativo", "ficou"),
        Frame(1.5, "agente", SHARED_VERBS, f"@{second}", negation=False),
    )
    return Topic(agents, places, frames, inland)


TOPICS = {
    "cozinha": _topic(
        "cozinheiro",
        "cozinha",
        ("fruta", "cortou descascou lavou comeu provou espremeu"),
        ("utensílio", "limpou quebrou emprestou arrumou usou pegou"),
    ),
    "costura": _topic(
        "costureiro",
        "ateliê",
        ("roupa", "vestiu passou dobrou desenhou alugou experimentou"),
        ("detalhe da roupa", "costurou mediu trocou prendeu escolheu ajustou"),
    ),
    "mar": _topic(
        "pescador",
        "praia",
        ("bicho do mar", "pescou soltou fotografou pesou vendeu mostrou"),
        ("parte do barco", "puxou consertou amarrou molhou pintou carregou"),
        inland=False,
    ),
    "futebol": _topic(
        "jogador",
        "campo de futebol",
        ("lance", "comemorou filmou repetiu comentou marcou treinou"),
        ("equipamento", "chutou derrubou sujou cobriu trouxe/trouxeram levou"),
    ),
    "finanças": _topic(
        "bancário",
        "instituição",
        ("negócio", "negociou pagou analisou cancelou renovou discutiu"),
        ("papelada", "conferiu rasgou depositou recebeu entregou devolveu"),
        good="bom/boa/bons/boas vantajoso",
        bad="ruim/ruins confuso",
    ),
}

PEOPLE = {"pessoa", *(topic.agents for topic in TOPICS.values())}
