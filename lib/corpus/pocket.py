"""A Portuguese small enough to be learnt in minutes: four topics with many interchangeable words each.

The notation is that of `lexicon`, and so are the rules. What differs is the proportion: fewer things that a
verb can select, and more words to choose from once they are selected. There is less to learn and more to
guess, so the floor is higher and a model comes near it sooner. `PORTUGUESE` is the richer one.
"""

from lib.corpus.lexicon import PLEASED, UPSET, Category, Frame, Lexicon, Quality, Topic, opinions

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
        "prato copo garfo banco jarro fogão:m panela faca concha tigela bandeja vela", OBJECT
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
    "aviamento": Category(
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
}


def _topic(agents: str, places: str, verbs: dict[str, str], inland: bool = True) -> Topic:
    """Two kinds of things, each with the verbs that select it; opinions are about the first."""
    first, second = verbs
    frames = (
        Frame(4, "agente", verbs[first], f"@{first.replace(' ', '-')}", manner=True),
        Frame(4, "agente", verbs[second], f"@{second.replace(' ', '-')}", manner=True),
        *opinions(first.replace(" ", "-"), 0.8),
        Quality(0.7, first, "bom/boa/bons/boas bonito", "positivo"),
        Quality(0.7, first, "ruim/ruins feio", "negativo"),
        PLEASED,
        UPSET,
    )
    return Topic(agents, places, (second,), frames, inland)


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
            "aviamento": "costurou mediu trocou prendeu escolheu ajustou",
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
}

POCKET_LEXICON = Lexicon(
    CATEGORIES,
    TOPICS,
    women="Ana Júlia Helena Laura Beatriz Clara Rita Marina",
    men="Pedro João Carlos Paulo Tiago Bruno Davi Rafael",
)
