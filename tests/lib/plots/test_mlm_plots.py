"""What the figures of masked language modelling draw, and what they refuse."""

import pytest
import torch

from lib.plots import mlm


def test_draws_write_what_is_read_and_tell_fates_apart_without_colour():
    fig = mlm.draws([[("o", "intacto"), ("[MASK]", "[MASK]"), ("azul", "aleatória"), ("rua", "mantida")]])
    ax = fig.axes[0]
    assert [text.get_text() for text in ax.texts] == ["o", "[MASK]", "azul", "rua"]
    hatches = [patch.get_hatch() or "" for patch in ax.patches]
    fills = [patch.get_facecolor() for patch in ax.patches]
    assert len(set(zip(hatches, fills, strict=True))) == 4 and hatches[2] != hatches[3]


def test_bars_of_exactly_zero_are_marked():
    fig = mlm.per_token([("a", [0.0, 2.0]), ("b", [1.0, 3.0])], ["x", "y"])
    left, right = fig.axes
    assert [bar.get_width() for bar in left.patches] == [0.0, 2.0]
    assert [text.get_text() for text in left.texts] == ["0"] and not right.texts


def test_the_belief_is_drawn_over_the_context_with_its_threshold():
    p = torch.logspace(-4, 0, 5)
    curve, threshold = mlm.copy_or_doubt(p, p, threshold=0.01).axes[0].lines
    assert curve.get_ydata().tolist() == p.tolist() and set(threshold.get_xdata()) == {0.01}


def test_cosines_write_every_value_and_frame_each_sense():
    c = torch.tensor([[1.0, 0.5, 0.2], [0.5, 1.0, 0.3], [0.2, 0.3, 1.0]])
    fig = mlm.cosines([("um", c), ("dois", c)], [("s", 2), ("t", 1)])
    for ax in fig.axes:
        assert [t.get_text() for t in ax.texts[:3]] == ["1,00", "0,50", "0,20"]
        assert [patch.get_width() for patch in ax.patches] == [2, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mlm.draws([[("o", "intacto")], []]), "one cell per token"),
        (lambda: mlm.draws([[("o", "sumiu")]]), "fate must be one of"),
        (
            lambda: mlm.cosines([("um", torch.eye(2)), ("dois", torch.eye(2))], [("s", 3)]),
            r"must be \(3, 3\)",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
