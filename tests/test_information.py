"""`lib.information`: entropies that can be worked out on paper."""

import math

import pytest

from lib.information import conditional_entropy

COINS = {("cara", "cara"): 0.5, ("coroa", "coroa"): 0.5}


def test_a_fair_coin_is_worth_ln_2_and_a_known_one_nothing():
    assert conditional_entropy(COINS, 1, []) == pytest.approx(math.log(2))
    assert conditional_entropy(COINS, 1, [0]) == 0


def test_the_average_weighs_each_context_by_its_probability():
    sentences = {("a", "x"): 0.25, ("a", "y"): 0.25, ("b", "z"): 0.5}
    assert conditional_entropy(sentences, 1, [0]) == pytest.approx(0.5 * math.log(2))


@pytest.mark.parametrize("bad", [{}, {("a",): 0.5}, {("a",): 1.5, ("b",): -0.5}])
def test_what_is_not_a_distribution_is_refused(bad):
    with pytest.raises(ValueError, match="sentences"):
        conditional_entropy(bad, 0, [])
