"""The statements of chapter 4, each tested on inputs that hypothesis looks for."""

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from lib.losses import cross_entropy
from tests.randomness import SEEDS, normal


def loss(u, c):
    return cross_entropy(u[None], torch.tensor([c]))


@pytest.mark.statement("teo-verossimilhanca")
@given(SEEDS, st.integers(2, 30), st.integers(1, 12))
def test_the_model_of_least_loss_is_the_model_of_most_likelihood(seed, models, positions):
    p = torch.sigmoid(3 * normal(seed, models, positions))
    total, likelihood = -p.log().sum(-1), p.prod(-1)
    torch.testing.assert_close((-total).exp(), likelihood)
    assert total.argmin() == likelihood.argmax()
    assert torch.equal(total.argsort(), likelihood.argsort(descending=True))


@pytest.mark.guards("04.s11")
@pytest.mark.statement("teo-convexidade")
@given(SEEDS, st.integers(2, 9), st.integers(0, 8), st.floats(0, 1))
def test_convex_in_probabilities_and_logits_without_a_minimum_and_not_in_weights(seed, v, c, t):
    c = c % v
    u, w = 3 * normal(seed, 2, v)
    mixed = loss(t * u + (1 - t) * w, c)
    assert mixed <= t * loss(u, c) + (1 - t) * loss(w, c) + 1e-9
    p, q = u.softmax(-1), w.softmax(-1)
    assert -(t * p + (1 - t) * q)[c].log() <= -(t * p[c].log() + (1 - t) * q[c].log()) + 1e-9
    further = u.clone()
    further[c] += 1
    assume(loss(u, c) > 1e-12)
    assert 0 < loss(further, c) < loss(u, c), "there is always a better logit, so no minimum"


@pytest.mark.guards("04.s10")
@pytest.mark.statement("teo-convexidade")
@given(st.floats(0.6, 0.99))
def test_the_loss_of_two_weights_rises_between_two_of_its_minima(share):
    def f(a, b):
        z = torch.tensor(a * b, dtype=torch.float64)
        return -share * torch.sigmoid(z).log() - (1 - share) * torch.sigmoid(-z).log()

    m = math.sqrt(math.log(share / (1 - share)))
    assert math.isclose(f(m, m), f(-m, -m)) and f(0.0, 0.0) > f(m, m)
    assert math.isclose(f(2 * m, m / 2), f(m, m)), "all of a hyperbola is as low"
    assert f(0.1, 0.1) < f(0.0, 0.0) < f(0.1, -0.1), "the origin is a saddle"
