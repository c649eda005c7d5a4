"""The fast path gives the plain version's loss, gradients and vectors."""

from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.attention import padding_mask
from lib.encoder import Config
from lib.heads import MaskedLM
from lib.training import shortcuts
from lib.training.shortcuts import batches_by_tokens, best_fit, block_at, encode_all, fast_mlm_loss, hidden_at
from tests.randomness import SEEDS, seeded
from tests.reference import randomise
from tests.refusals import refuses

SMALL = Config(31, d=12, layers=2, heads=3, positions=24, dropout=0.0)
CONFIGS = {
    "bert": SMALL,
    "one block": replace(SMALL, layers=1),
    "pre-norm": replace(SMALL, pre_norm=True),
    "causal": replace(SMALL, causal=True),
    "roberta": replace(SMALL, pad_id=1, count_real_positions=True),
}
BATCHES = (st.integers(1, 5), st.integers(1, 16), SEEDS, st.sampled_from(["none", "right", "left"]))


def masked_lm(config: Config, seed: int = 0) -> MaskedLM:
    torch.manual_seed(seed)
    return randomise(MaskedLM(config), seed).double()


@cache
def shared(name: str) -> MaskedLM:
    """A model for many examples, none of which changes it."""
    return masked_lm(CONFIGS[name]).eval()


def batch(b: int, n: int, seed: int, side: str):
    """Ids, labels at some real positions, the mask of the real tokens, segments."""
    g = seeded(seed)
    lengths = torch.randint(0, n + 1, (b,), generator=g)
    lengths[0] = n
    mask = torch.arange(n) < lengths[:, None]
    mask = {"right": mask, "left": mask.flip(1), "none": torch.ones_like(mask)}[side]
    ids = torch.randint(3, 31, (b, n), generator=g).masked_fill(~mask, 1)
    selected = (torch.rand(b, n, generator=g) < 0.3) & mask
    selected[0, n // 2] = True
    segments = torch.randint(0, 2, (b, n), generator=g)
    return ids, ids.masked_fill(~selected, -100), mask, segments


@pytest.mark.guards("02.s65", "05.s5", "05.s6")
@pytest.mark.parametrize("name", CONFIGS)
@settings(max_examples=25)
@given(*BATCHES)
def test_loss_and_gradients_are_those_of_the_plain_version(name, b, n, seed, side):
    model, arguments = shared(name), batch(b, n, seed, side)
    weights = [*model.parameters()]
    plain, fast = model.loss(*arguments), fast_mlm_loss(model, *arguments)
    torch.testing.assert_close(fast, plain, atol=1e-12, rtol=0)
    expected, got = (torch.autograd.grad(loss, weights, allow_unused=True) for loss in (plain, fast))
    assert [g is None for g in got] == [g is None for g in expected]
    used = ([g for g in gradients if g is not None] for gradients in (got, expected))
    torch.testing.assert_close(*used, atol=1e-10, rtol=0)


@pytest.mark.slow
@given(*BATCHES)
def test_hidden_at_is_the_encoder_at_the_selected(b, n, seed, side):
    encoder = shared("bert").encoder
    ids, labels, mask, segments = batch(b, n, seed, side)
    selected = labels != -100
    expected = encoder(ids, mask, segments)[selected]
    for got in (
        hidden_at(encoder, ids, selected, mask, segments),
        hidden_at(encoder, ids, selected, mask[:, None], segments),
        hidden_at(encoder, ids, selected, mask, segments, packed=False),
    ):
        torch.testing.assert_close(got, expected, atol=1e-12, rtol=0)


def test_the_last_block_runs_its_feed_forward_on_the_selected_only():
    model, seen = masked_lm(SMALL), []
    for block in model.encoder.blocks:
        block.feed_forward.register_forward_hook(lambda _, x, __: seen.append(x[0].numel() // 12))
    ids, labels, mask, segments = batch(4, 16, 3, "right")
    fast_mlm_loss(model, ids, labels, mask, segments)
    assert seen[-1] == int((labels != -100).sum())
    assert seen[0] < ids.numel(), "packed rows hold fewer places than the padded batch"


@pytest.mark.slow
def test_dropout_has_the_same_mean_loss():
    # Not bit by bit, since the draws come in another order: the two means of 200 losses agree within
    # 5 standard errors of their difference, which chance exceeds less than once in a million runs.
    model = masked_lm(replace(SMALL, dropout=0.3)).train()
    arguments = batch(4, 12, 0, "right")
    torch.manual_seed(1)
    with torch.no_grad():
        plain = torch.stack([model.loss(*arguments) for _ in range(200)])
        fast = torch.stack([fast_mlm_loss(model, *arguments) for _ in range(200)])
    error = ((plain.var() + fast.var()) / 200).sqrt()
    assert abs(plain.mean() - fast.mean()) < 5 * error
    assert fast.std() > 0


@given(st.lists(st.integers(0, 12), min_size=1, max_size=20).filter(any), st.booleans())
def test_packing_keeps_every_token_once_and_every_sentence_whole(lengths, flip):
    real = padding_mask(lengths, 12)[:, 0]
    real = real.flip(1) if flip else real
    packed = shortcuts.pack(real)
    held = packed[packed >= 0]
    assert sorted(held.tolist()) == real.flatten().nonzero().squeeze(1).tolist()
    for row in packed:
        tokens = row[row >= 0]
        assert (row[len(tokens) :] == -1).all(), "holes come last"
        for sentence in (tokens // 12).unique():
            where = (row // 12 == sentence).nonzero().squeeze(1)
            assert (where.diff() == 1).all() and (row[where].diff() == 1).all()
    width, longest = packed.shape[1], max(lengths)
    several = width % longest == 0 and width <= min(shortcuts.SHORT, 4 * longest)
    assert longest <= width <= longest * 1.25 or several
    # Best-fit leaves at most one row half empty.
    assert ((packed >= 0).sum(1) * 2 <= packed.shape[1]).sum() <= 1


@given(st.lists(st.integers(1, 100), min_size=1, max_size=60))
def test_packing_is_never_longer_than_rows_of_the_longest_sentence(lengths):
    narrow, _ = best_fit(lengths, max(lengths))
    assert shortcuts.pack(padding_mask(lengths)[:, 0]).numel() <= narrow * max(lengths)


def test_block_at_is_the_block_at_the_selected_with_any_mask():
    torch.manual_seed(0)
    encoder = shared("bert").encoder
    x = torch.randn(3, 7, 12, dtype=torch.float64)
    selected = torch.rand(3, 7) < 0.4
    selected[1] = False
    mask = (torch.rand(3, 1, 7, 7) < 0.6) | torch.eye(7, dtype=torch.bool)
    for causal in (False, True):
        whole = encoder.blocks[0](x, mask, causal)[selected]
        torch.testing.assert_close(block_at(encoder.blocks[0], x, selected, mask, causal), whole)


@pytest.mark.slow
@given(st.lists(st.integers(1, 24), max_size=6), st.integers(1, 60), st.integers(0, 99))
def test_encode_all_gives_each_sentence_its_own_vectors(lengths, budget, seed):
    encoder, g = shared("bert").encoder, seeded(seed)
    sentences = [torch.randint(2, 31, (n,), generator=g) for n in lengths]
    for ids, hidden in zip(sentences, encode_all(encoder, sentences, budget), strict=True):
        torch.testing.assert_close(hidden, encoder(ids[None])[0], atol=1e-12, rtol=0)


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 100))
def test_batches_hold_every_sentence_once_and_respect_the_budget(lengths, budget):
    batches = list(batches_by_tokens(lengths, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for group in batches:
        assert len(group) == 1 or len(group) * max(lengths[i] for i in group) <= budget


def test_nothing_selected_and_no_sentences_give_nothing():
    assert hidden_at(MODEL.encoder, IDS, torch.zeros_like(REAL)).shape == (0, 12)
    assert encode_all(MODEL.encoder, []) == []


MODEL, POISONED = masked_lm(SMALL).eval(), masked_lm(SMALL)
with torch.no_grad():
    POISONED.head.bias[0] = torch.nan
IDS, LABELS, REAL, _ = batch(2, 6, 0, "right")
SHORTER = REAL & (torch.arange(6) < 5)
test_bad_input_is_named = refuses(
    (lambda: fast_mlm_loss(MODEL, IDS, torch.full_like(IDS, -100)), "labels select no position"),
    (lambda: fast_mlm_loss(MODEL, IDS, LABELS[:1]), "labels must have the shape of ids"),
    (lambda: fast_mlm_loss(MODEL, IDS, LABELS, torch.ones(2, 6, 6).bool()), "mask must mark the real tokens"),
    (lambda: hidden_at(MODEL.encoder, IDS, torch.ones_like(REAL), SHORTER), "it also marks padding"),
    (lambda: hidden_at(MODEL.encoder, IDS, IDS), "selected must be boolean"),
    (lambda: fast_mlm_loss(MODEL, IDS + 31, LABELS), "ids must lie between"),
    (lambda: encode_all(MODEL.encoder, [IDS[0]], 0), "budget must be an integer of at least 1"),
    (lambda: encode_all(POISONED.encoder.train(), [IDS[0]]), r"encoder\.eval\(\)"),
    (lambda: fast_mlm_loss(POISONED, IDS, LABELS, REAL), "logits hold NaN"),
)
test_sentences_that_are_no_tensors_are_named = refuses(
    (lambda: encode_all(MODEL.encoder, [[1, 2]]), "sentences must hold vectors of ids"), error=TypeError
)
