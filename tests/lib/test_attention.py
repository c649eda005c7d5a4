"""`lib.attention`: each test isolates one mechanism and says which mistake its failure looks like."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.attention import additive, attention, boolean, causal_mask, fused_attention, padding_mask, softmax
from tests.randomness import SEEDS, normal, seeded
from tests.refusals import refuses

SIZES = st.integers(1, 12)


def qkv(seed, n=5):
    return normal(seed, 3, 2, 3, n, 4).unbind(0)


def some_mask(seed, n):
    mask = torch.rand(n, n, generator=seeded(seed)) < 0.6
    mask[0, 0] = True
    return mask


@pytest.mark.catches("máscara invertida")
@pytest.mark.guards("01.s26", "01.s34")
@pytest.mark.statement("lem-mascara-vetorizada")
@given(st.integers(0, 40))
def test_causal_mask_equals_the_definition_by_loops_and_by_comparing_indices(n):
    mask, i = causal_mask(n), torch.arange(n)
    loops = [[j <= i for j in range(1, n + 1)] for i in range(1, n + 1)]  # as the text counts, from one
    assert mask.tolist() == loops, "the diagonal must be allowed and everything above it hidden"
    compared = torch.zeros(n, n).masked_fill(i[None, :] > i[:, None], -math.inf)
    assert mask.shape == (n, n) and torch.equal(compared, additive(mask))
    assert torch.equal(mask, mask.tril()) and torch.equal(compared.isneginf(), ~mask)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(0, 3))
def test_padding_mask_allows_exactly_the_real_tokens(lengths, extra):
    mask = padding_mask(lengths, max(lengths) + extra)
    assert mask.shape == (len(lengths), 1, max(lengths) + extra)
    assert mask.sum((1, 2)).tolist() == lengths, "padding comes after the tokens and is hidden"
    assert all(mask[b, 0, :n].all() for b, n in enumerate(lengths))


@given(SEEDS, SIZES)
def test_additive_and_boolean_are_inverses(seed, n):
    mask = some_mask(seed, n)
    m = additive(mask)
    assert torch.equal(boolean(m), mask)
    assert (m[mask] == 0).all() and (m[~mask] == -math.inf).all()


@pytest.mark.guards("01.s1")
@given(SEEDS, st.floats(-1e30, 1e30), st.sampled_from([0, 1, -1]))
def test_softmax_equals_torch_along_any_axis_and_ignores_a_shift(seed, shift, dim):
    s = normal(seed, 3, 7)
    torch.testing.assert_close(softmax(s, dim), torch.softmax(s, dim))
    # The shift itself rounds the scores, so the reference is torch on the shifted scores.
    torch.testing.assert_close(softmax(s + shift, dim), torch.softmax(s + shift, dim))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_huge_scores_do_not_overflow(dtype):
    s = torch.tensor([[1e30, 1e30, -1e30]], dtype=dtype)
    torch.testing.assert_close(softmax(s), torch.tensor([[0.5, 0.5, 0.0]], dtype=dtype))


def test_half_precision_rows_still_sum_to_one():
    row = softmax(torch.zeros(1, 300, dtype=torch.bfloat16))
    assert abs(float(row.double().sum()) - 1) < 0.01, "the sum was accumulated in bfloat16"


@pytest.mark.catches("linha vazia")
def test_a_row_of_only_minus_infinity_gives_zeros_and_a_zero_gradient():
    s = torch.tensor([[-math.inf, -math.inf], [0.0, 0.0]], requires_grad=True)
    a = softmax(s)
    assert a.tolist() == [[0.0, 0.0], [0.5, 0.5]]
    a[:, 0].sum().backward()
    assert torch.isfinite(s.grad).all() and (s.grad[0] == 0).all()


@pytest.mark.catches("eixo trocado", "raiz errada")
@given(SEEDS, SIZES, st.sampled_from(["none", "causal", "random", "empty row"]))
def test_readable_and_fused_attention_agree_with_gradients(seed, n, kind):
    q, k, v = qkv(seed, n)
    mask = {"none": None, "causal": causal_mask(n), "random": some_mask(seed, n)}.get(kind)
    if kind == "empty row":
        mask = some_mask(seed, n + 1)
        mask[-1] = False
        q, k, v = qkv(seed, n + 1)
    results = []
    for run in (lambda q, k, v: attention(q, k, v, mask)[0], lambda q, k, v: fused_attention(q, k, v, mask)):
        leaves = [x.clone().requires_grad_() for x in (q, k, v)]
        h = run(*leaves)
        h.pow(2).sum().backward()
        results.append([h, *(x.grad for x in leaves)])
    assert all(tensor.isfinite().all() for tensor in results[0])
    torch.testing.assert_close(*results)


def test_few_keys_are_attended_to_as_the_fused_kernel_does(monkeypatch):
    """Written out or fused, the values and gradients are the same, those of a query without keys included."""
    mask = torch.rand(2, 1, 5, 5, generator=seeded()) < 0.5
    mask[0, 0, 2] = False
    found = []
    for most in (0, 5):
        monkeypatch.setattr("lib.attention.FEW_KEYS", most)
        q, k, v = (x.requires_grad_() for x in qkv(1))
        h = fused_attention(q, k, v, mask)
        assert (h[0, :, 2] == 0).all()
        found.append([h, *torch.autograd.grad(h.square().sum(), (q, k, v))])
    torch.testing.assert_close(*found)


@pytest.mark.guards("02.s5")
def test_queries_and_keys_may_differ_in_number():
    q, k, v = qkv(6, 7)
    h, a = attention(q[..., :2, :], k, v)
    assert h.shape == (2, 3, 2, 4) and a.shape == (2, 3, 2, 7)


Q, K, V = normal(0, 3, 3, 4)
test_bad_input_is_named = refuses(
    (lambda: attention(Q[0], K, V), r"q must be .* shape \(\.\.\., N, d\), got shape \(4,\)"),
    (lambda: attention(Q, K[:, :2], V), "share d_k, their last size, got 4 and 2"),
    (lambda: attention(Q[:, :0], K[:, :0], V), "d_k, .* must be at least 1, got 0"),
    (lambda: attention(Q, K, V[:2]), "one row per key, got 3 and 2 rows"),
    (lambda: attention(Q, K, V, torch.ones(2, 3, 3) > 0), r"got \(2, 3, 3\)"),
    (lambda: attention(Q, K, V, ~torch.ones(3, 3).bool()), "hides every key .* inverted"),
    (lambda: fused_attention(Q, K, V, torch.zeros(3, 3).bool()), "hides every key"),
    (lambda: fused_attention(Q[:2], K, V, causal=True), "got 2 and 3"),
    (lambda: padding_mask([4], 3), r"between 0 and n=3, got \[4\]"),
    (lambda: softmax(torch.tensor([0.0, math.inf])), r"NaN or \+inf"),
    (lambda: boolean(torch.tensor([0.0, -1e9])), "only 0 .* and -inf"),
)
test_two_dtypes_are_named = refuses(
    (lambda: attention(Q, K.float(), V), "share one dtype, got torch.float64 for q and"), error=TypeError
)
