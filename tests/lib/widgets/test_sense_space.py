"""The space of senses: its Python twin, and the page compared with it in a real browser."""

import random
import re

import pytest
import torch
from playwright.sync_api import expect

from lib.experiments.word_senses import cosines, word_vector
from lib.geometry import standardize
from lib.tokenizer import Tokenizer
from lib.weights import minilm
from lib.widgets.sense_space import SCALES, WORDS, sense_space, shown
from tests.browser.chromium import PHONE, lasting, page_overflow
from tests.lib.widgets.masks_page import agrees, set_slider
from tests.lib.widgets.shared import (
    after_the_end,
    assert_accessible_in_every_look,
    assert_ends,
    assert_focus_is_visible,
    growth,
    open_widgets,
    survivors,
    tab_stops,
)

LAST = 6


class State:
    """Where the controls stand, how to get there, and what `lib` computes there."""

    def __init__(self, word, layer, scale, chosen=0):
        self.word, self.layer, self.scale, self.chosen = word, layer, scale, chosen

    def __repr__(self):
        return f"State{tuple(vars(self).values())}"

    def apply(self, panel):
        panel.get_by_label("Palavra", exact=True).select_option(label=WORDS[self.word].text)
        panel.get_by_label("Vetores", exact=True).select_option(label=SCALES[self.scale])
        set_slider(panel, "Camada", str(self.layer))
        panel.locator(f"button[data-pick='{self.chosen}']").click()

    def shown(self):
        return shown(self.word, self.layer, self.scale)


ALL = [State(w, layer, s) for w in range(len(WORDS)) for layer in range(LAST + 1) for s in SCALES]


READ = """panel => ({
  rows: [...panel.querySelectorAll("tr[data-row]")].map(
    row => [...row.children].map(cell => cell.textContent)),
  points: [...panel.querySelectorAll("[data-point]")].map(
    point => [parseFloat(point.style.left), parseFloat(point.style.top), point.textContent]),
  facts: panel.querySelector(".cw-facts").textContent,
  list: panel.querySelector(".cw-list").textContent,
})"""
FACTS = re.compile(
    r"Cosseno médio: mesmo sentido (\S+), sentidos diferentes (\S+)\. Vizinho do mesmo sentido: (\d+) de 8\. "
    r"Anisotropia \(todos os tokens das frases\): (\S+)\."
)


def read(panel):
    return panel.evaluate(READ)


@lasting
def differences(panel, state) -> list[str]:
    """Where the page does not say what `lib` computes."""
    page, expected, word, found = read(panel), state.shown(), WORDS[state.word], []
    most = expected.plane.abs().max().item()
    for i, (sentence, sense, x, y, near) in enumerate(page["rows"]):
        if sentence != f"{i + 1}. {word.sentences[i]}" or not sense.endswith(word.senses[word.labels[i]]):
            return [f"sentence {i}: page {sentence} {sense}"]
        at = expected.plane[i].tolist()
        if not agrees(x, at[0]) or not agrees(y, at[1]):
            found.append(f"plane {i}: page {x} {y}, lib {at}")
        left, top, _ = page["points"][i]
        if abs(left - 50 - 44 * at[0] / most) > 0.01 or abs(top - 50 + 44 * at[1] / most) > 0.01:
            found.append(f"point {i}: page {left} {top}, lib {at}")
        j = expected.neighbours(i)[0]
        number, cosine, mark = re.fullmatch(r"(\d+) \((\S+)\) (✓|✗ outro sentido)", near).groups()
        alike = (mark == "✓") == (word.labels[i] == word.labels[j])
        if int(number) != j + 1 or not agrees(cosine, expected.cosines[i, j].item()) or not alike:
            found.append(f"neighbour of {i}: page {near}, lib {j}")
    same, across, right, cone = FACTS.fullmatch(page["facts"]).groups()
    wanted = expected.separation
    if not (agrees(same, wanted.same) and agrees(across, wanted.across) and int(right) == wanted.neighbours):
        found.append(f"facts: page {page['facts']}, lib {wanted}")
    if not agrees(cone, expected.anisotropy):
        found.append(f"anisotropy: page {cone}, lib {expected.anisotropy}")
    listed = re.findall(r"(\d+) \((\S+?)\)", page["list"])
    order = expected.neighbours(state.chosen)
    if (
        not page["list"].startswith(f"Vizinhos de {state.chosen + 1},")
        or [int(j) - 1 for j, _ in listed] != order
    ):
        return [*found, f"list: page {page['list']}, lib {order}"]
    for (_, text), j in zip(listed, order, strict=True):
        if not agrees(text, expected.cosines[state.chosen, j].item()):
            found.append(f"cosine {state.chosen},{j}: page {text}")
    return found


# --- the twin -----------------------------------------------------------------------------------------------


def test_twin_is_the_word_vectors_of_the_real_encoder():
    encoder, tokenizer = minilm(), Tokenizer.minilm()
    for k, word in enumerate(WORDS):
        vectors = torch.stack([word_vector(encoder, tokenizer, s, word.text) for s in word.sentences])
        torch.testing.assert_close(shown(k, LAST, "cru").cosines, cosines(vectors), atol=1e-3, rtol=0)


def test_z_scoring_removes_the_common_direction():
    for k in range(len(WORDS)):
        raw, scored = shown(k, LAST, "cru"), shown(k, LAST, "z")
        assert raw.anisotropy > 0.15 and abs(scored.anisotropy) < 0.06
        assert scored.separation.same < raw.separation.same
    english, portuguese = (shown(k, LAST, "cru").separation.neighbours for k in (0, 1))
    assert (english, portuguese) == (8, 4), "an English model tells the senses of bank, not those of banco"


def test_page_carries_the_mean_and_deviation_that_standardize_uses():
    tokens = torch.randn(20, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    by_hand = (tokens[:3] - tokens.mean(0)) / tokens.std(0, correction=0)
    torch.testing.assert_close(standardize(tokens[:3], tokens), by_hand)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"word": 2}, "word must be an integer from 0 to 1, got 2"),
        ({"layer": 7}, "layer must be an integer from 0 to 6, got 7"),
        ({"layer": True}, "layer must be an integer from 0 to 6, got True"),
        ({"scale": "y"}, "scale must be one of cru, z, got 'y'"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        sense_space(**options)


# --- the page is the twin -----------------------------------------------------------------------------------


def test_page_shows_what_lib_computes_in_all_28_states(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [sense_space()])
    rng = random.Random(1)
    assert len(ALL) == 28
    for state in ALL:
        state.chosen = rng.randrange(8)
        state.apply(panel)
        assert differences(panel, state) == [], state
    assert not page.problems


def test_page_starts_in_the_state_it_was_given(page, tmp_path):
    made = sense_space(word=1, layer=2, scale="z")
    [panel] = open_widgets(page, tmp_path, [made])
    assert differences(panel, State(1, 2, "z")) == []
    torch.testing.assert_close(made.widget.shown().plane, State(1, 2, "z").shown().plane)


MUTATIONS = {
    "read the next layer": ("(layer * labels.length + i) * d,", "((layer + 1) * labels.length + i) * d,"),
    "forget the mean": ("(value - mu[k]) / sigma[k]", "value / sigma[k]"),
    "forget the deviation": ("(value - mu[k]) / sigma[k]", "value - mu[k]"),
    "never z-score": ('if (this.scale !== "z") return raw;', "return raw;"),
    "exponent off by one": ("2 ** (exponent - 15)", "2 ** (exponent - 14 - (exponent > 14))"),
    "dot for cosine": (" / (norms[i] * norms[j])", ""),
    "one norm": ("norms[i] * norms[j]", "norms[i] * norms[i]"),
    "do not centre": ("value - centre[k]", "value"),
    "free signs": ("x * Math.sign(largest)", "x * -Math.sign(largest)"),
    "rotate the wrong way": ("c * row[q] - s * row[p]", "c * row[q] + s * row[p]"),
    "smallest axes first": ("y.value - x.value", "x.value - y.value"),
    "nearest is itself": ("filter((j) => j !== i).sort", "sort"),
    "farthest first": ("row[b] - row[a] || a - b", "row[a] - row[b] || a - b"),
    "senses for their opposite": (
        "(labels[i] === labels[j]) === wanted",
        "(labels[i] !== labels[j]) === wanted",
    ),
    "count itself": ("i !== j && (labels", "(labels"),
    "anisotropy of the raw": ('("layer")][this.scale]', '("layer")].cru'),
    "upside down": ("50 - (44 * plane[i][1])", "50 + (44 * plane[i][1])"),
    "neighbours of another": ("neighbours(cosine[i], i).map", "neighbours(cosine[0], 0).map"),
}


def test_a_wrong_formula_in_the_javascript_is_caught(page, tmp_path):
    def difference(panel):
        for state in (State(0, 6, "z", 5), State(1, 3, "cru", 2)):
            state.apply(panel)
            if found := differences.at_once(panel, state):
                return found
        return []

    assert survivors(page, tmp_path, sense_space, MUTATIONS, difference) == []


# --- keyboard, phone, dark, neighbours ----------------------------------------------------------------------


def test_everything_works_by_keyboard_alone(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [sense_space()])
    assert tab_stops(page, 5) == [
        "Palavra",
        "Camada",
        "Vetores",
        *(f"{i + 1}. {WORDS[0].sentences[i]}" for i in (0, 1)),
    ]
    assert_focus_is_visible(page)
    page.keyboard.press("Enter")
    assert differences(panel, State(0, 6, "cru", 1)) == []
    expect(panel.locator("button[aria-pressed=true]")).to_have_count(1)


def test_no_accessibility_violation_before_and_after_use(page, tmp_path):
    panel, other = open_widgets(page, tmp_path, [sense_space(), sense_space(word=1)])
    assert_accessible_in_every_look(page)
    State(1, 2, "z", 4).apply(panel)
    State(0, 5, "z", 7).apply(other)
    assert_accessible_in_every_look(page)
    assert not page.problems


def test_two_widgets_do_not_interfere(page, tmp_path):
    left, right = open_widgets(page, tmp_path, [sense_space(), sense_space(word=1)])
    before = read(right)
    state = State(0, 4, "z", 3)
    state.apply(left)
    assert differences(left, state) == []
    assert read(right) == before
    State(1, 1, "z", 6).apply(right)
    assert differences(right, State(1, 1, "z", 6)) == []
    assert differences(left, state) == []


def test_senses_are_told_by_shape_and_word_not_by_colour(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [sense_space()])
    says = read(panel)
    assert [point[2] for point in says["points"]] == [f"{'●▲'[i // 4]}{i + 1}" for i in range(8)]
    assert [row[1] for row in says["rows"]] == ["● dinheiro"] * 4 + ["▲ margem"] * 4


def test_sentences_are_text_never_markup(new_page, tmp_path):
    page = new_page(viewport=PHONE)
    made = sense_space()
    hostile = '<img src=x onerror="window.attacked = true"></script><b>' + "longa" * 60
    made.widget.words = [
        {**word, "sentences": [hostile] * 8, "senses": [hostile, "👩‍👩‍👧‍👦"]} for word in made.widget.words
    ]
    [panel] = open_widgets(page, tmp_path, [made])
    assert read(panel)["rows"][2][0] == f"3. {hostile}"
    assert panel.locator("img, script, b").count() == 0
    assert page.evaluate("window.attacked") is None
    assert page_overflow(page) == 0
    assert not page.problems


# --- nothing is left behind ---------------------------------------------------------------------------------


def test_200_changes_leak_nothing(new_page, tmp_path):
    page = new_page(fresh=True)
    [panel] = open_widgets(page, tmp_path, [sense_space()])
    before = read(panel)
    change = """(panel, k) => {
      const list = panel.querySelectorAll("select")[k % 3 ? 1 : 0];
      list.selectedIndex = 1 - list.selectedIndex;
      list.dispatchEvent(new Event("change", { bubbles: true }));
    }"""
    nodes, listeners = growth(page, panel, change, times=201)  # odd: not back where it began
    assert read(panel) != before, "the changes must be seen"
    assert listeners <= 0 and nodes <= 150


def test_listeners_and_observers_end_with_the_view(page):
    poke = "el => el.querySelectorAll('button')[globalThis.turn = (globalThis.turn ?? 1) + 1].click()"
    assert_ends(after_the_end(page, sense_space().widget, poke))
