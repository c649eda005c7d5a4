"""`lib.experiments.wrong_masks`: each mistake differs from the right mask as its name says."""

import math

import pytest
import torch

from lib.attention import causal_mask
from lib.experiments.wrong_masks import MISTAKES, losses_on_noise, mistaken_weights
from tests.randomness import seeded
from tests.refusals import refuses

S = torch.randn(5, 5, generator=seeded())
FUTURE = ~causal_mask(5)


@pytest.mark.guards("01.s4")
def test_hidden_diagonal_leaves_the_first_token_with_nothing():
    a = mistaken_weights("diagonal", S)
    assert (a.diagonal() == 0).all() and (a[0] == 0).all() and torch.allclose(a[1:].sum(-1), torch.ones(4))


def test_inverted_mask_shows_only_the_future():
    a = mistaken_weights("invertida", S)
    assert (a[~FUTURE] == 0).all() and (a[:-1][FUTURE[:-1]] > 0).all() and (a[-1] == 0).all()


def test_masking_after_softmax_loses_weight_in_every_row_but_the_last():
    a = mistaken_weights("depois", S)
    assert (a[FUTURE] == 0).all() and (a[:-1].sum(-1) < 1).all()
    torch.testing.assert_close(a[-1].sum(), torch.ones(()))


@pytest.mark.guards("01.s5", "01.s17", "03.s18")
@pytest.mark.parametrize("kind", ["esquecida", "zerada"])
def test_forgotten_and_zeroed_masks_leak_the_future(kind):
    a = mistaken_weights(kind, S)
    assert (a[FUTURE] > 0).all() and torch.allclose(a.sum(-1), torch.ones(5))


@pytest.mark.parametrize("kind", MISTAKES)
def test_changing_the_last_token_betrays_every_mistake_at_the_first_but_the_hidden_diagonal(kind):
    """What the quiz of chapter 1 says of this probe."""
    other, v = S.clone(), torch.randn(5, 3, generator=seeded())
    other[0, -1] += 1  # the key of another last token; its value changes too
    seen = mistaken_weights(kind, S)[0] @ v, mistaken_weights(kind, other)[0] @ torch.cat([v[:-1], -v[-1:]])
    assert torch.equal(*seen) == (kind == "diagonal")


def test_no_mistake_equals_another_one():
    weights = [mistaken_weights(kind, S) for kind in MISTAKES]
    assert all(not torch.allclose(a, b) for i, a in enumerate(weights) for b in weights[:i])


def test_an_unmasked_model_does_not_generalise_it_copies():
    assert losses_on_noise(masked=False, steps=60)[-1] < 0.5 * math.log(8)


def test_scale_divides_the_scores():
    torch.testing.assert_close(mistaken_weights("esquecida", S, 4), torch.softmax(S / 2, -1))


test_bad_input_is_named = refuses(
    (lambda: mistaken_weights("tudo", S), "kind must be one of"),
    (lambda: mistaken_weights("depois", S[:2]), "square"),
    (lambda: mistaken_weights("depois", S, 0), "d_k must be"),
)
