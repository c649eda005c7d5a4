"""`python -m lib ajustar DADOS --modelo PASTA --saida PASTA`: a classifier or a tagger of one's own.

A CSV with texts and classes makes a classifier, a CoNLL-U file a tagger of words. Both are examined on a part
that was not learnt from, with several seeds, and beside what simpler means reach on the same part.
"""

import argparse
import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from lib.commands import baselines
from lib.commands.console import HALF, QUIET, SEED, Parser, Refusal, Row, between, peak_memory, whole
from lib.commands.examples import (
    Example,
    read_csv,
    read_treebank,
    require_classes,
    split_by_class,
    split_by_document,
)
from lib.commands.export import OUT, require_new
from lib.commands.models import OPTION, Opened, open_model
from lib.encoder import Encoder
from lib.experiments.tagging import most_frequent_tag, tag_names
from lib.heads import FineTuned, Head, SequenceHead, TokenHead
from lib.losses import IGNORE_INDEX
from lib.numbers import Repeated
from lib.training.examples import tagged
from lib.training.fine_tuning import Labelled, accuracy, fine_tune, labelled
from lib.weights import save

RATE = 0.032  # over the width: 5e-4 at 64, as in the chapters, 4e-5 at BERT's 768
FEWEST_STEPS = 300
OPTIONS: dict[str, Sequence[Row]] = {
    "o que aprender": (
        (
            "DADOS",
            "data",
            Path,
            None,
            "CSV com texto e rótulo, ou CoNLL-U com as classes das palavras",
        ),
        ("--texto COLUNA", "text", str, None, "coluna do texto (padrão: texto, ou a 1ª de duas)"),
        (
            "--rotulo COLUNA",
            "label",
            str,
            None,
            "coluna do rótulo (padrão: rotulo, ou a 2ª de duas)",
        ),
        ("--teste ARQUIVO", "test", Path, None, "exemplos de prova (padrão: separar um quinto dos dados)"),
    ),
    "com que modelo": (OPTION, OUT, HALF),
    "como treinar": (
        (
            "--epocas N",
            "epochs",
            whole(1),
            None,
            f"passagens (padrão: as de {FEWEST_STEPS} passos, ao menos 3)",
        ),
        ("--lote N", "batch", whole(1), 16, "exemplos por passo"),
        (
            *("--taxa N", "lr", between(math.ulp(0), 1, "maior que 0, até 1"), None),
            f"taxa de aprendizado máxima (padrão: {RATE} / largura do modelo)",
        ),
        ("--comprimento N", "max_length", whole(5), 128, "tokens por texto, no máximo"),
        ("--sementes N", "seeds", whole(1), 3, "treinos, cada um com outra semente; grava-se o primeiro"),
        SEED,
        QUIET,
    ),
}


@dataclass(frozen=True)
class Task:
    """What is learnt: examples as tensors, the names of the classes, the head, and the bars to beat."""

    lessons: Labelled
    examination: Labelled
    labels: tuple[str, ...]
    head: type[Head]
    bars: dict[str, float]
    told: list[str]


def main(arguments: Sequence[str]) -> int:
    parser = Parser(
        "ajustar",
        "Ajusta um modelo a uma tarefa sua: classificar textos (CSV) ou etiquetar palavras (CoNLL-U). "
        "Mostra o acerto numa parte que não foi estudada, ao lado do acerto de métodos mais simples.",
        OPTIONS,
    )
    options = parser.parse_args(arguments)
    require_new(options.out)
    read = tagging if options.data.suffix.casefold() in (".conllu", ".conll") else classification
    task = read(options, opened := open_model(options.model))
    for line in task.told:
        print(line)
    models = [trained(task, opened, options, options.seed + i) for i in range(options.seeds)]
    show(task, [accuracy(model, task.examination) for model in models])
    dtype = torch.float16 if options.half else torch.float32
    save(options.out, models[0], opened.tokenizer, dtype)
    kind = "text-classification" if task.head is SequenceHead else "token-classification"
    print(f"Pronto: o modelo da semente {options.seed} está em {options.out}; {peak_memory()}.")
    print(f'Para usá-lo em Python: transformers.pipeline("{kind}", "{options.out}")("uma frase sua")')
    return 0


def classification(options: argparse.Namespace, opened: Opened) -> Task:
    """A class for each text of a CSV."""
    examples, told = read_csv(options.data, options.text, options.label)
    require_classes(options.data, [e.label for e in examples], "classe")
    training, examined = split_by_class(examples)
    if options.test:
        training, examined = examples, read_csv(options.test, options.text, options.label).examples
        seen = {e.text for e in training}
        if again := sum(e.text in seen for e in examined):
            told.append(f"{again} textos da prova estão também nos dados: o acerto parecerá maior.")
    labels = tuple(sorted({e.label for e in training}))
    if unknown := sorted({e.label for e in examined} - set(labels)):
        raise Refusal(f"a prova tem a classe {unknown[0]!r}, que não está em {options.data}.")
    told += [f"{len(training)} textos para estudar e {len(examined)} para a prova; {len(labels)} classes."]
    longest = min(options.max_length, opened.config.max_length)

    def tensors(part: Sequence[Example]) -> Labelled:
        rows = [opened.tokenizer.encode(e.text, max_length=longest).ids for e in part]
        target = torch.tensor([labels.index(e.label) for e in part])
        return labelled(rows, target, opened.tokenizer.vocabulary.pad_id)

    lessons = tensors(training)
    told += unread(lessons, opened, longest)
    bars = {
        "a classe mais comum": baselines.majority([e.label for e in training], [e.label for e in examined]),
        "saco de palavras (Bayes)": baselines.bag_of_words(training, examined, opened.tokenizer),
    }
    return Task(lessons, tensors(examined), labels, SequenceHead, bars, told)


def tagging(options: argparse.Namespace, opened: Opened) -> Task:
    """A tag for each word of the sentences of a treebank."""
    sentences = read_treebank(options.data)
    training, examined = split_by_document(sentences)
    if options.test:
        training, examined = sentences, read_treebank(options.test)
    require_classes(options.data, [tag for sentence in training for tag in sentence.tags], "etiqueta")
    labels, longest = tag_names(training), min(options.max_length, opened.config.max_length)
    lessons, examination = (tagged(part, opened.tokenizer, labels, longest) for part in (training, examined))
    seen = (examination.target != IGNORE_INDEX).sum(1).tolist()
    # The bars see every word, so what the model cannot read whole is no part of the examination.
    entire = [i for i, sentence in enumerate(examined) if seen[i] == len(sentence.words)]
    examined, examination = [examined[i] for i in entire], examination.rows(torch.tensor(entire))
    told = [f"{len(training)} frases para estudar e {len(examined)} para a prova; {len(labels)} etiquetas."]
    told += unread(lessons, opened, longest)
    tags = ([tag for sentence in part for tag in sentence.tags] for part in (training, examined))
    bars = {
        "a etiqueta mais comum": baselines.majority(*tags),
        "a mais comum da palavra": most_frequent_tag(training, examined),
    }
    return Task(lessons, examination, labels, TokenHead, bars, told)


def unread(lessons: Labelled, opened: Opened, longest: int) -> list[str]:
    """What of the texts the model cannot see, told where it is enough to matter."""
    vocabulary, told = opened.tokenizer.vocabulary, []
    share = float((lessons.ids == vocabulary.unk_id).sum() / lessons.real.sum())
    if share > 0.05:
        told.append(f"Atenção: {share:.0%} do que o modelo lê são [UNK]; foi treinado em textos diferentes?")
    if cut := int((lessons.real.sum(1) == longest).sum()):
        told.append(f"{cut} textos foram cortados em {longest} tokens (--comprimento, ou o que o modelo lê).")
    return told


def trained(task: Task, opened: Opened, options: argparse.Namespace, seed: int) -> FineTuned:
    """The model after its lessons, with one seed."""
    torch.manual_seed(seed)
    encoder = deepcopy(opened.encoder)
    if task.head.pooled and encoder.pooler is None:  # masked words alone never asked for one
        encoder = Encoder(replace(opened.config, pooler=True))
        encoder.load_state_dict(encoder.state_dict() | opened.encoder.state_dict())
    steps = -(-len(task.lessons.ids) // options.batch)  # of an epoch
    epochs = options.epochs or max(3, -(-FEWEST_STEPS // steps))
    model = fine_tune(
        encoder,
        task.head(encoder.config, len(task.labels)),
        task.lessons,
        epochs=epochs,
        batch=options.batch,
        lr=options.lr or RATE / encoder.config.d,
        seed=seed,
        progress=None if options.quiet else f"semente {seed}",
    )
    return FineTuned(model.encoder, model.head, task.labels).eval()


def show(task: Task, scores: list[float]) -> None:
    """The share of right answers on the part that was not learnt from, beside the bars."""
    ours = f"{scores[0]:.1%}"
    if len(scores) > 2:
        mean = Repeated(100 * score for score in scores)
        ours = f"{mean:.1f}%  (média ± desvio de {len(scores)} sementes)"
    elif len(scores) == 2:
        ours = " e ".join(f"{score:.1%}" for score in scores)
    print("Acerto na prova:")
    for name, score in task.bars.items():
        print(f"  {name:<26}{score:.1%}")
    print(f"  {'o modelo ajustado':<26}{ours}")
