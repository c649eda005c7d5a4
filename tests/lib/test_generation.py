"""Generation with a cache gives the tokens of recomputing, and refuses what it cannot do."""

from dataclasses import replace

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.encoder import Config
from lib.generation import Cache, generate
from lib.heads import CausalLM
from lib.weights import causal_lm_from
from tests.randomness import seeded
from tests.reference import randomise, reference
from tests.refusals import refuses

SMALL = Config(31, d=12, layers=2, heads=3, positions=24, segments=0, pad_id=None, causal=True)


def causal_lm(config: Config = SMALL) -> CausalLM:
    torch.manual_seed(0)
    return randomise(CausalLM(config), 0).double().eval()


@settings(max_examples=40)
@given(st.integers(1, 3), st.integers(1, 8), st.integers(0, 12), st.booleans(), st.integers(0, 99))
def test_the_cache_changes_nothing(b, n, new, pre_norm, seed):
    model = causal_lm(replace(SMALL, pre_norm=pre_norm))
    ids = torch.randint(0, 31, (b, n), generator=seeded(seed))
    assert torch.equal(generate(model, ids, new), generate(model, ids, new, cached=False))
    draws = [generate(model, ids, new, cached=c, temperature=0.7, generator=seeded(1)) for c in (True, False)]
    assert torch.equal(*draws)
    assert torch.equal(draws[0][:, :n], ids) and draws[0].shape == (b, n + new)


@pytest.mark.guards("02.s3", "03.s1", "04.s19", "04.s20", "04.s25")
def test_cached_states_are_those_of_the_whole():
    model = causal_lm()
    ids = torch.randint(0, 31, (2, 10))
    cache = Cache(model.encoder, 2, 10)
    with torch.no_grad():
        pieces = [cache.read(model.encoder, ids[:, :4])]
        pieces += [cache.read(model.encoder, ids[:, t : t + 1]) for t in range(4, 10)]
        torch.testing.assert_close(torch.cat(pieces, 1), model.encoder(ids), atol=1e-12, rtol=0)


def test_greedy_generation_equals_the_reference():
    theirs = reference("gpt-1", kind=transformers.AutoModelForCausalLM)
    model = causal_lm_from(theirs.config.to_dict(), theirs.state_dict())
    ids = torch.tensor([[5, 9, 3], [1, 60, 2]])
    tokens = ids
    with torch.no_grad():
        for _ in range(20):
            tokens = torch.cat((tokens, theirs(tokens).logits[:, -1].argmax(-1, keepdim=True)), 1)
    assert torch.equal(generate(model, ids, 20), tokens)


def test_drawing_follows_the_softmax():
    # 4,000 draws of one token from a known distribution: the largest deviation of a frequency stays under
    # 6 standard errors, which chance exceeds less than once in ten million runs over 31 tokens.
    model = causal_lm()
    ids = torch.full((4000, 1), 7)
    drawn = generate(model, ids, 1, temperature=1.0, generator=seeded())[:, 1]
    with torch.no_grad():
        p = model(ids[:1])[0, -1].softmax(-1)
    frequency = torch.bincount(drawn, minlength=31) / 4000
    assert ((frequency - p).abs() <= 6 * (p * (1 - p) / 4000).sqrt() + 1e-12).all()


def test_a_row_ends_with_its_end_and_never_holds_what_may_not_be_written():
    model, g = causal_lm(), seeded()
    start = torch.full((200, 1), 7)
    ids = generate(model, start, 12, temperature=1.0, generator=g, never=(1, 2), end=3)[:, 1:]
    ended = (ids == 3).cumsum(1).bool()
    assert ended.any() and not ended.all() and not torch.isin(ids, torch.tensor([1, 2])).any()
    after = ended & (ids != 3)
    assert (ids[after] == 0).all() and ((ids == 3).sum(1) <= 1).all()


MODEL, IDS = causal_lm(), torch.ones(1, 4, dtype=torch.long)


def read_in_turn(*sizes: int) -> None:
    cache = Cache(MODEL.encoder, 1, 5)
    for size in sizes:
        cache.read(MODEL.encoder, IDS[:, :size])


test_bad_input_is_named = refuses(
    (lambda: generate(MODEL, IDS, 22), r"26 tokens in all.*positions for 24"),
    (lambda: generate(causal_lm().train(), IDS, 1), r"model\.eval\(\)"),
    (lambda: read_in_turn(4, 4), "one new token"),
    (lambda: read_in_turn(4, 1, 1), "room for 5 tokens"),
)
