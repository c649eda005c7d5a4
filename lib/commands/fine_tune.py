"""`python -m lib ajustar DADOS --modelo PASTA --saida PASTA`: a classifier or a tagger of one's own.

A CSV with texts and classes makes a classifier, a CoNLL-U file a tagger of words. Both are examined on a part
that was not learnt from, with several seeds, and beside what simpler means reach on the same part.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from lib.commands import baselines
from lib.commands.console import (
    BATCH_SIZE,
    HALF,
    QUIET,
    SEED,
    Parser,
    Refusal,
    Row,
    between,
    peak_memory,
    whole,
)
from lib.commands.examples import (
    read_csv,
    read_treebank,
    require_classes,
    split_by_class,
    split_by_document,
)
from lib.commands.export import OUT, require_new, require_room
from lib.commands.models import OPTION, Opened, mostly_unknown, open_model
from lib.experiments.tagging import most_frequent_tag
from lib.heads import FineTuned
from lib.numbers import Repeated
from lib.use import BERT_BASE, BERT_RATE, classify, tag, train_classifier, train_tagger
from lib.weights import save

FEWEST_STEPS = 300
OPTIONS: dict[str, Sequence[Row]] = {
    "o que aprender": (
        ("DADOS", "data", Path, None, "CSV com texto e rótulo, ou CoNLL-U com as classes das palavras"),
        ("--texto COLUNA", "text", str, None, "coluna do texto (padrão: texto, ou a 1ª de duas)"),
        ("--rotulo COLUNA", "label", str, None, "coluna do rótulo (padrão: rotulo, ou a 2ª de duas)"),
        ("--teste ARQUIVO", "test", Path, None, "exemplos de prova (padrão: separar um quinto dos dados)"),
    ),
    "com que modelo": (OPTION, OUT, HALF),
    "como treinar": (
        (
            *("--epocas N", "epochs", whole(1), None),
            f"passagens (padrão: as de {FEWEST_STEPS} passos, ao menos 3)",
        ),
        ("--lote N", "batch", BATCH_SIZE, 16, "exemplos por passo"),
        (
            *("--taxa N", "lr", between(math.ulp(0), 1, "maior que 0, até 1"), None),
            f"maior taxa (padrão: {BERT_RATE} com largura {BERT_BASE}, mais nos modelos mais estreitos)",
        ),
        ("--sementes N", "seeds", whole(1), 3, "treinos, cada um com outra semente; grava-se o primeiro"),
        SEED,
        QUIET,
    ),
}


@dataclass(frozen=True)
class Task:
    """What is learnt, how it is answered, the truth on what was not learnt from, and the bars to beat."""

    kind: str  # as transformers calls it
    size: int  # texts or sentences to learn from
    learn: Callable[..., FineTuned]
    answers: Callable[[FineTuned], list[str]]
    truth: list[str]
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
    require_room(options.out, opened, options.half)
    for line in task.told:
        print(line)
    models = [trained(task, options, options.seed + i) for i in range(options.seeds)]
    show(task, [share_right(task.answers(model), task.truth) for model in models])
    save(options.out, models[0], opened.tokenizer, torch.float16 if options.half else torch.float32)
    print(f"Pronto: o modelo da semente {options.seed} está em {options.out}; {peak_memory()}.")
    call = f"transformers.pipeline({task.kind!r}, {str(options.out)!r})('uma frase sua')"
    print(f"Para usá-lo em Python: {call}")
    return 0


def classification(options: argparse.Namespace, opened: Opened) -> Task:
    """A class for each text of a CSV."""
    examples, told = read_csv(options.data, options.text, options.label)
    require_classes(options.data, [e.label for e in examples], "classe", told)
    if opened.config.causal:
        why = "o seu [CLS] não vê o texto, que vem depois dele; use um modelo mascarado"
        raise Refusal(f"o modelo de {opened.folder} é causal: {why}.")
    training, examined = split_by_class(examples)
    if options.test:
        training, examined = examples, read_csv(options.test, options.text, options.label).examples
        if not examined:
            raise Refusal(f"a prova {options.test} não tem nenhum exemplo.")
        seen = {e.text for e in training}
        if again := sum(e.text in seen for e in examined):
            told.append(f"{again} textos da prova estão também nos dados: o acerto parecerá maior.")
    texts, labels = zip(*training, strict=True)
    questions, truth = zip(*examined, strict=True)
    if unknown := sorted({*truth} - {*labels}):
        raise Refusal(f"a prova tem a classe {unknown[0]!r}, que não está em {options.data}.")
    told += [f"{len(texts)} textos para estudar e {len(truth)} para a prova; {len({*labels})} classes."]
    told += unread(texts, opened)
    return Task(
        "text-classification",
        len(texts),
        partial(train_classifier, opened.model, opened.tokenizer, texts, labels),
        lambda model: classify(model, opened.tokenizer, questions),
        list(truth),
        {
            "a classe mais comum": baselines.majority(labels, truth),
            "saco de palavras (Bayes)": baselines.bag_of_words(training, examined, opened.tokenizer),
        },
        told,
    )


def tagging(options: argparse.Namespace, opened: Opened) -> Task:
    """A tag for each word of the sentences of a treebank."""
    sentences = read_treebank(options.data)
    training, examined = split_by_document(sentences)
    if options.test:
        training, examined = sentences, read_treebank(options.test)
    longest, tokenizer = opened.config.max_length - 2, opened.tokenizer
    # The bars see every word, so what the model cannot read whole is no part of the examination.
    pieces = [sum(max(1, len(tokenizer.tokenize(word))) for word in s.words) for s in examined]
    kept = [s for s, length in zip(examined, pieces, strict=True) if length <= longest]
    left, examined = len(examined) - len(kept), kept
    if not examined:
        raise Refusal(f"nenhuma frase da prova cabe nos {longest + 2} tokens que o modelo lê.")
    labels, truth = ([tag for sentence in part for tag in sentence.tags] for part in (training, examined))
    require_classes(options.data, labels, "etiqueta")
    words, tags = [s.words for s in training], [s.tags for s in training]
    counted = f"{len(training)} frases para estudar e {len(examined)} para a prova"
    told = [f"{counted}; {len({*labels})} etiquetas."]
    if left:
        told.append(f"Frases da prova deixadas de fora, por não caberem em {longest + 2} tokens: {left}.")
    told += [*unread([str(s) for s in training], opened)]
    return Task(
        "token-classification",
        len(training),
        partial(train_tagger, opened.model, tokenizer, words, tags),
        lambda model: [t for sentence in examined for t in tag(model, tokenizer, sentence.words)],
        truth,
        {
            "a etiqueta mais comum": baselines.majority(labels, truth),
            "a mais comum da palavra": most_frequent_tag(training, examined),
        },
        told,
    )


def unread(texts: Sequence[str], opened: Opened) -> list[str]:
    """What of the texts the model cannot see, told where it is enough to matter."""
    rows, longest, told = [opened.tokenizer.encode(text).ids for text in texts], opened.config.max_length, []
    unknown = sum(row.count(opened.tokenizer.vocabulary.unk_id) for row in rows)
    told += mostly_unknown(unknown, sum(map(len, rows)))
    if cut := sum(len(row) > longest for row in rows):
        told.append(f"Textos cortados em {longest} tokens, o máximo que o modelo lê: {cut}.")
    return told


def trained(task: Task, options: argparse.Namespace, seed: int) -> FineTuned:
    """The model after its lessons, with one seed."""
    steps = -(-task.size // options.batch)  # of an epoch
    given = {} if options.lr is None else {"lr": options.lr}
    return task.learn(
        epochs=options.epochs or max(3, -(-FEWEST_STEPS // steps)),
        batch=options.batch,
        seed=seed,
        progress=None if options.quiet else f"semente {seed}",
        **given,
    )


def share_right(answers: Sequence[str], truth: Sequence[str]) -> float:
    return sum(a == t for a, t in zip(answers, truth, strict=True)) / len(truth)


def show(task: Task, scores: list[float]) -> None:
    """The share of right answers on the part that was not learnt from, beside the bars."""
    ours = " e ".join(f"{score:.1%}" for score in scores)
    if len(scores) > 2:
        mean = Repeated(100 * score for score in scores)
        ours = f"{mean:.1f}%  (média ± desvio de {len(scores)} sementes)"
    print("Acerto na prova:")
    for name, score in task.bars.items():
        print(f"  {name:<26}{score:.1%}")
    print(f"  {'o modelo ajustado':<26}{ours}")
    best = max(task.bars, key=lambda name: task.bars[name])
    if (mine := sum(scores) / len(scores)) < 1 and mine <= task.bars[best]:
        print(f"Não superou {best}: tente mais --epocas, mais exemplos, ou um modelo treinado em mais texto.")
