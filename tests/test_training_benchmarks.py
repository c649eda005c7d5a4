"""The benchmarks of training, from end to end at sizes whose figures mean nothing. No time is asserted."""

from dataclasses import replace

import pytest
import torch

from benchmarks import floor, porttinari, scaling
from lib.training import GrammarSource

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def nothing_is_kept(tmp_path, monkeypatch):
    for module in (floor, porttinari, scaling):
        monkeypatch.setattr(module, "RESULTS", tmp_path / module.RESULTS.name)


@pytest.mark.parametrize("plan", floor.PLANS, ids=lambda plan: plan.name)
def test_the_floor_is_reported_with_its_interval(plan):
    result = floor.near_the_floor(floor.quick(plan), seeds=2, quick=True)
    text = str(result)
    assert "excess over the floor:" in text and "2 seeds" in text
    assert f"target {plan.target:.0%}: MISSED" in text, "five steps cannot reach the floor"
    assert result.data()["exercise"] == plan.name and result.data()["excess"] > plan.target


@pytest.mark.parametrize("plan", floor.PLANS, ids=lambda plan: plan.name)
def test_the_schedule_ends_when_the_time_does(plan):
    trainer = replace(floor.quick(plan), steps=10**6).trainer(0)
    floor.spend(trainer, seconds=0.5)
    assert trainer.step == trainer.recipe.steps < 10**6
    assert trainer.recipe.rate(trainer.step - 1) < trainer.recipe.lr / 10, "it must have come down to nothing"


def test_transformers_is_trained_on_the_same_road():
    """Same start, batches, optimizer and schedule: after ten steps the two losses are still one."""
    plan = replace(floor.COMPARED, steps=10, batch=8)
    reference, trainer = floor.same_start(plan, seed=0)
    for step in range(plan.steps):
        trainer.advance()
        reference.advance(step, trainer.objective.draw(trainer.source, step))
    held_out = floor.hold_out(trainer.objective, GrammarSource(floor.PORTUGUESE, 64, floor.EXAMINATION), 1)
    ours = floor.evaluate(trainer.objective, held_out)["mlm"]
    assert abs(ours - reference.evaluate(held_out)) < 1e-3


def test_what_is_computed_for_more_processes_says_so():
    """Of a step of 1 s, 0.2 s do not shrink with the batch: half of it takes 0.6 s."""
    one = {"step": 1.0, "exchange": 0.0, "tokens": 10, "parameters": 100}
    runs = {
        "one": one,
        "one, half of the batch": one | {"step": 0.6},
        "two, same batch in all": one | {"step": 0.75, "exchange": 0.1},
        "two, same batch for each": one | {"step": 1.2, "exchange": 0.1},
    }
    result = scaling.summary(8, runs)
    assert result["measured"] == runs
    assert result["computed"]["2"]["step"] == pytest.approx(0.6 + 0.1), "half of the batch and one exchange"
    assert result["computed"]["4"]["step"] == pytest.approx(0.2 + 0.8 / 4 + 2 * 3 / 4 * 0.1)
    assert all("not measured" in entry["said"] for entry in result["computed"].values())
    assert result["bytes_exchanged"] == 400


def test_an_interval_over_seeds_is_students():
    assert porttinari.interval([0.9, 0.92, 0.94]) == "92.00% ± 4.97%"


def test_verdicts_follow_from_the_figures():
    plan = replace(floor.PLANS[0], target=0.03, steps=1)
    text = str(floor.Result(plan, [1.02, 1.03, 1.01], 1.0, [170.0, 175.0, 181.0], [9, 8, 7]))
    assert "2.00% ± 2.48% (95%, 3 seeds); target 3%: met" in text and "within 180 s: NO" in text
    text = str(floor.Result(plan, [1.02, 1.03, 1.05], 1.0, [170.0, 175.0, 180.0], [9, 8, 7]))
    assert "target 3%: MISSED" in text and "within 180 s: yes" in text
