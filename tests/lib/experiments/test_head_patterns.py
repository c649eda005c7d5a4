"""`lib.experiments.head_patterns`: a head that looks at one place has its whole share there."""

import pytest
import torch

from lib.experiments.head_patterns import PATTERNS, mean_shares, shares
from tests.randomness import seeded
from tests.refusals import refuses


def looking(offset, n=7):
    """Every query gives all its weight to the token `offset` places to the right (ends clipped)."""
    return torch.eye(n)[(torch.arange(n) + offset).clamp(0, n - 1)]


@pytest.mark.parametrize(("name", "offset"), [("previous", -1), ("self", 0), ("next", 1)])
def test_a_head_that_looks_at_one_place(name, offset):
    found = shares(looking(offset))
    assert {key: float(value) for key, value in found.items()} == {p: float(p == name) for p in PATTERNS}


@pytest.mark.parametrize(("name", "column"), [("first", 0), ("last", 6)])
def test_a_head_that_looks_at_the_ends(name, column):
    assert shares(torch.eye(7)[[column] * 7])[name] == 1


def test_shares_add_up_and_keep_layers_and_heads():
    weights = torch.rand(3, 2, 7, 7, generator=seeded()).softmax(-1)
    found = shares(weights)
    assert all(value.shape == (3, 2) for value in found.values())
    torch.testing.assert_close(sum(found.values()), torch.ones(3, 2))


def test_sentences_of_different_lengths_count_the_same():
    mean = mean_shares([looking(-1, 6), looking(1, 20)])
    assert float(mean["previous"]) == float(mean["next"]) == 0.5


test_bad_input_is_named = refuses(
    (lambda: shares(torch.eye(4)), "N >= 5"),
    (lambda: shares(torch.ones(6, 7)), "N >= 5"),
    (lambda: shares(torch.ones(6, 6)), "add up to 1"),
    (lambda: mean_shares([]), "at least one sentence"),
)
