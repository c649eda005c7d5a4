"""Interpolated Kneser-Ney (1995), the classical model of language: how likely is a token after those before?

What was seen counts, less a discount D; and what D takes away goes to the same question with one token less:

    p(w | u v) = max(c(u v w) - D, 0) / c(u v .) + D n(u v .) / c(u v .) p(w | v)

where n counts different tokens. In p(w | v), c is not how often "v w" occurred but after how many different
tokens: "Francisco" is frequent, but nearly always after "São", so it is unlikely after anything else.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from lib import checks

Gram = tuple[int, ...]
Sentences = Sequence[Sequence[int]]  # framed, [CLS] ... [SEP]


class KneserNey:
    """Trained when it is made, on framed sentences of ids below `size`."""

    def __init__(self, sentences: Sentences, size: int, order: int = 3):
        self.size, self.order = size, checks.integer("order", order, 1)
        grams = Counter(window(s, i, order) for s in sentences for i in range(1, len(s)))
        if not grams:
            raise ValueError("sentences must hold at least one token after [CLS], got none")
        self.levels: list[Level] = []  # from the shortest grams to the longest
        for _ in range(order):
            self.levels.insert(0, Level(grams, size))
            grams = Counter(gram[1:] for gram in grams)

    def perplexity(self, sentences: Sentences) -> float:
        """exp of the mean surprisal of the tokens, each given those on its left. [SEP] is not asked for."""
        return math.exp(np.mean([-np.log(self.factor(s, i, i)[s[i]]) for s, i in inner_tokens(sentences)]))

    def pseudo_perplexity(self, sentences: Sentences) -> float:
        """exp of the mean surprisal of the tokens, each given all the others: what a masked model is asked.

        p(w | the others) is p(the sentence with w there) over the sum of this for all w. Of the factors of
        p(sentence), only that of the place and those that look back on it differ: the others cancel.
        """
        surprisals = []
        for s, i in inner_tokens(sentences):
            reach = range(i, min(i + self.order, len(s)))
            log_p = np.sum([np.log(self.factor(s, j, i)) for j in reach], 0)  # (V,)
            surprisals.append(np.logaddexp.reduce(log_p) - log_p[s[i]])
        return math.exp(np.mean(surprisals))

    def factor(self, s: Sequence[int], at: int, hole: int) -> np.ndarray:
        """p(token `at` | those before it) for each token of the vocabulary in place of token `hole`, (V,)."""
        p = np.full(self.size, 1 / self.size)
        for length, level in enumerate(self.levels, 1):
            gram, place = window(s, at, length), hole - (at - length + 1)
            total, kinds = (counts.around(gram[:-1], place) for counts in (level.totals, level.kinds))
            seen = np.maximum(level.seen.around(gram, place) - level.discount, 0)
            p = np.where(total > 0, (seen + level.discount * kinds * p) / np.maximum(total, 1), p)
        return p


class Level:
    """The counts of grams of one length: of each, of all that share a context, and how many these are."""

    def __init__(self, grams: Mapping[Gram, int], size: int):
        totals, kinds, often = Counter(), Counter(), Counter(grams.values())
        for gram, count in grams.items():
            totals[gram[:-1]] += count
            kinds[gram[:-1]] += 1
        self.seen, self.totals, self.kinds = (Counts(table, size) for table in (grams, totals, kinds))
        self.discount = (often[1] / (often[1] + 2 * often[2])) if often[1] else 0.5


class Counts:
    """A table of grams that can be asked about all tokens at one place of a gram at a time."""

    def __init__(self, table: Mapping[Gram, int], size: int):
        self.table, self.size = table, size
        self.fillers: dict[tuple[int, Gram], list[int]] = {}  # (place, gram without it) -> tokens seen there
        for gram in table:
            for place in range(len(gram)):
                self.fillers.setdefault((place, gram[:place] + gram[place + 1 :]), []).append(gram[place])
        self.sparse = cache(self._sparse)  # the same few neighbours are asked about again and again

    def around(self, gram: Gram, place: int) -> np.ndarray | int:
        """The count of the gram with each token at `place`, (V,); just its count if that is outside of it."""
        if not 0 <= place < len(gram):
            return self.table.get(gram, 0)
        counts = np.zeros(self.size)
        tokens, numbers = self.sparse(place, gram[:place], gram[place + 1 :])
        counts[tokens] = numbers
        return counts

    def _sparse(self, place: int, before: Gram, after: Gram) -> tuple[np.ndarray, np.ndarray]:
        tokens = self.fillers.get((place, before + after), [])
        return np.array(tokens, int), np.array([self.table[*before, token, *after] for token in tokens])


def window(s: Sequence[int], i: int, length: int) -> Gram:
    """Token i and those before it, `length` in all; before the first there is the first, [CLS], again."""
    return tuple(s[max(j, 0)] for j in range(i - length + 1, i + 1))


def inner_tokens(sentences: Sentences) -> list[tuple[Sequence[int], int]]:
    """Each token with its sentence, but for [CLS] and [SEP]."""
    return [(s, i) for s in sentences for i in range(1, len(s) - 1)]
