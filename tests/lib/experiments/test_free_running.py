"""`lib.experiments.free_running`: what a causal model writes by itself, judged by the grammar."""

import pytest
import torch

from lib.corpus import PORTUGUESE, next_word, sample
from lib.encoder import Config
from lib.experiments.free_running import impossible_mass, possible_so_far, write
from lib.heads import CausalLM
from lib.vocabulary import CLS, MASK, PAD, SEP, UNK
from tests.randomness import seeded

TRUE = sample(PORTUGUESE, 20, seed=0).ids


@pytest.fixture(scope="module")
def untrained():
    torch.manual_seed(0)
    config = Config(
        len(PORTUGUESE), d=16, layers=1, heads=2, positions=24, segments=0, causal=True, pooler=False
    )
    return CausalLM(config).eval()


def with_end(rows):
    ended = torch.cat([rows, torch.full((len(rows), 1), PAD)], 1)
    ended[torch.arange(len(rows)), (rows != PAD).sum(1)] = SEP
    return ended


def test_sentences_of_the_grammar_stay_possible_to_the_end():
    assert possible_so_far(PORTUGUESE, with_end(TRUE)).all()


def test_the_first_impossible_word_ends_it_for_good():
    broken = with_end(TRUE)
    p = next_word(PORTUGUESE, TRUE)[:, 2]
    impossible = (p == 0).double()
    impossible[:, :5] = 0
    broken[:, 2] = impossible.argmax(-1)
    alive = possible_so_far(PORTUGUESE, broken)
    assert alive[:, :2].all() and not alive[:, 2:].any()


@pytest.mark.guards("04.s18")
def test_an_untrained_model_soon_writes_the_impossible_but_no_special_token(untrained):
    written = write(untrained, 50, 12, seeded(1))
    assert written.shape == (50, 12)
    assert not any((written == token).any() for token in (CLS, MASK, UNK))
    ended = (written == SEP).cumsum(1) - (written == SEP).long() > 0
    assert torch.equal(written == PAD, ended), "padding stands after the end and nowhere else"
    alive = possible_so_far(PORTUGUESE, written)
    assert alive[:, 3].double().mean() < 0.5 and not (~alive[:, :-1] & alive[:, 1:]).any()
    with_teacher = 1 - impossible_mass(untrained, PORTUGUESE, TRUE).mean()
    assert alive[:, -1].double().mean() < with_teacher, "mistakes pile up without the teacher"


def test_impossible_mass_is_what_the_exact_distribution_excludes(untrained):
    mass = impossible_mass(untrained, PORTUGUESE, TRUE)
    assert mass.shape == (int((TRUE != PAD).sum()) + len(TRUE),)
    assert (mass > 0).all() and (mass < 1 + 1e-6).all()
    one = TRUE[:1][:, TRUE[0] != PAD]
    p = untrained(torch.cat([torch.tensor([[CLS]]), one], 1)).softmax(-1)[0]
    expected = (p * (next_word(PORTUGUESE, one)[0] == 0)).sum(-1)
    torch.testing.assert_close(impossible_mass(untrained, PORTUGUESE, one), expected)
