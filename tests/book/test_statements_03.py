"""The statements of chapter 3, each tested on inputs that hypothesis looks for."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.attention import attention, causal_mask, softmax
from lib.encoder import Config, Encoder
from lib.parameters import count
from lib.tokenizer import greedy_wordpiece
from tests.randomness import SEEDS, normal, seeded

SIZES = st.integers(1, 9)


@pytest.mark.guards("02.s6", "02.s9", "02.s13", "03.s4", "03.s12", "03.s22", "03.s48", "03.s62")
@pytest.mark.guards("03.s64", "05.s11")
@pytest.mark.statement("lem-contexto-completo")
@pytest.mark.statement("prop-matriz-de-pesos")
@given(SEEDS, SIZES, st.integers(1, 8), st.integers(0, 8))
def test_every_value_enters_every_output_with_a_positive_weight_that_scores_alone_decide(seed, n, d, j):
    j = min(j, n - 1)
    q, k, v = normal(seed, 3, n, d)
    delta = normal(seed + 1, d)
    h, a = attention(q, k, v)
    assert (a > 0).all()
    torch.testing.assert_close(a.sum(-1), torch.ones(n, dtype=torch.float64))
    s = q @ k.T / math.sqrt(d)
    torch.testing.assert_close(a / a[:, [0]], (s - s[:, [0]]).exp())
    assert (h <= v.amax(0) + 1e-12).all() and (h >= v.amin(0) - 1e-12).all(), "a mean of the values"
    other = v.clone()
    other[j] += delta
    moved, same = attention(q, k, other)
    assert torch.equal(same, a), "values do not enter the weights"
    torch.testing.assert_close(moved - h, a[:, [j]] * delta)


@pytest.mark.guards("03.s7")
@pytest.mark.statement("prop-permutacao")
@given(SEEDS, st.integers(2, 8))
def test_shuffling_tokens_only_shuffles_the_outputs(seed, n):
    x, w = normal(seed, n, 4), normal(seed + 1, 3, 4, 4)
    order = torch.randperm(n, generator=seeded(seed))

    def layer(x, mask=None):
        return attention(x @ w[0], x @ w[1], x @ w[2], mask)[0]

    torch.testing.assert_close(layer(x[order]), layer(x)[order])
    if not torch.equal(order, torch.arange(n)):
        shuffled = layer(x[order], causal_mask(n))
        assert not torch.allclose(shuffled, layer(x, causal_mask(n))[order]), "the causal mask sees the order"


@pytest.mark.statement("obs-layer-norm")
@given(SEEDS, st.integers(2, 40), st.floats(0.01, 100), st.floats(-100, 100))
def test_layer_norm_forgets_mean_and_scale_and_nothing_else(seed, d, a, b):
    x = normal(seed, d)
    norm = torch.nn.LayerNorm(d, eps=0, dtype=torch.float64)
    y = norm(x)
    torch.testing.assert_close(y.mean().item(), 0.0, atol=1e-9, rtol=0)
    torch.testing.assert_close(y.var(correction=0).item(), 1.0, atol=1e-9, rtol=0)
    torch.testing.assert_close(norm(a * x + b), y, atol=1e-6, rtol=0)
    torch.testing.assert_close(norm(-x), -y)
    assert torch.equal(y.argsort(), x.argsort()), "the order of the coordinates stays"


ALPHABET = "abcãçé"
WORDS = st.text(ALPHABET, min_size=1, max_size=30)


@pytest.mark.guards("03.s23")
@pytest.mark.statement("teo-subpalavras")
@given(WORDS, st.sets(st.text(ALPHABET, min_size=1, max_size=5), max_size=12), st.sets(WORDS, max_size=10))
def test_single_characters_leave_no_unknown_word(word, extra, words):
    pieces = {*extra, *("##" + p for p in extra)}
    alphabet = {*ALPHABET, *("##" + c for c in ALPHABET)}
    tokens = greedy_wordpiece(word, pieces | alphabet).tokens
    assert "[UNK]" not in tokens and len(tokens) <= len(word)
    assert "".join(t.removeprefix("##") for t in tokens) == word
    longer = "a" * (1 + max(map(len, words), default=0))
    assert longer not in words, "a finite list of words always leaves one out"


@pytest.mark.statement("cor-pedaco-compartilhado")
@given(SEEDS, st.integers(2, 16), st.sets(st.integers(0, 9), min_size=1, max_size=4), st.integers(0, 9))
def test_training_a_word_moves_its_own_pieces_and_no_others(seed, d, pieces, other):
    table = normal(seed, 10, d).requires_grad_()
    table[sorted(pieces)].pow(2).sum().backward()
    moved = table.grad.abs().sum(-1) > 0
    assert set(moved.nonzero()[:, 0].tolist()) == pieces
    assert bool(moved[other]) == (other in pieces)


@pytest.mark.statement("cor-pedaco-compartilhado")
@settings(max_examples=10)
@given(SEEDS, st.sampled_from([16, 64, 256]))
def test_random_rows_have_cosines_of_deviation_one_over_root_d(seed, d):
    n = 4000
    a, b = normal(seed, 2, n, d)
    cosine = torch.cosine_similarity(a, b, dim=-1)
    # Seven standard errors of the mean and of the variance: a false alarm in about 10^11 draws.
    assert abs(float(cosine.mean())) < 7 / math.sqrt(n * d)
    assert abs(float(cosine.var()) * d - 1) < 7 * math.sqrt(2 / n)


@pytest.mark.guards("03.s38")
@pytest.mark.statement("cor-mascara-gratis")
@settings(max_examples=20)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(5, 40), st.integers(0, 2))
def test_the_mask_has_no_parameters(layers, heads, vocabulary, segments):
    config = Config(vocabulary, d=4 * heads, heads=heads, layers=layers, positions=8, segments=segments)
    built = (Encoder(replace(config, causal=causal)) for causal in (True, False))
    sizes = [[p.shape for p in encoder.parameters()] for encoder in built]
    assert sizes[0] == sizes[1]
    assert count(replace(config, causal=True)) == count(replace(config, causal=False))


@pytest.mark.guards("03.s41")
@pytest.mark.statement("prop-profundidade-largura")
@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 8), SEEDS)
def test_what_depth_and_width_cost(heads, layers, d_k, seed):
    d = heads * d_k
    encoder = Encoder(Config(5, d=d, heads=heads, layers=layers, positions=4))
    assert sum(p.numel() for p in encoder.blocks.parameters()) == layers * (12 * d**2 + 13 * d)
    q, k = normal(seed, 2, 20, d_k)
    assert torch.linalg.matrix_rank(q @ k.T) <= d_k


@pytest.mark.statement("prop-variancia-pontuacao")
@settings(max_examples=12)
@given(SEEDS, st.sampled_from([1, 4, 64, 256]), st.booleans())
def test_the_variance_of_a_score_is_d_k(seed, d_k, signs):
    """For normal components, and for mere signs: only mean 0, variance 1 and independence matter."""
    n = 10_000
    x = normal(seed, 2, n, d_k)
    q, k = x.sign() if signs else x
    s = (q * k).sum(-1)
    # Seven standard errors; a product of two normals has kurtosis 9, so that of s is at most 9.
    assert abs(float(s.mean())) < 7 * math.sqrt(d_k / n)
    assert abs(float(s.var()) / d_k - 1) < 7 * math.sqrt(8 / n)
    torch.testing.assert_close((s / math.sqrt(d_k)).var(), s.var() / d_k)


@pytest.mark.statement("prop-saturacao")
@given(SEEDS, st.integers(1, 12), st.floats(0.01, 50))
def test_no_derivative_of_the_softmax_exceeds_one_minus_the_largest_weight(seed, n, size):
    s = size * normal(seed, n)
    p = softmax(s)
    jacobian = torch.autograd.functional.jacobian(softmax, s)
    torch.testing.assert_close(jacobian, torch.diag(p) - p[:, None] * p[None, :])
    assert (jacobian.abs() <= 1 - p.max() + 1e-12).all()
