"""`lib.numbers`: what the notebooks print."""

import torch

from lib.numbers import Repeated, pt, rounded
from tests.refusals import refuses


def test_rounds_every_entry_whatever_the_container():
    assert rounded(torch.tensor([[0.12345, 2.0]], dtype=torch.float64), 2) == [[0.12, 2.0]]
    assert rounded((1 / 3, [2 / 3])) == [0.3333, [0.6667]]
    assert rounded(torch.tensor(0.5), 0) == 0.0
    assert rounded([3, "gato", True]) == [3, "gato", True], "what is not a float passes unchanged"
    assert str(rounded(-1e-9)) == "0.0", "negative zero prints as zero"


def test_numbers_in_a_figure_carry_a_decimal_comma_and_a_real_minus():
    written = (pt(0.666, 2), pt(-1.5), pt(2, 0), pt(-0.001, 2))
    assert written == ("0,67", "−1,5", "2", "0,00")


def test_a_repeated_figure_prints_its_mean_and_its_spread():
    figure = Repeated([0.68, 0.65, 0.79])
    assert f"{figure:.2f}" == "0.71 ± 0.07" and (figure.low, figure.high) == (0.65, 0.79)
    assert f"{Repeated(torch.tensor([1.0, 1.0, 1.0])):.1f}" == "1.0 ± 0.0"


test_a_spread_needs_three_seeds = refuses(
    (lambda: Repeated([]), "at least 3"), (lambda: Repeated([0.7, 0.8]), "at least 3")
)
