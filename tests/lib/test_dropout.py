"""Dropout drawn 16 bits at a time is dropout: the right share, the right mean, independent numbers."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.attention import attention, causal_mask, fused_attention, padding_mask
from lib.dropout import LEVELS, Dropout, dropout_factors

N = 400_000
SIGMAS = 5  # a false alarm in each comparison with probability 6e-7


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
def test_the_share_that_is_dropped_and_the_scale_of_the_rest(p):
    torch.manual_seed(0)
    factors = dropout_factors(torch.empty(N, dtype=torch.float64), p)
    share = round(p * LEVELS) / LEVELS
    assert set(factors.unique().tolist()) == {0.0, 1 / (1 - share)}
    assert abs((factors == 0).double().mean() - share) < SIGMAS * math.sqrt(share * (1 - share) / N)
    assert share == pytest.approx(p, abs=0.5 / LEVELS)


def test_numbers_from_the_same_64_bits_are_independent():
    torch.manual_seed(1)
    dropped = (dropout_factors(torch.empty(N), 0.3) == 0).double().view(-1, 4)  # a row from each 64 bits
    correlation = torch.corrcoef(dropped.T) - torch.eye(4)
    assert correlation.abs().max() < SIGMAS / math.sqrt(N / 4)
    across = torch.corrcoef(torch.stack([dropped.flatten()[:-1], dropped.flatten()[1:]]))[0, 1]
    assert across.abs() < SIGMAS / math.sqrt(N)


@given(st.lists(st.integers(0, 5), max_size=4), st.floats(0, 1), st.sampled_from(["float32", "float64"]))
def test_any_shape_any_probability(shape, p, dtype):
    like = torch.empty(shape, dtype=getattr(torch, dtype))
    factors = dropout_factors(like, p)
    assert factors.shape == like.shape and factors.dtype == like.dtype and factors.isfinite().all()
    assert p < 1 or not factors.any()
    assert p > 0 or (factors == 1).all()


def test_a_seed_decides_and_evaluation_changes_nothing():
    x, layer = torch.randn(3, 50), Dropout(0.4)
    first, second, other = ((torch.manual_seed(s), layer(x))[1] for s in (7, 7, 8))
    assert torch.equal(first, second) and not torch.equal(first, other)
    assert layer.eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_gradients_pass_where_numbers_passed():
    x = torch.randn(1000, requires_grad=True)
    y = Dropout(0.25)(x)
    y.sum().backward()
    assert torch.equal(x.grad == 0, y == 0)
    assert x.grad[y != 0].unique().tolist() == pytest.approx([1 / 0.75])


@pytest.mark.parametrize("causal", [False, True])
def test_attention_with_dropout_is_right_on_average_and_kind_to_rows_without_keys(causal):
    torch.manual_seed(2)
    q, k, v = torch.randn(3, 2, 1, 6, 4, dtype=torch.float64)
    mask = padding_mask([6, 0], 6)[:, None].expand(2, 1, 6, 6)  # the second sentence is all padding
    many = (x.expand(4000, 2, 1, 6, -1) for x in (q, k, v, mask))
    draws = fused_attention(*many, causal=causal, dropout=0.3)
    expected, _ = attention(q, k, v, mask & causal_mask(6) if causal else mask)
    error = draws.std(0) / math.sqrt(len(draws))
    assert ((draws.mean(0) - expected).abs() <= SIGMAS * error).all()
    assert not draws[:, 1].any()
    q.requires_grad_()
    fused_attention(q, k, v, mask, causal=causal, dropout=0.3).sum().backward()
    assert q.grad.isfinite().all()


@pytest.mark.parametrize("masked", [False, True])
def test_where_nothing_is_dropped_attention_is_the_written_out_one(masked):
    torch.manual_seed(3)
    q, k, v = torch.randn(3, 2, 3, 5, 4, dtype=torch.float64)
    mask = padding_mask([5, 3])[:, None] if masked else None
    nothing = 0.1 / LEVELS  # rounds to zero
    torch.testing.assert_close(fused_attention(q, k, v, mask, dropout=nothing), attention(q, k, v, mask)[0])
