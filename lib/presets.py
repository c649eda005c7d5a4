"""Published models, as configurations: `preset("bert-base")`, or with any field changed."""

from dataclasses import replace
from functools import partial
from typing import Any

from lib import checks
from lib.encoder import Config

_roberta = partial(Config, positions=514, segments=1, norm_eps=1e-5, pad_id=1, count_real_positions=True)
_LARGE: dict[str, Any] = {"d": 1024, "layers": 24, "heads": 16}
PRESETS = {
    "bert-base": Config(30_522),
    "bert-large": Config(30_522, **_LARGE),
    "bertimbau-base": Config(29_794),
    "bertimbau-large": Config(29_794, **_LARGE),
    "roberta-base": _roberta(50_265),
    "roberta-large": _roberta(50_265, **_LARGE),
    "xlm-r-base": _roberta(250_002),
    "xlm-r-large": _roberta(250_002, **_LARGE),
    "spanbert-base": Config(28_996),
    "spanbert-large": Config(28_996, **_LARGE),
    "gpt-1": Config(
        40_478,
        segments=0,
        causal=True,
        embedding_norm=False,
        pooler=False,
        activation="gelu_tanh",
        norm_eps=1e-5,
        pad_id=None,
    ),
    "minilm": Config(30_522, d=384, layers=6),
    "antiberty": Config(25, d=512, layers=8, heads=8),
}


def preset(name: str, **changes) -> Config:
    """The configuration of a published model, with any field changed: `preset("bert-base", causal=True)`."""
    return replace(PRESETS[checks.one_of("name", name, PRESETS)], **changes)
