"""The cross-entropy bars: their Python twin, and the page compared with it in a real browser."""

import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy as torch_cross_entropy

from lib.widgets.cross_entropy_bars import (
    MAX_WORDS,
    MODES,
    SMOOTHINGS,
    cross_entropy_bars,
    shown,
    with_probability,
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

WORDS = ["ladra", "dorme", "come", "mia"]
LOGITS = [2.0, 1.0, 0.5, -1.5]
SOME_LOGITS = st.lists(st.floats(-10, 10), min_size=2, max_size=MAX_WORDS)


def widget(**options):
    return cross_entropy_bars(WORDS, LOGITS, **options)


MOVE = """(panel, [k, value]) => {
  const input = panel.querySelector(`input[data-k="${k}"]`);
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}"""
READ = """panel => ({
  rows: [...panel.querySelectorAll("tbody tr")].map(row => ({
    word: row.querySelector("th").textContent,
    said: row.querySelector("input").getAttribute("aria-valuetext"),
    name: row.querySelector("input").getAttribute("aria-label"),
    fill: Number(row.querySelector("input").style.getPropertyValue("--cw-fill")),
    ...Object.fromEntries([...row.querySelectorAll("[data-cell]")].map(c => [c.dataset.cell, c.textContent])),
  })),
  facts: Object.fromEntries([...panel.querySelectorAll("[data-fact]")].map(
    fact => [fact.dataset.fact, fact.textContent.replaceAll(/ (nats|bits)/g, "").split(" = ")])),
  verdict: panel.querySelector(".cw-verdict").textContent,
})"""


class Reader:
    """A reader who moves the controls, and knows from `lib` what the page must then show."""

    def __init__(self, panel, words=WORDS, logits=LOGITS):
        self.panel, self.words, self.logits = panel, words, list(logits)
        self.target, self.mode, self.smoothing = 0, "probabilidades", 0.0

    def choose(self, target, mode, smoothing):
        self.target, self.mode, self.smoothing = target, mode, smoothing
        self.panel.get_by_label("Palavra certa", exact=True).select_option(index=target)
        self.panel.get_by_label("Arrastar", exact=True).select_option(label=MODES[mode])
        set_slider(self.panel, "Suavização ε", f"{smoothing:g}".replace(".", ","))

    def drag(self, k, value):
        self.panel.evaluate(MOVE, [k, value])
        if self.mode == "logits":
            self.logits[k] = value
        else:
            self.logits = with_probability(self.logits, k, value)

    @lasting
    def differences(self) -> list[str]:
        """Where the numbers on the page are not those of `lib`."""
        page, lib = self.panel.evaluate(READ), shown(self.logits, self.target, self.smoothing)
        pairs = []
        for k, row in enumerate(page["rows"]):
            value = self.logits[k] if self.mode == "logits" else lib.q[k].item()
            pairs += [
                (f"{name} {k}", row[name], column[k])
                for name, column in {
                    "z": self.logits,
                    "q": lib.q,
                    "p": lib.p,
                    "gradient": lib.gradient,
                }.items()
            ]
            pairs += [(f"said {k}", row["said"], value)]
            full = (value + 10) / 20 if self.mode == "logits" else value
            if abs(row["fill"] - full) > 1e-9 or row["word"].startswith("✓") != (k == self.target):
                pairs += [(f"bar {k}", "?", full)]
        facts = {
            "loss": [lib.loss, lib.bits],
            "perplexity": [lib.perplexity],
            "entropyQ": [lib.entropy_q],
            "entropyP": [lib.entropy_p],
            "kl": [lib.kl],
        }
        for name, values in facts.items():
            pairs += [(name, *pair) for pair in zip(page["facts"][name], values, strict=True)]
        return [
            f"{where}: page {text}, lib {value}"
            for where, text, value in pairs
            if not agrees(text.removeprefix("+"), float(value))
        ]


# --- the twin -----------------------------------------------------------------------------------------------


@given(SOME_LOGITS, st.integers(0, 1), st.sampled_from(SMOOTHINGS))
def test_twin_is_the_loss_of_torch_and_its_gradient_is_q_minus_p(logits, target, smoothing):
    result = shown(logits, target, smoothing)
    z = torch.tensor(logits, dtype=torch.float64)
    expected = torch_cross_entropy(z, torch.tensor(target), label_smoothing=smoothing).item()
    assert result.loss == pytest.approx(expected, abs=1e-9)
    torch.testing.assert_close(result.gradient, result.q - result.p)
    assert result.loss == pytest.approx(result.entropy_p + result.kl, abs=1e-9)


@given(SOME_LOGITS, st.floats(0, 1))
def test_dragging_a_bar_gives_it_its_share_and_keeps_the_order_of_the_rest(logits, wanted):
    q = torch.softmax(torch.tensor(with_probability(logits, 0, wanted), dtype=torch.float64), -1)
    assert q[0].item() == pytest.approx(min(max(wanted, 0.001), 0.999), abs=2e-3)
    assert q.sum().item() == pytest.approx(1)
    others = torch.tensor(logits[1:])
    assert (q[1:][others.argsort()].diff() >= -1e-12).all()
    shown(q.log().tolist(), 0)  # what a drag leaves is a state that the widget accepts


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("frase", LOGITS), {}, TypeError, "words must be a sequence of non-empty strings"),
        ((["só"], [1.0]), {}, ValueError, "words must hold 2 to 8 different words"),
        ((["a", "a"], [1.0, 2.0]), {}, ValueError, "words must hold 2 to 8 different words"),
        ((WORDS, [1.0]), {}, ValueError, "logits must hold one number per word, 4, got 1"),
        ((WORDS, [1.0, 2.0, 3.0, math.nan]), {}, ValueError, "logits must lie between -10 and 10"),
        ((WORDS, [1.0, 2.0, 3.0, 11.0]), {}, ValueError, "logits must lie between -10 and 10"),
        ((WORDS, LOGITS), {"target": "voa"}, ValueError, "target must be one of words, ladra, .* got 'voa'"),
        ((WORDS, LOGITS), {"mode": "odds"}, ValueError, "mode must be one of probabilidades, logits"),
    ],
)
def test_bad_arguments_are_named(arguments, options, error, message):
    with pytest.raises(error, match=message):
        cross_entropy_bars(*arguments, **options)


@pytest.mark.parametrize(
    ("target", "smoothing", "message"),
    [(4, 0.0, r"target must be an index in 0\.\.3, got 4"), (0, 1.0, "smoothing must be .* got 1.0")],
)
def test_bad_states_of_the_twin_are_named(target, smoothing, message):
    with pytest.raises(ValueError, match=message):
        shown(LOGITS, target, smoothing)


# --- the page is the twin -----------------------------------------------------------------------------------


def wander(reader, seed, count):
    """Random moves; yields after each, with what was done."""
    rng = random.Random(seed)
    for _ in range(count):
        mode = rng.choice(list(MODES))
        reader.choose(rng.randrange(len(reader.words)), mode, rng.choice(SMOOTHINGS))
        value = rng.choice([0, 1, rng.randint(0, 100) / 100])
        if mode == "logits":
            value = rng.choice([-10, 10, rng.randint(-100, 100) / 10])
        reader.drag(rng.randrange(len(reader.words)), value)
        yield rng


def test_page_shows_what_lib_computes_in_30_states(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget()])
    reader = Reader(panel)
    assert reader.differences() == []
    for step, _ in enumerate(wander(reader, seed=1, count=30)):
        assert reader.differences() == [], (step, reader.logits, reader.target, reader.mode, reader.smoothing)
    assert not page.problems


def test_page_starts_in_the_state_it_was_given(page, tmp_path):
    many = [f"palavra{k}" for k in range(MAX_WORDS)]
    logits = [k - 3.5 for k in range(MAX_WORDS)]
    panels = [widget(target="come", mode="logits"), cross_entropy_bars(many, logits), cross_entropy_bars()]
    first, second, third = open_widgets(page, tmp_path, panels)
    reader = Reader(first)
    reader.target, reader.mode = 2, "logits"
    assert reader.differences() == []
    assert Reader(second, many, logits).differences() == []
    default = panels[2].widget
    assert Reader(third, default.words, default.logits).differences() == []


def test_a_bar_follows_the_pointer(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget()])
    box = panel.locator("input[data-k='3']").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.1, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, middle, steps=6)
    page.mouse.up()

    def shares():
        return [float(row["q"].replace(",", ".")) for row in panel.evaluate(READ)["rows"]]

    assert_becomes(lambda: shares()[3], pytest.approx(0.8, abs=0.03))
    q = shares()
    assert sum(q) == pytest.approx(1, abs=0.002)
    # What the others kept of their proportions: 2 against 1 in logits is e to 1 in probability.
    assert q[0] / q[1] == pytest.approx(math.e, rel=0.03)


MUTATIONS = {
    "swap a sign": ("Math.exp(z - max)", "Math.exp(max - z)"),
    "gradient of the other sign": ("qk - p[k])", "p[k] - qk)"),
    "forget the maximum in log Z": ("soft.max + Math.log(soft.sum)", "Math.log(soft.sum)"),
    "logarithm of base 2": ("x * Math.log(y)", "x * Math.log2(y)"),
    "base 2 perplexity": ("Math.exp(loss)", "2 ** loss"),
    "KL the other way round": ("xLogY(pk, pk) - xLogY(pk, q[k])", "xLogY(q[k], q[k]) - xLogY(q[k], pk)"),
    "KL as cross-entropy": ("xLogY(pk, pk) - xLogY(pk, q[k])", "-xLogY(pk, q[k])"),
    "smooth over the others only": ("smoothing / q.length", "smoothing / (q.length - 1)"),
    "smooth without taking": ("1 - smoothing : 0", "1 : 0"),
    "loss of the model's own words": ("pk * (logZ - logits[k])", "q[k] * (logZ - logits[k])"),
    "bits upside down": ("loss / Math.log(2)", "loss * Math.log(2)"),
    "entropy of the truth for the model's": (
        "-sum(q.map((qk) => xLogY(qk, qk)))",
        "-sum(p.map((qk) => xLogY(qk, qk)))",
    ),
    "mark the next word": ('k === target ? "✓ "', 'k === target + 1 ? "✓ "'),
    "others are not rescaled": ("(qj * (1 - wanted)) / (1 - q[k])", "qj"),
    "drag with another floor": ("const FLOOR = 1e-4", "const FLOOR = 1e-2"),
    "drag to the very end": ("const MOST = 0.999", "const MOST = 0.99"),
    "drag the neighbour's logit": ("(j === k ? value : z)", "(j === (k + 1) % 4 ? value : z)"),
    "fill from zero": ("(value - range.min)", "value"),
}


def test_a_wrong_formula_in_the_javascript_is_caught(page, tmp_path):
    def difference(panel):
        reader = Reader(panel)
        moves = [(1, "probabilidades", 0.2, 2, 0.37), (2, "logits", 0.0, 3, 7.5), (0, "logits", 0.5, 0, -9.0)]
        moves += [(3, "probabilidades", 0.1, 1, 1.0)]
        for target, mode, smoothing, k, value in moves:
            reader.choose(target, mode, smoothing)
            reader.drag(k, value)
            if found := Reader.differences.at_once(reader):
                return found
        return []

    assert survivors(page, tmp_path, widget, MUTATIONS, difference) == []


# --- keyboard, phone, dark, neighbours, hostile words -------------------------------------------------------


def test_everything_works_by_keyboard_alone(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [widget(mode="logits")])
    reader = Reader(panel)
    reader.mode = "logits"
    stops = tab_stops(page, 7)
    assert stops[:3] == ["Palavra certa", "Arrastar", "Suavização ε"]
    assert stops[3:] == [f"logit de {word}" for word in WORDS]
    page.keyboard.press("ArrowRight")
    reader.logits[3] = -1.4
    assert reader.differences() == []
    move_focus(page, "Shift+Tab")
    page.keyboard.press("End")
    reader.logits[2] = 10.0
    assert reader.differences() == []
    assert_focus_is_visible(page)


def test_no_accessibility_violation_before_and_after_use(page, tmp_path):
    panel, other = open_widgets(page, tmp_path, [widget(), widget(mode="logits")])
    assert_accessible_in_every_look(page)
    Reader(panel).choose(2, "probabilidades", 0.3)
    Reader(panel).drag(1, 0.9)
    Reader(other).drag(0, -10)
    assert_accessible_in_every_look(page)
    assert not page.problems


def test_two_widgets_do_not_interfere(page, tmp_path):
    left, right = map(Reader, open_widgets(page, tmp_path, [widget(), widget()]))
    left.choose(3, "probabilidades", 0.1)
    left.drag(2, 0.66)
    assert left.differences() == []
    assert right.differences() == []
    right.drag(0, 0.05)
    assert right.differences() == []
    assert left.differences() == []


def test_words_are_text_never_markup(new_page, tmp_path):
    page = new_page(viewport=PHONE)
    hostile = [text for text in HOSTILE if text.strip()][:6]
    logits = [0.1 * k for k in range(6)]
    [panel] = open_widgets(page, tmp_path, [cross_entropy_bars(hostile, logits)])
    reader = Reader(panel, hostile, logits)
    reader.drag(5, 0.5)
    assert reader.differences() == []
    assert [row["word"].removeprefix("✓ ") for row in panel.evaluate(READ)["rows"]] == hostile
    assert panel.locator("img, script, b").count() == 0
    assert page.evaluate("window.attacked") is None
    assert page_overflow(page) == 0
    assert not page.problems


# --- nothing is left behind ---------------------------------------------------------------------------------


CHANGE = """(panel, k) => {
  const input = panel.querySelector(`input[data-k="${k % 4}"]`);
  input.value = (k % 10) / 10;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def test_200_changes_leak_no_nodes_and_no_listeners(new_page, tmp_path):
    page = new_page(fresh=True)
    [panel] = open_widgets(page, tmp_path, [widget()])
    before = panel.evaluate(READ)
    nodes, listeners = growth(page, panel, CHANGE)
    assert panel.evaluate(READ) != before
    assert listeners <= 0 and nodes <= 20


def test_listeners_and_observers_end_with_the_view(page):
    poke = """el => {
      const input = el.querySelector("input");
      input.value = input.valueAsNumber > 0.5 ? 0.2 : 0.7;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }"""
    assert_ends(after_the_end(page, widget().widget, poke))
