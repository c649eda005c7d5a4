"""What the pre-trained model is fine-tuned for, and examined on.

    nothing given      parts of speech in Porttinari; its articles of examination are in no other part
    a .conllu file     tags of words, of the student's
    a .csv file        classes of texts, of the student's

All answer the same questions: what a model that learnt it says of each item of the examination, how sure it
is, and what simpler means reach on the same items.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from lib.commands.baselines import bag_of_words, majority
from lib.commands.console import Refusal
from lib.commands.examples import (
    Example,
    read_csv,
    read_treebank,
    require_classes,
    split_by_class,
    split_by_document,
)
from lib.corpus.porttinari import TaggedSentence, load
from lib.experiments.tagging import most_frequent_tag, tag_of_the_looks
from lib.heads import FineTuned
from lib.losses import IGNORE_INDEX
from lib.tokenizer import Tokenizer
from lib.training.data import generator
from lib.training.examples import tagged
from lib.training.fine_tuning import Labelled
from lib.use import train_classifier, train_tagger
from lib.weights import Model

BATCH = 64


class Judged(NamedTuple):
    """What a model said of each item of the examination."""

    truth: list[str]
    guess: list[str]
    confidence: Tensor  # the probability of the guess, (M,)

    @property
    def right(self) -> list[bool]:
        return [guess == truth for guess, truth in zip(self.guess, self.truth, strict=True)]

    @property
    def accuracy(self) -> float:
        return sum(self.right) / len(self.right)


class Task(ABC):
    """Lessons and examination, of which no text is in both."""

    bars: dict[str, float]  # accuracies on the same examination
    by_word: bool  # one answer for each word of a text, or one for all of it
    lesson_texts: list[str]
    exam_texts: list[str]
    items: list[str]  # what each answer of the examination is about: a word, or a text
    lengths: list[int]  # words in the sentence or text of each item
    truth: list[str]

    @abstractmethod
    def learn(self, model: Model, tokenizer: Tokenizer, **options) -> FineTuned:
        """A copy of the model that has learnt the lessons; the options are those of `fine_tune`."""

    @abstractmethod
    def examination(self, model: FineTuned, tokenizer: Tokenizer) -> Labelled:
        """The items as the model reads them."""

    @abstractmethod
    def shuffled(self) -> "Task":
        """The same task, with the words of each text of the examination in another order."""

    @torch.no_grad()
    def judged(self, model: FineTuned, tokenizer: Tokenizer) -> Judged:
        """The answers of the model on the examination."""
        exam, found = self.examination(model, tokenizer), []
        for at in torch.arange(len(exam.ids)).split(BATCH):
            some = exam.rows(at)
            p = model(some.ids, some.real).softmax(-1)  # (b, C), or (b, N, C)
            found.append(p[some.target != IGNORE_INDEX])  # (m, C)
        best = torch.cat(found).max(-1)
        assert model.labels is not None  # both ways to learn name the classes
        return Judged(self.truth, [model.labels[i] for i in best.indices.tolist()], best.values)


class Tagging(Task):
    """A tag for each word. Sentences that the model cannot hold whole are no part of the examination."""

    by_word = True

    def __init__(self, lessons: Sequence[TaggedSentence], exam: Sequence[TaggedSentence]):
        self.lessons, self.exam = lessons, exam
        self.lesson_texts, self.exam_texts = [*map(str, lessons)], [*map(str, exam)]
        self.items = [word for s in exam for word in s.words]
        self.lengths = [len(s.words) for s in exam for _ in s.words]
        self.truth = [tag for s in exam for tag in s.tags]

    @cached_property
    def bars(self) -> dict[str, float]:
        tags = [tag for s in self.lessons for tag in s.tags]
        return {
            "a etiqueta mais comum": majority(tags, self.truth),
            "a mais comum da palavra": most_frequent_tag(self.lessons, self.exam),
            "e, se nova, da aparência": tag_of_the_looks(self.lessons, self.exam),
        }

    def learn(self, model: Model, tokenizer: Tokenizer, **options) -> FineTuned:
        words, tags = [s.words for s in self.lessons], [s.tags for s in self.lessons]
        return train_tagger(model, tokenizer, words, tags, **options)

    def examination(self, model: FineTuned, tokenizer: Tokenizer) -> Labelled:
        return tagged(self.exam, tokenizer, model.labels or (), model.encoder.config.max_length)

    def shuffled(self) -> Task:
        exam = []
        for sentence, order in zip(self.exam, orders([len(s.words) for s in self.exam]), strict=True):
            words, tags = (tuple(x[i] for i in order) for x in (sentence.words, sentence.tags))
            exam.append(replace(sentence, words=words, tags=tags))
        return Tagging(self.lessons, exam)


class Classification(Task):
    """A class for each text."""

    by_word = False

    def __init__(self, lessons: Sequence[Example], exam: Sequence[Example]):
        self.lessons, self.exam = lessons, exam
        self.lesson_texts, self.exam_texts = [e.text for e in lessons], [e.text for e in exam]
        self.items = self.exam_texts
        self.lengths = [len(text.split()) for text in self.items]
        self.truth = [e.label for e in exam]

    @cached_property
    def bars(self) -> dict[str, float]:
        known = Tokenizer.train(self.lesson_texts, 4000)
        return {
            "a classe mais comum": majority([e.label for e in self.lessons], self.truth),
            "saco de palavras (Bayes)": bag_of_words(self.lessons, self.exam, known),
        }

    def learn(self, model: Model, tokenizer: Tokenizer, **options) -> FineTuned:
        labels = [e.label for e in self.lessons]
        return train_classifier(model, tokenizer, self.lesson_texts, labels, **options)

    def examination(self, model: FineTuned, tokenizer: Tokenizer) -> Labelled:
        rows = tokenizer.encode_batch(self.items, max_length=model.encoder.config.max_length)
        return Labelled(rows.ids, rows.attention_mask, torch.zeros(len(rows.ids), dtype=torch.long))

    def shuffled(self) -> Task:
        exam = []
        for example, order in zip(self.exam, orders(self.lengths), strict=True):
            words = example.text.split()
            exam.append(example._replace(text=" ".join(words[i] for i in order)))
        return Classification(self.lessons, exam)


def read_task(
    path: str | Path | None, tokenizer: Tokenizer, labelled: int, examined: int, longest: int
) -> Task:
    """The task of a file, or of Porttinari; as many examples, at most, as the two numbers say."""
    if path is None:
        return tagging(load("train"), load("test"), tokenizer, labelled, examined, longest)
    path = Path(path)
    if path.suffix.casefold() in (".conllu", ".conll"):
        parts = split_by_document(read_treebank(path))
        return tagging(*parts, tokenizer, labelled, examined, longest)
    table = read_csv(path)
    require_classes(path, [e.label for e in table.examples], "classe")
    lessons, exam = split_by_class(table.examples)
    lessons, exam = lessons[:labelled], exam[:examined]
    known = {e.label for e in lessons}
    if len(known) < 2 or not {e.label for e in exam} <= known:
        told = f"não têm exemplos de todas as classes: embaralhe as linhas de {path}, ou use mais delas"
        raise Refusal(f"os primeiros {len(lessons)} exemplos {told}.")
    return Classification(lessons, exam)


def orders(lengths: Sequence[int]) -> Iterator[list[int]]:
    """A new order for so many words, for each of the texts."""
    g = generator(0, "shuffle")
    for length in lengths:
        yield torch.randperm(length, generator=g).tolist()


def tagging(
    lessons: Sequence[TaggedSentence],
    exam: Sequence[TaggedSentence],
    tokenizer: Tokenizer,
    labelled: int,
    examined: int,
    longest: int,
) -> Tagging:
    fits = [s for s in exam if sum(max(1, len(tokenizer.tokenize(w))) for w in s.words) <= longest - 2]
    if not fits:
        raise Refusal(f"nenhuma frase da prova cabe nos {longest} tokens que o modelo lê.")
    return Tagging(lessons[:labelled], fits[:examined])
