"""`lib.attention`: each test isolates one mechanism and says which mistake its failure looks like."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from lib.attention import additive, attention, boolean, causal_mask, fused_attention, padding_mask, softmax
from tests.randomness import SEEDS, seeded

SIZES = st.integers(1, 12)


def qkv(seed, n=5, d=4, batch=(2, 3), dtype=torch.float64):
    g = seeded(seed)
    return [torch.randn(*batch, n, d, generator=g, dtype=torch.float64).to(dtype) for _ in range(3)]


def some_mask(seed, n, keep=0.6):
    mask = torch.rand(n, n, generator=seeded(seed)) < keep
    mask[0, 0] = True
    return mask


@pytest.mark.catches("máscara invertida")
@pytest.mark.guards("01.s26")
@pytest.mark.statement("lem-mascara-vetorizada")
@given(st.integers(0, 40))
def test_causal_mask_equals_the_definition_by_loops_and_by_comparing_indices(n):
    mask, i = causal_mask(n), torch.arange(n)
    loops = [[j <= i for j in range(1, n + 1)] for i in range(1, n + 1)]  # as the text counts, from one
    assert mask.tolist() == loops, "the diagonal must be allowed and everything above it hidden"
    compared = torch.zeros(n, n).masked_fill(i[None, :] > i[:, None], -math.inf)
    assert mask.shape == (n, n) and torch.equal(compared, additive(mask))


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
@given(SEEDS, st.floats(-1e30, 1e30))
def test_softmax_equals_torch_and_ignores_a_shift(seed, shift):
    s = torch.randn(3, 7, generator=seeded(seed), dtype=torch.float64)
    torch.testing.assert_close(softmax(s), torch.softmax(s, -1))
    # The shift itself rounds the scores, so the reference is torch on the shifted scores.
    torch.testing.assert_close(softmax(s + shift), torch.softmax(s + shift, -1))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax_normalises_along_the_axis_asked_for(dim):
    s = torch.randn(4, 5, generator=seeded())
    torch.testing.assert_close(softmax(s, dim).sum(dim), torch.ones(s.shape[1 - dim % 2]))


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
    for ours, fused in zip(*results, strict=True):
        assert torch.isfinite(ours).all() and torch.isfinite(fused).all()
        torch.testing.assert_close(ours, fused)


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
    for fused, written_out in zip(*found, strict=True):
        torch.testing.assert_close(written_out, fused)


def test_causal_flag_and_padding_mask_combine():
    q, k, v = qkv(2, 6, batch=(2,))
    padding = padding_mask([6, 3])
    expected, _ = attention(q, k, v, padding & causal_mask(6))
    torch.testing.assert_close(fused_attention(q, k, v, padding, causal=True), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_attention_keeps_the_dtype(dtype):
    q, k, v = qkv(3, dtype=dtype)
    h, a = attention(q, k, v, causal_mask(5))
    assert h.dtype == a.dtype == dtype == fused_attention(q, k, v, causal=True).dtype
    reference = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
    torch.testing.assert_close(h.double(), reference, atol=5e-2 if dtype == torch.bfloat16 else 1e-6, rtol=0)


def test_attention_reads_non_contiguous_tensors():
    q, k, v = (x.transpose(-1, -2).contiguous().transpose(-1, -2) for x in qkv(4))
    assert not q.is_contiguous()
    torch.testing.assert_close(attention(q, k, v)[0], fused_attention(q, k, v))


@pytest.mark.parametrize("n", [0, 1])
def test_shortest_sequences(n):
    q, k, v = qkv(5, n)
    assert torch.equal(attention(q, k, v, causal_mask(n))[0], v if n else torch.empty(2, 3, 0, 4).double())
    assert fused_attention(q, k, v, causal_mask(n)).shape == v.shape


@pytest.mark.guards("02.s5")
def test_queries_and_keys_may_differ_in_number():
    q, k, v = qkv(6, 7)
    h, a = attention(q[..., :2, :], k, v)
    assert h.shape == (2, 3, 2, 4) and a.shape == (2, 3, 2, 7)


def bad_calls():
    q, k, v = qkv(0, 3, batch=())
    yield "a vector", lambda: attention(q[0], k, v), r"q must be .* shape \(\.\.\., N, d\), got shape \(4,\)"
    yield "two dtypes", lambda: attention(q, k.float(), v), "share one dtype, got torch.float64 for q and"
    yield "d_k differs", lambda: attention(q, k[:, :2], v), "share d_k, their last size, got 4 and 2"
    yield "d_k is zero", lambda: attention(q[:, :0], k[:, :0], v), "d_k, .* must be at least 1, got 0"
    yield "fewer values", lambda: attention(q, k, v[:2]), "one row per key, got 3 and 2 rows"
    yield "mask too big", lambda: attention(q, k, v, torch.ones(2, 3, 3) > 0), r"got \(2, 3, 3\)"
    yield "hides all", lambda: attention(q, k, v, ~torch.ones(3, 3).bool()), "hides every key .* inverted"
    yield "hides all, fused", lambda: fused_attention(q, k, v, torch.zeros(3, 3).bool()), "hides every key"
    yield "causal, not square", lambda: fused_attention(q[:2], k, v, causal=True), "got 2 and 3"
    yield "length above n", lambda: padding_mask([4], 3), r"between 0 and n=3, got \[4\]"
    yield "+inf", lambda: softmax(torch.tensor([0.0, math.inf])), r"NaN or \+inf"
    yield "other values", lambda: boolean(torch.tensor([0.0, -1e9])), "only 0 .* and -inf"


@pytest.mark.parametrize(("call", "message"), [pytest.param(c, m, id=name) for name, c, m in bad_calls()])
def test_bad_input_is_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
