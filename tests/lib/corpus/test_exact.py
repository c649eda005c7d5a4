"""The exact machinery of lib.corpus against brute force that shares no code with it.

`language` expands the rules of a grammar into every sentence with its probability; each posterior and each
floor is then recomputed from that table by plain sums over sentences, selections and replacements.
"""

import itertools
import math
from collections import defaultdict

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.corpus import Grammar, sample
from lib.corpus.entropy import bidirectional_floor, causal_floor, mlm_floor
from lib.corpus.inference import leave_one_out, next_word, posterior, topic_log_joint
from lib.corruption import BERT_CHANNEL, MASK_ONLY, Channel
from lib.vocabulary import PAD, SEP, SPECIAL_TOKENS, pad
from tests.refusals import refuses

# Two readings of "vela caiu", an optional end, agreement across words, a word shared by three classes.
TOY = {
    "S": [(3, "MAR"), (1, "CASA")],
    "MAR": [(2, "(quem a NF ) caiu"), (1, "o NM V FIM")],
    "CASA": [(1, "a NF V"), (1, "(quem a vela ) caiu")],
    "NF": [(1, "vela"), (3, "manga")],
    "NM": [(1, "banco"), (1, "barco")],
    "V": [(1, "caiu"), (2, "barco")],
    "FIM": [(1, ""), (1, "V")],
}
RECURSIVE = {
    "S": [(1, "N c RESTO")],
    "RESTO": [(1, ""), (1, "ADV RESTO")],
    "N": [(1, "a"), (1, "b")],
    "ADV": [(2, "d"), (1, "a")],
}


def language(rules, symbols=("S",)):
    """Every word sequence that the symbols expand to, with its probability, straight from the rules."""
    if not symbols:
        return {(): 1.0}
    head, tail = symbols[0], language(rules, symbols[1:])
    if head == ")" or (head.startswith("(") and len(head) > 1):
        heads = {(): 1.0}
    elif head not in rules:
        heads = {(head,): 1.0}
    else:
        heads = defaultdict(float)
        total = sum(weight for weight, _ in rules[head])
        for weight, body in rules[head]:
            for words, p in language(rules, tuple(body.split())).items():
                heads[words] += p * weight / total
    result = defaultdict(float)
    for (left, p), (right, q) in itertools.product(heads.items(), tail.items()):
        result[left + right] += p * q
    return dict(result)


def table_entropy(table):
    total = sum(table.values())
    return -sum(p / total * math.log(p / total) for p in table.values() if p > 0)


def brute_next(table, prefix, grammar):
    row = torch.zeros(len(grammar), dtype=torch.float64)
    for words, p in table.items():
        if words[: len(prefix)] == prefix:
            row[SEP if len(words) == len(prefix) else grammar.vocabulary.ids[words[len(prefix)]]] += p
    return row / row.sum()


def brute_posterior(table, seen, position, grammar, likelihood):
    """P(word at position | seen), where likelihood(j, word) is the chance of what is seen at j."""
    row = [0.0] * len(grammar)
    for words, p in table.items():
        if len(words) == len(seen):
            weight = p * math.prod(likelihood(j, word) for j, word in enumerate(words))
            row[grammar.vocabulary.ids[words[position]]] += weight
    return torch.tensor(row, dtype=torch.float64) / sum(row)


def chance(y, word, channel, rate, grammar):
    """Of seeing y where a word was selected with probability `rate`: BERT's corruption, case by case."""
    random = channel.random / len(vocabulary(grammar))
    selected = channel.mask if y == "[MASK]" else random + channel.keep * (y == word)
    return rate * selected + (1 - rate) * (y == word)


def channel_likelihood(seen, position, channel, rate, grammar):
    """Of what is seen, if the word at `position` was selected, and who knows which others."""
    return lambda j, word: chance(seen[j], word, channel, 1.0 if j == position else rate, grammar)


def vocabulary(grammar):
    return grammar.vocabulary[len(SPECIAL_TOKENS) :]


GRAMMAR, TABLE = Grammar(TOY), language(TOY)
CHANNELS = (MASK_ONLY, Channel(0.7, 0.0, 0.3), BERT_CHANNEL)


def test_total_probability_is_one_and_each_sentence_has_its_own():
    assert sum(TABLE.values()) == pytest.approx(1, abs=1e-12)
    for words, p in TABLE.items():
        assert topic_log_joint(GRAMMAR, words).logsumexp(-1).exp().item() == pytest.approx(p, rel=1e-12)
    outside = [s for s in itertools.product(vocabulary(GRAMMAR), repeat=3) if s not in TABLE]
    assert outside
    assert all(topic_log_joint(GRAMMAR, words).logsumexp(-1) == -math.inf for words in outside)


def test_next_word_equals_brute_force_at_every_prefix():
    for words in TABLE:
        expected = torch.stack([brute_next(TABLE, words[:i], GRAMMAR) for i in range(len(words) + 1)])
        torch.testing.assert_close(next_word(GRAMMAR, words), expected)


def with_masks(words, pattern):
    return tuple("[MASK]" if hide else word for word, hide in zip(words, pattern, strict=True))


def test_posterior_equals_brute_force_for_every_pattern_of_hidden_words():
    for words in TABLE:
        every = range(len(words))
        expected = {}
        for pattern in itertools.product((False, True), repeat=len(words)):
            seen = with_masks(words, pattern)

            def fits(j, word, seen=seen):
                return seen[j] in ("[MASK]", word)

            rows = [brute_posterior(TABLE, seen, i, GRAMMAR, fits) for i in every]
            expected[pattern] = torch.stack(rows)
        both = torch.stack([*expected.values()])
        masked = torch.stack([GRAMMAR.encode(with_masks(words, pattern)) for pattern in expected])
        torch.testing.assert_close(posterior(GRAMMAR, masked), both)
        whole = GRAMMAR.encode(words).expand(masked.shape)
        torch.testing.assert_close(posterior(GRAMMAR, whole, hidden=torch.tensor([*expected])), both)
        # As words, one sentence at a time: it is the same.
        alone = [tuple(i == j for j in every) for i in every]
        torch.testing.assert_close(posterior(GRAMMAR, words, hidden=alone[0]), expected[alone[0]])
        torch.testing.assert_close(posterior(GRAMMAR, with_masks(words, alone[0])), expected[alone[0]])
        left_out = torch.stack([expected[alone[i]][i] for i in every])
        torch.testing.assert_close(leave_one_out(GRAMMAR, words), left_out)


@pytest.mark.parametrize(
    ("rate", "channel"),
    [
        (0.15, BERT_CHANNEL),
        (0.4, Channel(0.5, 0.3, 0.2)),
        (1.0, Channel(0.0, 0.6, 0.4)),
        (0.2, Channel(0.7, 0.0, 0.3)),
    ],
)
def test_channel_posterior_equals_brute_force_for_every_observation(rate, channel):
    symbols = vocabulary(GRAMMAR) if channel.mask == 0 else ("[MASK]", *vocabulary(GRAMMAR))
    observations = [*itertools.product(symbols, repeat=3)]
    if channel.random == 0:  # then only a sentence with some words hidden can be seen
        patterns = [(words, itertools.product((0, 1), repeat=len(words))) for words in TABLE]
        observations = sorted({with_masks(words, hide) for words, hidden in patterns for hide in hidden})
    found = posterior(GRAMMAR, pad([*map(GRAMMAR.encode, observations)], PAD), channel=channel, rate=rate)
    expected = torch.zeros_like(found)
    for row, seen in zip(expected, observations, strict=True):
        for i in range(len(seen)):
            likelihood = channel_likelihood(seen, i, channel, rate, GRAMMAR)
            row[i] = brute_posterior(TABLE, seen, i, GRAMMAR, likelihood)
    torch.testing.assert_close(found, expected)


def mean_length(table):
    return sum(p * len(words) for words, p in table.items())


def brute_floor(table, observations):
    """Nats per word, where `observations(words, i)` yields what may be seen, each with its chance."""
    contexts = defaultdict(lambda: defaultdict(float))
    for words, p in table.items():
        for i, word in enumerate(words):
            for seen, chance in observations(words, i):
                contexts[i, seen][word] += p * chance
    return sum(sum(t.values()) * table_entropy(t) for t in contexts.values()) / mean_length(table)


def all_the_others(words, i):
    yield (*words[:i], None, *words[i + 1 :]), 1.0


@pytest.fixture(scope="module")
def toy_floors():
    """The floors as sums over the whole language; the last over every observation of every sentence."""
    symbols = ("[MASK]", *vocabulary(GRAMMAR))

    def corrupted(channel):
        def at(word, rate):
            """What may be seen at a place, each with its chance."""
            chances = ((y, chance(y, word, channel, rate, GRAMMAR)) for y in symbols)
            return [(y, p) for y, p in chances if p]

        def observations(words, i):
            places = (at(word, 1.0 if j == i else 0.15) for j, word in enumerate(words))
            for pairs in itertools.product(*places):
                seen, chances = zip(*pairs, strict=True)
                yield seen, math.prod(chances)

        return brute_floor(TABLE, observations)

    causal = table_entropy(TABLE) / (mean_length(TABLE) + 1)
    return [causal, brute_floor(TABLE, all_the_others), *map(corrupted, CHANNELS)]


def every_floor(grammar, **options):
    return [
        causal_floor(grammar, **options),
        bidirectional_floor(grammar, **options),
        *(mlm_floor(grammar, channel, **options) for channel in CHANNELS),
    ]


def test_exact_floors_equal_brute_force(toy_floors):
    for floor, expected in zip(every_floor(GRAMMAR), toy_floors, strict=True):
        assert floor.exact and floor.half_width == 0
        assert floor.value == pytest.approx(expected, abs=1e-10)


def test_sampled_floors_agree_with_brute_force(toy_floors):
    sampled = every_floor(GRAMMAR, sentences=8000, seed=3, limit=0)
    for floor, expected in zip(sampled, toy_floors, strict=True):
        assert not floor.exact
        assert 0 < floor.half_width < 0.05 * expected
        assert abs(floor.value - expected) < 2 * floor.half_width  # about 4 standard errors


@pytest.mark.slow
def test_stated_interval_covers_the_truth_as_often_as_it_says(toy_floors):
    floors = [bidirectional_floor(GRAMMAR, sentences=400, seed=seed, limit=0) for seed in range(100)]
    hits = sum(abs(floor.value - toy_floors[1]) <= floor.half_width for floor in floors)
    assert 88 <= hits <= 100  # 95 expected; fewer than 88 has probability 0.002


def test_right_recursion_gives_an_unbounded_language_with_exact_probabilities():
    grammar = Grammar(RECURSIVE)
    told = topic_log_joint(grammar, "a c d d a").logsumexp(-1).exp().item()
    assert told == pytest.approx(0.5 * (0.5 * 2 / 3) ** 2 * (0.5 / 3) * 0.5)
    # 1 bit for N, then a geometric number of adverbs: 1 bit to go on or stop, H(1/3) for each adverb.
    choice = math.log(2)
    adverb = -(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3)
    assert causal_floor(grammar).value == pytest.approx((choice + 2 * choice + adverb) / 4, abs=1e-10)


def test_floors_of_an_unbounded_language():
    """S is n times "a", P(n) = 2^-n: the causal model pays 1 bit a token, a hidden "a" can only be "a"."""
    left, *others = every_floor(Grammar({"S": [(1, "a S"), (1, "a")]}), sentences=200)
    assert left.exact and not others[0].exact
    assert left.value == pytest.approx(2 * math.log(2) / 3)
    assert all(floor.value == 0 for floor in others)


def test_sentence_frequencies_match_their_probabilities():
    count = 40_000
    drawn = defaultdict(int)
    for row in sample(GRAMMAR, count, seed=1).ids.tolist():
        drawn[tuple(GRAMMAR.decode(row))] += 1
    assert set(drawn) == set(TABLE)
    statistic = sum((drawn[words] - count * p) ** 2 / (count * p) for words, p in TABLE.items())
    freedom = len(TABLE) - 1
    assert statistic < freedom + 4.5 * math.sqrt(2 * freedom)


def test_topic_posterior_equals_brute_force():
    priors = {"MAR": 0.75, "CASA": 0.25}
    grammar, given = Grammar(TOY, topics=tuple(priors)), {topic: language(TOY, (topic,)) for topic in priors}
    for words in TABLE:
        joint = [prior * given[topic].get(words, 0.0) for topic, prior in priors.items()]
        told = topic_log_joint(grammar, words).exp()
        torch.testing.assert_close(told, torch.tensor(joint, dtype=torch.float64))


@st.composite
def grammars(draw):
    """Random grammars: two layers of nonterminals over five words, empty bodies and shared words included."""
    words = st.sampled_from("abcde")
    weights = st.integers(1, 5)
    rules = {f"L{i}": draw(st.lists(st.tuples(weights, words), min_size=1, max_size=3)) for i in range(2)}
    inner = st.lists(st.sampled_from([*"abcde", "L0", "L1"]), max_size=2).map(" ".join)
    rules |= {f"M{i}": draw(st.lists(st.tuples(weights, inner), min_size=1, max_size=3)) for i in range(2)}
    outer = st.lists(st.sampled_from([*"abc", "L0", "L1", "M0", "M1"]), max_size=2).map(
        lambda s: " ".join(["L0", *s])
    )
    rules["S"] = draw(st.lists(st.tuples(weights, outer), min_size=1, max_size=3))
    return rules


@pytest.mark.slow
@settings(max_examples=60)
@given(grammars(), st.randoms(use_true_random=False))
def test_random_grammars_agree_with_brute_force(rules, random):
    grammar, table = Grammar(rules), language(rules)
    words = random.choice(sorted(table))
    seen = [random.choice(("[MASK]", random.choice(vocabulary(grammar)), word)) for word in words]
    rows = posterior(grammar, seen, channel=BERT_CHANNEL)
    position = random.randrange(len(words))
    likelihood = channel_likelihood(seen, position, BERT_CHANNEL, 0.15, grammar)
    torch.testing.assert_close(rows[position], brute_posterior(table, seen, position, grammar, likelihood))
    torch.testing.assert_close(
        next_word(grammar, words)[position], brute_next(table, words[:position], grammar)
    )
    left, both = causal_floor(grammar), bidirectional_floor(grammar)
    assert left.exact and both.exact
    assert left.value * (mean_length(table) + 1) == pytest.approx(table_entropy(table), abs=1e-9)
    assert both.value == pytest.approx(brute_floor(table, all_the_others), abs=1e-9)


test_what_cannot_work_is_refused_with_its_reason = refuses(
    (lambda: Grammar({"A": [(1, "a")]}), "start"),
    (lambda: Grammar({"S": []}), "no alternative"),
    (lambda: Grammar({"S": [(0, "a")]}), "positive"),
    (lambda: Grammar({"S": [(math.nan, "a")]}), "positive"),
    (lambda: Grammar({"S": [(1, "")]}), "no words only"),
    (lambda: Grammar({"S": [(1, "S a"), (1, "a")]}), "left-recursive"),
    (lambda: Grammar({"S": [(1, "a S b"), (1, "c")]}), "end of a body"),
    (lambda: Grammar({"S": [(1, "a S")]}), "never end"),
    (lambda: Grammar({"S": [(1, "(x a")]}), "brackets"),
    (lambda: Grammar({"S": [(1, "a [MASK]")]}), "special"),
    (lambda: Grammar.from_text("S = a b"), "line 1"),
    (lambda: posterior(GRAMMAR, "a zebra caiu"), "known words"),
    (lambda: posterior(GRAMMAR, "caiu a vela"), "probability zero"),
    (lambda: posterior(GRAMMAR, ["[MASK]"] * 9), "no sentence of 9 words"),
    (lambda: posterior(GRAMMAR, "a vela caiu", hidden=[True]), "shape"),
    (lambda: posterior(GRAMMAR, torch.tensor([[0, 5, 6]])), "PAD"),
    (lambda: next_word(GRAMMAR, "a [MASK]"), r"\[MASK\]"),
    (lambda: mlm_floor(GRAMMAR, rate=0), "rate must be above 0"),
)


def test_text_form_reads_the_same_grammar():
    text = "\n".join(
        f"{name} -> " + " | ".join(f"{w} {body}" for w, body in alts) for name, alts in TOY.items()
    )
    grammar = Grammar.from_text(text + "\n# a comment\n")
    assert grammar.vocabulary == GRAMMAR.vocabulary
    torch.testing.assert_close(grammar.arc_probability, GRAMMAR.arc_probability)
