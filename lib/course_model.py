"""The small pre-trained model of the course: BERT's two exercises, on the Portuguese of the grammar.

Made once by this command, in about seven minutes, and kept in `lib/models/curso` (float16, 0.3 MB), so that
chapters and widgets start from the same weights on every machine:

    python -m lib.pretrain --objective mlm+nsp --preset curso --steps 2400 --batch 96 --half
"""

from pathlib import Path

from lib.training import MaskedPairs, load_model

FOLDER = Path(__file__).parent / "models" / "curso"


def course_model() -> MaskedPairs:
    """The model with both its heads, in evaluation mode; its vocabulary is that of `PORTUGUESE`."""
    return load_model(FOLDER)[0]
