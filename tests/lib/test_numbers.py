"""`lib.numbers`: what the notebooks print."""

import pytest
import torch

from lib.numbers import Repeated, pt, rounded


def test_rounds_every_entry_whatever_the_container():
    assert rounded(torch.tensor([[0.12345, 2.0]], dtype=torch.float64), 2) == [[0.12, 2.0]]
    assert rounded((1 / 3, [2 / 3])) == [0.3333, [0.6667]]
    assert rounded(torch.tensor(0.5), 0) == 0.0


def test_negative_zero_prints_as_zero():
    assert str(rounded(-1e-9)) == "0.0"


def test_numbers_in_a_figure_carry_a_decimal_comma_and_a_real_minus():
    written = (pt(0.666, 2), pt(-1.5), pt(2, 0), pt(-0.001, 2))
    assert written == ("0,67", "−1,5", "2", "0,00")


def test_what_is_not_a_float_passes_unchanged():
    assert rounded([3, "gato", True]) == [3, "gato", True]


def test_a_repeated_figure_prints_its_mean_and_its_spread():
    figure = Repeated([0.68, 0.65, 0.79])
    assert f"{figure:.2f}" == "0.71 ± 0.07" and (figure.low, figure.high) == (0.65, 0.79)
    assert f"{Repeated(torch.tensor([1.0, 1.0, 1.0])):.1f}" == "1.0 ± 0.0"


@pytest.mark.parametrize("values", [[], [0.7], [0.7, 0.8]])
def test_a_spread_needs_three_seeds(values):
    with pytest.raises(ValueError, match="at least 3"):
        Repeated(values)
