"""The statements of chapter 4, each tested on inputs that hypothesis looks for."""

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch.nn.functional import one_hot

from lib.losses import cross_entropy, cross_entropy_of, entropy, kl
from tests.randomness import SEEDS

SIZES = st.integers(2, 9)


def logits(seed, *shape, size=3.0):
    g = torch.Generator().manual_seed(seed)
    return size * torch.randn(*shape, generator=g, dtype=torch.float64)


def loss(u, c):
    return cross_entropy(u[None], torch.tensor([c]))


@pytest.mark.statement("obs-one-hot")
@given(SEEDS, SIZES, st.integers(0, 8))
def test_the_product_with_a_one_hot_vector_is_a_look_up(seed, v, c):
    c = c % v
    log_p = logits(seed, v).log_softmax(-1)
    y = one_hot(torch.tensor(c), v).double()
    torch.testing.assert_close(-(y * log_p).sum(), -log_p[c])
    torch.testing.assert_close(loss(logits(seed, v), c), -log_p[c])
    assert y.numel() == v and y.count_nonzero() == 1


@pytest.mark.statement("teo-verossimilhanca")
@given(SEEDS, st.integers(2, 30), st.integers(1, 12))
def test_the_model_of_least_loss_is_the_model_of_most_likelihood(seed, models, positions):
    p = torch.sigmoid(logits(seed, models, positions))
    total, likelihood = -p.log().sum(-1), p.prod(-1)
    torch.testing.assert_close((-total).exp(), likelihood)
    assert total.argmin() == likelihood.argmax()
    assert torch.equal(total.argsort(), likelihood.argsort(descending=True))


@pytest.mark.guards("04.s9")
@pytest.mark.statement("prop-piso")
@given(SEEDS, SIZES)
def test_cross_entropy_is_entropy_plus_divergence_and_uniform_costs_ln_v(seed, v):
    p, q = logits(seed, 2, v).softmax(-1)
    torch.testing.assert_close(cross_entropy_of(p, q), entropy(p) + kl(p, q))
    assert kl(p, q) > 0 or torch.allclose(p, q)
    torch.testing.assert_close(cross_entropy_of(p, p), entropy(p))
    uniform = torch.full((v,), 1 / v, dtype=torch.float64)
    assert math.isclose(cross_entropy_of(p, uniform), math.log(v))


@pytest.mark.statement("lem-gradiente")
@given(SEEDS, SIZES, st.integers(0, 8))
def test_both_gradients(seed, v, c):
    c = c % v
    u = logits(seed, v).requires_grad_()
    loss(u, c).backward()
    torch.testing.assert_close(u.grad, u.detach().softmax(-1) - one_hot(torch.tensor(c), v))
    p = u.detach().softmax(-1).requires_grad_()
    (-p[c].log()).backward()
    expected = torch.zeros(v, dtype=torch.float64)
    expected[c] = -1 / p.detach()[c]
    torch.testing.assert_close(p.grad, expected)


@pytest.mark.statement("teo-convexidade")
@given(SEEDS, SIZES, st.integers(0, 8), st.floats(0, 1))
def test_convex_in_probabilities_and_logits_without_a_minimum_and_not_in_weights(seed, v, c, t):
    c = c % v
    u, w = logits(seed, 2, v)
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
def test_two_weights_have_two_minima_with_a_ridge_between(share):
    def f(a, b):
        z = torch.tensor(a * b, dtype=torch.float64)
        return -share * torch.sigmoid(z).log() - (1 - share) * torch.sigmoid(-z).log()

    m = math.sqrt(math.log(share / (1 - share)))
    assert math.isclose(f(m, m), f(-m, -m)) and f(0.0, 0.0) > f(m, m)
