"""Real Portuguese, real numbers: what pretraining on Porttinari is worth for tagging it.

`python -m benchmarks.porttinari` trains a WordPiece vocabulary and a masked model on the training part, then
fine-tunes part-of-speech tagging, from those weights and from none, and measures both on the test part beside
the most frequent tag of each word. Three seeds, a 95% interval; the result is kept in PORTTINARI.md.
"""

import argparse
import math
import statistics
import time
from pathlib import Path

import torch

from benchmarks.floor import T_95
from benchmarks.measure import table
from lib.encoder import Config
from lib.heads import TokenHead
from lib.losses import IGNORE_INDEX
from lib.porttinari import ATTRIBUTION, TaggedSentence, load
from lib.tagging import most_frequent_tag, tag_names, tagging_examples
from lib.tokenizer import Tokenizer
from lib.training import Masked, Recipe, Special, TextSource, Trainer, accuracy, fine_tune

RESULTS = Path(__file__).with_name("PORTTINARI.md")
VOCABULARY, LONGEST = 6000, 192  # the longest sentence of the test part fits


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.porttinari", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that everything runs")
    parser.add_argument("--seeds", type=int, choices=sorted(T_95), default=3)
    parser.add_argument("--steps", type=int, default=3000, help="steps of pretraining")
    parser.add_argument("--epochs", type=int, default=4, help="epochs of fine-tuning")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    text = experiment(options)
    print(text)
    if not options.quick:
        RESULTS.write_text(text)


def experiment(options: argparse.Namespace) -> str:
    training, test = load("train"), load("test")
    if options.quick:
        training, test, options.steps, options.epochs = training[:60], test[:20], 3, 1
    tokenizer = Tokenizer.train([str(s) for s in training], 1500 if options.quick else VOCABULARY)
    tags = tag_names(training)
    lessons, examination = (tagging_examples(part, tokenizer, tags, LONGEST) for part in (training, test))
    if (examination.target != IGNORE_INDEX).sum() != sum(len(s.words) for s in test):
        raise ValueError(f"LONGEST={LONGEST} cuts words off the test part: both taggers must see the same")
    scores: dict[str, list[float]] = {"without pretraining": [], "with pretraining": []}
    start = time.perf_counter()
    for seed in range(options.seeds):
        for name, results in scores.items():
            torch.manual_seed(seed)
            objective = masked_model(tokenizer.size)
            if name == "with pretraining":
                pretrain(objective, training, tokenizer, options.steps, seed)
            encoder = objective.model.encoder
            head = TokenHead(encoder.config, len(tags))
            model = fine_tune(encoder, head, lessons, epochs=options.epochs, lr=1e-3, seed=seed)
            results.append(accuracy(model, examination))
            print(f"seed {seed}, {name}: {results[-1]:.4f}", flush=True)
    rows = [["most frequent tag of the word", f"{most_frequent_tag(training, test):.2%}"]]
    rows += [[name, interval(results)] for name, results in scores.items()]
    words = sum(len(s.words) for s in training)
    return (
        "# Results of `python -m benchmarks.porttinari`\n\n"
        f"{ATTRIBUTION}; {len(training):,} sentences ({words:,} words) to train on, {len(test):,} to test; "
        f"{len(tags)} tags; WordPiece of {tokenizer.size:,} tokens; {options.steps} steps of pretraining, "
        f"{options.epochs} epochs of fine-tuning; {time.perf_counter() - start:.0f} s in all.\n\n"
        + table(["tagger", f"accuracy on the test part ({options.seeds} seeds, 95%)"], rows)
    )


def masked_model(vocab_size: int) -> Masked:
    config = Config(vocab_size, d=128, layers=3, heads=4, positions=LONGEST, pooler=False, dropout=0.1)
    return Masked(config)


def pretrain(
    objective: Masked, sentences: tuple[TaggedSentence, ...], tokenizer: Tokenizer, steps: int, seed: int
) -> None:
    """Masked words, on the training part alone, one document after another as they were written."""
    documents: dict[str, list[list[int]]] = {}
    for sentence in sentences:
        documents.setdefault(sentence.document, []).append(tokenizer.encode(str(sentence)).ids[1:-1])
    special = Special(*tokenizer.special_ids)
    source = TextSource(list(documents.values()), tokenizer.vocabulary, 32, seed, 64, special)
    trainer = Trainer(objective, source, Recipe(steps, 1e-3))
    while trainer.step < steps:
        trainer.advance()


def interval(values: list[float]) -> str:
    half = T_95[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.mean(values):.2%} ± {half:.2%}"


if __name__ == "__main__":
    main()
