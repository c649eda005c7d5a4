"""The MLM corruption widget: its Python twin, and the page compared with it in a real browser."""

import json
import random
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import expect

from lib.corruption import Channel
from lib.widgets.mlm_corruption import (
    MAX_DRAWS,
    MAX_WORDS,
    PERCENTAGES,
    mlm_corruption,
    shown,
    words_of,
)
from tests.browser.chromium import PHONE, assert_becomes, lasting, page_overflow
from tests.lib.widgets.masks_page import agrees, set_slider
from tests.lib.widgets.shared import (
    HOSTILE,
    after_the_end,
    assert_accessible_in_every_look,
    assert_ends,
    assert_focus_is_visible,
    growth,
    move_focus,
    open_widgets,
    survivors,
    tab_stops,
)
from tests.lib.widgets.test_base import run_node

VOCABULARY = ["o", "gato", "banco", "rede", "manga", "vela", "dorme"]
SENTENCES = [
    "A menina viu o banco da praça e sentou.",
    "O gato dorme na rede, e o cachorro late!",
    "gato",
    "gato gato gato gato gato gato gato gato",
    "o [MASK] dorme [PAD] agora",
    "palavra " * MAX_WORDS,
]


def widget(text=SENTENCES[0], seed=0, **options):
    return mlm_corruption(text, VOCABULARY, seed=seed, **options)


def press(button, times):
    """Press a button once as a person does, and then on by script: a pointer takes its time."""
    if times > 0:
        button.click()
    if times > 1:
        button.evaluate("(button, times) => { while (times--) button.click() }", times - 1)


class State:
    """Where the controls stand, how to get there, and what `lib` computes there."""

    def __init__(self, text, rate, mask, random_share, draws):
        self.text, self.rate, self.mask, self.random, self.draws = text, rate, mask, random_share, draws

    def __repr__(self):
        return f"State{(self.text[:30], self.rate, self.mask, self.random, self.draws)}"

    def apply(self, panel):
        panel.get_by_label("Frase", exact=True).fill(self.text)
        set_slider(panel, "Selecionar", f"{self.rate}%")
        set_slider(panel, "Vira [MASK]", f"{self.mask}%")
        set_slider(panel, "Vira outra", f"{self.random}%")
        restart = panel.get_by_role("button", name="Zerar a contagem")
        if restart.is_enabled():
            restart.click()
        for name, times in (
            ("Sortear 100 vezes", self.draws // 100),
            ("Sortear de novo", self.draws % 100 - 1),
        ):
            press(panel.get_by_role("button", name=name), times)

    def shown(self, seed=0, vocabulary=VOCABULARY):
        return shown(self.text, vocabulary, self.rate, self.mask, self.random, seed, self.draws)


def states(seed, count):
    rng = random.Random(seed)
    fixed = [State(SENTENCES[0], *shares, 1) for shares in ((0, 80, 10), (100, 0, 0), (100, 100, 0))]
    fixed += [State(SENTENCES[3], 100, 0, 100, 3), State(SENTENCES[4], 50, 80, 10, 201)]
    for _ in range(count - len(fixed)):
        mask = rng.choice(PERCENTAGES)
        other = rng.choice([p for p in PERCENTAGES if p <= 100 - mask])
        draws = rng.choice([1, 1, 2, 3, 101, 402])
        fixed.append(State(rng.choice(SENTENCES), rng.choice(PERCENTAGES), mask, other, draws))
    return fixed


READ = """panel => ({
  cards: [...panel.querySelectorAll(".cw-tokens li")].map(li => ({
    fate: li.dataset.fate,
    ...Object.fromEntries([...li.children].map(part => [part.dataset.part, part.textContent])) })),
  loss: panel.querySelector(".cw-loss").textContent,
  rows: Object.fromEntries([...panel.querySelectorAll("tr[data-row]")].map(
    row => [row.dataset.row, [...row.querySelectorAll("td")].map(td => td.textContent)])),
  count: panel.querySelector(".cw-count").textContent,
  message: panel.querySelector(".cw-refused").textContent,
})"""


def read(panel):
    return panel.evaluate(READ)


@lasting
def differences(panel, expected, seed) -> list[str]:
    """Where the page does not say what `lib` computes."""
    page = read(panel)
    found = []
    cards = [(card["original"], card["seen"], card["label"]) for card in page["cards"]]
    labels = [label or "−100" for label in expected.labels]
    if cards != list(zip(expected.tokens, expected.seen, labels, strict=True)):
        found.append(f"tokens: page {cards}, lib {expected}")
    positions = f"{len(expected.counted)} de {len(expected.tokens)} posições: " + ", ".join(
        map(str, expected.counted)
    )
    if expected.counted and f"Contam na perda {positions}." not in page["loss"]:
        found.append(f"loss: page {page['loss']}, lib {positions}")
    if not expected.counted and not page["loss"].startswith("Nenhuma"):
        found.append(f"loss: page {page['loss']}, lib none")
    if f"Semente {seed}." not in page["loss"]:
        found.append(f"seed: page {page['loss']}, lib {seed}")
    for name in ("selected", "masked", "swapped", "same"):
        tally, (times, seen, wanted) = getattr(expected, name), page["rows"][name]
        if times != f"{tally.times} de {tally.among}" or not agrees(seen, tally.frequency):
            found.append(f"{name}: page {times} {seen}, lib {tally}")
        if not agrees(wanted, tally.expected):
            found.append(f"{name}: page expects {wanted}, lib {tally.expected}")
    return found


# --- the twin -----------------------------------------------------------------------------------------------


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


def test_expected_shares_are_those_of_the_channel():
    for mask, other in ((80, 10), (100, 0), (0, 0), (0, 100)):
        result = shown("gato", VOCABULARY, 15, mask, other, 0, 1)
        channel = Channel(mask / 100, other / 100, (100 - mask - other) / 100)
        assert result.masked.expected == channel.mask
        total = result.masked.expected + result.swapped.expected + result.same.expected
        assert total == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"text": ""}, ValueError, "text must hold 1 to 48 words, got 0"),
        ({"text": "a " * 49}, ValueError, "text must hold 1 to 48 words, got 49"),
        ({"rate": 15.5}, ValueError, "rate must be a percentage in steps of 5, 0 to 100, got 15.5"),
        ({"mask": 120}, ValueError, "mask must be a percentage"),
        ({"mask": 80, "random": 25}, ValueError, r"mask \+ random must be at most 100, got 80 \+ 25"),
        ({"seed": -1}, ValueError, "seed must be an integer in"),
        ({"vocabulary": ["a", ""]}, TypeError, "vocabulary must hold non-empty strings"),
    ],
)
def test_bad_arguments_are_named(options, error, message):
    with pytest.raises(error, match=message):
        mlm_corruption(**options)


def test_twin_refuses_draws_out_of_bounds():
    for draws in (0, MAX_DRAWS + 1):
        with pytest.raises(ValueError, match=f"draws must lie in 1..{MAX_DRAWS}, got {draws}"):
            shown("gato", VOCABULARY, 15, 80, 10, 0, draws)


def test_generator_in_javascript_is_that_of_torch():
    esm = mlm_corruption().widget._esm.replace("export default { render };", "")
    code = esm + (
        "const g = new Twister(Number(process.argv[1]));"
        "const draw = (n, f) => Array.from({ length: n }, f);"
        "console.log(JSON.stringify([draw(700, () => g.uniform()), draw(700, () => g.below(641))]));"
    )
    for seed in (0, 1, 12345, 2**31 - 1):
        generator = torch.Generator().manual_seed(seed)
        uniform = torch.rand(700, generator=generator, dtype=torch.float64).tolist()
        below = torch.randint(641, (700,), generator=generator).tolist()
        assert json.loads(run_node(code, str(seed))) == [uniform, below]


# --- the page is the twin -----------------------------------------------------------------------------------


def test_page_shows_what_lib_computes_in_24_states(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget()])
    for state in states(seed=1, count=24):
        state.apply(panel)
        assert differences(panel, state.shown(), state.draws - 1) == [], state
    assert not page.problems


def test_page_starts_in_the_state_it_was_given(page, tmp_path):
    options = [{"rate": 40, "mask": 50, "random": 50, "seed": 77}, {"rate": 100, "seed": 2**31 - 1}, {}]
    panels = [widget(**option) for option in options]
    opened = open_widgets(page, tmp_path, panels)
    for made, panel in zip(panels, opened, strict=True):
        assert differences(panel, made.widget.shown(), made.widget.first_seed) == []


def test_shares_always_sum_to_one(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget()])
    set_slider(panel, "Vira outra", "60%")
    masked, swapped = (
        panel.get_by_role("slider", name=name, exact=True) for name in ("Vira [MASK]", "Vira outra")
    )
    expect(masked).to_have_attribute("aria-valuetext", "40%")
    set_slider(panel, "Vira [MASK]", "100%")
    expect(swapped).to_have_attribute("aria-valuetext", "0%")
    assert differences(panel, shown(SENTENCES[0], VOCABULARY, 15, 100, 0, 0, 1), 0) == []


def test_draws_stop_at_the_limit_and_say_so(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget("gato")])
    many, once = (panel.get_by_role("button", name=name) for name in ("Sortear 100 vezes", "Sortear de novo"))
    for _ in range(9):
        many.click()
    expect(many).to_be_disabled()
    expect(once).to_be_enabled()
    assert differences(panel, shown("gato", VOCABULARY, 15, 80, 10, 0, 901), 900) == []


MUTATIONS = {
    "select the others": ("selects[i] >= rate", "selects[i] < rate"),
    "corrupt special tokens": ("SPECIAL.includes(token) || selects", "selects"),
    "swap [MASK] and the rest": ("decides[i] < mask ?", "decides[i] >= mask ?"),
    "draw twice, 81/10/9": ("decides[i] < 1 - keep", "random.uniform() < 1 - keep"),
    "keep what should be random": ("decides[i] < 1 - keep ?", "decides[i] < mask ?"),
    "never draw the last word": ("random.below(words.length)", "random.below(words.length - 1)"),
    "another multiplier": ("1812433253", "1812433254"),
    "no tempering": ("return (y ^ (y >>> 18)) >>> 0;", "return y >>> 0;"),
    "52 bits": ("0x1fffff", "0xfffff"),
    "label everywhere": ("fate ? token : IGNORED", "token"),
    "label what is seen": ("fate ? token : IGNORED", "fate ? seen : IGNORED"),
    "forget that chance may keep": ("shares.keep + byChance", "shares.keep"),
    "expect the random share whole": ("Math.max(0, shares.random - byChance)", "shares.random"),
    "divide by all tokens": ('name === "selected" ? among : times.selected', "among"),
    "count [CLS] and [SEP]": ("tokens.filter((token) => !SPECIAL.includes(token)).length", "tokens.length"),
    "count the last draw only": ('k = model.get("first_seed"); k <= seed', "k = seed; k <= seed"),
    "positions from one": ("(fate ? [i] : [])", "(fate ? [i + 1] : [])"),
    "say the next seed": ("Semente ${seed}", "Semente ${seed + 1}"),
    "lose the reader's words": ('[...model.get("vocabulary"), ...sentence]', 'model.get("vocabulary")'),
}


def test_a_wrong_rule_in_the_javascript_is_caught(page, tmp_path):
    def difference(panel):
        for state in (
            State("Vovô viu a uva e o gato dorme", 60, 30, 40, 103),
            State("o gato dorme", 15, 80, 10, 1),
        ):
            state.apply(panel)
            if found := differences.at_once(panel, state.shown(), state.draws - 1):
                return found
        return []

    assert survivors(page, tmp_path, widget, MUTATIONS, difference) == []


# --- keyboard, phone, dark, neighbours, hostile text --------------------------------------------------------


def test_everything_works_by_keyboard_alone(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget()])
    expected = ["Selecionar", "Vira [MASK]", "Vira outra", "Frase", "Sortear de novo", "Sortear 100 vezes"]
    assert tab_stops(page, 6) == expected
    page.keyboard.press("Space")
    move_focus(page, "Shift+Tab")
    page.keyboard.press("Enter")
    assert_focus_is_visible(page)
    assert differences(panel, shown(SENTENCES[0], VOCABULARY, 15, 80, 10, 0, 102), 101) == []
    move_focus(page, "Shift+Tab")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("O banco fechou")
    assert differences(panel, shown("O banco fechou", VOCABULARY, 15, 80, 10, 0, 1), 0) == []


def test_no_accessibility_violation_before_and_after_use(page, tmp_path):
    panel, other = open_widgets(page, tmp_path, [widget(), widget()])
    assert_accessible_in_every_look(page)
    State(SENTENCES[1], 60, 40, 40, 102).apply(panel)
    other.get_by_label("Frase", exact=True).fill("")
    assert_accessible_in_every_look(page)
    assert not page.problems


def test_two_widgets_do_not_interfere(page, tmp_path):
    left, right = open_widgets(page, tmp_path, [widget(), widget(rate=60)])
    before = read(right)
    state = State(SENTENCES[1], 30, 50, 20, 2)
    state.apply(left)
    assert differences(left, state.shown(), 1) == []
    assert read(right) == before
    right.get_by_role("button", name="Sortear de novo").click()
    assert_becomes(lambda: "Semente 1." in read(right)["loss"], True)
    assert differences(left, state.shown(), 1) == []


def test_fate_is_said_in_words_and_not_by_colour_alone(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget(rate=100, mask=30, random=30)])
    marks = {"masked": "■ virou [MASK]", "swapped": "⇄ virou outra palavra", "same": "= ficou como era"}
    cards = read(panel)["cards"]
    assert {card["fate"] for card in cards} == {*marks, "none"}
    assert all(card["mark"] == marks.get(card["fate"], "não selecionada") for card in cards)


def test_typed_text_is_text_never_markup(new_page, tmp_path):
    page = new_page(viewport=PHONE)
    [panel] = open_widgets(page, tmp_path, [widget(rate=100, mask=0, random=0)])
    message, seen = panel.locator(".cw-refused"), panel.locator(".cw-tokens [data-part=seen]")
    for text in HOSTILE:
        panel.get_by_label("Frase", exact=True).fill(text)
        words = words_of(text)
        if not words:
            expect(message).to_have_text("Escreva pelo menos uma palavra.")
            expect(seen).to_have_count(0)
        elif len(words) > MAX_WORDS:
            expect(message).to_have_text(re.compile(f"^São {len(words)} palavras"))
            expect(seen).to_have_count(0)
        else:
            expect(message).to_have_text("")
            expect(seen).to_have_text(["[CLS]", *words, "[SEP]"])
        assert panel.locator("img, script, b").count() == 0
        assert page_overflow(page) == 0
    assert page.evaluate("window.attacked") is None
    State(SENTENCES[0], 15, 80, 10, 1).apply(panel)
    assert differences(panel, State(SENTENCES[0], 15, 80, 10, 1).shown(), 0) == []
    assert not page.problems


# --- nothing is left behind ---------------------------------------------------------------------------------


CHANGE = """(panel, k) => {
  const input = panel.querySelector("input[type=text]");
  if (k % 2) return panel.querySelector("[data-draw='1']").click();
  input.value = "o gato dorme " + "muito ".repeat(k % 8 / 2);
  input.dispatchEvent(new Event("input"));
}"""


def test_200_changes_leak_no_nodes_and_no_listeners(new_page, tmp_path):
    page = new_page(fresh=True)
    [panel] = open_widgets(page, tmp_path, [widget()])
    nodes, listeners = growth(page, panel, CHANGE)
    assert listeners <= 0
    assert nodes <= 60, "cards of earlier sentences left behind would be thousands"


def test_listeners_and_observers_end_with_the_view(page):
    poke = "el => el.querySelector('[data-draw=\"1\"]').click()"
    assert_ends(after_the_end(page, mlm_corruption().widget, poke))
