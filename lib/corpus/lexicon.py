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

from __future__ import annotations

from dataclasses import dataclass


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

PERSON = "alto novo jovem/jovens famoso"
OBJECT = "novo velho pequeno bonito"

CATEGORIES = {
    "pessoa": Category(
        "moço vizinho senhor/senhores:m rapaz/rapazes:m moça vizinha senhora criança", PERSON, plural=0.2
    ),
    # cozinha
    "cozinheiro": Category(
        "cozinheiro padeiro confeiteiro garçom/garçons:m cozinheira padeira confeiteira copeira",
        PERSON,
        plural=0.2,
    ),
    "cozinha": Category("restaurante:m mercado refeitório empório cozinha feira padaria cantina"),
    "fruta": Category(
        "mamão/mamões:m limão/limões:m melão/melões:m caqui/caquis:m abacate/abacates:m figo "
        "manga laranja banana goiaba ameixa pera",
        "maduro verde doce azedo",
        plural=0.2,
    ),
    "utensílio": Category(
        "prato copo garfo bule:m jarro fogão:m panela faca concha tigela bandeja vela", OBJECT
    ),
    # costura
    "costureiro": Category(
        "costureiro bordador/bordadores:m alfaiate/alfaiates:m tecelão/tecelões:m "
        "costureira bordadeira estilista/estilistas:f modista",
        PERSON,
        plural=0.2,
    ),
    "ateliê": Category("ateliê:m galpão:m brechó:m salão:m loja fábrica oficina butique:f"),
    "roupa": Category(
        "vestido casaco colete/coletes:m terno avental/aventais:m paletó/paletós:m "
        "saia calça blusa jaqueta bermuda camiseta",
        "branco longo curto elegante",
        plural=0.2,
    ),
    "detalhe da roupa": Category(
        "botão:m bolso zíper:m forro punho ponto manga linha gola barra renda fita", OBJECT
    ),
    # mar
    "pescador": Category(
        "pescador/pescadores:m marinheiro mergulhador/mergulhadores:m barqueiro "
        "pescadora marinheira mergulhadora barqueira",
        PERSON,
        plural=0.2,
    ),
    "praia": Category("porto farol:m canal:m recife:m praia ilha baía enseada"),
    "bicho do mar": Category(
        "peixe/peixes:m camarão/camarões:m polvo siri/siris:m robalo caranguejo "
        "sardinha tainha lula concha ostra garoupa",
        "grande fresco raro colorido",
        plural=0.2,
    ),
    "parte do barco": Category(
        "cabo remo leme:m mastro motor:m casco vela linha rede:f corda boia âncora", OBJECT
    ),
    # futebol
    "jogador": Category(
        "jogador/jogadores:m goleiro zagueiro treinador/treinadores:m jogadora goleira zagueira treinadora",
        PERSON,
        plural=0.2,
    ),
    "campo de futebol": Category("estádio campo ginásio clube:m quadra arena arquibancada escolinha"),
    "lance": Category(
        "gol/gols:m passe/passes:m drible/dribles:m chute/chutes:m escanteio ponto "
        "falta jogada cobrança defesa virada tabela",
        "rápido bonito perfeito raro",
        plural=0.2,
    ),
    "equipamento": Category(
        "apito banco placar:m uniforme:m troféu:m cone:m bola rede:f trave:f bandeira chuteira luva", OBJECT
    ),
    # finanças
    "bancário": Category(
        "bancário gerente/gerentes:m contador/contadores:m corretor/corretores:m "
        "bancária contadora corretora economista/economistas:f",
        PERSON,
        plural=0.2,
    ),
    "instituição": Category("banco escritório cartório fórum:m agência empresa bolsa filial:f"),
    "negócio": Category(
        "contrato empréstimo seguro financiamento investimento orçamento "
        "proposta dívida conta parcela tarifa multa",
        "novo antigo caro justo",
        plural=0.2,
    ),
    "papelada": Category(
        "cartão:m cheque:m cofre:m recibo carimbo documento nota moeda carteira ficha pasta planilha", OBJECT
    ),
}


def _topic(
    agents: str, places: str, verbs: dict[str, str], *, good: str = GOOD, bad: str = BAD, inland: bool = True
) -> Topic:
    """Two kinds of things, each with the verbs that select it; opinions are about the first."""
    first, second = verbs
    frames = (
        Frame(4, "agente", verbs[first], f"@{first}", manner=True),
        Frame(4, "agente", verbs[second], f"@{second}", manner=True),
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
        {
            "fruta": "cortou descascou lavou comeu provou espremeu",
            "utensílio": "limpou quebrou emprestou arrumou usou pegou",
        },
    ),
    "costura": _topic(
        "costureiro",
        "ateliê",
        {
            "roupa": "vestiu passou dobrou desenhou alugou experimentou",
            "detalhe da roupa": "costurou mediu trocou prendeu escolheu ajustou",
        },
    ),
    "mar": _topic(
        "pescador",
        "praia",
        {
            "bicho do mar": "pescou soltou fotografou pesou vendeu mostrou",
            "parte do barco": "puxou consertou amarrou molhou pintou carregou",
        },
        inland=False,
    ),
    "futebol": _topic(
        "jogador",
        "campo de futebol",
        {
            "lance": "comemorou filmou repetiu comentou marcou treinou",
            "equipamento": "chutou derrubou sujou cobriu trouxe/trouxeram levou",
        },
    ),
    "finanças": _topic(
        "bancário",
        "instituição",
        {
            "negócio": "negociou pagou analisou cancelou renovou discutiu",
            "papelada": "conferiu rasgou depositou recebeu entregou devolveu",
        },
        good="bom/boa/bons/boas vantajoso",
        bad="ruim/ruins confuso",
    ),
}

PEOPLE = {"pessoa", *(topic.agents for topic in TOPICS.values())}
