"""The averaged perceptron (Collins, 2002): the classical tagger, and the one to beat.

It reads a sentence from left to right. Clues vote for tags: the word and its letters, its neighbours, the two
tags just given. Each clue has a weight for each tag. Where the votes elect a wrong tag, the weights of all
clues present rise by one for the true tag and fall by one for the wrong one. What tags in the end is the mean
of the weights over all steps, so that the sentences read last do not count more than the others.
"""

from collections.abc import Sequence

import numpy as np

from lib import checks
from lib.corpus.porttinari import TaggedSentence
from lib.experiments.tagging import shape_of, tag_names

EDGE = "|"  # before the first word and after the last


class Perceptron:
    """Learns when it is made; `Perceptron(sentences).tag(words)`."""

    def __init__(self, sentences: Sequence[TaggedSentence], epochs: int = 5, seed: int = 0):
        if not sentences:
            raise ValueError("sentences must hold at least one to learn from, got none")
        self.tags = tag_names(sentences)
        places = [(s, i) for s in sentences for i in range(len(s.words))]
        seen = {clue for s, i in places for clue in clues(s.words, i, s.tags[:i])}
        self.rows = {clue: row for row, clue in enumerate(sorted(seen))}
        self.weights = np.zeros((len(self.rows), len(self.tags)), np.float32)
        self.steps, late = 0, np.zeros_like(self.weights)  # each change, times the steps before it
        random = np.random.default_rng(seed)
        for _ in range(checks.integer("epochs", epochs, 1)):
            for k in random.permutation(len(sentences)):
                self._learn(sentences[k], late)
        self.weights -= late / self.steps  # the mean: a change at step t was there from then on

    def _learn(self, sentence: TaggedSentence, late: np.ndarray) -> None:
        given: list[str] = []
        for i, true in enumerate(sentence.tags):
            rows = self._rows(clues(sentence.words, i, given))
            given.append(self._elected(rows))
            for tag, change in ((true, 1), (given[-1], -1)) if given[-1] != true else ():
                self.weights[rows, self.tags.index(tag)] += change
                late[rows, self.tags.index(tag)] += change * self.steps
            self.steps += 1

    def tag(self, words: Sequence[str]) -> list[str]:
        """The tags of a sentence."""
        given: list[str] = []
        for i in range(len(words)):
            given.append(self._elected(self._rows(clues(words, i, given))))
        return given

    def accuracy(self, sentences: Sequence[TaggedSentence]) -> float:
        """Share of the words that get their tag."""
        right = [
            one == other for s in sentences for one, other in zip(self.tag(s.words), s.tags, strict=True)
        ]
        return sum(right) / len(right)

    def _rows(self, present: list[str]) -> list[int]:
        return [self.rows[clue] for clue in present if clue in self.rows]

    def _elected(self, rows: list[int]) -> str:
        return self.tags[self.weights[rows].sum(0).argmax()]


def clues(words: Sequence[str], i: int, given: Sequence[str]) -> list[str]:
    """What speaks for one tag of word i or another; `given` holds the tags of the words before it."""
    first, before, word, after, last = (
        words[j].lower() if 0 <= j < len(words) else EDGE for j in range(i - 2, i + 3)
    )
    tag = given[-1] if given else EDGE
    facts = [word, *(word[-n:] for n in range(1, 5)), words[i][:1], shape_of(words[i])]
    facts += [first, before, after, last, before[-3:], after[-3:]]
    facts += [tag, f"{tag} {given[-2] if i > 1 else EDGE}", f"{tag} {word}"]
    return [f"{place} {fact}" for place, fact in enumerate(facts)]
