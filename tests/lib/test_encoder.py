"""Properties of the encoder that need no reference: each test isolates one mechanism."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.attention import Trace, causal_mask, padding_mask
from lib.encoder import Config, Encoder
from lib.presets import preset
from tests.randomness import seeded
from tests.refusals import refuses

SMALL = Config(29, d=12, layers=2, heads=3, positions=16, dropout=0.0)
shapes = st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(0, 2**16))


def build(config: Config = SMALL, seed: int = 0, dtype: torch.dtype = torch.float64) -> Encoder:
    """An encoder whose weights are large enough for attention to be far from uniform."""
    torch.manual_seed(seed)
    encoder = Encoder(config).double().eval()
    with torch.no_grad():
        for p in encoder.parameters():
            p.add_(torch.randn_like(p) * 0.3)
    return encoder.to(dtype)


def random_ids(b: int, n: int, seed: int) -> torch.Tensor:
    return torch.randint(1, SMALL.vocab_size, (b, n), generator=seeded(seed))


@pytest.mark.guards("02.s4", "03.s15", "05.s3", "05.s4", "05.s13")
@settings(max_examples=40)
@given(shapes, st.booleans(), st.booleans(), st.data())
def test_padding_changes_nothing(shape, causal, pre_norm, data):
    b, n, seed = shape
    lengths = data.draw(st.lists(st.integers(0, n), min_size=b, max_size=b).filter(any))
    encoder = build(replace(SMALL, causal=causal, pre_norm=pre_norm), seed)
    ids = random_ids(b, n, seed)
    together = encoder(ids, padding_mask(lengths, n))
    assert together.isfinite().all(), "a row of padding alone must not spoil the others"
    for row, length in enumerate(lengths):
        alone = encoder(ids[row : row + 1, :length])
        torch.testing.assert_close(together[row, :length], alone[0], atol=1e-12, rtol=0)


@pytest.mark.guards("02.s65", "05.s5", "05.s6", "05.s20", "05.s46")
@settings(max_examples=30)
@given(shapes, st.integers(0, 8))
def test_causality_and_its_negation(shape, t):
    b, n, seed = shape
    t = min(t, n - 1)
    encoder, ids = build(seed=seed), random_ids(b, n, seed)
    other = ids.clone()
    other[:, t] = (other[:, t] % 28) + 1
    past = [encoder(x, causal=True)[:, :t] for x in (ids, other)]
    assert torch.equal(*past), "a causal encoder let position t reach the past"
    both = [encoder(x, causal=False) for x in (ids, other)]
    assert (both[0] != both[1]).any(-1).all(), "bidirectional: a changed token must reach every position"


@settings(max_examples=30)
@given(shapes)
def test_without_positions_a_permutation_of_words_permutes_the_vectors(shape):
    b, n, seed = shape
    encoder, ids = build(seed=seed), random_ids(b, n, seed)
    order = torch.randperm(n, generator=seeded(seed))
    same_place = torch.zeros_like(ids)
    moved = encoder(ids[:, order], positions=same_place)
    torch.testing.assert_close(moved, encoder(ids, positions=same_place)[:, order], atol=1e-12, rtol=0)


@settings(max_examples=20)
@given(shapes, st.booleans())
def test_causal_by_argument_configuration_or_mask_is_the_same(shape, pre_norm):
    b, n, seed = shape
    config = replace(SMALL, pre_norm=pre_norm)
    ids = random_ids(b, n, seed)
    by_argument = build(config, seed)(ids, causal=True)
    by_configuration = build(replace(config, causal=True), seed)(ids)
    by_mask = build(config, seed)(ids, causal_mask(n)[None])
    assert torch.equal(by_argument, by_configuration)
    torch.testing.assert_close(by_argument, by_mask, atol=1e-12, rtol=0)


@settings(max_examples=30)
@given(shapes, st.booleans(), st.booleans())
def test_the_trace_shows_what_was_computed(shape, causal, padded):
    b, n, seed = shape
    encoder, ids = build(seed=seed), random_ids(b, n, seed)
    mask = padding_mask([max(1, n - i) for i in range(b)], n) if padded else None
    trace = Trace()
    hidden = encoder(ids, mask, causal=causal, trace=trace)
    torch.testing.assert_close(hidden, encoder(ids, mask, causal=causal), atol=1e-12, rtol=0)
    assert torch.equal(trace.hidden[-1], hidden) and len(trace.hidden) == SMALL.layers + 1
    allowed = torch.ones(b, 3, n, n, dtype=torch.bool)
    allowed = allowed & mask[:, None] if padded else allowed
    allowed = allowed & causal_mask(n) if causal else allowed
    for scores, weights, heads in zip(trace.scores, trace.weights, trace.heads, strict=True):
        by_hand = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
        torch.testing.assert_close(weights, by_hand, atol=1e-12, rtol=0)
        assert heads.shape == (b, 3, n, 4)
    embedded = encoder.embeddings(ids)
    block = encoder.blocks[0].attention
    q, k = block.split(block.W_Q(embedded)), block.split(block.W_K(embedded))
    torch.testing.assert_close(trace.scores[0], q @ k.mT / 2, atol=1e-12, rtol=0)  # sqrt(d_k) = 2


def test_nothing_is_traced_unless_asked(monkeypatch):
    def refuse(*_):
        raise AssertionError("the written-out attention ran without a trace")

    monkeypatch.setattr("lib.attention.attention", refuse)
    build()(random_ids(2, 5, 0))
    with pytest.raises(AssertionError, match="without a trace"):
        build()(random_ids(2, 5, 0), trace=Trace())


@settings(max_examples=30)
@given(
    st.integers(2, 4),
    st.integers(0, 6),
    st.sampled_from([(torch.float32, 1e-4), (torch.bfloat16, 0.5)]),
    st.booleans(),
    st.booleans(),
)
def test_lower_precision_is_near_float64(b, n, precision, causal, traced):
    dtype, tolerance = precision
    ids, mask = random_ids(b, n, 0), torch.ones(b, n, dtype=torch.bool)
    mask[0, n // 2 :] = False  # with n = 1 the first sentence is all padding
    hidden = build(dtype=dtype)(ids, mask, causal=causal, trace=Trace() if traced else None)
    assert hidden.dtype == dtype
    torch.testing.assert_close(
        hidden.double(), build()(ids, mask, causal=causal), atol=tolerance, rtol=0, check_stride=False
    )


@pytest.mark.guards("03.s42", "05.s47")
@pytest.mark.parametrize(("b", "n"), [(0, 5), (2, 0), (2, 7)])
def test_the_output_is_as_long_as_the_input_and_d_numbers_wide(b, n):
    assert build()(random_ids(b, n, 0)).shape == (b, n, 12)
    assert SMALL.d_ff == 4 * 12, "the hidden layer of the feed-forward is another size"


def test_non_contiguous_inputs():
    ids, segments = random_ids(5, 4, 2).t(), torch.randint(0, 2, (5, 4)).t()
    mask = torch.rand(5, 4).t() < 0.8
    mask[:, 0] = True
    assert not ids.is_contiguous() and not mask.is_contiguous()
    spread = build()(ids, mask, segments)
    assert torch.equal(spread, build()(ids.contiguous(), mask.contiguous(), segments.contiguous()))


@pytest.mark.guards("02.s37", "02.s59", "05.s10")
def test_segments_and_positions_are_used():
    ids = random_ids(2, 6, 3)
    encoder = build()
    halves = torch.tensor([[0, 0, 0, 1, 1, 1]] * 2)
    assert torch.equal(encoder(ids), encoder(ids, segments=torch.zeros_like(ids)))
    assert not torch.allclose(encoder(ids), encoder(ids, segments=halves), atol=1e-3)
    assert torch.equal(encoder(ids), encoder(ids, positions=torch.arange(6).expand(2, 6)))
    assert not torch.allclose(encoder(ids.flip(1)), encoder(ids).flip(1), atol=1e-3), "order matters"


def test_roberta_counts_the_real_tokens_from_pad_id_plus_one():
    config = replace(SMALL, pad_id=1, count_real_positions=True)
    ids = torch.tensor([[5, 6, 7, 1, 1], [1, 1, 5, 6, 7]])
    rows = Encoder(config).embeddings.count(ids) + config.first_position
    assert rows.tolist() == [[2, 3, 4, 1, 1], [1, 1, 2, 3, 4]]
    assert config.max_length == 14
    left_and_right = build(config)(ids, ids != 1)
    torch.testing.assert_close(left_and_right[0, :3], left_and_right[1, 2:], atol=1e-12, rtol=0)


def test_pre_norm_starts_near_the_identity_and_post_norm_does_not():
    # The reason to offer it: the sum runs through untouched, so depth does not drown the embeddings.
    torch.manual_seed(0)
    deep = Config(29, d=32, layers=24, heads=4, dropout=0.0, pre_norm=True)
    trace, ids = Trace(), random_ids(2, 8, 0)
    Encoder(deep).eval()(ids, trace=trace)
    assert torch.cosine_similarity(trace.hidden[0], trace.hidden[-1], dim=-1).min() > 0.9
    trace = Trace()
    Encoder(replace(deep, pre_norm=False)).eval()(ids, trace=trace)
    torch.testing.assert_close(trace.hidden[-1].var(-1, unbiased=False), torch.ones(2, 8), atol=1e-3, rtol=0)


IDS = torch.ones(2, 4, dtype=torch.long)


def nan_within() -> Encoder:
    encoder = build()
    with torch.no_grad():
        encoder.blocks[0].feed_forward.W_1.bias[0] = torch.nan
    return encoder


test_what_cannot_work_says_what_to_change = refuses(
    (lambda: replace(SMALL, d=10), r"d must be divisible by heads.*d=10 and heads=3.*heads=1"),
    (lambda: replace(SMALL, pad_id=None, count_real_positions=True), "count_real_positions needs a pad_id"),
    (lambda: replace(SMALL, pad_id=20, count_real_positions=True), "positions must exceed 21"),
    (lambda: preset("bert"), r"bert-base.*got 'bert'"),
    (lambda: build()(IDS[0]), r"ids must have shape \(B, N\)"),
    (lambda: build()(torch.ones(1, 17).long()), "17 tokens.*positions for 16.*positions=17"),
    (lambda: build()(IDS, torch.ones(2, 3, 4).bool()), "mask must have shape"),
    (lambda: build()(IDS, torch.zeros(2, 4).bool()), "hides every key"),
    (lambda: build()(IDS, segments=IDS[:1]), "segments must have the shape of ids"),
    (lambda: build(replace(SMALL, segments=0))(IDS, segments=IDS), "no segment embeddings"),
    (lambda: Encoder(replace(SMALL, dropout=0.1)).train()(IDS, trace=Trace()), r"encoder\.eval\(\)"),
    (lambda: nan_within()(IDS), "NaN or infinity"),
    (lambda: build().pooler(torch.zeros(2, 0, 12, dtype=torch.float64)), "at least one token"),
)
test_a_mask_of_integers_is_refused = refuses(
    (lambda: build()(IDS, IDS), "mask must be boolean"), error=TypeError
)
