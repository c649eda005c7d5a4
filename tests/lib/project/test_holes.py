"""`lib.project.holes` and `lib.project.twin`: against the plain definitions, and another's implementation."""

import math

import pytest
import torch
from transformers import AutoModelForMaskedLM

from lib.corpus import PORTUGUESE
from lib.experiments.ngrams import KneserNey
from lib.losses import pseudo_perplexity
from lib.project.holes import Filled, fill_each, perplexities_of_counts
from lib.project.twin import losses_of
from lib.training import GrammarSource, Trainer, train
from lib.training.recipes import TRIAL
from lib.vocabulary import MASK
from lib.weights import save


def objective():
    torch.manual_seed(0)
    return TRIAL.build(TRIAL.config(len(PORTUGUESE.vocabulary), 40))


ROWS = [row[row != 0].tolist() for row in GrammarSource(PORTUGUESE, 6, seed=3).sentences(0)]


def test_each_hole_is_asked_as_the_plain_model_answers_it():
    model = objective().model.eval()
    found = fill_each(model, ROWS, MASK)
    assert found.truth.tolist() == [i for row in ROWS for i in row[1:-1]]
    number = 0
    for row in ROWS:
        for place in range(1, len(row) - 1):
            asked = torch.tensor([row])
            asked[0, place] = MASK
            with torch.no_grad():
                p = model(asked)[0, place].softmax(-1)
            torch.testing.assert_close(found.surprisal[number], -p[row[place]].log())
            torch.testing.assert_close(found.confidence[number], p.max())
            number += 1
    ids, real = torch.tensor([ROWS[0]]), torch.ones(1, len(ROWS[0]), dtype=torch.bool)
    real[:, [0, -1]] = False
    wanted = pseudo_perplexity(model, ids, MASK, real)
    assert fill_each(model, ROWS[:1], MASK).perplexity == pytest.approx(wanted, rel=1e-4)


def test_right_and_perplexity_are_what_they_are_called():
    two = torch.tensor([5, 6])
    filled = Filled(two, torch.tensor([5, 7]), torch.tensor([0.9, 0.6]), torch.tensor([0.0, math.log(4)]))
    assert filled.right.tolist() == [True, False] and filled.perplexity == pytest.approx(2.0)


def test_counting_more_neighbours_helps_on_the_grammar():
    training = GrammarSource(PORTUGUESE, 400, seed=1).sentences(0)
    training = [row[row != 0].tolist() for row in training]
    found = perplexities_of_counts(training, ROWS, len(PORTUGUESE.vocabulary))
    alone, pairs, triples = found.values()
    assert alone > pairs > triples
    assert pairs == KneserNey(training, len(PORTUGUESE.vocabulary), 2).pseudo_perplexity(ROWS)


def test_another_library_trains_as_we_do_and_a_defect_shows(tmp_path):
    ours, source = objective(), GrammarSource(PORTUGUESE, TRIAL.batch, seed=0)
    recipe = TRIAL.recipe
    folder = save(tmp_path / "inicio", ours.model, None)
    batches = [ours.train().draw(source, step) for step in range(recipe.steps)]
    theirs = losses_of(AutoModelForMaskedLM.from_pretrained(folder), batches, recipe)
    found = [record["mlm"] for record in train(Trainer(ours, source, recipe))]
    torch.testing.assert_close(torch.tensor(found), torch.tensor(theirs), atol=1e-4, rtol=0)
    unmasked = [batch._replace(real=torch.ones_like(batch.real)) for batch in batches]
    defect = losses_of(AutoModelForMaskedLM.from_pretrained(folder), unmasked, recipe)
    assert max(abs(a - b) for a, b in zip(found, defect, strict=True)) > 1e-3
