"""Next sentence prediction: which pairs are drawn, how they are written, how they are cut."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, chisquare

from lib.corruption import mask_tokens
from lib.pairs import (
    IS_NEXT,
    NOT_NEXT,
    MatchedPairs,
    SentencePair,
    next_sentence_pairs,
    pair_batch,
    truncate_pair,
)
from lib.vocabulary import CLS, PAD, SEP, Vocabulary
from tests.randomness import SEEDS, seeded
from tests.refusals import refuses

FALSE_ALARM = 1e-9  # of a test of frequencies
VOCABULARY = Vocabulary.of_size(50)
DOCUMENTS = [[[d * 100 + s] * (s % 3 + 1) for s in range(40)] for d in range(1, 30)]


@pytest.mark.guards("02.s38", "02.s45", "02.s46")
@pytest.mark.catches("vizinha de mentira")
def test_half_of_the_pairs_are_true_and_the_labels_are_berts():
    pairs = next_sentence_pairs(DOCUMENTS, generator=seeded(4))
    assert len(pairs) == 29 * 39
    for a, b, label in pairs:
        same_document = a[0] // 100 == b[0] // 100
        assert label == (IS_NEXT if same_document else NOT_NEXT)
        if label == IS_NEXT:
            assert b[0] == a[0] + 1
    assert (IS_NEXT, NOT_NEXT) == (0, 1)
    true = sum(pair.label == IS_NEXT for pair in pairs)
    assert binomtest(true, len(pairs), 0.5).pvalue > FALSE_ALARM
    others = torch.tensor([p.b[0] // 100 for p in pairs if p.label == NOT_NEXT]).bincount()[1:]
    assert chisquare(others.numpy()).pvalue > FALSE_ALARM


def lengths_by_hundreds(*lengths: int) -> list[list[list[int]]]:
    """Documents of so many sentences; sentence s of document d is the token 100 d + s."""
    return [[[100 * d + s] for s in range(n)] for d, n in enumerate(lengths, 1)]


@pytest.mark.parametrize("lengths", [(3, 9, 1, 2, 5, 5), (30, 4, 1, 3), (2, 2)], ids=str)
def test_neither_sentence_of_a_matched_pair_hints_at_the_label(lengths):
    """Documents of all lengths, one that outweighs the others, and the fewest that there can be."""
    matched, g = MatchedPairs(lengths_by_hundreds(*lengths)), seeded(5)
    pairs = [matched.draw(g) for _ in range(8000)]
    for (a,), (b,), label in pairs:
        assert (b == a + 1) if label == IS_NEXT else (a // 100 != b // 100)
    label = torch.tensor([pair.label for pair in pairs])
    assert binomtest(int(label.sum()), len(pairs), 0.5).pvalue > FALSE_ALARM
    for sentence, drawn in enumerate(zip(*((pair.a[0], pair.b[0]) for pair in pairs), strict=True)):
        names, which = torch.tensor(drawn).unique(return_inverse=True)
        wanted = {100 * d + s + sentence for d, n in enumerate(lengths, 1) for s in range(n - 1)}
        assert set(names.tolist()) == wanted, "a sentence with a neighbour is never drawn"
        counts = torch.zeros(2, len(names)).index_put_((label, which), torch.ones(len(pairs)), True)
        assert chi2_contingency(counts.numpy()).pvalue > FALSE_ALARM


def test_berts_pairs_hint_at_the_label():
    """What matched pairs mend: an opening follows nothing, so as B it is a false one every time."""
    pairs = next_sentence_pairs(DOCUMENTS, generator=seeded(4))
    openings = [pair.label for pair in pairs if pair.b[0] % 100 == 0]
    assert len(openings) > 5 and set(openings) == {NOT_NEXT}


def test_the_labels_agree_with_transformers():
    from transformers import BertForNextSentencePrediction

    documented = " ".join(BertForNextSentencePrediction.forward.__doc__.split())
    assert f"{IS_NEXT} indicates sequence B is a continuation" in documented
    assert f"{NOT_NEXT} indicates sequence B is a random" in documented


def test_pairs_are_written_as_bert_reads_them():
    pairs = [SentencePair([10, 11], [12], IS_NEXT), SentencePair([10], [13, 14, 15], NOT_NEXT)]
    batch = pair_batch(pairs, VOCABULARY)
    assert batch.ids.tolist() == [[CLS, 10, 11, SEP, 12, SEP, PAD], [CLS, 10, SEP, 13, 14, 15, SEP]]
    assert batch.segment_ids.tolist() == [[0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]]
    assert batch.lengths.tolist() == [6, 7]
    assert batch.labels.tolist() == [IS_NEXT, NOT_NEXT]
    labels = mask_tokens(batch.ids, VOCABULARY, rate=1.0, generator=seeded()).labels
    assert labels[0].tolist() == [-100, 10, 11, -100, 12, -100, -100]


@given(n=st.integers(0, 12), m=st.integers(0, 12), longest=st.integers(0, 20), seed=st.none() | SEEDS)
def test_truncation_shortens_the_longer_one(n, m, longest, seed):
    a, b = list(range(n)), list(range(100, 100 + m))
    generator = None if seed is None else seeded(seed)
    short_a, short_b = truncate_pair(a, b, longest, generator=generator)
    assert len(short_a) + len(short_b) == min(n + m, longest)
    cut_a, cut_b = n - len(short_a), m - len(short_b)
    if cut_a and cut_b:
        assert abs(len(short_a) - len(short_b)) <= 1
    elif cut_a:
        assert len(short_a) >= len(short_b) - 1
    elif cut_b:
        assert len(short_b) >= len(short_a) - 1
    start = short_a[0] if short_a else 0
    assert short_a == a[start : start + len(short_a)], "what is left is a contiguous piece"
    if seed is None:
        assert short_a == a[: len(short_a)] and short_b == b[: len(short_b)]
    assert len(a) == n and len(b) == m, "the input was changed in place"


def test_truncation_takes_from_both_ends_equally_often():
    g = seeded(1)
    front = sum(truncate_pair([1, 2, 3], [], 2, generator=g)[0] == [2, 3] for _ in range(2000))
    assert binomtest(front, 2000, 0.5).pvalue > FALSE_ALARM


def test_a_truncated_batch_has_the_length_asked_for():
    pairs = [SentencePair(list(range(5, 30)), list(range(5, 12)), IS_NEXT)]
    batch = pair_batch(pairs, VOCABULARY, max_length=16, generator=seeded())
    assert batch.ids.shape == (1, 16)
    assert batch.ids[0, 0] == CLS and batch.ids[0, -1] == SEP
    assert (batch.ids == SEP).sum() == 2


test_what_makes_no_pair_is_named = refuses(
    (lambda: pair_batch([SentencePair([], [5], 0)], VOCABULARY), "is empty"),
    (lambda: MatchedPairs(lengths_by_hundreds(4, 1, 1)), "two or more with two sentences"),
)
