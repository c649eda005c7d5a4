"""The statement of the appendix, on grammars and models that hypothesis makes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.corpus import Grammar, leave_one_out
from lib.corpus.entropy import sentence_table
from lib.corpus.grammar import PAD

WEIGHTS = st.integers(1, 9)


@st.composite
def grammars(draw) -> Grammar:
    """Two topics that share some words, with random weights: a few dozen sentences."""
    w = [draw(WEIGHTS) for _ in range(10)]
    return Grammar.from_text(f"""
        S -> {w[0]} A | {w[1]} B
        A -> D N V
        B -> D V N | N V
        D -> {w[2]} o | {w[3]} um
        N -> {w[4]} banco | {w[5]} rio | {w[6]} canto
        V -> {w[7]} canto | {w[8]} passa | {w[9]} fica
    """)


def seen_by_the_left(ids: torch.Tensor, i: int) -> list[tuple]:
    """What a model that reads from the left knows at position i, for every sentence: the words before it."""
    return [tuple(row[:i].tolist()) for row in ids]


def seen_on_both_sides(ids: torch.Tensor, i: int) -> list[tuple]:
    return [(*row[:i].tolist(), None, *row[i + 1 :].tolist()) for row in ids]


def conditionals(contexts: list[tuple], words: torch.Tensor, p: torch.Tensor, size: int) -> torch.Tensor:
    """p(word | context) at every sentence, (S, V), by summing the sentences' own probabilities."""
    number = {context: k for k, context in enumerate(dict.fromkeys(contexts))}
    of = torch.tensor([number[context] for context in contexts])
    joint = torch.zeros(len(number), size, dtype=torch.float64).index_put_((of, words), p, accumulate=True)
    return (joint / joint.sum(1, keepdim=True))[of]


@pytest.mark.statement("prop-piso-do-corpus")
@given(grammars(), st.integers(0, 2**31), st.floats(0.01, 5))
def test_no_model_goes_below_the_floor_and_more_context_never_raises_it(grammar, seed, size):
    ids, p = sentence_table(grammar)
    long = (ids != PAD).sum(1) == 3
    ids, p = ids[long], p[long] / p[long].sum()
    g = torch.Generator().manual_seed(seed)
    for i in range(3):
        floors = []
        for seen in (seen_by_the_left, seen_on_both_sides):
            true = conditionals(seen(ids, i), ids[:, i], p, len(grammar))  # (S, V)
            floor = (p[:, None] * torch.special.entr(true)).sum()
            # A model is any function of the context: the true one, disturbed by a table of random logits.
            contexts = {c: torch.randn(len(grammar), generator=g).double() for c in seen(ids, i)}
            noise = torch.stack([contexts[c] for c in seen(ids, i)])
            model = (true.clamp_min(1e-9).log() + size * noise).log_softmax(-1)
            loss = -(p * model.gather(1, ids[:, i : i + 1]).squeeze(1)).sum()
            excess = (p[:, None] * (torch.special.xlogy(true, true) - true * model)).sum()
            torch.testing.assert_close(loss, floor + excess)
            assert excess > 0
            best = -(p * true.gather(1, ids[:, i : i + 1]).squeeze(1).log()).sum()
            torch.testing.assert_close(best, floor)  # equality for the true distribution
            floors.append(floor)
        assert floors[1] <= floors[0] + 1e-12


@pytest.mark.statement("prop-piso-do-corpus")
@given(grammars())
def test_the_exact_posterior_is_the_sum_over_sentences(grammar):
    ids, p = sentence_table(grammar)
    long = (ids != PAD).sum(1) == 3
    ids, p = ids[long], p[long]
    exact = leave_one_out(grammar, ids)  # (S, 3, V)
    for i in range(3):
        by_hand = conditionals(seen_on_both_sides(ids, i), ids[:, i], p, len(grammar))
        torch.testing.assert_close(exact[:, i], by_hand)
