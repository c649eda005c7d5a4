"""All that a page needs to run the course's masked model without Python, as one script.

The weights, the tokens, and the automaton of the grammar, for exact posteriors.

    python -m lib.models FILE     write the script that a page loads when asked to
"""

import base64
import json
from functools import lru_cache

import torch
from safetensors.torch import save
from torch import Tensor

from lib import models
from lib.corpus import PORTUGUESE, Grammar
from lib.heads import MaskedLM
from lib.vocabulary import SPECIAL_TOKENS

VARIABLE = "courseModel"  # where a page finds the bundle once the script has run


@lru_cache(maxsize=1)
def model() -> MaskedLM:
    """What the page computes with: the masked model in float64, as numbers are in JavaScript."""
    return models.load("masked").model.double().eval()


def bundle() -> dict:
    """Plain data for JavaScript: settings, words, and one safetensors file (base64) with all the numbers."""
    config = model().encoder.config
    tensors = {name: tensor.half() for name, tensor in model().state_dict().items()}  # as in the file
    return {
        "layers": config.layers,
        "heads": config.heads,
        "positions": config.positions,
        "normEps": config.norm_eps,
        "specials": len(SPECIAL_TOKENS),
        "words": list(PORTUGUESE.vocabulary),
        "tensors": base64.b64encode(save(tensors | automaton(PORTUGUESE))).decode(),
    }


def automaton(grammar: Grammar) -> dict[str, Tensor]:
    """The arrays of a compiled grammar; of the emissions (C, V), which are sparse, the entries above 0."""
    classes, words = grammar.emission.nonzero(as_tuple=True)
    return {
        "grammar.arc_source": grammar.arc_source.to(torch.int16),
        "grammar.arc_class": grammar.arc_class.to(torch.int16),
        "grammar.arc_target": grammar.arc_target.to(torch.int16),
        "grammar.arc_probability": grammar.arc_probability,
        "grammar.node_end": grammar.node_end,
        "grammar.topic_prior": grammar.topic_prior,
        "grammar.emission_class": classes.to(torch.int16),
        "grammar.emission_word": words.to(torch.int16),
        "grammar.emission_value": grammar.emission[classes, words],
    }


@lru_cache(maxsize=1)
def script() -> str:
    """The bundle as JavaScript. A page opened from the disk may run a script, but not fetch a file."""
    return f"globalThis.{VARIABLE} = {json.dumps(bundle(), ensure_ascii=False)};\n"
