"""The cross-entropy bars: their Python twin, and what they alone do on a page."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy as torch_cross_entropy

from lib.widgets.cross_entropy_bars import MAX_WORDS, SMOOTHINGS, shown, with_probability
from tests.browser.chromium import assert_becomes
from tests.lib.widgets.cases.cross_entropy_bars import bars

SOME_LOGITS = st.lists(st.floats(-10, 10), min_size=2, max_size=MAX_WORDS)


@given(SOME_LOGITS, st.integers(0, 1), st.sampled_from(SMOOTHINGS))
def test_twin_is_the_loss_of_torch_and_its_gradient_is_q_minus_p(logits, target, smoothing):
    result = shown(logits, target, smoothing)
    z = torch.tensor(logits, dtype=torch.float64)
    expected = torch_cross_entropy(z, torch.tensor(target), label_smoothing=smoothing).item()
    assert result.loss == pytest.approx(expected, abs=1e-9)
    torch.testing.assert_close(result.gradient, result.q - result.p)
    assert result.loss == pytest.approx(result.entropy_p + result.kl, abs=1e-9)


@given(SOME_LOGITS, st.floats(0, 1))
def test_dragging_a_bar_gives_it_its_share_and_keeps_the_order_of_the_rest(logits, wanted):
    q = torch.softmax(torch.tensor(with_probability(logits, 0, wanted), dtype=torch.float64), -1)
    assert q[0].item() == pytest.approx(min(max(wanted, 0.001), 0.999), abs=2e-3)
    assert q.sum().item() == pytest.approx(1)
    others = torch.tensor(logits[1:])
    assert (q[1:][others.argsort()].diff() >= -1e-12).all()
    shown(q.log().tolist(), 0)  # what a drag leaves is a state that the widget accepts


def test_a_bar_follows_the_pointer(page, show):
    [dragged] = show(bars())
    box = dragged.panel.locator("input[data-k='3']").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.1, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, middle, steps=6)
    page.mouse.up()

    def shares():
        return [float(row["q"].replace(",", ".")) for row in dragged.read()["rows"]]

    assert_becomes(page, lambda: shares()[3], pytest.approx(0.8, abs=0.03))
    q = shares()
    assert sum(q) == pytest.approx(1, abs=0.002)
    # What the others kept of their proportions: 2 against 1 in logits is e to 1 in probability.
    assert q[0] / q[1] == pytest.approx(math.e, rel=0.03)
