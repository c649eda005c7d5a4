"""`lib.rounding`: what the notebooks print."""

import torch

from lib.rounding import rounded


def test_rounds_every_entry_whatever_the_container():
    assert rounded(torch.tensor([[0.12345, 2.0]], dtype=torch.float64), 2) == [[0.12, 2.0]]
    assert rounded((1 / 3, [2 / 3])) == [0.3333, [0.6667]]
    assert rounded(torch.tensor(0.5), 0) == 0.0


def test_negative_zero_prints_as_zero():
    assert str(rounded(-1e-9)) == "0.0"


def test_what_is_not_a_float_passes_unchanged():
    assert rounded([3, "gato", True]) == [3, "gato", True]
