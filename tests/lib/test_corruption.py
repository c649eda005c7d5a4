"""Corruption: what is selected, what happens there, and whether the frequencies are those that are claimed.

Frequencies are judged by exact binomial or chi-square tests at a false-alarm rate of 1e-9: a right
implementation fails one of them once in a thousand million seeds. The seeds are fixed, so a pass stays a
pass. Famous wrong implementations fail the same tests (`tests/lib/experiments/test_defects.py`).
"""

import itertools
from operator import itemgetter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from lib import corruption
from lib.corruption import BERT_CHANNEL, MASK_ONLY, Channel, corrupt, mask_tokens, select_spans, select_words
from lib.tokenizer import Tokenizer
from lib.vocabulary import Vocabulary
from tests.randomness import SEEDS, seeded
from tests.refusals import refuses

FALSE_ALARM = 1e-9
PAD, UNK, CLS, SEP, MASK = range(5)
SPECIAL = (PAD, UNK, CLS, SEP, MASK)
VOCABULARY = Vocabulary.of_size(50)

methods = st.sampled_from(["tokens", "words", "spans"])
rates = st.sampled_from([0.0, 0.15, 0.5, 1.0])
selections = st.sampled_from(["bernoulli", "exact"])
shapes = st.lists(st.integers(0, 6), min_size=1, max_size=3).map(tuple)
dtypes = st.sampled_from([torch.int32, torch.int64])


def words(*shape, seed=0):
    return torch.randint(5, len(VOCABULARY), shape, generator=seeded(seed))


# What any corruption keeps to


def corrupted(method, ids, word_ids, rate, selection, seed):
    options = {"rate": rate, "generator": seeded(seed)}
    if method == "tokens":
        return mask_tokens(ids, VOCABULARY, selection=selection, **options)
    maskable = VOCABULARY.is_ordinary(ids)
    if method == "words":
        selected = select_words(word_ids, maskable, selection=selection, **options)
    else:
        selected = select_spans(maskable, word_ids=word_ids, **options)
    return corrupt(ids, selected, VOCABULARY, generator=options["generator"], by_span=method == "spans")


@pytest.mark.guards("02.s14", "05.s25", "05.s28", "05.s29", "05.s34")
@pytest.mark.catches("especiais mascarados", "rótulos esquecidos")
@given(methods, SEEDS, shapes, rates, selections, dtypes, st.booleans())
def test_invariants_for_every_method_and_shape(method, seed, shape, rate, selection, dtype, turned):
    ids = torch.randint(len(VOCABULARY), shape, generator=seeded(seed)).to(dtype)  # words and special tokens
    ids = ids.transpose(0, -1) if turned else ids  # not contiguous
    word_ids = torch.randint(-1, 4, ids.shape, generator=seeded(seed)).sort(-1).values
    before = ids.clone()
    noisy, labels = corrupted(method, ids, word_ids, rate, selection, seed)
    assert torch.equal(ids, before), "the input was changed in place"
    assert noisy.shape == labels.shape == ids.shape
    assert noisy.dtype == labels.dtype == dtype
    selected = labels != -100
    special = torch.isin(ids, torch.tensor(SPECIAL, dtype=dtype))
    assert not (selected & special).any(), "a special token was selected"
    assert torch.equal(labels[selected], ids[selected])
    assert torch.equal(noisy[~selected], ids[~selected])
    drawn = noisy[selected & (noisy != MASK)]
    assert not torch.isin(drawn, torch.tensor(SPECIAL, dtype=dtype)).any(), "a special token was drawn"
    again = corrupted(method, ids, word_ids, rate, selection, seed)
    assert torch.equal(again.ids, noisy) and torch.equal(again.labels, labels)
    if rate == 0:
        assert not selected.any()
    if rate == 1 and method == "tokens":
        assert torch.equal(selected, ~special)


# The channel: 80/10/10


@pytest.mark.guards("02.s18", "02.s19", "02.s24", "02.s25", "05.s18", "05.s19")
@pytest.mark.catches("dois sorteios", "sorteio contra si mesmo")
@pytest.mark.parametrize("channel", [BERT_CHANNEL, MASK_ONLY, Channel(0.5, 0.3, 0.2), Channel(0.0, 0.5, 0.5)])
def test_shares_are_those_of_the_channel_and_neighbours_are_decided_independently(channel):
    ids = words(4000, 100)
    everywhere = torch.ones_like(ids, dtype=torch.bool)
    noisy, labels = corrupt(ids, everywhere, VOCABULARY, channel, generator=seeded(11))
    assert torch.equal(labels, ids), "kept and replaced words are predicted too"
    masked = noisy == MASK
    for chosen, share in (
        (masked, channel.mask),
        (noisy == ids, channel.keep + channel.random / 45),
        (masked[:, ::2] & masked[:, 1::2], channel.mask**2),
    ):
        assert binomtest(int(chosen.sum()), chosen.numel(), share).pvalue > FALSE_ALARM


@given(original=st.integers(5, 49), rate=st.floats(0, 1), share=st.floats(0, 1))
def test_the_likelihood_is_a_distribution_over_what_is_observed(original, rate, share):
    channel = Channel(share, (1 - share) / 2, (1 - share) / 2)
    p = channel.likelihood(torch.arange(len(VOCABULARY)), torch.tensor(original), VOCABULARY, rate)
    assert p.sum().item() == pytest.approx(1)
    assert (p >= 0).all()
    assert p[[PAD, UNK, CLS, SEP]].sum() == 0


@pytest.mark.guards("02.s16", "02.s17", "02.s21", "02.s26", "05.s17")
def test_the_likelihood_is_what_corruption_does():
    ids = torch.full((500, 1000), 30)
    noisy, labels = mask_tokens(ids, VOCABULARY, rate=0.15, generator=seeded(8))
    assert binomtest(int((labels != -100).sum()), ids.numel(), 0.15).pvalue > FALSE_ALARM
    p = BERT_CHANNEL.likelihood(torch.arange(len(VOCABULARY)), torch.tensor(30), VOCABULARY, rate=0.15)
    possible = p > 0
    counts = noisy.flatten().bincount(minlength=len(VOCABULARY))
    assert counts[~possible].sum() == 0
    assert chisquare(counts[possible].numpy(), (p[possible] * ids.numel()).numpy()).pvalue > FALSE_ALARM


# Selection of tokens


@pytest.mark.guards("05.s21")
def test_bernoulli_may_select_nothing_and_exact_never_does():
    maskable = torch.ones(1000, 5, dtype=torch.bool)
    free = corruption.select_tokens(maskable, 0.15, generator=seeded())
    assert binomtest(int((~free).all(-1).sum()), 1000, 0.85**5).pvalue > FALSE_ALARM
    exact = corruption.select_tokens(maskable, 0.15, generator=seeded(), selection="exact")
    assert (exact.sum(-1) == 1).all()


@pytest.mark.catches("sorteio com reposição")
@given(seed=SEEDS, rate=st.floats(0.01, 1), shape=st.tuples(st.integers(1, 5), st.integers(1, 40)))
def test_exact_selects_round_of_rate_times_n_in_each_row(seed, rate, shape):
    maskable = torch.rand(shape, generator=seeded(seed)) < 0.7
    selected = corruption.select_tokens(maskable, rate, generator=seeded(seed), selection="exact")
    assert not (selected & ~maskable).any()
    for row, allowed in zip(selected, maskable, strict=True):
        n = int(allowed.sum())
        assert int(row.sum()) == (max(1, round(rate * n)) if n else 0)


def test_exact_chooses_every_position_equally_often():
    everywhere = torch.ones(40_000, 20, dtype=torch.bool)
    selected = corruption.select_tokens(everywhere, generator=seeded(), selection="exact")
    assert (selected.sum(-1) == 3).all()
    for count in selected.sum(0).tolist():
        assert binomtest(count, 40_000, 3 / 20).pvalue > FALSE_ALARM


# Selection of words

WORD_IDS = torch.tensor([-1, 0, 0, 1, 2, 2, 2, -1, 0, 1, 1, -1, -1])  # a pair: the second starts at 0 again
ALLOWED = WORD_IDS >= 0
GROUPS = [[1, 2], [3], [4, 5, 6], [8], [9, 10]]


@given(seed=SEEDS, rate=st.floats(0.01, 1), selection=selections)
def test_words_are_selected_whole(seed, rate, selection):
    selected = corruption.select_words(WORD_IDS, ALLOWED, rate, generator=seeded(seed), selection=selection)
    assert not (selected & ~ALLOWED).any()
    for group in GROUPS:
        assert selected[group].all() or not selected[group].any()
    if selection == "exact":
        chosen = sum(bool(selected[group[0]]) for group in GROUPS)
        assert chosen == 1 or 1 <= int(selected.sum()) <= round(rate * 9)


def test_exact_takes_one_word_even_if_all_are_longer_than_the_budget():
    word_ids = torch.tensor([[0, 0, 0, 1, 1, 1]])
    selected = corruption.select_words(word_ids, word_ids >= 0, 0.15, generator=seeded(), selection="exact")
    assert int(selected.sum()) == 3


def test_each_word_has_the_rate_and_words_are_independent():
    word_ids = WORD_IDS.expand(60_000, -1)
    selected = corruption.select_words(word_ids, word_ids >= 0, 0.15, generator=seeded(5))
    for first, *_ in GROUPS:
        assert binomtest(int(selected[:, first].sum()), 60_000, 0.15).pvalue > FALSE_ALARM
    # Positions 1 and 8 both carry word id 0, in two sentences of a pair: they are two words.
    both = int((selected[:, 1] & selected[:, 8]).sum())
    assert binomtest(both, 60_000, 0.15**2).pvalue > FALSE_ALARM


def test_whole_words_of_a_real_tokenizer_in_pairs():
    tokenizer = Tokenizer(["o", "gat", "##inho", "corre", "rapida", "##mente", "late"])
    vocabulary = tokenizer.vocabulary
    batch = tokenizer.encode_batch(["o gatinho corre", "corre"], ["o gatinho late rapidamente", "o lobo"])
    together = set()
    for seed in range(40):
        maskable = vocabulary.is_ordinary(batch.ids)
        whole = select_words(batch.word_ids, maskable, 0.5, generator=seeded(seed))
        assert not whole[batch.ids < 5].any(), "special tokens, padding and [UNK] (lobo) stay"
        selected = whole[0]  # [CLS] o gat ##inho corre [SEP] o gat ##inho late rapida ##mente [SEP]
        assert selected[2] == selected[3] and selected[7] == selected[8] and selected[10] == selected[11]
        together.add((bool(selected[2]), bool(selected[7])))
    assert len(together) == 4, "gatinho of the first sentence and of the second are two words"


# Selection of spans


def test_span_lengths_are_the_truncated_geometric_of_mean_3_8():
    p = corruption.span_lengths()
    k = torch.arange(1, 11, dtype=torch.float64)
    assert p.sum().item() == pytest.approx(1)
    torch.testing.assert_close(p[1:] / p[:-1], torch.full((9,), 0.8, dtype=torch.float64))
    # Mean of a geometric given that it is at most L: 1/p - L r^L / (1 - r^L), with r = 1 - p.
    assert (p * k).sum().item() == pytest.approx(1 / 0.2 - 10 * 0.8**10 / (1 - 0.8**10))
    assert round((p * k).sum().item(), 1) == 3.8


def runs(row):
    """(start, length) of the runs of True."""
    groups = (list(group) for _, group in itertools.groupby(enumerate(row.tolist()), key=itemgetter(1)))
    return [(group[0][0], len(group)) for group in groups if group[0][1]]


@pytest.mark.guards("05.s38")
@given(seed=SEEDS, rate=st.floats(0.01, 1), n=st.integers(1, 60))
def test_spans_fill_the_budget_exactly_and_respect_special_tokens(seed, rate, n):
    maskable = torch.rand(3, n, generator=seeded(seed)) < 0.9
    selected = corruption.select_spans(maskable, rate, generator=seeded(seed))
    assert not (selected & ~maskable).any()
    for row, allowed in zip(selected, maskable, strict=True):
        total = int(allowed.sum())
        assert int(row.sum()) == (max(1, round(rate * total)) if total else 0)


def test_spans_start_anywhere_and_are_as_long_as_the_distribution_says(monkeypatch):
    drawn = []

    def recorded(taken, allowed, start, i, words, left):
        drawn.append((i, words))
        take_span(taken, allowed, start, i, words, left)

    take_span = corruption._take_span
    monkeypatch.setattr(corruption, "_take_span", recorded)
    # One token of a row: a second span would be drawn only where the first was short.
    corruption.select_spans(torch.ones(20_000, 8, dtype=torch.bool), 1 / 8, generator=seeded(9))
    starts, lengths = torch.tensor(drawn).unbind(-1)
    assert chisquare(starts.bincount(minlength=8).numpy()).pvalue > FALSE_ALARM
    counts = lengths.bincount(minlength=11)[1:]
    assert chisquare(counts.numpy(), (corruption.span_lengths() * 20_000).numpy()).pvalue > FALSE_ALARM


def test_a_span_covers_the_words_asked_for_and_stops_at_the_budget_and_at_special_tokens():
    starts = [True, True, False, True, True, False, False, True, True]
    allowed = [False, True, True, True, True, True, True, False, True]

    def span(i, words, left=99, before=()):
        taken = [i in before for i in range(9)]
        corruption._take_span(taken, allowed, starts, i, words, left)
        return [i for i, flag in enumerate(taken) if flag]

    assert span(2, 1) == [1, 2]
    assert span(2, 2) == [1, 2, 3]
    assert span(1, 3) == [1, 2, 3, 4, 5, 6]
    assert span(3, 10) == [3, 4, 5, 6]
    assert span(1, 10, left=4) == [1, 2, 3, 4]
    assert span(8, 3) == [8]
    assert span(1, 10, left=3, before=[3]) == [1, 2, 3, 4], "what was taken before costs nothing again"


def test_spans_start_at_words_and_hold_whole_words_but_for_the_last_cut():
    word_ids = torch.arange(200).repeat_interleave(3)[None, :].expand(50, -1)  # 200 words of 3 tokens
    selected = corruption.select_spans(
        torch.ones(50, 600, dtype=torch.bool), 0.15, word_ids=word_ids, generator=seeded(3)
    )
    for row in selected:
        spans = runs(row)
        assert all(start % 3 == 0 for start, _ in spans)
        assert sum(length % 3 != 0 for _, length in spans) <= 1
        assert int(row.sum()) == 90


def test_a_word_that_begins_with_a_special_token_does_not_stop_the_spans():
    ids, word_ids = torch.tensor([[UNK, 7, 8, 9]]), torch.tensor([[0, 0, 0, 1]])
    selected = select_spans(VOCABULARY.is_ordinary(ids), 1.0, word_ids=word_ids, generator=seeded())
    assert selected.tolist() == [[False, True, True, True]]


def test_spanbert_decides_once_per_span():
    ids = words(200, 100)
    g, half = seeded(2), Channel(0.5, 0.0, 0.5)
    selected = select_spans(VOCABULARY.is_ordinary(ids), generator=g)
    noisy, labels = corrupt(ids, selected, VOCABULARY, half, generator=g, by_span=True)
    kinds = set()
    for row, seen in zip(labels != -100, noisy, strict=True):
        for start, length in runs(row):
            masked = (seen[start : start + length] == MASK).tolist()
            assert len(set(masked)) == 1
            kinds.add(masked[0])
    assert kinds == {True, False}


# Static and dynamic


@pytest.mark.guards("05.s36")
def test_static_masking_repeats_and_dynamic_masking_does_not():
    ids = words(10, 50)

    def labels(epoch, copies):
        return mask_tokens(ids, VOCABULARY, generator=corruption.epoch_generator(7, epoch, copies)).labels

    assert len({tuple(labels(epoch, None).flatten().tolist()) for epoch in range(20)}) == 20
    static = [tuple(labels(epoch, 10).flatten().tolist()) for epoch in range(20)]
    assert len(set(static)) == 10 and static[:10] == static[10:]


# Errors name the argument

IDS = torch.tensor([[CLS, 7, 8, SEP]])
WHOLE = torch.ones(1, 4, dtype=torch.bool)


test_bad_inputs_are_named = refuses(
    (lambda: Channel(0.8, 0.1, 0.2), "mask, random and keep must be probabilities"),
    (lambda: mask_tokens(IDS > 0, VOCABULARY, generator=seeded()), "ids must be int32 or int64"),
    (lambda: corrupt(IDS, WHOLE, VOCABULARY, generator=seeded()), "selected is True at a special"),
    (lambda: corrupt(IDS, WHOLE[0], VOCABULARY, generator=seeded()), "selected must be boolean"),
    (lambda: corrupt(IDS, IDS, VOCABULARY, generator=seeded()), "selected must be boolean"),
)
