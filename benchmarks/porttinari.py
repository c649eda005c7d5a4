"""Real Portuguese, real numbers: what pretraining on Porttinari is worth for tagging it.

`python -m benchmarks.porttinari` trains a WordPiece vocabulary and a masked model on the training part, then
fine-tunes part-of-speech tagging, from those weights and from none, and measures both on the test part beside
the most frequent tag of each word.
"""

import time
from argparse import Namespace

import torch

from benchmarks import program
from benchmarks.figures import T_95, mean_and_half, table
from benchmarks.report import Report, make_part
from lib.corpus.porttinari import ATTRIBUTION, TaggedSentence, load
from lib.encoder import Config
from lib.experiments.tagging import most_frequent_tag, tag_names
from lib.heads import TokenHead
from lib.losses import IGNORE_INDEX
from lib.tokenizer import Tokenizer
from lib.training import Masked, Recipe, TextSource, Trainer, accuracy, fine_tune
from lib.training.examples import tagged
from tools import console

VOCABULARY, LONGEST = 6000, 192  # the longest sentence of the test part fits


def measure(options: Namespace) -> dict:
    training, test, steps, epochs = load("train"), load("test"), options.steps, options.epochs
    if options.quick:
        training, test, steps, epochs = training[:60], test[:20], 3, 1
    tokenizer = Tokenizer.train([str(s) for s in training], 1500 if options.quick else VOCABULARY)
    config = Config(tokenizer.size, d=128, layers=3, heads=4, positions=LONGEST, pooler=False, dropout=0.1)
    tags = tag_names(training)
    lessons, examination = (tagged(part, tokenizer, tags, LONGEST) for part in (training, test))
    if (examination.target != IGNORE_INDEX).sum() != sum(len(s.words) for s in test):
        raise ValueError(f"LONGEST={LONGEST} cuts words off the test part: both taggers must see the same")
    accuracies: dict[str, list[float]] = {"without pretraining": [], "with pretraining": []}
    start = time.perf_counter()
    for seed in range(options.seeds):
        for name, results in accuracies.items():
            console.step(f"seed {seed}, {name}")
            torch.manual_seed(seed)
            objective = Masked(config)
            if name == "with pretraining":
                pretrain(objective, training, tokenizer, steps, seed)
            encoder = objective.model.encoder
            head = TokenHead(encoder.config, len(tags))
            model = fine_tune(encoder, head, lessons, epochs=epochs, lr=1e-3, seed=seed)
            results.append(accuracy(model, examination))
    sentences = {"training": len(training), "test": len(test)}
    data = {"corpus": ATTRIBUTION, "sentences": sentences, "words": sum(len(s.words) for s in training)}
    sizes = {"tags": len(tags), "vocabulary": tokenizer.size}
    asked = {"steps": steps, "epochs": epochs, "seeds": list(range(options.seeds))}
    found = {"most frequent tag": most_frequent_tag(training, test), "accuracies": accuracies}
    return data | sizes | asked | found | {"seconds": time.perf_counter() - start}


def pretrain(
    objective: Masked, sentences: tuple[TaggedSentence, ...], tokenizer: Tokenizer, steps: int, seed: int
) -> None:
    """Masked words, on the training part alone, one document after another as they were written."""
    documents: dict[str, list[list[int]]] = {}
    for sentence in sentences:
        documents.setdefault(sentence.document, []).append(tokenizer.encode(str(sentence)).ids[1:-1])
    source = TextSource(list(documents.values()), tokenizer.vocabulary, 32, seed, 64)
    trainer = Trainer(objective, source, Recipe(steps, 1e-3))
    while trainer.step < steps:
        trainer.advance()


def show(values: dict) -> str:
    sentences = values["sentences"]
    rows = [["most frequent tag of the word", f"{values['most frequent tag']:.2%}"]]
    for name, results in values["accuracies"].items():
        mean, half = mean_and_half(results)
        rows.append([name, f"{mean:.2%} ± {half:.2%}"])
    return (
        f"{values['corpus']}; {sentences['training']:,} sentences ({values['words']:,} words) to train on, "
        f"{sentences['test']:,} to test; {values['tags']} tags; WordPiece of {values['vocabulary']:,} "
        f"tokens; {values['steps']} steps of pretraining, {values['epochs']} epochs of fine-tuning; "
        f"{values['seconds']:.0f} s in all.\n\n"
        + table(["tagger", f"accuracy on the test part ({len(values['seeds'])} seeds, 95%)"], rows)
    )


COMMAND = "python -m benchmarks.porttinari"
PACKAGES = ("torch", "tokenizers", "dante-corpora")
REPORT = Report("porttinari", COMMAND, (make_part("tagging", COMMAND, measure, show, packages=PACKAGES),))


def parse(arguments: list[str] | None = None) -> Namespace:
    parser = program.parser(REPORT, __doc__)
    parser.add_argument("--seeds", type=int, choices=sorted(T_95), default=3)
    parser.add_argument("--steps", type=program.at_least(1), default=3000, help="steps of pretraining")
    parser.add_argument("--epochs", type=program.at_least(1), default=4, help="epochs of fine-tuning")
    parser.add_argument("--threads", type=program.at_least(1), default=2)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    program.run(REPORT, parse())
