"""The benchmarks run, compare the same mathematics and state honest intervals. No time is asserted."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import training
from benchmarks.measure import Ratio, interleaved, ratio, table
from lib.weights import masked_lm_from

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("padded", [False, True])
def test_all_variants_of_the_training_step_compute_one_loss(padded, monkeypatch):
    monkeypatch.setattr(training, "DROPOUT", 0.0)
    (case,) = training.QUICK
    variants = training.variants(case)
    shipped = variants[training.REFERENCE][0]
    state = masked_lm_from(shipped.config.to_dict(), shipped.state_dict()).state_dict()
    batch = training.make_batch(case, padded, 0)
    assert batch[2].all() != padded
    losses = {}
    for name, (model, loss) in variants.items():
        model.load_state_dict(shipped.state_dict() if "transformers" in name else state)
        losses[name] = loss(*batch).item()
    assert len(losses) == 7
    assert losses == pytest.approx(dict.fromkeys(losses, losses[training.REFERENCE]), abs=1e-5)


def test_the_work_saved_is_counted():
    (case,) = training.QUICK
    steps = {name: training.Step(*parts) for name, parts in training.variants(case).items()}
    batch = training.make_batch(case, True, 0)
    flops = {name: step.flops(batch) for name, step in steps.items()}
    assert flops[training.REFERENCE] == flops[training.EQUAL], "the control must do equal work"
    assert flops[training.CONTROL] == flops[training.LOGITS] < flops[training.EQUAL]
    assert flops[training.PACKED] < flops[training.LAST] == flops[training.TIED] < flops[training.LOGITS]


def test_half_of_a_padded_batch_is_padding():
    for case in training.CASES:
        ids, labels, mask = training.make_batch(case, True, 0)
        assert mask.float().mean() == pytest.approx(0.5, abs=0.01)
        assert ((labels == -100) | mask).all() and (ids[~mask] == 0).all()


def test_interleaving_turns_around_and_drops_the_first_round():
    calls = []
    seconds = interleaved({"a": lambda r: calls.append(("a", r)), "b": lambda r: calls.append(("b", r))}, 2)
    assert calls == [("b", 0), ("a", 0), ("a", 1), ("b", 1), ("b", 2), ("a", 2)]
    assert [len(s) for s in seconds.values()] == [2, 2]


def test_a_ratio_is_taken_within_the_round():
    assert ratio([2.0, 20.0, 200.0], [1.0, 10.0, 100.0]) == Ratio(2.0, 2.0, 2.0)
    assert str(ratio([3.0], [2.0])) == "1.50 (1.50 to 1.50)"


def test_the_interval_holds_the_median_as_often_as_it_says():
    # 2,000 samples of 15 skewed ratios whose true median is 1. Binomial with p >= 0.95 (exactly 0.9648):
    # a share below 0.94 has a probability under 1e-7.
    g = torch.Generator().manual_seed(0)
    samples = torch.exp(0.5 * torch.randn(2000, 15, generator=g)).tolist()
    held = 0
    for sample in samples:
        interval = ratio(sample, [1.0] * 15)
        held += interval.low <= 1 <= interval.high
    assert held / 2000 > 0.94


def test_table():
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_the_quick_run_prints_every_table_and_writes_nothing():
    results = [ROOT / "benchmarks" / name for name in ("RESULTS.md", "RESULTS.png")]
    before = [path.stat().st_mtime_ns if path.exists() else None for path in results]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--threads", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    for title in ("Training step", "Inference", "Causal attention", "Generation", "matrix-multiply peak"):
        assert title in run.stdout
    assert before == [path.stat().st_mtime_ns if path.exists() else None for path in results]
