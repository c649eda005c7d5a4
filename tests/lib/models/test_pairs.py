"""The model that chapter 5 fine-tunes: it learnt both exercises, and senses are clusters in it."""

import pytest
import torch

from lib import models
from lib.corpus import PORTUGUESE, next_sentence_floor, tasks
from lib.experiments.word_senses import cosines, separation
from lib.training import GrammarSource, Masked, evaluate, hold_out
from lib.training.examples import frame_words

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model():
    return models.load("pairs")


def test_masked_words_are_told_near_the_exact_floor(model):
    objective = Masked(model.model.encoder.config)
    held_out = hold_out(objective, GrammarSource(PORTUGUESE, 64, 1), 2)
    objective.model = model.model
    loss = evaluate(objective, held_out)["mlm"]
    assert held_out.floor < loss < 1.5 * held_out.floor


def test_the_next_sentence_is_told_near_the_exact_floor(model):
    source = GrammarSource(PORTUGUESE, 128, 7)
    batch = model.draw(source, 0)
    with torch.no_grad():
        loss = model(batch)[1] / len(batch.is_next)
    assert loss < next_sentence_floor(PORTUGUESE, 512).value + 0.25 < 0.69


@pytest.mark.guards("05.s41")
def test_the_senses_of_a_word_are_clusters(model):
    uses = [e for e in tasks.senses("test", 500) if "manga" in e.words]
    senses = torch.tensor([e.tags[e.words.index("manga")] == "fruta" for e in uses])
    rows = [torch.tensor([frame_words(PORTUGUESE, e.words)]) for e in uses]
    places = [1 + e.words.index("manga") for e in uses]
    with torch.no_grad():
        vectors = [model.model.encoder(row)[0, i] for row, i in zip(rows, places, strict=True)]
    told = separation(cosines(torch.stack(vectors)), senses)
    # Two uses of one sense are at most half as far apart as two of different senses.
    assert 1 - told.same < (1 - told.across) / 2 and told.neighbours >= 0.95 * len(uses)
