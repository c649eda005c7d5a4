"""The space of senses: its Python twin. What it does on a page, every widget does."""

import torch

from lib.experiments.word_senses import cosines
from lib.tokenizer import Tokenizer
from lib.use import word_vector
from lib.weights import minilm
from lib.widgets.sense_space import WORDS, shown
from tests.lib.widgets.cases.sense_space import LAST


def test_twin_is_the_word_vectors_of_the_real_encoder():
    encoder, tokenizer = minilm(), Tokenizer.minilm()
    for k, word in enumerate(WORDS):
        vectors = torch.stack([word_vector(encoder, tokenizer, s, word.text) for s in word.sentences])
        torch.testing.assert_close(shown(k, LAST, "cru").cosines, cosines(vectors), atol=1e-3, rtol=0)


def test_z_scoring_removes_the_common_direction():
    for k in range(len(WORDS)):
        raw, scored = shown(k, LAST, "cru"), shown(k, LAST, "z")
        assert raw.anisotropy > 0.15 and abs(scored.anisotropy) < 0.06
        assert scored.separation.same < raw.separation.same
    english, portuguese = (shown(k, LAST, "cru").separation.neighbours for k in (0, 1))
    assert (english, portuguese) == (8, 4), "an English model tells the senses of bank, not those of banco"
