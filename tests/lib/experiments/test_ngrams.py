"""Kneser-Ney by hand on a few tokens, and its pseudo-perplexity against all sentences written out."""

import math

import numpy as np
import pytest

from lib.experiments.ngrams import KneserNey, inner_tokens

CLS, A, B, C, SEP = range(5)
TEXT = [[CLS, A, B, C, SEP], [CLS, A, B, SEP], [CLS, C, A, B, SEP], [CLS, B, B, A, C, SEP]]


def test_bigrams_by_hand():
    model = KneserNey([[CLS, A, B, SEP], [CLS, A, SEP]], 5, order=2)
    # CLS A twice, A B, B SEP and A SEP once: D = 3 / (3 + 2). A, B and SEP end 1, 1 and 2 kinds of bigrams:
    # two once and one twice, so D = 2 / 4 there.
    low = [0.5 * 3 / 4 / 5 + max(n - 0.5, 0) / 4 for n in (0, 1, 1, 0, 2)]
    after_a = [max(n - 0.6, 0) / 2 + 0.6 * 2 / 2 * p for n, p in zip((0, 0, 1, 0, 1), low, strict=True)]
    assert model.factor([CLS, A, B], 2, 2) == pytest.approx(after_a)
    assert model.factor([CLS, C, B], 2, 2) == pytest.approx(low), "an unknown context leaves the shorter one"


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_add_up_to_one_after_any_context(order):
    model = KneserNey(TEXT, 5, order)
    for s, i in inner_tokens([*TEXT, [CLS, C, C, A, A, SEP]]):
        p = model.factor(s, i, i)
        assert p.min() > 0 and p.sum() == pytest.approx(1)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_pseudo_perplexity_is_bayes_over_whole_sentences(order):
    model, s = KneserNey(TEXT, 5, order), [CLS, A, C, B, B, SEP]

    def log_p(sentence: list[int]) -> float:
        return sum(math.log(model.factor(sentence, i, i)[sentence[i]]) for i in range(1, len(sentence)))

    lost = []
    for i in range(1, len(s) - 1):
        each = [log_p([*s[:i], token, *s[i + 1 :]]) for token in range(5)]
        lost.append(np.logaddexp.reduce(each) - each[s[i]])
    assert model.pseudo_perplexity([s]) == pytest.approx(math.exp(np.mean(lost)))
    left = [-math.log(model.factor(s, i, i)[s[i]]) for i in range(1, len(s) - 1)]
    assert model.perplexity([s]) == pytest.approx(math.exp(np.mean(left)))


def test_nothing_to_count_is_named():
    with pytest.raises(ValueError, match="at least one token"):
        KneserNey([], 5)
