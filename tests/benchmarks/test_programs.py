"""The benchmarks compare the same mathematics and state honest intervals. No time is asserted.

That each program runs from end to end is tested in `trust/test_measured.py`.
"""

import pytest
import torch

from benchmarks import __main__ as speed
from benchmarks import causal, inference, training
from benchmarks.figures import Ratio, ratio, table
from benchmarks.measure import interleaved
from lib.weights import masked_lm_from


@pytest.mark.parametrize("padded", [False, True])
def test_all_variants_of_the_training_step_compute_one_loss(padded, monkeypatch):
    monkeypatch.setattr(training, "DROPOUT", 0.0)
    (case,) = training.QUICK
    variants = training.variants(case)
    del variants[training.MODERN]  # another model
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


def test_modernbert_is_of_like_size():
    for case in training.CASES:
        with torch.device("meta"):
            theirs, modern = training.reference_model(case.config), training.modern_model(case.config)
        sizes = [sum(map(torch.numel, matrices(model))) for model in (theirs, modern)]
        assert sizes[1] == pytest.approx(sizes[0], rel=1e-3)


def matrices(model: torch.nn.Module) -> list[torch.Tensor]:
    """All but the tables of positions and segments, of which ModernBERT has none."""
    lacking = ("position_embeddings.weight", "token_type_embeddings.weight")
    return [p for name, p in model.named_parameters() if p.dim() == 2 and not name.endswith(lacking)]


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


def steps(padded, **times):
    """Two rounds of every variant at 6 s, but for those that are named."""
    names = [getattr(training, name) for name in ("REFERENCE", "CONTROL", "EQUAL", "LOGITS", "LAST", "TIED")]
    seconds = {name: [6.0, 6.0] for name in (*names, *([training.PACKED] if padded else []))}
    seconds |= {getattr(training, name): [value, value] for name, value in times.items()}
    flops = dict.fromkeys(seconds, 12 * 10**9)
    found = {"first": dict.fromkeys(seconds, 12.34), "flops": flops, "seconds": seconds}
    return {"padded": padded, "seeds": [0, 1, 2], "tokens": 6000} | found


def test_the_report_of_training_follows_from_the_values():
    case = training.CASES[0]
    both = [steps(False, TIED=2.0, CONTROL=2.5), steps(True, PACKED=0.5)]
    memory = {training.REFERENCE: 1234.4, training.TIED: 99.6}
    values = {"peak": 4e9, "cases": [{"case": training.asdict(case), "steps": both, "memory": memory}]}
    text = training.show(values)
    assert "Matrix-multiply peak 4 GFLOP/s." in text
    assert f"### {case}, sequence 128, 27% padding" in text
    row = "| 3.00 (3.00 to 3.00) | 1.25 (1.25 to 1.25) | 1,500 | 150% | 12.3 |"
    assert f"| {training.TIED} {row}\n" in text
    assert "- against transformers as shipped: 3.00, target 3.5: MISSED\n" in text
    assert "- against the control: 1.25, target 1.3: MISSED\n" in text
    assert "- against transformers as shipped: 12.00, target 7.0: met\n" in text
    assert text.count("against the control") == 1, "with padding the control reads more tokens"
    assert "transformers 1,234 MB, ours 100 MB" in text
    assert training.bars(values) == {f"{case}, no padding": 3.0, f"{case}, half padding": 12.0}


def test_the_report_of_inference_follows_from_the_values():
    seconds = {inference.REFERENCE: [5.0, 5.2, 5.1], inference.OURS: [2.0, 2.0, 2.0]}
    off = {inference.REFERENCE: 0.0, inference.OURS: 7.2e-7}
    values = {"lengths": [12, 236, 40], "batches": 38, "differences": off, "seconds": seconds}
    text = inference.show(values)
    assert "## Inference, 3 Portuguese texts of 12 to 236 tokens, MiniLM\n" in text and "38 batches" in text
    assert f"| {inference.OURS} | 2.55 (2.50 to 2.60) | 7e-07 |\n" in text and "- target 2.5: met\n" in text
    slower = values | {"seconds": seconds | {inference.OURS: [2.1, 2.1, 2.1]}}
    assert "- target 2.5: MISSED\n" in inference.show(slower)


def test_the_chart_shows_all_parts():
    times = {causal.WRITTEN_OUT: [4.0], causal.FUSED: [1.0], causal.RECOMPUTED: [3.0], causal.CACHED: [1.0]}
    attention = {"heads": 8, "d_k": 64, "runs": [{"n": 512, "seconds": times, "memory": times}]}
    attention["runs"][0]["memory"] = {causal.WRITTEN_OUT: 1555.25, causal.FUSED: 10.3}
    config = {"d": 256, "layers": 4, "vocab_size": 8000}
    generation = {"config": config, "seed": 0, "runs": [{"tokens": 64, "seconds": times}]}
    assert "| 512 | 4.00 (4.00 to 4.00) | 1,555.2 | 10.3 |\n" in causal.show_attention(attention)
    assert "| 64 | 3.00 (3.00 to 3.00) |\n" in causal.show_generation(generation)
    chart = speed.chart({"attention": attention, "generation": generation})
    assert ">causal attention, N=512<" in chart and ">KV cache, 64 tokens<" in chart and ">4.0<" in chart
