"""The course's own small models, which learnt the Portuguese grammar of `lib.corpus`.

    masked   masked words, in single sentences; the page runs it too (`lib.models.page_bundle`)
    pairs    both exercises of BERT, on pairs: two segments and a pooler, for fine-tuning to start from

The files are what `make model` leaves here, in float16: the command, its seed and the grammar decide them.
"""

from pathlib import Path

from lib import checks, weights
from lib.corpus import PORTUGUESE
from lib.training import Masked, MaskedPairs

FOLDER = Path(__file__).parent
KINDS = {"masked": Masked, "pairs": MaskedPairs}


def load(name: str) -> Masked:
    """A model with its heads, in float32 and evaluation mode; its tokens are those of `PORTUGUESE`."""
    model, tokenizer = weights.load(FOLDER / checks.one_of("name", name, KINDS))
    if tokenizer is None or tokenizer.vocabulary != PORTUGUESE.vocabulary:
        raise ValueError(f"the tokens of the model {name!r} are not the grammar's: run make model")
    return KINDS[name](checks.instance("model", model, KINDS[name].kind)).eval()
