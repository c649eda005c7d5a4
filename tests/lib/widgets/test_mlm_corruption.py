"""The corruption of masked language modelling: its Python twin, and what it alone does on a page."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import expect

from lib.widgets.mlm_corruption import MAX_DRAWS, MAX_WORDS, PERCENTAGES, MLMCorruption, shown, words_of
from tests.lib.widgets.cases.mlm_corruption import SENTENCES, VOCABULARY, State, corruption
from tests.lib.widgets.shared import run_node


@given(st.integers(0, len(SENTENCES) - 1), st.sampled_from(PERCENTAGES), st.integers(0, 10**6))
@settings(max_examples=40)
def test_labels_stand_exactly_where_the_loss_looks(k, rate, seed):
    result = shown(SENTENCES[k], VOCABULARY, rate, 80, 10, seed, 1)
    assert result.tokens == ["[CLS]", *words_of(SENTENCES[k]), "[SEP]"]
    for token, seen, label in zip(result.tokens, result.seen, result.labels, strict=True):
        assert label in (None, token)
        assert label is not None or seen == token
        assert token not in ("[CLS]", "[SEP]", "[MASK]", "[PAD]") or label is None
    assert result.selected.times == len(result.counted)
    assert result.masked.times + result.swapped.times + result.same.times == result.selected.times


def test_frequencies_come_close_to_what_is_expected():
    result = shown("palavra " * MAX_WORDS, VOCABULARY, 50, 60, 30, 0, MAX_DRAWS)
    for tally in (result.selected, result.masked, result.swapped, result.same):
        error = (tally.expected * (1 - tally.expected) / tally.among) ** 0.5
        assert abs(tally.frequency - tally.expected) < 4 * error
    # 8 words: the seven of the vocabulary, and the one of the sentence, which joins them.
    assert result.same.expected == pytest.approx(0.1 + 0.3 / 8)
    assert result.swapped.expected == pytest.approx(0.3 * 7 / 8)


def test_generator_in_javascript_is_that_of_torch():
    seeds = [0, 1, 12345, 2**31 - 1]
    draws = """given.map((seed) => {
      const random = new Twister(seed);
      const draw = (one) => Array.from({ length: 700 }, one);
      return [draw(() => random.uniform()), draw(() => random.below(641))];
    })"""
    for seed, drawn in zip(seeds, run_node(MLMCorruption._esm, draws, seeds), strict=True):
        generator = torch.Generator().manual_seed(seed)
        uniform = torch.rand(700, generator=generator, dtype=torch.float64).tolist()
        assert drawn == [uniform, torch.randint(641, (700,), generator=generator).tolist()]


def test_shares_always_sum_to_one(show):
    [drawn] = show(corruption())
    masked, swapped = (
        drawn.panel.get_by_role("slider", name=name, exact=True) for name in ("Vira [MASK]", "Vira outra")
    )
    drawn.slide("Vira outra", "60%")
    expect(masked).to_have_attribute("aria-valuetext", "40%")
    drawn.slide("Vira [MASK]", "100%")
    expect(swapped).to_have_attribute("aria-valuetext", "0%")
    drawn.state = State(SENTENCES[0], 15, 100, 0)
    assert drawn.differences() == []


def test_draws_stop_at_the_limit_and_say_so(show):
    [drawn] = show(corruption("gato"))
    many, once = drawn.button("Sortear 100 vezes"), drawn.button("Sortear de novo")
    said = drawn.panel.get_by_text(f"São {MAX_DRAWS} sorteios, o máximo")
    for k in range(10):
        expect(said).to_have_count(0)
        expect(many).to_be_enabled()
        many.click()
        drawn.state = State("gato", draws=min(1 + 100 * (k + 1), MAX_DRAWS))
        assert drawn.differences() == []
    expect(said).to_be_visible()
    for button in (many, once):
        expect(button).to_be_disabled()
    drawn.button("Zerar a contagem").click()
    expect(many).to_be_enabled()
    expect(said).to_have_count(0)
