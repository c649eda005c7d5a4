"""Labelled datasets from the grammar: sentences, words, pairs and answers, for fine-tuning.

A sentence belongs to one split for ever, by a hash of its words: 80% train, 10% dev, 10% test. A question
belongs to the split of both sentences of its context, an entailment pair to that of its core (what is left
without time, place and manner). So two splits never share an example, whatever the seeds and the sizes.
Pretraining draws from the whole grammar: the floors are about that distribution, and no label is seen there.
"""

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from lib import checks
from lib.corpus.lexicon import PEOPLE
from lib.corpus.porttinari import SPLITS
from lib.corpus.porttinari import split_of as split_of_text
from lib.corpus.portuguese import PORTUGUESE
from lib.corpus.sampling import Sentence, Span, ambiguous_words, sample

Words = tuple[str, ...]
SENTIMENTS = ("negativo", "neutro", "positivo")
ENTAILMENT, NEUTRAL, CONTRADICTION = NLI_LABELS = ("acarretamento", "neutro", "contradição")
ADJUNCTS = ("tempo", "lugar", "modo")
DEFINITE = ("o", "a", "os", "as")
VAGUE = ("alguns", "algumas", "dois", "duas")


@dataclass(frozen=True)
class Classified:
    words: Words
    label: str


@dataclass(frozen=True)
class Tagged:
    words: Words
    tags: Words


@dataclass(frozen=True)
class Pair:
    first: Words
    second: Words
    label: str


@dataclass(frozen=True)
class Question:
    """The answer is `context[start:stop]`."""

    question: Words
    context: Words
    start: int
    stop: int

    @property
    def answer(self) -> Words:
        return self.context[self.start : self.stop]


def split_of(words: Sequence[str]) -> str:
    """The split of a sentence, from its words alone."""
    return split_of_text(" ".join(words))


def topics(split: str, count: int, seed: int = 0) -> list[Classified]:
    """Which topic is the sentence about? The same number of each (give or take one)."""
    examples = (Classified(s.words, s.topic) for s in _stream(split, seed))
    return _balanced(examples, PORTUGUESE.topics, count)


def sentiments(split: str, count: int, seed: int = 0) -> list[Classified]:
    """Is it positive, negative or neither? The same number of each (give or take one)."""
    examples = (Classified(s.words, s.sentiment) for s in _stream(split, seed))
    return _balanced(examples, SENTIMENTS, count)


def senses(split: str, count: int, seed: int = 0) -> list[Tagged]:
    """The sense of each word that has more than one, `O` elsewhere; every sentence has such a word."""
    ambiguous = ambiguous_words(PORTUGUESE)
    examples = (
        Tagged(s.words, tuple(sense or "O" for sense in s.senses))
        for s in _stream(split, seed)
        if any(word in ambiguous for word in s.words)
    )
    return _take(examples, count)


# -- entailment

# A statement is affirmed (A) or denied (N), and short or long: long says also when, where or how. What is
# true in the long version is true in the short one; what the short one denies, the long one denies too.
RELATIONS = {
    ENTAILMENT: (("A long", "A short"), ("N short", "N long")),
    NEUTRAL: (("A short", "A long"), ("N long", "N short"), ("A short", "N long"), ("N long", "A short")),
    CONTRADICTION: tuple(
        pair
        for affirmed, denied in (("A long", "N short"), ("A short", "N short"), ("A long", "N long"))
        for pair in ((affirmed, denied), (denied, affirmed))
    ),
}


def entailments(split: str, count: int, seed: int = 0) -> list[Pair]:
    """Premise, hypothesis and whether the first implies, leaves open or rules out the second.

    Labels are equally frequent and so are the `RELATIONS` of each label, which share their words: a model
    that reads only the hypothesis can be right in at most 5/9 of the cases.
    """
    chooser = random.Random(seed)

    def examples() -> Iterator[Pair]:
        for sentence in filter(_states_a_fact, _stream(split, seed, by_core=True)):
            label = chooser.choice(NLI_LABELS)
            versions = _versions(sentence, chooser)
            premise, hypothesis = chooser.choice(RELATIONS[label])
            yield Pair(versions[premise], versions[hypothesis], label)

    return _balanced(examples(), NLI_LABELS, count)


def _states_a_fact(sentence: Sentence) -> bool:
    """Affirmed, about someone definite, with something to leave out: then denial is a contradiction."""
    spans = _named_spans(sentence)
    subject = sentence.words[spans["sujeito"].start]
    return (
        "não" not in sentence.words
        and "verbo" in spans
        and (subject in DEFINITE or subject[0].isupper())
        and not any(word in VAGUE for word in sentence.words)
        and any(name in spans for name in ADJUNCTS)
    )


def _versions(sentence: Sentence, chooser: random.Random) -> dict[str, Words]:
    spans = _named_spans(sentence)
    adjunct = spans[chooser.choice([name for name in ADJUNCTS if name in spans])]
    denied = [*sentence.words[: spans["verbo"].start], "não", *sentence.words[spans["verbo"].start :]]
    shift = int(adjunct.start > spans["verbo"].start)
    return {
        "A long": sentence.words,
        "A short": _without(sentence.words, [adjunct]),
        "N long": tuple(denied),
        "N short": _without(tuple(denied), [Span("", adjunct.start + shift, adjunct.stop + shift)]),
    }


# -- questions


def questions(split: str, count: int, seed: int = 0) -> list[Question]:
    """Extractive questions (quem, o que, onde, quando) on two sentences about one topic.

    The verb asked about occurs in one of the sentences only, so the answer is unique.
    """
    chooser = random.Random(seed)
    waiting: dict[str, Sentence] = {}

    def examples() -> Iterator[Question]:
        for sentence in _stream(split, seed):
            other = waiting.pop(sentence.topic, None)
            if other is None:
                waiting[sentence.topic] = sentence
            elif not set(_verb(sentence)) & set(_verb(other)) and (asked := _questions(sentence)):
                words, answer = chooser.choice(asked)
                first = chooser.random() < 0.5
                context = sentence.words + other.words if first else other.words + sentence.words
                shift = 0 if first else len(other.words)
                yield Question(words, context, answer.start + shift, answer.stop + shift)

    return _take(examples(), count)


def _questions(sentence: Sentence) -> list[tuple[Words, Span]]:
    """Every question that the sentence answers, with the span of its answer."""
    spans = _named_spans(sentence)
    if "não" in sentence.words or "verbo" not in spans:
        return []
    subject, verb = spans["sujeito"], spans["verbo"]
    adjuncts = [spans[name] for name in ADJUNCTS if name in spans]
    asked = []
    for name, word in (("tempo", "quando"), ("lugar", "onde")):
        if name in spans:
            asked.append(((word, *_core(sentence)), spans[name]))
    one_person = _is_person(sentence, subject) and not sentence.words[verb.start].endswith("m")
    if one_person and subject.stop <= verb.start:
        asked.append((("quem", *_without(sentence.words, [*adjuncts, subject])), subject))
    if "objeto" in spans and not _is_person(sentence, spans["objeto"]):
        rest = _without(sentence.words, [*adjuncts, spans["objeto"]])
        asked.append((("o", "que", *rest), spans["objeto"]))
    return asked


def _is_person(sentence: Sentence, span: Span) -> bool:
    """Named, or emitted by a class of people."""
    named = any(s.name in ("PER", "ORG") and span.start <= s.start < span.stop for s in sentence.spans)
    return named or sentence.meanings[span.start + 1] in PEOPLE


# -- shared


def _core(sentence: Sentence) -> Words:
    return _without(sentence.words, [span for span in sentence.spans if span.name in ADJUNCTS])


def _stream(split: str, seed: int, by_core: bool = False) -> Iterator[Sentence]:
    """Endless sentences of one split, which their words decide, or only those of their core."""
    checks.one_of("split", split, SPLITS)
    generator = torch.Generator().manual_seed(seed)
    while True:
        drawn = sample(PORTUGUESE, 1024, generator)
        if by_core:
            yield from (sentence for sentence in drawn if split_of(_core(sentence)) == split)
        else:  # most belong to another split: no need to read their labels
            rows = enumerate(drawn.ids.tolist())
            yield from (drawn[i] for i, ids in rows if split_of(PORTUGUESE.decode(ids)) == split)


def _take(examples: Iterator, count: int) -> list:
    return list(itertools.islice(examples, checks.integer("count", count, 1)))


def _balanced(examples: Iterator, labels, count: int) -> list:
    """The first examples that keep every label at its equal share."""
    quota, used = math.ceil(count / len(labels)), Counter()

    def fits(example) -> bool:
        used[example.label] += 1
        return used[example.label] <= quota

    return _take(filter(fits, examples), count)


def _named_spans(sentence: Sentence) -> dict[str, Span]:
    return {span.name: span for span in sentence.spans}


def _verb(sentence: Sentence) -> Words:
    verb = _named_spans(sentence).get("verbo")
    return sentence.words[verb.start : verb.stop] if verb else ()


def _without(words: Words, spans: list[Span]) -> Words:
    return tuple(w for i, w in enumerate(words) if not any(span.start <= i < span.stop for span in spans))
