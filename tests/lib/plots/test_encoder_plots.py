"""`lib.plots.encoders`: the figures show the numbers that they were given."""

import pytest
import torch

from lib.plots.encoders import by_d_k, head_grid, head_maps, stacked


def test_bars_are_as_long_as_the_parts_and_start_where_the_last_one_ended():
    ax = stacked({"x": {"a": 1, "b": 2}, "y": {"a": 3}}, xlabel="milhões").axes[0]
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 1), (0, 3), (1, 2), (3, 0)]


def test_grid_writes_per_cents():
    ax = head_grid([("x", torch.tensor([[0.0, 0.5], [0.25, 1.0]]))]).axes[0]
    assert [t.get_text() for t in ax.texts] == ["0", "50", "25", "100"]


def test_maps_show_the_weights_of_each_head():
    fig = head_maps([("x", torch.eye(3)), ("y", torch.ones(3, 3) / 3)], ["a", "b", "c"])
    assert [ax.images[0].get_array().sum().item() for ax in fig.axes] == pytest.approx([3, 3])


def test_lines_over_d_k():
    fig = by_d_k([("x", [("sem", [1.0, 2.0]), ("com", [1.0, 1.0])])], [4, 16])
    assert [list(line.get_ydata()) for line in fig.axes[0].lines] == [[1, 2], [1, 1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stacked({"x": dict.fromkeys("abcdefg", 1)}, xlabel=""), "at most 6 parts"),
        (lambda: head_maps([("x", torch.eye(2))], ["a", "b", "c"]), r"x: weights must be \(3, 3\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
