"""`lib.plots`: a figure shows the numbers that it was given."""

import pytest
import torch

from lib.attention import causal_mask
from lib.numbers import pt
from lib.plots import curves, matrices, matrix, who_sees_whom

TOKENS = ["a", "b", "c"]
A = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.2, 0.3, 0.5]])


def test_numbers_carry_a_decimal_comma_and_a_real_minus():
    written = (pt(0.666, 2), pt(-1.5), pt(2, 0), pt(-0.001, 2))
    assert written == ("0,67", "−1,5", "2", "0,00")


def test_matrix_writes_every_value_that_is_not_hidden():
    ax = matrix(A, TOKENS, hidden=~causal_mask(3)).axes[0]
    assert [t.get_text() for t in ax.texts] == ["1,00", "0,25", "0,75", "0,20", "0,30", "0,50"]
    assert len(ax.patches) == 3, "one hatched cell for each hidden pair"


def test_panels_share_one_colour_scale():
    fig = matrices([("x", A), ("y", A / 2), ("z", A)], TOKENS)
    assert {ax.images[0].get_clim() for ax in fig.axes if ax.images} == {(0.0, 1.0)}


def test_arrows_come_from_the_mask():
    ax = who_sees_whom([("causal", causal_mask(3))], TOKENS).axes[0]
    assert [p.get_linestyle() == ":" for p in ax.patches] == (~causal_mask(3)).flatten().tolist()


def test_curves_draw_each_series_and_the_floor():
    ax = curves(
        [("x", [3, 2, 1]), ("y", [3, 3, 3])], xlabel="passo", ylabel="perda", floor=("piso", 0.5)
    ).axes[0]
    assert [list(line.get_ydata()) for line in ax.lines] == [[3, 2, 1], [3, 3, 3], [0.5, 0.5]]
    assert len({line.get_linestyle() for line in ax.lines[:2]}) == 2, "told apart by dash too"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: matrix(A[:2], TOKENS), r"values must be \(3, 3\)"),
        (lambda: curves([("x", [1])] * 5, xlabel="", ylabel=""), "at most 4 lines"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
