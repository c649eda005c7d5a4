"""Pairs of sentences: label and words against brute force on a small grammar, calibration on ours."""

import itertools
import math
from collections import Counter

import pytest
import torch

from lib.corpus import PORTUGUESE, Grammar, paragraphs, posterior, sample
from lib.corpus.next_sentence import next_sentence_floor, next_sentence_posterior, pair_posterior
from lib.corruption import MASK_ONLY, Channel
from lib.vocabulary import SPECIAL_TOKENS
from tests.refusals import refuses

RULES = {
    "S": [(3, "X"), (1, "Y")],
    "X": [(1, "a B")],
    "Y": [(1, "B a"), (1, "a c")],
    "B": [(1, "a"), (2, "b")],
}
GIVEN = {"X": {"a a": 1 / 3, "a b": 2 / 3}, "Y": {"a a": 1 / 6, "b a": 1 / 3, "a c": 1 / 2}}
PRIOR = {"X": 0.75, "Y": 0.25}


def joint_table():
    """P(first, second, follows), by the definition."""
    alone = Counter()
    for topic, table in GIVEN.items():
        for text, p in table.items():
            alone[text] += PRIOR[topic] * p
    table = {}
    for first, second in itertools.product(alone, repeat=2):
        together = sum(PRIOR[t] * GIVEN[t].get(first, 0) * GIVEN[t].get(second, 0) for t in PRIOR)
        table[first, second, True] = together / 2
        table[first, second, False] = alone[first] * alone[second] / 2
    return table


GRAMMAR, TABLE = Grammar(RULES, topics=("X", "Y")), joint_table()


def test_label_equals_brute_force():
    assert sum(TABLE.values()) == pytest.approx(1)
    for first, second in {key[:2] for key in TABLE}:
        yes, no = TABLE[first, second, True], TABLE[first, second, False]
        found = next_sentence_posterior(GRAMMAR, *(GRAMMAR.encode(x)[None] for x in (first, second)))
        assert found.item() == pytest.approx(yes / (yes + no), abs=1e-12)


def test_words_and_label_of_a_corrupted_pair_equal_brute_force():
    channel = Channel(0.6, 0.2, 0.2)
    words = GRAMMAR.vocabulary[len(SPECIAL_TOKENS) :]

    def chance(seen, word, rate):
        selected = 0.6 if seen == "[MASK]" else 0.2 / len(words) + 0.2 * (seen == word)
        return rate * selected + (1 - rate) * (seen == word)

    everything = [*itertools.product(("[MASK]", *words), repeat=4)]
    first, second = (torch.stack([GRAMMAR.encode(seen[i : i + 2]) for seen in everything]) for i in (0, 2))
    of_first, of_second, follows = pair_posterior(GRAMMAR, first, second, channel, rate=0.4)
    expected, labels = [], torch.zeros(len(everything), 2, dtype=torch.float64)
    for seen, label in zip(everything, labels, strict=True):
        weights = [[0.0] * len(GRAMMAR) for _ in range(4)]
        for (one, other, is_next), p in TABLE.items():
            pair = (*one.split(), *other.split())
            label[int(is_next)] += math.prod(map(chance, seen, pair, [0.4] * 4)) * p
            for i in range(4):
                rates = [1.0 if j == i else 0.4 for j in range(4)]
                weights[i][GRAMMAR.vocabulary.ids[pair[i]]] += math.prod(map(chance, seen, pair, rates)) * p
        expected.append(weights)
    rows = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(torch.cat([of_first, of_second], 1), rows / rows.sum(-1, keepdim=True))
    torch.testing.assert_close(follows, labels[:, 1] / labels.sum(1), atol=1e-12, rtol=0)


def test_the_other_sentence_tells_the_topic():
    """Two words are hidden where any topic would fit: the sentence before says which are likely."""
    hidden = PORTUGUESE.encode("Ana viu a [MASK] na [MASK]")[None]
    alone = posterior(PORTUGUESE, hidden, channel=MASK_ONLY)[0, 5]
    before = PORTUGUESE.encode("o pescador puxou a rede")[None]
    _, after, _ = pair_posterior(PORTUGUESE, before, hidden, MASK_ONLY)
    beach, shop = PORTUGUESE.vocabulary.ids["praia"], PORTUGUESE.vocabulary.ids["oficina"]
    # Half of the pairs are strangers: with T topics the other sentence multiplies by about (T + 1) / 2.
    assert after[0, 5, beach] / alone[beach] == pytest.approx((len(PORTUGUESE.topics) + 1) / 2, rel=0.05)
    assert after[0, 5, shop] < alone[shop]


def test_label_is_calibrated_on_portuguese():
    count = 400
    follows = paragraphs(PORTUGUESE, count, 2, seed=1).ids
    strangers = sample(PORTUGUESE, 2 * count, seed=2).ids
    first, second = (torch.cat([_padded(follows[i::2]), _padded(strangers[i::2])]) for i in (0, 1))
    probability = next_sentence_posterior(PORTUGUESE, first, second)
    truth = (torch.arange(2 * count) < count).double()
    gap = truth - probability
    assert abs(gap.mean()) < 4 * gap.std() / math.sqrt(2 * count)
    accuracy = ((probability > 0.5) == truth.bool()).double().mean()
    assert 0.8 < accuracy < 0.99  # strangers share a topic one time in five, so certainty is impossible


def _padded(ids, longest=16):
    return torch.nn.functional.pad(ids, (0, longest - ids.shape[1]))


def test_floor_of_the_label_agrees_with_brute_force():
    expected = 0.0
    for first, second in {key[:2] for key in TABLE}:
        pair = [TABLE[first, second, label] for label in (True, False)]
        expected -= sum(p * math.log(p / sum(pair)) for p in pair if p)
    floor = next_sentence_floor(GRAMMAR, 8000)
    assert abs(floor.value - expected) < 2 * floor.half_width
    assert floor.half_width < 0.02


NONSENSE = PORTUGUESE.encode("banco banco banco banco banco")[None]
test_bad_pairs_are_refused = refuses(
    (lambda: next_sentence_posterior(PORTUGUESE, NONSENSE, NONSENSE), "probability zero"),
    (lambda: next_sentence_floor(PORTUGUESE, 3), "pairs"),
)
