"""The benchmarks of training, tagging, scaling and frames: fair, and reported as measured.

That each program runs from end to end is tested in `trust/test_measured.py`. No time is asserted.
"""

import math
from argparse import Namespace
from dataclasses import replace

import pytest
import torch

from benchmarks import floor, frames, porttinari, scaling
from benchmarks.figures import mean_and_half
from lib.encoder import Config
from lib.losses import pseudo_log_likelihood
from lib.tokenizer import Tokenizer
from lib.training import GrammarSource, Masked
from lib.vocabulary import MASK

torch.set_num_threads(1)


@pytest.mark.parametrize("plan", [floor.FLOOR, floor.CAUSAL], ids=lambda plan: plan.objective)
def test_the_schedule_ends_when_the_time_does(plan, monkeypatch):
    """The first 20 steps take a quarter of the time and the next 20 half of it: a third more is left."""
    clock = iter([0.0, 0.25, 0.75])
    monkeypatch.setattr(floor, "time", Namespace(perf_counter=lambda: next(clock)))
    trainer = floor.trainer_of(replace(floor.quick(plan), steps=10**6), seed=0)
    floor.spend(trainer, seconds=1.0)
    assert trainer.step == trainer.recipe.steps == 53
    assert trainer.recipe.rate(trainer.step - 1) < trainer.recipe.lr / 10, "it must have come down to nothing"


def test_transformers_is_trained_on_the_same_road():
    """Same start, batches, optimizer and schedule: after ten steps the two losses are still one."""
    plan = replace(floor.COMPARED, steps=10, batch=8)
    reference, trainer = floor.same_start(plan, seed=0)
    for step in range(plan.steps):
        trainer.advance()
        reference.advance(step, trainer.objective.draw(trainer.source, step))
    held_out = floor.hold_out(trainer.objective, GrammarSource(floor.PORTUGUESE, 64, floor.EVALUATION), 1)
    ours = floor.evaluate(trainer.objective, held_out)["mlm"]
    assert abs(ours - reference.evaluate(held_out)) < 1e-3


def nearness(name, losses, seconds):
    """What the floor's program would have kept."""
    plan = {"objective": name, "width": 64, "layers": 2, "batch": 8}
    grammar = {"words": 640, "topics": 5, "ambiguous": 7}
    described = {"plan": plan, "grammar": grammar, "seeds": list(range(len(losses))), "budget": 180}
    return described | {"floor": 1.0, "losses": losses, "steps": [9, 8, 7], "seconds": seconds}


def test_verdicts_on_the_floor_follow_from_the_values():
    text = floor.show_nearness(nearness("mlm", [1.02, 1.03, 1.01], [170.0, 175.0, 181.0]))
    assert "| 1 | 1.0300 | 1.0000 | 3.00% | 8 | 175 |\n" in text
    assert "2.00% ± 2.48% (95%, 3 seeds); target 3%: met" in text and "within 180 s: NO" in text
    text = floor.show_nearness(nearness("mlm", [1.02, 1.03, 1.05], [170.0, 175.0, 180.0]))
    assert "target 3%: MISSED" in text and "within 180 s: yes" in text
    assert "target 2%: MISSED" in floor.show_nearness(nearness("causal", [1.02, 1.03, 1.04], [1.0, 1.0, 1.0]))


def test_on_so_many_sentences_the_whole_interval_counts():
    values = nearness("mlm", [1.010, 1.012, 1.014], [1.0, 1.0, 1.0])
    del values["budget"]
    values["plan"]["steps"] = 500
    text = floor.show_nearness(values)
    assert "## mlm, on 4,000 sentences, as many on every machine: d=64" in text
    assert "1.20% ± 0.50% (95%, 3 seeds); the whole interval below 2%: met" in text
    text = floor.show_nearness(values | {"losses": [1.016, 1.018, 1.020]})
    assert "1.80% ± 0.50%" in text and "below 2%: MISSED" in text


def test_the_number_of_sentences_is_the_plans_own(monkeypatch):
    monkeypatch.setattr(floor, "spend", None)
    found = floor.measure_sentences(Namespace(quick=True, seeds=2))
    assert found["steps"] == 2 * [floor.quick(floor.FLOOR).steps] and "budget" not in found


def test_verdicts_on_the_comparison_follow_from_the_values():
    values = nearness("mlm", [], []) | {"seeds": [0, 1], "block": 10}
    values["plan"]["steps"] = 300
    values["seconds"] = {"ours": [1.0, 1.0, 1.0], "theirs": [2.0, 2.1, 1.9]}
    text = floor.show_comparison(values | {"losses": {"ours": [3.0, 2.9], "theirs": [3.1, 2.9]}})
    assert "| 0 | 3.0000 | 3.1000 | -0.1000 |\n" in text
    assert "mean difference 0.0500, standard deviation over seeds 0.1414: within seed noise" in text
    assert "10 steps of each in turn: 2.00 (1.90 to 2.10); target 2: met" in text
    values["seconds"]["ours"] = [1.1, 1.1, 1.1]
    text = floor.show_comparison(values | {"losses": {"ours": [3.3, 3.1], "theirs": [3.1, 2.9]}})
    assert "BEYOND seed noise" in text and "target 2: MISSED" in text


def runs(whole, half, two, exchange):
    """What the program of scaling would have kept, of a step of so many seconds in each run."""
    times = {scaling.ONE: whole, scaling.HALF: half, scaling.TWO: two, scaling.TWICE: 2 * two}
    found = {}
    for name, step in times.items():
        seconds = {"step": [step, step, 9.0], "exchange": [exchange, exchange, 9.0]}
        processes = 2 if name in (scaling.TWO, scaling.TWICE) else 1
        sizes = {"batch": 8, "tokens": 10, "parameters": 100}
        found[name] = {"processes": processes, **sizes, "seconds": seconds}
    return found


def test_what_is_computed_for_more_processes_says_so():
    """Of a step of 1 s, 0.2 s do not shrink with the batch: half of it takes 0.6 s."""
    values = runs(whole=1.0, half=0.6, two=0.75, exchange=0.1)
    assert scaling.computed(values, 2) == pytest.approx(0.6 + 0.1), "half of the batch and one exchange"
    assert scaling.computed(values, 4) == pytest.approx(0.2 + 0.8 / 4 + 2 * 3 / 4 * 0.1)
    text = scaling.show({"seed": 0, "runs": values})
    assert "100 parameters are 400 bytes" in text
    assert "| one | 8 | 10 | 1000.0 |  |\n" in text
    assert "| two, same batch in all | 8 | 10 | 750.0 | 100.0 |\n" in text
    assert "| 2 | 700.0 |\n" in text.partition("Computed from these, not measured:")[2]


@pytest.mark.slow
def test_two_processes_tell_every_step():
    told = scaling.launch(processes=2, batch=8, steps=3)
    assert (told["processes"], told["batch"]) == (2, 8) and told["tokens"] > 0 < told["parameters"]
    assert {name: len(seconds) for name, seconds in told["seconds"].items()} == {"step": 3, "exchange": 3}
    assert min(told["seconds"]["exchange"]) > 0


def test_the_runs_of_scaling_are_those_that_the_parts_need_in_turn(monkeypatch):
    asked = []

    def launch(*how: int) -> dict:
        asked.append(how)
        return {"how": how, "seconds": {"step": [len(asked)]}}

    monkeypatch.setattr(scaling, "launch", launch)
    found = scaling.measure(Namespace(quick=False))["runs"]
    names = (scaling.ONE, scaling.HALF, scaling.TWO, scaling.TWICE)
    assert [found[name]["how"] for name in names] == [(1, 256, 10), (1, 128, 10), (2, 256, 10), (2, 512, 10)]
    assert asked == 8 * [found[name]["how"] for name in names]
    assert found[scaling.TWO]["seconds"]["step"] == list(range(3, 33, 4)), "every fourth launch"


def test_an_interval_over_seeds_is_students():
    assert mean_and_half([0.9, 0.92, 0.94]) == pytest.approx((0.92, 0.0496868), abs=1e-6)


TAGGED = {
    "corpus": "Porttinari",
    "sentences": {"training": 6793, "test": 899},
    **{"words": 127869, "tags": 22, "vocabulary": 6000, "seconds": 1421.4},
}


def test_classical_taggers_are_shown_with_what_they_read():
    found = {"most frequent tag": [0.87214], "averaged perceptron": [0.9, 0.92, 0.94]}
    text = porttinari.show_classical(TAGGED | {"accuracies": found})
    assert "Porttinari; 6,793 sentences (127,869 words) to train on, 899 to test; 22 tags; " in text
    assert "WordPiece of 6,000 tokens; 1421 s in all." in text
    assert "| most frequent tag | 87.21% |\n" in text and "| averaged perceptron | 92.00% ± 4.97% |\n" in text


def test_what_pretraining_is_worth_is_said_seed_by_seed():
    none = {"tokens": 0, "accuracies": [0.9, 0.92, 0.94], "pseudo": []}
    some = {"tokens": 1234, "accuracies": [0.97, 0.98, 0.99], "pseudo": [90.0, 100.0, 110.0]}
    asked = {"steps": 1000, "epochs": 6, "seeds": [0, 1, 2]}
    text = porttinari.show_encoder(TAGGED | asked | {"amounts": {"none": none, "Porttinari": some}})
    assert "| none | 0 |  | 92.00% ± 4.97% |\n" in text
    assert "| Porttinari | 1,234 | 100.0 ± 24.8 | 98.00% ± 2.48% |\n" in text
    assert "- target 97.0%, pretrained on none: MISSED; Porttinari: met\n" in text
    assert "worth +6.00 ± 2.48 points, seed by seed" in text


def test_the_two_questions_to_n_grams_are_told_apart():
    text = porttinari.show_ngrams(TAGGED | {"tokens": 23456, "order": 3, "left": 200.04, "both": 60.0})
    assert "The same 23,456 tokens" in text and "| 3-grams | 200.0 | 60.0 |\n" in text


def test_holes_one_by_one_are_the_pseudo_perplexity_of_the_losses():
    torch.manual_seed(0)
    tokenizer = Tokenizer(["o", "gato", "rato", "corre"])
    objective = Masked(Config(tokenizer.size, d=8, layers=1, heads=2, positions=8, pooler=False)).eval()
    rows = [tokenizer.encode(text).ids for text in ("o gato corre", "rato")]
    ours = porttinari.pseudo_perplexity(objective, rows, tokenizer)
    total = 0.0
    for row in map(torch.tensor, rows):
        words = tokenizer.vocabulary.is_ordinary(row)
        total += pseudo_log_likelihood(objective.model, row[None], MASK, words[None]).item()
    assert ours == pytest.approx(math.exp(-total / 4), rel=1e-5)


def test_frames_within_the_budget_are_counted():
    times = {"work": [1.0, 2.0, 20.0, 3.0], "drawn": [16.0, 17.0, 40.0, 18.0]}
    text = frames.show({"browser": "151.0", "milliseconds": {"quiz": times}})
    assert text.startswith("Chromium 151.0; median and 95th percentile.\n")
    assert "| quiz | 2.5 (95%: 32.8) | 17.5 (95%: 56.5) | 3 of 4 |\n" in text
