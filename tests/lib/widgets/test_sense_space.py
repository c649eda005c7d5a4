"""The space of senses: its Python twin, and how it keeps its points apart on a page."""

import pytest
import torch

from lib.experiments.word_senses import cosines
from lib.tokenizer import Tokenizer
from lib.use import word_vector
from lib.weights import minilm
from lib.widgets.sense_space import WORDS, sense_space, shown
from tests.browser.chromium import DESKTOP, PHONE
from tests.lib.widgets.cases.sense_space import LAST, State


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


COVERED = """panel => {
  const boxes = [...panel.querySelectorAll(".cw-tag")].map(tag => {
    const { x, y, width, height } = tag.getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
  });
  return boxes.flatMap((a, i) => boxes.slice(i + 1).map(b => Math.hypot(a.x - b.x, a.y - b.y)));
}"""
DIGIT_PX = 7  # how wide the number of a point is


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_number_of_a_point_covers_another(look, new_page, show):
    [opened] = show(sense_space(), on=new_page(viewport=look))
    for word in range(len(WORDS)):
        for layer in range(LAST + 1):
            opened.go(State(word, layer, "cru"))
            assert opened.differences() == []
            assert min(opened.panel.evaluate(COVERED)) > DIGIT_PX, (word, layer)
