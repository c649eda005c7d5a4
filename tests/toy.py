"""A grammar of twenty words, two topics and a few thousand sentences, for tests that train."""

from lib.corpus import Grammar
from lib.encoder import Config
from lib.training import OBJECTIVES
from lib.training.objectives import Objective

TOY_TEXT = """
S -> 0.5 A | 0.5 B
A -> DM NM V1 DF NF | DF NF V1 DM NM ADV
B -> DM NM V2 ADV | DM NM V2
DM -> o | um
DF -> a | uma
NM -> 0.6 gato | 0.3 rato | 0.1 pato
NF -> 0.5 gata | 0.2 porta | 0.3 casa
V1 -> viu | ama
V2 -> corre | dorme
ADV -> hoje | ontem
"""
TOY = Grammar.from_text(TOY_TEXT, topics=("A", "B"))


def toy_objective(name: str, dropout: float = 0.0, **changes) -> Objective:
    """A model of a few thousand weights for one of the three objectives."""
    kind = OBJECTIVES[name]
    sizes = {"d": 16, "layers": 2, "heads": 2, "positions": 24} | changes
    return kind(Config(len(TOY), causal=kind.causal, pooler=kind.pooler, dropout=dropout, **sizes))
