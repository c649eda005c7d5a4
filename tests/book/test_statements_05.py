"""The statements of chapter 5, each tested on inputs that hypothesis looks for."""

from copy import deepcopy

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lib.encoder import Config, Encoder
from lib.experiments.wrong_masking import flattened_masking
from lib.geometry import anisotropy, contributions, standardize
from lib.heads import MLMHead, SequenceHead
from lib.losses import cross_entropy
from lib.training import fine_tune, labelled
from lib.vocabulary import CLS, MASK, PAD
from tests.randomness import SEEDS, normal, seeded


@pytest.mark.guards("05.s22", "05.s23", "05.s24", "05.s25", "05.s26", "05.s28", "05.s29")
@pytest.mark.statement("lem-indices-achatados")
@given(SEEDS, st.integers(1, 8), st.integers(1, 8), st.floats(0.05, 0.9))
def test_flattened_indices_erase_whole_rows_or_fail(seed, b, n, rate):
    ids = torch.randint(5, 50, (b, n), generator=seeded(seed))
    ids[:, 0] = CLS
    chosen = (torch.rand(b, n, generator=seeded(seed)) < rate).nonzero()
    options = {"pad_id": PAD, "mask_id": MASK, "rate": rate, "generator": seeded(seed)}
    if len(chosen) and chosen[:, 1].max() >= b:
        with pytest.raises(IndexError):
            flattened_masking(ids, **options)
        return
    before = ids.clone()
    noisy, labels = flattened_masking(ids, **options)
    erased = set((noisy == MASK).all(1).nonzero().flatten().tolist())
    assert erased == set(chosen.flatten().tolist()), "special tokens too, and nothing but [MASK]"
    kept = [row for row in range(b) if row not in erased]
    assert torch.equal(noisy[kept], before[kept])
    assert labels is ids and torch.equal(labels, before), "every position is charged"


@pytest.mark.guards("05.s27")
@pytest.mark.statement("prop-perda-diluida")
@given(SEEDS, st.integers(2, 20), st.integers(2, 9))
def test_the_mean_over_all_positions_is_a_mixture(seed, n, v):
    logits, g = normal(seed, n, v), seeded(seed)
    labels = torch.randint(v, (n,), generator=g)
    chosen = torch.rand(n, generator=g) < 0.4
    assume(0 < chosen.sum() < n)
    share = chosen.double().mean()
    mixed = share * cross_entropy(logits[chosen], labels[chosen])
    mixed = mixed + (1 - share) * cross_entropy(logits[~chosen], labels[~chosen])
    torch.testing.assert_close(cross_entropy(logits, labels), mixed)


@pytest.mark.statement("prop-congelado")
@settings(max_examples=5)
@given(st.integers(0, 1000))
def test_a_frozen_encoder_forgets_nothing_and_a_free_one_does(seed):
    torch.manual_seed(seed)
    config = Config(30, d=8, layers=1, heads=2, positions=8, dropout=0.0)
    encoder, head = Encoder(config).eval(), MLMHead(config)
    ids = torch.randint(5, 30, (6, 5), generator=seeded(seed))
    examples = labelled(ids.tolist(), torch.arange(6) % 2)

    def told(e):
        with torch.no_grad():
            return head(e(ids), e.embeddings.token.weight)

    before = told(encoder)
    for freeze, same in (("encoder", True), (0, False)):
        tuned = fine_tune(deepcopy(encoder), SequenceHead(config, 2), examples, epochs=1, freeze=freeze)
        assert torch.equal(told(tuned.encoder), before) is same


@pytest.mark.statement("prop-congelado")
@given(SEEDS, st.floats(0, 1))
def test_with_fixed_vectors_the_loss_is_convex_in_the_last_layer(seed, t):
    h, labels = normal(seed, 12, 4), torch.arange(12) % 3
    a, b = normal(seed + 1, 2, 4, 3)

    def loss(W):
        return cross_entropy(h @ W, labels)

    assert loss(t * a + (1 - t) * b) <= t * loss(a) + (1 - t) * loss(b) + 1e-9


@pytest.mark.statement("prop-anisotropia")
@given(SEEDS, st.integers(2, 15), st.integers(1, 8), st.floats(0, 3))
def test_the_mean_cosine_is_the_size_of_the_mean_direction(seed, n, d, shift):
    x = normal(seed, n, d) + shift
    pairs = torch.cosine_similarity(x[:, None], x[None], dim=-1)[~torch.eye(n, dtype=torch.bool)]
    u = x / x.norm(dim=1, keepdim=True)
    formula = (n * u.mean(0).square().sum() - 1) / (n - 1)
    torch.testing.assert_close(pairs.mean(), formula)
    assert anisotropy(x) == pytest.approx(formula.item(), abs=1e-9)
    torch.testing.assert_close(contributions(x).sum(), formula)


@pytest.mark.guards("05.s43")
@pytest.mark.statement("prop-padronizacao")
@given(SEEDS, st.integers(3, 20), st.integers(1, 6), st.floats(0.01, 100), st.floats(-5, 5))
def test_the_standard_deviation_and_not_the_variance(seed, n, d, c, shift):
    x = normal(seed, n, d)
    z = standardize(x)
    torch.testing.assert_close(z.mean(0), torch.zeros(d).double())
    torch.testing.assert_close(z.var(0, correction=0), torch.ones(d).double())
    torch.testing.assert_close(standardize(c * x + shift), z)
    products = z @ z.T
    mean = (products.sum() - products.trace()) / (n * (n - 1))
    torch.testing.assert_close(mean, torch.tensor(-d / (n - 1)).double())
    variance = x.var(0, correction=0)
    by_variance = (x - x.mean(0)) / variance
    torch.testing.assert_close(by_variance.var(0, correction=0), 1 / variance)
    again = (c * x - c * x.mean(0)) / (c * x).var(0, correction=0)
    torch.testing.assert_close(again, by_variance / c)
