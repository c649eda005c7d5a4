"""Run every benchmark, print the tables, and keep them in RESULTS.md with a plot beside it."""

import argparse
import os
import time
from pathlib import Path

import matplotlib
import torch
import transformers

from benchmarks import causal, inference, training

HERE = Path(__file__).parent
READING = """
How to read it. A figure is how many times as fast as the reference a variant is: the median over the rounds
of the ratio within a round, and in parentheses an interval that holds the true median with 95% confidence.
All variants run in turn in every round, with equal threads, dropout, fused AdamW and allocator.

Where the gain of the training step comes from:

- `control: ours, equal work` scores every position, as `BertForMaskedLM` does, and is near level with it.
  What it gains is not in the encoder: its loss normalises the labelled rows of the logits only, and dropout,
  in every row of ours, comes from 16 random bits a number (`lib/dropout.py`), where torch draws one Bernoulli
  number after another on one core. The rate and the places are the same.
- Most of the gain is the logits at the 15% selected positions only. It is open to a user of transformers too,
  in three lines: that is the other control, and the second column measures against it.
- The rest is ours: the last block's queries, output and feed-forward at the selected positions only; the two
  gradients of the tied table added up in place, and that of the loss written down directly (`lib/tied.py`);
  and whole sentences laid end to end in rows instead of padding.
- None of it changes the mathematics: the tests hold loss and gradients equal to the plain version's.

Inference gains by batching alone (like lengths together, a budget of tokens), not by faster code.
"""


def main() -> None:
    options = parse()
    torch.set_num_threads(options.threads)
    transformers.utils.logging.disable_progress_bar()
    started = os.getloadavg()[0]
    peak = matmul_peak(quick=options.quick)
    parts = {
        "training": lambda: training.run(options.quick, options.rounds, peak),
        "inference": lambda: inference.run(options.quick, options.rounds),
        "attention": lambda: causal.run_attention(options.quick, options.rounds),
        "generation": lambda: causal.run_generation(options.quick, min(options.rounds, 5)),
    }
    texts, bars = [], {}
    for name, run in parts.items():
        if options.only in (None, name):
            text, figures = run()
            print(text, flush=True)
            texts.append(text)
            bars |= figures
    machine = (
        f"torch {torch.__version__}, transformers {transformers.__version__}, {options.threads} threads of "
        f"{os.cpu_count()} cores ({torch.backends.cpu.get_cpu_capability()}), {options.rounds} rounds; "
        f"matrix-multiply peak {peak / 1e9:.0f} GFLOP/s; "
        f"load average {started:.1f} before and {os.getloadavg()[0]:.1f} after.\n"
    )
    print(machine)
    if started > 0.5 * (os.cpu_count() or 1):
        print("The machine was busy when this began: the intervals will be wide. Repeat it when it is quiet.")
    if not options.quick and options.only is None:
        title = "# Results of `python -m benchmarks`\n\n"
        (HERE / "RESULTS.md").write_text(
            title + machine + READING + "\n![times as fast](RESULTS.png)\n\n" + "\n".join(texts)
        )
        plot(bars, HERE / "RESULTS.png")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything runs")
    parser.add_argument("--only", choices=("training", "inference", "attention", "generation"))
    parser.add_argument("--threads", type=int, default=2, help="threads of both sides (default 2)")
    parser.add_argument("--rounds", type=int, help="rounds that are counted (default 15; quick: 2)")
    options = parser.parse_args()
    if options.rounds is None:
        options.rounds = 2 if options.quick else 15
    if options.threads < 1 or options.rounds < (1 if options.quick else 6):
        parser.error("--threads must be at least 1 and --rounds at least 6, for the interval to hold")
    return options


def matmul_peak(quick: bool) -> float:
    """The most multiply-and-add operations a second that a square product reaches here, in FLOP/s."""
    best = 0.0
    for n in (256,) if quick else (1024, 1536, 2048):
        a, b = torch.randn(2, n, n)
        for _ in range(2 if quick else 8):
            start = time.perf_counter()
            a @ b
            best = max(best, 2 * n**3 / (time.perf_counter() - start))
    return best


def plot(bars: dict[str, float], path: Path) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = list(bars)[::-1]
    figure, axes = plt.subplots(figsize=(8, 0.35 * len(names) + 1), layout="constrained")
    drawn = axes.barh(names, [bars[name] for name in names], color="#3b6ea5")
    axes.bar_label(drawn, fmt="%.1f", padding=3)
    axes.axvline(1, color="#444", linewidth=1)
    axes.set_xlabel("times as fast as the reference (1 = level)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
