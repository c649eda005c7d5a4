"""`lib.experiments.free_running`: what a causal model writes by itself, judged by the grammar."""

from itertools import pairwise

import pytest
import torch

from lib.corpus import PORTUGUESE, Grammar, next_word, sample
from lib.corpus.entropy import sentence_table
from lib.encoder import Config
from lib.experiments.free_running import can_follow, exposure, impossible_mass, possible_so_far, write
from lib.heads import CausalLM
from lib.training import GrammarSource, NextWord, Recipe, Trainer
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


def test_words_that_can_follow_are_the_neighbours_in_all_sentences():
    grammar = Grammar.from_text("""
        S -> 0.5 a N V | 0.3 os N | 0.2 V V
        N -> gata A | rede
        A -> nova |
        V -> viu | caiu
    """)
    rows, _ = sentence_table(grammar)
    expected = torch.zeros(len(grammar), len(grammar), dtype=torch.bool)
    for row in rows:
        words = [*row[row != PAD].tolist(), SEP]
        for pair in pairwise(words):
            expected[pair] = True
    assert torch.equal(can_follow(grammar), expected)


class OfTheLastWord(torch.nn.Module):
    """Expects what it was told, whatever came before the last word; and the worst after a certain word."""

    def __init__(self, upset_by: int | None = None) -> None:
        super().__init__()
        self.table = torch.randn(len(PORTUGUESE), len(PORTUGUESE), generator=seeded(0))
        self.upset_by = upset_by

    def forward(self, ids):
        logits = self.table[ids]  # (B, N, V)
        if self.upset_by is not None:
            upset = (ids == self.upset_by).cumsum(1) > 0
            logits = logits.masked_fill(upset[..., None] & can_follow(PORTUGUESE)[ids], -30.0)
        return logits


@pytest.fixture(scope="module")
def spoilt():
    """Sentences with a word in second place that cannot stand there, and that word, which TRUE never has."""
    long = TRUE[(TRUE != PAD).sum(1) > 4]
    impossible = (next_word(PORTUGUESE, long)[:, 1] == 0).all(0)  # (V,)
    words = PORTUGUESE.vocabulary.ordinary_ids
    word = int(words[impossible[words] & ~torch.isin(words, TRUE)][0])
    broken = with_end(long)
    broken[:, 1] = word
    return broken, word


def test_a_history_that_does_not_matter_adds_no_error(spoilt):
    own, teacher = exposure(OfTheLastWord(), PORTUGUESE, TRUE, spoilt[0])
    torch.testing.assert_close(own, teacher)


def test_a_history_that_upsets_the_model_adds_its_error(spoilt):
    broken, word = spoilt
    own, teacher = exposure(OfTheLastWord(upset_by=word), PORTUGUESE, TRUE, broken)
    assert own > 0.99 > teacher


@pytest.mark.guards("04.s18")
def test_a_trained_model_errs_more_without_its_teacher():
    """Mistakes add up, and after its own a model also makes more of them than where it reads true words."""
    torch.manual_seed(0)
    source = GrammarSource(PORTUGUESE, 32, 0)
    config = Config(
        len(PORTUGUESE), d=32, layers=1, heads=2, positions=source.max_length, segments=0, causal=True,
        pre_norm=True, pooler=False, dropout=0.0,
    )  # fmt: skip
    trainer = Trainer(NextWord(config), source, Recipe(150, lr=1e-2))
    for _ in range(150):
        trainer.advance()
    model = trainer.objective.model.eval()
    written = write(model, 200, source.max_length - 1, seeded(1))
    alive = possible_so_far(PORTUGUESE, written)
    truth = sample(PORTUGUESE, 400, seed=3).ids
    assert alive[:, -1].double().mean() < 1 - impossible_mass(model, PORTUGUESE, truth).mean()
    own, teacher = exposure(model, PORTUGUESE, truth, written)
    assert own > teacher
