"""Attention of a real encoder: its Python twin, and the page compared with it in a real browser."""

import random
import re

import pytest
import torch

from lib.attention import Trace
from lib.tokenizer import Tokenizer
from lib.weights import minilm
from lib.widgets.real_attention import (
    MASKS,
    SENTENCES,
    VIEWS,
    real_attention,
    shown,
    thousandths,
)
from tests.browser.chromium import PHONE, assert_becomes, lasting, page_overflow
from tests.lib.widgets.masks_page import agrees, read_number, set_slider
from tests.lib.widgets.shared import (
    after_the_end,
    assert_accessible_in_every_look,
    assert_ends,
    assert_focus_is_visible,
    growth,
    move_focus,
    open_widgets,
    survivors,
    tab_stops,
    wrong_shades,
)

LAYERS, HEADS = 6, 12


class State:
    """Where the controls stand, how to get there, and what `lib` computes there."""

    def __init__(self, sentence, mask, layer, head, view="matriz", query=1, key=0):
        self.sentence, self.mask, self.layer, self.head = sentence, mask, layer, head
        self.view, self.query, self.key = view, query, key

    def __repr__(self):
        return f"State{tuple(vars(self).values())}"

    def apply(self, panel):
        panel.get_by_label("Frase", exact=True).select_option(index=self.sentence)
        panel.get_by_label("Máscara", exact=True).select_option(label=MASKS[self.mask])
        set_slider(panel, "Camada", str(self.layer))
        set_slider(panel, "Cabeça", str(self.head))
        panel.get_by_label("Vista", exact=True).select_option(label=VIEWS["matriz"])
        panel.locator(f"td[data-i='{self.query}'][data-j='{self.key}']").click()
        panel.get_by_label("Vista", exact=True).select_option(label=VIEWS[self.view])

    def shown(self, mask=None):
        return shown(SENTENCES[self.sentence], mask or self.mask, self.layer, self.head)


def states(seed, count):
    rng = random.Random(seed)
    made = []
    for k in range(count):
        sentence = k % len(SENTENCES)
        n = len(Tokenizer.minilm().encode(SENTENCES[sentence]))
        layer, head = rng.randint(1, LAYERS), rng.randint(1, HEADS)
        place = rng.randrange(n), rng.randrange(n)
        made.append(State(sentence, rng.choice(list(MASKS)), layer, head, rng.choice(list(VIEWS)), *place))
    return made


READ = """panel => {
  const weights = [];
  for (const cell of panel.querySelectorAll("td[data-i]")) {
    (weights[cell.dataset.i] ??= [])[cell.dataset.j] = cell.textContent;
  }
  const text = selector => panel.querySelector(selector).textContent;
  return {
    weights,
    headers: [...panel.querySelectorAll("th[scope=row][title]")].map(th => th.textContent),
    keys: [...panel.querySelectorAll("output[data-key]")].map(key => key.textContent),
    query: Number(new FormData(panel.querySelector("form")).get("query")),
    cell: text(".cw-cell"),
    largest: text(".cw-largest"),
    shares: Object.fromEntries([...panel.querySelectorAll("tr[data-share]")].map(
      row => [row.dataset.share, row.querySelector("td").textContent])),
    visible: {
      matriz: !panel.querySelector(".cw-weights").hidden,
      linhas: !panel.querySelector("form").hidden,
    },
  };
}"""


def read(panel):
    return panel.evaluate(READ)


def said(text):
    """The numbers of "word (3) 12,3%" or "causal 12,3%", in order."""
    return re.findall(r"(\S+) (\d+,\d)%", text)


@lasting
def differences(panel, state) -> list[str]:
    """Where the page does not say what `lib` computes."""
    page, expected, found = read(panel), state.shown(), []
    i, j = state.query, state.key
    if page["headers"] != expected.tokens:
        return [f"tokens: page {page['headers']}, lib {expected.tokens}"]
    percent = (100 * expected.weights).tolist()
    for a, row in enumerate(page["weights"]):
        found += [
            f"weight {a},{b}: page {text}, lib {percent[a][b]}"
            for b, text in enumerate(row)
            if not agrees(text, percent[a][b])
        ]
    if page["query"] != i or any(not agrees(t, x) for t, x in zip(page["keys"], percent[i], strict=True)):
        found.append(f"lines: page {page['query']} {page['keys']}, lib {i} {percent[i]}")
    values = dict(said(page["cell"]))
    for mask in MASKS:
        if not agrees(values.get(mask, "?"), 100 * state.shown(mask).weights[i, j].item()):
            found.append(f"{mask}: page {page['cell']}")
    if f"“{expected.tokens[i]}” ({i + 1}) para “{expected.tokens[j]}” ({j + 1})" not in page["cell"]:
        found.append(f"cell: page {page['cell']}, lib {i}, {j}")
    largest = [(f"({k + 1})", percent[i][k]) for k in expected.largest(i)]
    pairs = said(page["largest"])
    if [at for at, _ in pairs] != [at for at, _ in largest] or any(
        not agrees(text, value) for (_, text), (_, value) in zip(pairs, largest, strict=True)
    ):
        found.append(f"largest: page {page['largest']}, lib {largest}")
    # A mean of weights in thousandths: each is at most half a thousandth away.
    for name, text in page["shares"].items():
        if abs(read_number(text.removesuffix("%")) - 100 * expected.shares[name]) > 0.5 + 0.05 * 5:
            found.append(f"share {name}: page {text}, lib {expected.shares[name]}")
    if page["visible"] != {view: view == state.view for view in VIEWS}:
        found.append(f"view: page {page['visible']}, lib {state.view}")
    return found + wrong_shades(panel, expected.weights)


# --- the twin -----------------------------------------------------------------------------------------------


@torch.no_grad()
@pytest.mark.parametrize("mask", MASKS)
def test_twin_is_the_trace_of_the_real_encoder(mask):
    encoder, tokenizer = minilm(), Tokenizer.minilm()
    encoding = tokenizer.encode(SENTENCES[0])
    encoder(torch.tensor([encoding.ids]), causal=mask == "causal", trace=(trace := Trace()))
    for layer, head in ((1, 1), (3, 12), (6, 7)):
        weights = shown(SENTENCES[0], mask, layer, head).weights
        torch.testing.assert_close(weights, trace.weights[layer - 1][0, head - 1].double(), atol=1e-5, rtol=0)


def test_the_data_of_a_page_is_small_and_the_widget_says_how_small(page, tmp_path):
    panel = real_attention()
    carried = sum(len(s[mask]) for s in panel.widget.sentences for mask in MASKS)
    assert carried < 200_000
    [opened] = open_widgets(page, tmp_path, [panel])
    assert f"{carried / 1000:.0f} kB para {len(SENTENCES)} frases" in opened.locator(".cw-size").inner_text()


def test_thousandths_are_nearest():
    weights = torch.tensor([0.0, 0.0004, 0.0006, 0.5, 1.0], dtype=torch.float64)
    assert thousandths(weights).tolist() == [0, 0, 1, 500, 1000]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sentences": "uma frase"}, "sentences must be a sequence of 1 to 8 texts"),
        ({"sentences": []}, "sentences must be a sequence of 1 to 8 texts"),
        ({"sentences": ["oi"]}, "a sentence must have 5 to 20 tokens.*'oi' has"),
        ({"sentences": ["a b c d " * 10]}, "a sentence must have 5 to 20 tokens"),
        ({"mask": "causall"}, "mask must be one of bidirecional, causal, got 'causall'"),
        ({"layer": 7}, "layer must be an integer from 1 to 6, got 7"),
        ({"head": 0}, "head must be an integer from 1 to 12, got 0"),
        ({"view": "mapa"}, "view must be one of matriz, linhas, got 'mapa'"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        real_attention(**options)


# --- the page is the twin -----------------------------------------------------------------------------------


def test_page_shows_what_lib_computes_in_24_states(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [real_attention()])
    for state in states(seed=1, count=24):
        state.apply(panel)
        assert differences(panel, state) == [], state
    assert not page.problems


def test_page_starts_in_the_state_it_was_given(page, tmp_path):
    made = real_attention(SENTENCES[2:], mask="causal", layer=4, head=9, view="linhas")
    [panel] = open_widgets(page, tmp_path, [made])
    assert differences(panel, State(2, "causal", 4, 9, "linhas")) == []
    torch.testing.assert_close(made.widget.shown().weights, State(2, "causal", 4, 9).shown().weights)


MUTATIONS = {
    "read the next head": ('+ this.model.get("head") - 1', '+ this.model.get("head")'),
    "forget the layer": ('(this.model.get("layer") - 1) *', "0 *"),
    "transpose": ("packed[row + j] / UNIT", "packed[start + j * n + i] / UNIT"),
    "shift the triangle": ("(i * (i + 1)) / 2 : i * n", "(i * (i - 1)) / 2 : i * n"),
    "read the triangle as a square": ("k * (causal ? (n * (n + 1)) / 2 : n * n)", "k * n * n"),
    "show the future": ("causal && j > i ? 0 :", "false ? 0 :"),
    "hide the diagonal too": ("causal && j > i ? 0 :", "causal && j >= i ? 0 :"),
    "another unit": ("const UNIT = 1000", "const UNIT = 1024"),
    "ignore the mask": ('const mask = MASKS[this.model.get("mask_index")]', "const mask = MASKS[0]"),
    "smallest first": ("row[b] - row[a] || a - b", "row[a] - row[b] || a - b"),
    "count the previous as the next": ("key: (i) => i - 1", "key: (i) => i + 1 - 0"),
    "average over every query": (
        "Array.from({ length: n - 4 }, (_, k) => k + 2)",
        "[...weights.keys()].slice(1, -1)",
    ),
    "the row of the column": ("percentage(weights[query][j])", "percentage(weights[j][query])"),
    "the cell of the mirror": ("percentage(both[name][i][j])", "percentage(both[name][j][i])"),
    "shares of what is left": ("const rest = 1 -", "const rest = 0 *"),
    "colour by what is left": ('"--cw-weight", weight)', '"--cw-weight", 1 - weight)'),
    "colour only the first time": ("if (cell.ariaLabel === label) return;", "if (cell.ariaLabel) return;"),
    "another sentence": ('[this.model.get("sentence_index")]', "[0]"),
}


def test_a_wrong_formula_in_the_javascript_is_caught(page, tmp_path):
    def difference(panel):
        for state in (
            State(2, "causal", 2, 5, "matriz", 4, 1),
            State(3, "bidirecional", 3, 2, "linhas", 1, 3),
        ):
            state.apply(panel)
            if found := differences.at_once(panel, state):
                return found
        return []

    assert survivors(page, tmp_path, real_attention, MUTATIONS, difference) == []


# --- keyboard, phone, dark, neighbours ----------------------------------------------------------------------


def test_everything_works_by_keyboard_alone(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [real_attention()])
    assert tab_stops(page, 5) == ["Frase", "Camada", "Cabeça", "Máscara", "Vista"]
    move_focus(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    assert_focus_is_visible(page)
    last = len(State(0, "causal", 1, 1).shown().tokens) - 1
    assert differences(panel, State(0, "bidirecional", 1, 1, "matriz", 2, last)) == []
    move_focus(page, "Shift+Tab")
    page.keyboard.press("ArrowDown")  # the view of lines
    move_focus(page)
    page.keyboard.press("ArrowDown")
    assert differences(panel, State(0, "bidirecional", 1, 1, "linhas", 3, last)) == []


def test_no_accessibility_violation_before_and_after_use(page, tmp_path):
    panel, other = open_widgets(page, tmp_path, [real_attention(), real_attention(layer=3)])
    assert_accessible_in_every_look(page)
    State(3, "causal", 4, 6, "linhas", 3, 2).apply(panel)
    State(1, "causal", 2, 9, "matriz", 5, 4).apply(other)
    assert_accessible_in_every_look(page)
    assert not page.problems


def test_two_widgets_do_not_interfere(page, tmp_path):
    left, right = open_widgets(page, tmp_path, [real_attention(), real_attention(layer=2, view="linhas")])
    before = read(right)
    state = State(1, "causal", 5, 3, "linhas", 4, 2)
    state.apply(left)
    assert differences(left, state) == []
    assert read(right) == before
    right.get_by_role("radio").nth(4).check()
    assert differences(left, state) == []
    assert differences(right, State(0, "bidirecional", 2, 1, "linhas", 4, 0)) == []


def test_hidden_cells_are_marked_without_colour(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [real_attention(mask="causal")])
    hidden, seen = (panel.locator(f"td[data-i='{i}'][data-j='{j}']") for i, j in ((1, 2), (2, 1)))
    assert hidden.get_attribute("aria-label").endswith("escondido pela máscara")
    assert "gradient" in hidden.evaluate("cell => getComputedStyle(cell).backgroundImage")
    assert seen.evaluate("cell => getComputedStyle(cell).backgroundImage") == "none"


def test_a_band_is_as_thick_as_its_weight(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [real_attention(layer=2, view="linhas")])
    weights = State(0, "bidirecional", 2, 1).shown().weights
    n = len(weights)
    shapes = panel.locator(".cw-bands span").evaluate_all("all => all.map(span => span.style.clipPath)")
    for k, shape in enumerate(shapes):
        y = [float(p) for p in re.findall(r"% (-?[\d.]+)%", shape)]
        i, j = divmod(k, n)
        assert n * (y[3] - y[0]) / 100 == pytest.approx(weights[i, j].item(), abs=1e-3)
        assert (y[0] + y[3]) * n / 200 == pytest.approx(i + 0.5, abs=1e-3)
        assert (y[1] + y[2]) * n / 200 == pytest.approx(j + 0.5, abs=1e-3)


HOSTILE = ['<img src=x onerror="attacked=1">', "</script> <b> & ' \" ok", "مرحبا 👩‍👩‍👧‍👦 olá"]


def test_tokens_are_text_never_markup(new_page, tmp_path):
    page = new_page(viewport=PHONE)
    [panel] = open_widgets(page, tmp_path, [real_attention(HOSTILE)])
    for k, text in enumerate(HOSTILE):
        panel.get_by_label("Frase", exact=True).select_option(index=k)
        assert_becomes(lambda: read(panel)["headers"], Tokenizer.minilm().encode(text).tokens)
    assert panel.locator("img, script, b").count() == 0
    assert page.evaluate("window.attacked") is None
    assert page_overflow(page) == 0
    assert not page.problems


# --- nothing is left behind ---------------------------------------------------------------------------------


def test_200_changes_leak_nothing(new_page, tmp_path):
    page = new_page(fresh=True)
    [panel] = open_widgets(page, tmp_path, [real_attention()])
    before = read(panel)
    change = """(panel, k) => {
      const list = panel.querySelectorAll("select")[k % 3];
      list.selectedIndex = (list.selectedIndex + 1) % list.length;
      list.dispatchEvent(new Event("change", { bubbles: true }));
    }"""
    nodes, listeners = growth(page, panel, change)
    assert read(panel) != before, "the changes must be seen"
    assert listeners <= 0
    # One sentence has more tokens than another, so cells come and go: at most one sentence's worth of them.
    assert nodes <= 2500


def test_listeners_and_observers_end_with_the_view(page):
    poke = "el => el.querySelectorAll('td[data-i]')[globalThis.turn = (globalThis.turn ?? 3) + 1].click()"
    assert_ends(after_the_end(page, real_attention().widget, poke))
