"""The course's small BERT: pre-trained on pairs of sentences of the grammar, with both exercises of BERT.

Unlike `lib.course_model`, which learnt masked words in single sentences, it knows two segments and has a
pooler that learnt next sentence prediction: what fine-tuning starts from. The files beside this one are what
`make model` leaves here, in float16, by `python -m lib.pretrain --objective mlm+nsp`.
"""

from pathlib import Path

from lib import require
from lib.corpus import PORTUGUESE
from lib.training import MaskedPairs, load_model

FOLDER = Path(__file__).parent


def load() -> MaskedPairs:
    """The model with both its heads, in evaluation mode; its words are those of `PORTUGUESE`."""
    objective, words = load_model(FOLDER)
    if words != PORTUGUESE.words:
        raise ValueError("the words of the pair model are not the grammar's: pre-train it again")
    return require.instance("objective", objective, MaskedPairs)
