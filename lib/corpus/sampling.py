"""Seeded, vectorised sampling: sentences with the labels that the grammar gives for free, and paragraphs."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from lib import checks
from lib.corpus.grammar import Grammar
from lib.vocabulary import PAD

MAX_WORDS = 1000


@dataclass(frozen=True)
class Span:
    """Words `start` to `stop - 1` of a sentence, bracketed in the grammar as `(name ... )`."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True)
class Sentence:
    """One sampled sentence with its labels. `meanings` has the category of every word that has one; `senses`
    the same, at the words with more than one possible sense only."""

    words: tuple[str, ...]
    topic: str
    meanings: tuple[str | None, ...]
    senses: tuple[str | None, ...]
    spans: tuple[Span, ...]
    sentiment: str

    def __str__(self) -> str:
        return " ".join(self.words)


class Sentences:
    """A batch of sampled sentences: `ids` and `arcs` are `(B, N)`, padded with [PAD] and -1."""

    def __init__(self, grammar: Grammar, ids: Tensor, arcs: Tensor, topics: Tensor):
        self.grammar, self.ids, self.arcs, self.topics = grammar, ids, arcs, topics

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Sentence]:
        return (self[i] for i in range(len(self)))

    @cached_property
    def lengths(self) -> Tensor:
        return (self.ids != PAD).sum(1)  # (B,)

    @cached_property
    def _lists(self) -> tuple[list, list, list]:
        """The tensors as lists: to read a tensor number by number is slow."""
        return self.ids.tolist(), self.arcs.tolist(), self.topics.tolist()

    def __getitem__(self, i: int) -> Sentence:
        ids, arcs, topic = (rows[i] for rows in self._lists)
        arcs = [arc for arc in arcs if arc >= 0]
        words = tuple(self.grammar.decode(ids))
        of_arc, ambiguous = arc_attributes(self.grammar), ambiguous_words(self.grammar)
        attributes = [of_arc[arc] for arc in arcs]
        meanings = tuple(a.get("sense") for a in attributes)
        polarities = (a["polarity"] for a in attributes if "polarity" in a)
        return Sentence(
            words=words,
            topic=self.grammar.topics[topic],
            meanings=meanings,
            senses=tuple(m if word in ambiguous else None for word, m in zip(words, meanings, strict=True)),
            spans=_spans([self.grammar.arc_marks[arc] for arc in arcs]),
            sentiment=next(polarities, "neutro"),  # grammars put at most one kind in a sentence
        )


def sample(
    grammar: Grammar, count: int, seed: int | torch.Generator = 0, topics: Tensor | None = None
) -> Sentences:
    """Draw `count` independent sentences; `topics` `(count,)` fixes their topics instead of drawing them."""
    checks.integer("count", count, 1)
    generator = seed if isinstance(seed, torch.Generator) else torch.Generator().manual_seed(seed)
    if topics is None:
        topics = torch.multinomial(grammar.topic_prior, count, replacement=True, generator=generator)
    elif topics.shape != (count,) or topics.min() < 0 or topics.max() >= len(grammar.topics):
        raise ValueError(f"topics must be {count} ids below {len(grammar.topics)}, got {topics}")
    arc_table, word_table = _tables(grammar)
    arcs_of_end = grammar.arc_source.numel()
    node, alive = topics.clone(), torch.arange(count)  # sentences still growing
    id_columns, arc_columns = [], []
    for _ in range(MAX_WORDS):
        arc = arc_table.draw(node, generator)
        going = arc < arcs_of_end
        alive, arc = alive[going], arc[going]
        if not len(alive):
            break
        ids, arcs = torch.full((count,), PAD), torch.full((count,), -1)
        arcs[alive] = arc
        ids[alive] = word_table.draw(grammar.arc_class[arc], generator)
        id_columns.append(ids)
        arc_columns.append(arcs)
        node = grammar.arc_target[arc]
    else:
        raise ValueError(f"grammar: gave a sentence of more than {MAX_WORDS} words")
    return Sentences(grammar, torch.stack(id_columns, 1), torch.stack(arc_columns, 1), topics)


def paragraphs(grammar: Grammar, count: int, sentences: int, seed: int = 0) -> Sentences:
    """`count` paragraphs of `sentences` sentences on one topic, paragraph after paragraph.

    Given the topic, the sentences of a paragraph are independent. Row `p * sentences + s` is sentence s of
    paragraph p; `.ids.reshape(count, sentences, -1)` separates them.
    """
    checks.integer("sentences", sentences, 1)
    generator = torch.Generator().manual_seed(seed)
    topics = torch.multinomial(grammar.topic_prior, count, replacement=True, generator=generator)
    return sample(grammar, count * sentences, generator, topics.repeat_interleave(sentences))


@lru_cache(maxsize=32)
def ambiguous_words(grammar: Grammar) -> dict[str, tuple[str, ...]]:
    """Words that occur in lexical classes with different `sense` attributes, and those senses."""
    senses: dict[str, set[str]] = {}
    for row, name in zip(grammar.emission, grammar.classes, strict=True):
        if sense := grammar.attributes[name].get("sense"):
            for word in row.nonzero().flatten().tolist():
                senses.setdefault(grammar.vocabulary[word], set()).add(sense)
    return {word: tuple(sorted(found)) for word, found in senses.items() if len(found) > 1}


@lru_cache(maxsize=32)
def arc_attributes(grammar: Grammar) -> list[dict[str, str]]:
    """What the grammar says of the words of each arc, by arc."""
    return [grammar.attributes[grammar.classes[k]] for k in grammar.arc_class.tolist()]


class _Table:
    """Draws an outcome for each of many rows at once: all cumulative distributions lie on one line,
    row r between r and r + 1, so one binary search answers for every row."""

    def __init__(self, row: Tensor, outcome: Tensor, probability: Tensor):
        order = torch.argsort(row, stable=True)
        row, probability = row[order], probability[order]
        total = torch.cumsum(probability, 0)
        mass = torch.zeros(int(row.max()) + 2, dtype=torch.float64).index_add_(0, row + 1, probability)
        before = mass.cumsum(0)
        last = torch.cat([row[1:] != row[:-1], torch.tensor([True])])
        # The last outcome of a row ends exactly at r + 1, whatever the rounding of the sums.
        self.edges = torch.where(last, (row + 1).double(), row + total - before[row])
        self.outcome = outcome[order]

    def draw(self, row: Tensor, generator: torch.Generator) -> Tensor:
        point = row + torch.rand(len(row), generator=generator, dtype=torch.float64)
        return self.outcome[torch.searchsorted(self.edges, point, right=True).clamp_max(len(self.edges) - 1)]


@lru_cache(maxsize=32)
def _tables(grammar: Grammar) -> tuple[_Table, _Table]:
    """Node to arc (the number of arcs stands for the end of the sentence), and lexical class to word."""
    can_end = grammar.node_end.nonzero().squeeze(1)
    arcs = torch.arange(grammar.arc_source.numel())
    arc_table = _Table(
        torch.cat([grammar.arc_source, can_end]),
        torch.cat([arcs, torch.full_like(can_end, len(arcs))]),
        torch.cat([grammar.arc_probability, grammar.node_end[can_end]]),
    )
    klass, word = grammar.emission.nonzero(as_tuple=True)
    return arc_table, _Table(klass, word, grammar.emission[klass, word])


def _spans(marks_before_word: list[tuple[str, ...]]) -> tuple[Span, ...]:
    spans, open_spans = [], []
    everything_closes = [")"] * sum(mark != ")" for marks in marks_before_word for mark in marks)
    for i, marks in enumerate([*marks_before_word, everything_closes]):
        for mark in marks:
            if mark != ")":
                open_spans.append((mark[1:], i))
            elif open_spans:
                name, start = open_spans.pop()
                if start < i:
                    spans.append(Span(name, start, i))
    return tuple(sorted(spans, key=lambda span: (span.start, -span.stop)))
