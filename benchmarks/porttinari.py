"""Real Portuguese, real numbers: tagging Porttinari, and what pretraining on how much text is worth for it.

`python -m benchmarks.porttinari` measures, on the test part, the classical taggers, our encoder without and
with pretraining, and how well what was pretrained guesses hidden tokens, beside a model of n-grams. Settings
were chosen on the development part, none of them on the test part.
"""

import math
import statistics
import time
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, cached_property

import torch

from benchmarks import program
from benchmarks.figures import T_95, mean_and_half, table, verdict
from benchmarks.report import Report, make_part
from lib.corpus.porttinari import ATTRIBUTION, load, other_text
from lib.encoder import Config, Encoder
from lib.experiments.ngrams import KneserNey
from lib.experiments.perceptron import Perceptron
from lib.experiments.tagging import Looks, fine_tune_tagger, most_frequent_tag, tag_names, tag_of_the_looks
from lib.losses import IGNORE_INDEX
from lib.tokenizer import Tokenizer
from lib.training import Batch, TextSource, Trainer, accuracy
from lib.training.examples import tagged
from lib.training.fine_tuning import Labelled
from lib.training.objectives import Objective
from lib.training.recipes import TEXT, Plan
from tools import console

VOCABULARY, LONGEST = 12000, 192  # the longest sentence of the test part fits
CONFIG = Config(
    VOCABULARY, d=128, layers=1, heads=4, d_ff=128, positions=LONGEST, segments=0, pre_norm=True, pooler=False
)
TARGET = 0.97
NONE, QUARTER, ALL = "none", "a quarter of Porttinari", "Porttinari"
MORE = {
    "Porttinari and PetroGold": ("petrogold",),
    "Porttinari, PetroGold and tweets": ("petrogold", "dantestocks", "danteshots"),
}
Ids = list[list[int]]


class Material:
    """The parts, and a tokenizer trained on the first; a few sentences of each if the run is quick."""

    def __init__(self, quick: bool):
        self.training, self.test = load("train"), load("test")
        if quick:
            self.training, self.test = self.training[:60], self.test[:10]
        self.tokenizer = Tokenizer.train([str(s) for s in self.training], 1500 if quick else VOCABULARY)
        self.tags, self.quick = tag_names(self.training), quick

    def framed(self, sentences: Iterable[object]) -> Ids:
        """[CLS] tokens [SEP]; what exceeds the longest is cut."""
        encode, frame = self.tokenizer.encode, self.tokenizer.vocabulary.frame
        return [frame(encode(str(s)).ids[1:-1][: LONGEST - 2]) for s in sentences]

    def text(self, amount: str) -> Ids:
        """The sentences to pretrain on."""
        sentences = list(map(str, self.training))
        if amount == QUARTER:
            sentences = sentences[: len(sentences) // 4]
        for corpus in MORE.get(amount, ()):
            sentences += other_text(corpus)[: 60 if self.quick else None]
        return self.framed(sentences)

    @cached_property
    def examples(self) -> tuple[Looks, Labelled, Labelled]:
        """The looks of words, and the two parts with them, for the encoder."""
        looks = Looks(self.training)
        lessons, examination = (
            looks.shown(part, tagged(part, self.tokenizer, self.tags, LONGEST))
            for part in (self.training, self.test)
        )
        if (examination.target != IGNORE_INDEX).sum() != sum(len(s.words) for s in self.test):
            raise ValueError(f"LONGEST={LONGEST} cuts words off the test part: all taggers must see the same")
        return looks, lessons, examination

    def tagged_right(self, encoder: Encoder, epochs: int, seed: int) -> float:
        """Accuracy on the test part of the encoder as a tagger."""
        looks, lessons, examination = self.examples
        vocabulary, labels = self.tokenizer.vocabulary, len(self.tags)
        tagger = fine_tune_tagger(encoder, looks, lessons, labels, vocabulary, epochs=epochs, seed=seed)
        return accuracy(tagger, examination)

    @property
    def described(self) -> dict:
        sentences = {"training": len(self.training), "test": len(self.test)}
        words = sum(len(s.words) for s in self.training)
        sizes = {"tags": len(self.tags), "vocabulary": self.tokenizer.size}
        return {"corpus": ATTRIBUTION, "sentences": sentences, "words": words, **sizes}


material = cache(Material)


def measure_classical(options: Namespace) -> dict:
    """Most frequent tag, looks, and the averaged perceptron with every seed."""
    given, start, found = material(options.quick), time.perf_counter(), {}
    parts = given.training, given.test
    found["most frequent tag of the word"] = [most_frequent_tag(*parts)]
    found["the same, by its looks if unknown"] = [tag_of_the_looks(*parts)]
    found["averaged perceptron"] = []
    for seed in range(options.seeds):
        console.step(f"perceptron, seed {seed}")
        perceptron = Perceptron(given.training, 1 if options.quick else 5, seed)
        found["averaged perceptron"].append(perceptron.accuracy(given.test))
    return given.described | {"accuracies": found, "seconds": time.perf_counter() - start}


def measure_encoder(options: Namespace) -> dict:
    return measure_amounts((NONE, ALL), options)


def measure_text(options: Namespace) -> dict:
    return measure_amounts((QUARTER, *MORE), options)


def measure_amounts(amounts: tuple[str, ...], options: Namespace) -> dict:
    """The encoder, pretrained on each amount of text with every seed: tagging, and guessing hidden tokens."""
    given, start, found = material(options.quick), time.perf_counter(), {}
    steps, epochs = (2, 1) if options.quick else (options.steps, options.epochs)
    for amount in amounts:
        text = [] if amount == NONE else given.text(amount)
        rows = found[amount] = {"tokens": sum(map(len, text)) - 2 * len(text), "accuracies": [], "pseudo": []}
        for seed in range(options.seeds):
            console.step(f"pretrained on {amount}, seed {seed}")
            torch.manual_seed(seed)
            plan = replace(TEXT, steps=steps)
            objective = plan.build(replace(CONFIG, vocab_size=given.tokenizer.size))
            if text:
                pretrain(objective, text, given.tokenizer, plan, seed)
                rows["pseudo"].append(pseudo_perplexity(objective, given.framed(given.test), given.tokenizer))
            rows["accuracies"].append(given.tagged_right(objective.model.encoder, epochs, seed))
    asked = {"steps": steps, "epochs": epochs, "seeds": list(range(options.seeds))}
    return given.described | asked | {"amounts": found, "seconds": time.perf_counter() - start}


def pretrain(objective: Objective, text: Ids, tokenizer: Tokenizer, plan: Plan, seed: int) -> None:
    """Masked words, one sentence a row, as they will be tagged."""
    source = TextSource([[row[1:-1]] for row in text], tokenizer.vocabulary, plan.batch, seed, LONGEST)
    trainer = Trainer(objective, source, plan.recipe)
    while trainer.step < plan.steps:
        trainer.advance()


@torch.no_grad()
def pseudo_perplexity(objective: Objective, rows: Ids, tokenizer: Tokenizer) -> float:
    """`lib.losses.pseudo_perplexity`, with logits at the one hole of each row and nowhere else."""
    objective.eval()
    lost = count = 0.0
    for row in rows:
        ids = torch.tensor(row).expand(len(row) - 2, -1)  # a copy for each token but [CLS] and [SEP]
        hole = torch.eye(len(row), dtype=torch.bool)[1:-1]
        labels = ids.masked_fill(~hole, IGNORE_INDEX)
        asked = ids.masked_fill(hole, tokenizer.vocabulary.mask_id)
        lost += float(objective(Batch(asked, labels, torch.ones_like(hole))).sum())
        count += len(ids)
    return math.exp(lost / count)


def measure_ngrams(options: Namespace) -> dict:
    """Kneser-Ney over the same tokens, given the left alone and given both sides."""
    given, start = material(options.quick), time.perf_counter()
    training, held_out = given.text(ALL), given.framed(given.test)
    model = KneserNey(training, given.tokenizer.size)
    found = {
        "order": model.order,
        "left": model.perplexity(held_out),
        "both": model.pseudo_perplexity(held_out),
    }
    tokens = sum(map(len, held_out)) - 2 * len(held_out)
    return given.described | found | {"tokens": tokens, "seconds": time.perf_counter() - start}


def show_data(values: dict) -> str:
    sentences = values["sentences"]
    return (
        f"{values['corpus']}; {sentences['training']:,} sentences ({values['words']:,} words) to train on, "
        f"{sentences['test']:,} to test; {values['tags']} tags; WordPiece of {values['vocabulary']:,} "
        f"tokens; {values['seconds']:.0f} s in all.\n\n"
    )


def show_mean(values: list[float], form: str) -> str:
    """The mean over seeds with its interval; a value that no seed changes, as it is."""
    if len(values) < 2:
        return format(values[0], form) if values else ""
    mean, half = mean_and_half(values)
    return f"{mean:{form}} ± {half:{form.strip('+')}}"


def show_classical(values: dict) -> str:
    rows = [[name, show_mean(found, ".2%")] for name, found in values["accuracies"].items()]
    return (
        "## Classical taggers\n\n"
        + show_data(values)
        + table(["tagger", "accuracy on the test part (95%)"], rows)
    )


def show_amounts(title: str, values: dict) -> str:
    rows = [
        [
            name,
            f"{found['tokens']:,}",
            show_mean(found["pseudo"], ".1f"),
            show_mean(found["accuracies"], ".2%"),
        ]
        for name, found in values["amounts"].items()
    ]
    header = ["pretrained on", "tokens", "pseudo-perplexity", "accuracy on the test part"]
    return (
        f"## {title}\n\n"
        + show_data(values)
        + f"One block; {values['steps']} steps of pretraining for each amount of text, "
        + f"{values['epochs']} epochs of fine-tuning; {len(values['seeds'])} seeds, with 95% intervals.\n\n"
        + table(header, rows)
    )


def show_encoder(values: dict) -> str:
    found = {name: rows["accuracies"] for name, rows in values["amounts"].items()}
    gains = [100 * (after - before) for before, after in zip(found[NONE], found[ALL], strict=True)]
    reached = [f"{name}: {verdict(statistics.mean(x) >= TARGET)}" for name, x in found.items()]
    return (
        show_amounts("Our encoder, without and with pretraining", values)
        + f"\n- target {TARGET:.1%}, pretrained on {'; '.join(reached)}\n"
        + f"- pretraining is worth {show_mean(gains, '+.2f')} points, seed by seed\n"
    )


def show_text(values: dict) -> str:
    return show_amounts("Our encoder, pretrained on less and on more", values)


def show_ngrams(values: dict) -> str:
    row = [f"{values['order']}-grams", f"{values['left']:.1f}", f"{values['both']:.1f}"]
    return (
        "## Interpolated Kneser-Ney\n\n"
        + show_data(values)
        + f"The same {values['tokens']:,} tokens of the test part as above, without [CLS] and [SEP]. Given "
        + "those on the left, it is the perplexity of a probability of sentences. Given those on both sides, "
        + "it answers the question of a masked model, and only this compares with the pseudo-perplexity "
        + "above; neither is a probability of a sentence.\n\n"
        + table(["model", "perplexity, left side", "pseudo-perplexity, both sides"], [row])
    )


COMMAND = "python -m benchmarks.porttinari"
ONLY, PACKAGES = f"{COMMAND} --only", ("torch", "tokenizers", "dante-corpora")
PARTS = tuple(
    make_part(name, f"{ONLY} {name}", measure, show, packages=PACKAGES)
    for name, measure, show in (
        ("classical", measure_classical, show_classical),
        ("encoder", measure_encoder, show_encoder),
        ("text", measure_text, show_text),
        ("ngrams", measure_ngrams, show_ngrams),
    )
)
PREFACE = "Settings were chosen on the development part, none of them on the test part.\n"
REPORT = Report("porttinari", COMMAND, PARTS, PREFACE)


def parse(arguments: list[str] | None = None) -> Namespace:
    parser = program.parser(REPORT, __doc__)
    parser.add_argument("--seeds", type=int, choices=sorted(T_95), default=3)
    parser.add_argument("--steps", type=program.at_least(1), default=1000, help="steps of pretraining")
    parser.add_argument("--epochs", type=program.at_least(1), default=6, help="epochs of fine-tuning")
    parser.add_argument("--threads", type=program.at_least(1), default=2)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    program.run(REPORT, parse())
