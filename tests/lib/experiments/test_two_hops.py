"""`lib.experiments.two_hops`: the task says what it means, and one layer learns one hop."""

import pytest
import torch

from lib.experiments.two_hops import SYMBOLS, accuracy, sentences
from tests.randomness import seeded


def test_answers_follow_the_facts():
    question, facts, answer = sentences(50, 2, seeded())
    for a, fact, end in zip(question.tolist(), facts.tolist(), answer.tolist(), strict=True):
        assert sorted(fact) == list(range(SYMBOLS))
        assert fact[fact[a]] == end


def test_the_same_seed_gives_the_same_accuracy_whatever_the_default_dtype():
    first = accuracy(layers=1, d=8, steps=5)
    torch.set_default_dtype(torch.float64)
    try:
        assert accuracy(layers=1, d=8, steps=5) == first
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.slow
def test_one_layer_learns_one_hop():
    assert accuracy(layers=1, d=32, hops=1, steps=250) > 0.8


@pytest.mark.parametrize("wrong", [{"layers": 0}, {"d": -1}, {"hops": 0}, {"steps": True}])
def test_bad_input_is_named(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be an integer"):
        accuracy(**({"layers": 1, "d": 4} | wrong))
