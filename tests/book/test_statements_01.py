"""The statements of chapter 1, each tested on inputs that hypothesis looks for."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.profiler import profile

from lib.attention import additive, attention, causal_mask, fused_attention, softmax
from lib.losses import conditional_entropy
from tests.randomness import SEEDS, normal

SIZES = st.integers(1, 9)


@pytest.mark.guards("01.s2", "01.s14", "01.s25", "01.s31")
@pytest.mark.statement("teo-estocastica")
@given(SEEDS, SIZES, st.floats(0.01, 30), st.integers(1, 64))
def test_causal_weights_are_triangular_and_row_stochastic(seed, n, size, d_k):
    a = softmax((size * normal(seed, n, n) + additive(causal_mask(n), torch.float64)) / math.sqrt(d_k))
    past = causal_mask(n)
    assert (a[~past] == 0).all() and (a[past] > 0).all()
    torch.testing.assert_close(a.sum(-1), torch.ones(n, dtype=torch.float64))
    assert a[0, 0] == 1


@pytest.mark.statement("obs-futuro-eliminado")
@given(SEEDS, SIZES, st.integers(0, 8), st.floats(-1e12, 1e12))
def test_values_of_the_future_are_multiplied_by_an_exact_zero(seed, n, i, other):
    i = min(i, n - 1)
    q, k, v = normal(seed, 3, n, 4)
    changed = v.clone()
    changed[i + 1 :] = other
    assert torch.equal(
        attention(q, k, v, causal_mask(n))[0][i], attention(q, k, changed, causal_mask(n))[0][i]
    )


@pytest.mark.guards("01.s19", "02.s50", "04.s5", "05.s15")
@pytest.mark.statement("teo-causalidade")
@pytest.mark.statement("lem-caminhos")
@given(SEEDS, st.integers(2, 7), st.integers(1, 4))
def test_in_a_stack_of_causal_layers_each_output_depends_on_its_past_and_on_nothing_else(seed, n, depth):
    d = 3
    weights = normal(seed, depth, 4, d, d)

    def stack(x, mask):
        first = x  # read again by every layer: a residual sum may reach back to any earlier one
        for w_q, w_k, w_v, w_f in weights:
            x = x + attention(x @ w_q, x @ w_k, x @ w_v, mask)[0]
            x = torch.nn.functional.layer_norm(x + torch.tanh(x @ w_f) + first, (d,))
        return x

    def reached(mask):
        jacobian = torch.autograd.functional.jacobian(lambda x: stack(x, mask), x, vectorize=True)
        return jacobian.abs().amax((1, 3)) > 0  # (N, N)

    x = normal(seed + 1, n, d)
    assert torch.equal(reached(causal_mask(n)), causal_mask(n)), "n(n+1)/2 pairs, at any depth"
    assert reached(None).all(), "all n^2 pairs, from the first layer on"
    other = x.clone()
    other[-1] += 1
    assert torch.equal(stack(other, causal_mask(n))[:-1], stack(x, causal_mask(n))[:-1])


@pytest.mark.guards("01.s20", "01.s22")
@pytest.mark.statement("cor-preco-da-mascara")
@given(st.lists(st.integers(0, 20), min_size=8, max_size=8).filter(any))
def test_seeing_both_sides_never_raises_the_floor(counts):
    words = [(a, b, c) for a in "xy" for b in "xy" for c in "xy"]
    sentences = {w: n / sum(counts) for w, n in zip(words, counts, strict=True)}
    left, both = conditional_entropy(sentences, 1, [0]), conditional_entropy(sentences, 1, [0, 2])
    assert left >= both - 1e-12


def largest_allocation(run):
    with profile(profile_memory=True) as record:
        run()
    return max(event.cpu_memory_usage for event in record.events())


@pytest.mark.guards("01.s6")
@pytest.mark.statement("obs-custo-da-mascara")
@settings(max_examples=4)
@given(st.sampled_from([768, 1024]), SEEDS)
def test_the_fused_kernel_needs_no_n_by_n_matrix(n, seed):
    written, fused = [], []
    for size in (n, 2 * n):
        q, k, v = normal(seed, 3, 1, 1, size, 8).float()
        mask = causal_mask(size)
        assert additive(mask).nbytes == size * size * 4
        written.append(largest_allocation(lambda q=q, k=k, v=v, mask=mask: attention(q, k, v, mask)))
        fused.append(largest_allocation(lambda q=q, k=k, v=v: fused_attention(q, k, v, causal=True)))
    torch.testing.assert_close(fused_attention(q, k, v, causal=True), attention(q, k, v, mask)[0])
    # Twice the tokens: four times the matrix, and at most twice the tiles, however many threads hold one.
    assert written[1] >= 4 * written[0] and fused[1] <= 2 * fused[0]
