"""The course's own masked model: two small blocks that learnt the Portuguese grammar of `lib.corpus`.

The files beside this one are what `make model` leaves here, by `python -m lib.pretrain --half`: the command,
its seed and the grammar decide them. `load` gives the model to Python. `bundle` is all that a page needs to
run it without Python: the weights, the words, and the automaton of the grammar, for exact posteriors.

    python -m lib.course_model FILE     write the bundle as the script that a page loads when asked to
"""

import base64
import json
from functools import lru_cache
from pathlib import Path

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from lib import require
from lib.corpus import PORTUGUESE, SPECIALS, Grammar
from lib.heads import MaskedLM
from lib.training import Masked, load_model

FOLDER = Path(__file__).parent
VARIABLE = "courseModel"  # where a page finds the bundle once the script has run


@lru_cache(maxsize=1)
def load() -> MaskedLM:
    """The model, in float64 and evaluation mode; its words are those of `PORTUGUESE`, in the same order."""
    objective, words = load_model(FOLDER)
    if words != PORTUGUESE.words:
        raise ValueError("the words of the course model are not the grammar's: run lib.pretrain --half again")
    return require.instance("objective", objective, Masked).model.double().eval()


def bundle() -> dict:
    """Plain data for JavaScript: settings, words, and one safetensors file (base64) with all the numbers."""
    config = load().encoder.config
    weights = load_file(FOLDER / "model.safetensors")
    tensors = {name.removeprefix("model."): tensor for name, tensor in weights.items()}
    return {
        "layers": config.layers,
        "heads": config.heads,
        "positions": config.positions,
        "normEps": config.norm_eps,
        "specials": len(SPECIALS),
        "words": list(PORTUGUESE.words),
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
