"""The mask explorer: its Python twin, and the page compared with it in a real browser."""

import json
import math
import random
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from playwright.sync_api import expect

from lib.attention import attention, causal_mask, softmax
from lib.experiments.wrong_masks import MISTAKES
from lib.widgets import mask_explorer
from lib.widgets.mask_explorer import (
    D_K_CHOICES,
    KINDS,
    MAX_TOKENS,
    PADDED,
    TEMPERATURES,
    shown,
)
from tests.browser.chromium import PHONE, assert_becomes, page_overflow
from tests.lib.widgets.masks_page import (
    State,
    counting,
    differences,
    open_panels,
    read,
    read_number,
    read_steps,
    set_slider,
)
from tests.lib.widgets.shared import assert_accessible_in_every_look, assert_focus_is_visible, move_focus

TOKENS = ["A", "menina", "viu", "o", "banco"]
SCORES = [
    [2.0, 0.5, 1.0, -0.3, 0.2],
    [1.5, 3.0, 0.0, 0.7, 1.2],
    [0.5, 2.0, 4.0, 0.1, -2.0],
    [-0.5, 1.0, 2.5, 3.5, 0.4],
    [-1.0, 0.0, 1.5, 2.0, 3.0],
]
# exp(900) overflows a double: a softmax that forgets its maximum shows here.
LARGE_SCORES = [[900.0, -900.0, 899.5], [1200.0, 1201.0, 1199.0], [-5000.0, -5001.0, -5000.25]]
SQUARE = st.integers(1, 6).flatmap(lambda n: arrays("float64", (n, n), elements=st.floats(-50, 50)))


def explorer(**options):
    return mask_explorer(TOKENS, SCORES, d_k=4, **options)


def states(seed: int, count: int) -> list[State]:
    """Every kind once, then random ones, each with random positions of the sliders."""
    rng = random.Random(seed)
    kinds = [*KINDS, *rng.choices(list(KINDS), k=count - len(KINDS))]
    return [
        State(kind, rng.choice(TEMPERATURES), rng.choice(D_K_CHOICES), rng.randint(1, len(TOKENS)))
        for kind in kinds
    ]


# --- the twin -----------------------------------------------------------------------------------------------


@given(SQUARE, st.integers(1, 64), st.floats(0.1, 10))
def test_causal_twin_is_lib_attention(scores, d_k, temperature):
    scores = torch.from_numpy(scores)
    n = len(scores)
    # With q = S and k = I, Q K^T is S itself; the scale is what is left of the formula.
    scale = 1 / (math.sqrt(d_k) * temperature)
    _, weights = attention(scores, torch.eye(n).double(), torch.eye(n).double(), causal_mask(n), scale=scale)
    torch.testing.assert_close(shown(scores, "causal", d_k, temperature).weights, weights)


@given(SQUARE, st.sampled_from([kind for kind in KINDS if kind != "depois"]), st.integers(1, 64))
def test_weights_are_the_softmax_of_the_scores_shown(scores, kind, d_k):
    result = shown(torch.from_numpy(scores), kind, d_k, 0.5, 1)
    torch.testing.assert_close(result.weights, softmax(result.entering / (0.5 * math.sqrt(d_k))))


def test_every_mistake_of_lib_is_a_kind():
    assert set(MISTAKES) == set(KINDS) - {"causal", "bidirecional", *PADDED}


@given(SQUARE, st.data())
def test_causal_with_padding_leaves_the_real_tokens_as_if_they_were_alone(scores, data):
    scores = torch.from_numpy(scores)
    real = data.draw(st.integers(1, len(scores)))
    weights = shown(scores, "causal_padding", 4, 0.5, real).weights
    alone = shown(scores[:real, :real], "causal", 4, 0.5).weights
    torch.testing.assert_close(weights[:real, :real], alone)
    assert (weights[:, real:] == 0).all()


def test_rows_with_nothing_to_attend_to():
    assert shown(SCORES, "diagonal", 4).empty_rows == [0]
    assert shown(SCORES, "invertida", 4).empty_rows == [4]
    assert all(
        not shown(SCORES, kind, 4).empty_rows for kind in KINDS if kind not in ("diagonal", "invertida")
    )


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("frase", SCORES), {}, TypeError, "tokens must be a sequence of non-empty strings"),
        ((["a", ""], SCORES), {}, TypeError, "tokens must be a sequence of non-empty strings"),
        (([], []), {}, ValueError, "tokens must hold 1 to"),
        ((["a"] * (MAX_TOKENS + 1), SCORES), {}, ValueError, "tokens must hold 1 to"),
        ((["a", "b"], SCORES), {}, ValueError, r"scores must have shape \(2, 2\).*got \(5, 5\)"),
        ((["a"], [[math.nan]]), {}, ValueError, "scores must be finite"),
        ((["a"], [[-math.inf]]), {}, ValueError, "scores must be finite"),
        ((["a"], [[1]]), {"kind": "causall"}, ValueError, "kind must be one of causal, .* got 'causall'"),
        ((["a"], [[1]]), {"d_k": 0}, ValueError, "d_k must be an integer >= 1, got 0"),
        ((["a"], [[1]]), {"d_k": 1.5}, ValueError, "d_k must be an integer >= 1, got 1.5"),
        ((["a"], [[1]]), {"temperature": 0}, ValueError, "temperature must be a finite number > 0, got 0"),
        ((["a"], [[1]]), {"temperature": math.nan}, ValueError, "temperature must be a finite number > 0"),
    ],
)
def test_bad_arguments_are_named(arguments, options, error, message):
    with pytest.raises(error, match=message):
        mask_explorer(*arguments, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SCORES, "causall", 4), "kind must be one of causal, .* got 'causall'"),
        ((SCORES, "causal", 0), "d_k must be an integer >= 1, got 0"),
        ((SCORES, "causal", 4, -1.0), "temperature must be a finite number > 0, got -1.0"),
        ((SCORES[:2], "causal", 4), r"scores must have shape \(2, 2\).*got \(2, 5\)"),
        ((SCORES, "padding", 4, 1.0, 6), r"lengths must lie between 0 and n=5, got \[6\]"),
    ],
)
def test_bad_states_of_the_twin_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        shown(*arguments)


def test_values_outside_the_choices_join_them():
    widget = mask_explorer(["a"], [[1]], d_k=3, temperature=0.7).widget
    assert widget.d_k_choices[widget.d_k_index] == 3
    assert widget.temperatures[widget.temperature_index] == 0.7
    assert widget.temperatures == sorted(widget.temperatures)


# --- the page is the twin -----------------------------------------------------------------------------------


def test_page_shows_what_lib_computes_in_28_states(page, tmp_path):
    [panel] = open_panels(page, tmp_path, [explorer()])
    for state in states(seed=1, count=28):
        state.apply(panel)
        assert differences(panel, state.shown(SCORES)) == [], state
    assert not page.problems


def test_page_starts_in_the_state_it_was_given(page, tmp_path):
    panels = [explorer(kind=kind, temperature=0.7) for kind in KINDS]
    for kind, panel in zip(KINDS, open_panels(page, tmp_path, panels), strict=True):
        assert differences(panel, shown(SCORES, kind, 4, 0.7, len(TOKENS) - 1)) == [], kind


def test_large_scores_do_not_overflow(page, tmp_path):
    [panel] = open_panels(page, tmp_path, [mask_explorer(TOKENS[:3], LARGE_SCORES, d_k=1)])
    for temperature in (0.01, 1.0, 10.0):
        state = State("bidirecional", temperature, 1, 3)
        state.apply(panel)
        assert differences(panel, state.shown(LARGE_SCORES)) == [], state
        assert "?" not in panel.inner_text()


def test_one_token_and_the_most_tokens(page, tmp_path):
    many = torch.randn(
        MAX_TOKENS, MAX_TOKENS, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    panels = [mask_explorer(["só"], [[0.5]], d_k=2), mask_explorer(["palavra"] * MAX_TOKENS, many, d_k=2)]
    one, full = open_panels(page, tmp_path, panels)
    assert differences(one, shown([[0.5]], "causal", 2)) == []
    assert differences(full, shown(many, "causal", 2)) == []
    assert page_overflow(page) == 0


def test_arithmetic_of_every_cell_ends_in_its_weight(page, tmp_path):
    panels = open_panels(page, tmp_path, [explorer(kind=kind) for kind in KINDS])
    cells = [(i, j) for i in range(len(TOKENS)) for j in range(len(TOKENS))]
    for kind, panel in zip(KINDS, panels, strict=True):
        expected = shown(SCORES, kind, 4, 1.0, len(TOKENS) - 1)
        for (i, j), page_says in zip(cells, read_steps(panel), strict=True):
            assert f"(linha {i + 1})" in page_says["title"] and f"(coluna {j + 1})" in page_says["title"]
            check_steps(page_says["steps"], expected, kind, i, j)


def test_pointer_shows_a_cell_and_leaves_the_chosen_one(page, tmp_path):
    [panel] = open_panels(page, tmp_path, [explorer()])
    title, first = panel.locator(".cw-steps-title"), panel.locator("td[data-i='1'][data-j='0']")
    pointed, chosen = (
        re.compile("^" + re.escape(f"“{token}” (linha {i}) olha para “A”"))
        for token, i in (("menina", 2), ("banco", 5))
    )
    for cell in first.all():
        cell.hover()
        expect(title).to_have_text(pointed)
        panel.locator(".cw-formula").hover()
        expect(title).to_have_text(chosen)
    first.first.click()
    panel.locator(".cw-formula").hover()
    expect(title).to_have_text(pointed)


def check_steps(steps, expected, kind, i, j):
    """Recompute each written step from `lib`, to the four digits that it shows."""

    def last(name):
        return read_number(re.search(r"(\S+)$", steps[name]).group(1))

    entering, row = expected.entering[i, j].item(), expected.entering[i] / 2.0  # sqrt(d_k) = 2, T = 1
    assert last("escore") == pytest.approx(entering, abs=5e-5)
    assert last("escala") == pytest.approx(entering / 2, abs=5e-5)
    if i in expected.empty_rows:
        assert "nada a atender" in steps["softmax"] and "peso" not in steps
        return
    exps = torch.exp(row - row.max())
    assert last("máximo") == pytest.approx(row.max().item(), abs=5e-5)
    assert last("exponencial") == pytest.approx(exps[j].item(), abs=5e-5)
    assert last("soma") == pytest.approx(exps.sum().item(), abs=5e-5)
    assert last("peso") == pytest.approx(expected.weights[i, j].item(), abs=5e-5)
    assert ("softmax" in steps) == (kind == "depois")


def test_an_empty_row_shows_a_dash_and_says_why(page, tmp_path):
    [panel] = open_panels(page, tmp_path, [explorer(kind="diagonal")])
    page_says = read(panel)
    assert page_says["weights"][0] == ["—"] * 5 and page_says["sums"][0] == "—"
    assert "Linha 1: nada a atender" in page_says["facts"] and "0/0" in page_says["facts"]


def test_padding_slider_is_enabled_only_where_it_counts(page, tmp_path):
    [panel] = open_panels(page, tmp_path, [explorer()])
    slider = panel.locator(".widget-slider", has_text="Tokens reais").locator(".noUi-target")
    for kind in ("causal", "padding", "depois", "causal_padding", "diagonal", "padding"):
        panel.get_by_label("Máscara", exact=True).select_option(label=KINDS[kind])
        assert_becomes(lambda: slider.get_attribute("disabled") is None, kind in PADDED)
    set_slider(panel, "Tokens reais", "2")
    for kind in PADDED:
        panel.get_by_label("Máscara", exact=True).select_option(label=KINDS[kind])
        headers = panel.locator("table[role=grid] th[scope=col]")
        expect(headers, kind).to_have_text(["A", "menina", *["[PAD]"] * 3, "soma"])


# --- a wrong formula is seen --------------------------------------------------------------------------------

MUTATIONS = {
    "swap a sign": ("Math.exp(z - max)", "Math.exp(max - z)"),
    "drop the maximum": ("Math.exp(z - max)", "Math.exp(z)"),
    "shift the mask by one": ("(i, j) => j > i;", "(i, j) => j >= i;"),
    "shift the mask the other way": ("(i, j) => j > i;", "(i, j) => j > i + 1;"),
    "skip the temperature": ("Math.sqrt(dK) * temperature", "Math.sqrt(dK)"),
    "forget the square root": ("Math.sqrt(dK) * temperature", "dK * temperature"),
    "multiply by the scale": ("s / scale", "s * scale"),
    "shift the padding": ("(i, j, realTokens) => j >= realTokens", "(i, j, realTokens) => j > realTokens"),
    "forget the padding of the causal mask": ("isFuture(i, j) || isPadding", "isFuture(i, j) && isPadding"),
    "forget the future of the padding mask": ("isFuture(i, j) || isPadding", "isPadding"),
    "hide with a zero": ("kind.hiddenScore ?? -Infinity", "kind.hiddenScore ?? 0"),
    "hide the zeroed scores": ("kind.hiddenScore ?? -Infinity", "-Infinity"),
    "renormalise after the mask": ("kind.after?.(i, j) ? 0 : w", "w"),
    "normalise by the maximum": ("sum === 0 ? 0 : e / sum", "sum === 0 ? 0 : e"),
    "show the diagonal": ("hides: (i, j) => j >= i,", "hides: (i, j) => j > i,"),
    "sum the weights before the mask": ("const sum = weights.reduce", "const sum = soft.weights.reduce"),
    "read the transposed cell": ("number(weights[j])", "number(rows[j].weights[i])"),
    "round by cutting": (
        "size.toFixed(digits)",
        "(Math.floor(size * 10 ** digits) / 10 ** digits).toFixed(digits)",
    ),
    "take the next kind": (
        '("kinds")[model.get("kind_index")]',
        '("kinds")[(model.get("kind_index") + 1) % 9]',
    ),
    "colour by what is left": ('"--cw-weight", weights[j])', '"--cw-weight", 1 - weights[j])'),
    "report the smallest future weight": ("Math.max(0, ...future)", "Math.min(0, ...future)"),
}


def broken(panel, mutation: str):
    """The same panel with one line of its JavaScript changed."""
    old, new = MUTATIONS[mutation]
    assert panel.widget._esm.count(old) == 1, f"{mutation}: {old!r} must occur once in the JavaScript"
    panel.widget._esm = panel.widget._esm.replace(old, new)
    return panel


def first_difference(panel, scores) -> list[str]:
    """What the comparison finds in the first state, of one for each kind, where it finds anything."""
    for state in [State(kind, 3.0, 16, 2) for kind in KINDS]:
        state.apply(panel)
        if found := differences.at_once(panel, state.shown(scores)):
            return found
    return []


def test_a_wrong_formula_in_the_javascript_is_caught(page, tmp_path):
    # sqrt(16) * 3 = 12: the first row, divided by it, is still beyond what exp can take.
    scores = [[9000.0, 8990.0, 9010.0], [4.0, 12.5, 20.0], [-6.0, 2.5, 11.25]]
    mutants = [broken(mask_explorer(TOKENS[:3], scores, d_k=4), mutation) for mutation in MUTATIONS]
    intact, *panels = open_panels(page, tmp_path, [mask_explorer(TOKENS[:3], scores, d_k=4), *mutants])
    assert first_difference(intact, scores) == []
    caught = [name for name, panel in zip(MUTATIONS, panels, strict=True) if first_difference(panel, scores)]
    assert caught == list(MUTATIONS)


# --- keyboard, phone, dark, neighbours ----------------------------------------------------------------------


def test_everything_works_by_keyboard_alone(page, tmp_path):
    [panel] = open_panels(page, tmp_path, [explorer()])
    stops = []
    for _ in range(5):
        move_focus(page)
        stops.append(
            page.evaluate("document.activeElement.getAttribute('role') || document.activeElement.tagName")
        )
    assert stops[0] == "SELECT" and stops[-1] == "gridcell", stops
    assert_cell(page, panel, 4, 0)
    for key, (i, j) in {
        "ArrowUp": (3, 0),
        "ArrowRight": (3, 1),
        "End": (3, 4),
        "Control+Home": (0, 0),
    }.items():
        page.keyboard.press(key)
        assert_cell(page, panel, i, j)
    page.keyboard.press("ArrowLeft")
    assert_cell(page, panel, 0, 0)
    move_focus(page, "Shift+Tab")
    move_focus(page)
    assert_cell(page, panel, 0, 0)
    expect(panel.locator("td[tabindex='0']")).to_have_count(1)


def assert_cell(page, panel, i, j):
    """The focus is on cell (i, j), visibly, and the live region writes out its arithmetic."""
    expect(panel.locator(f"td[data-i='{i}'][data-j='{j}']:focus")).to_have_count(1)
    assert_focus_is_visible(page)
    expect(panel.locator("[aria-live=polite] .cw-steps-title")).to_have_text(
        f"“{TOKENS[i]}” (linha {i + 1}) olha para “{TOKENS[j]}” (coluna {j + 1})"
    )


def test_no_accessibility_violation_before_and_after_use(page, tmp_path):
    panel, other = open_panels(page, tmp_path, [explorer(), explorer(kind="depois")])
    assert_accessible_in_every_look(page)
    State("padding", 0.25, 8, 3).apply(panel)
    State("invertida", 0.05, 1, 5).apply(other)
    panel.locator("td[data-grid=weight]").nth(7).click()
    assert_accessible_in_every_look(page)
    assert not page.problems


CONTRASTS = """panel => {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const luminance = color => {
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map(v => v / 255).map(
      v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const cell = panel.querySelector("td[data-grid=weight]:not(.cw-hidden)");
  return Array.from({ length: 101 }, (_, k) => {
    cell.style.setProperty("--cw-weight", k / 100);
    const style = getComputedStyle(cell);
    return { text: luminance(style.color), cell: luminance(style.backgroundColor) };
  });
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colour_scale_is_monotone_and_its_text_readable(dark, page, tmp_path):
    [panel] = open_panels(page, tmp_path, [explorer()], dark=dark)
    measured = panel.evaluate(CONTRASTS)
    luminances = [m["cell"] for m in measured]
    assert luminances == sorted(luminances, reverse=not dark) and len(set(luminances)) == 101
    contrasts = [(max(m.values()) + 0.05) / (min(m.values()) + 0.05) for m in measured]
    assert min(contrasts) >= 4.5, (
        f"contrast {min(contrasts):.2f} at weight {contrasts.index(min(contrasts)) / 100}"
    )


def test_hidden_and_wrong_cells_are_marked_without_colour(page, tmp_path):
    [panel] = open_panels(page, tmp_path, [explorer(kind="invertida")])
    past, future = (panel.locator(f"td[data-grid=weight][data-i='1'][data-j='{j}']") for j in (0, 2))
    assert "repeating-linear-gradient" in past.evaluate("cell => getComputedStyle(cell).backgroundImage")
    assert future.evaluate("cell => getComputedStyle(cell).backgroundImage") == "none"
    assert past.get_attribute("aria-label").endswith("escondido por engano")
    assert future.get_attribute("aria-label").endswith("futuro que vazou")
    for cell, symbol in ((past, "▽"), (future, "▲")):
        assert symbol in cell.evaluate("cell => getComputedStyle(cell, '::after').content")


def test_two_explorers_do_not_interfere(page, tmp_path):
    left, right = open_panels(page, tmp_path, [explorer(), explorer(kind="esquecida")])
    before = read(right)
    State("padding", 0.5, 16, 2).apply(left)
    left.locator("td[data-grid=weight]").nth(3).click()
    assert differences(left, State("padding", 0.5, 16, 2).shown(SCORES)) == []
    assert read(right) == before
    State("depois", 2.0, 64, 5).apply(right)
    assert differences(left, State("padding", 0.5, 16, 2).shown(SCORES)) == []
    assert differences(right, State("depois", 2.0, 64, 5).shown(SCORES)) == []


def test_tokens_are_text_never_markup(new_page, tmp_path):
    hostile = [
        '<img src=x onerror="window.attacked = true">',
        "</script><script>window.attacked = true</script>",
        "\"'`${1}&amp;",
        "ﷺ مرحبا",
        "👩‍👩‍👧‍👦",
        "anticonstitucional" * 20,
    ]
    n = len(hostile)
    scores = torch.arange(n * n, dtype=torch.float64).reshape(n, n) / 7
    page = new_page(viewport=PHONE)
    [panel] = open_panels(page, tmp_path, [mask_explorer(hostile, scores, d_k=2)])
    texts = panel.locator("table[role=grid] th[scope=row]").evaluate_all(
        "all => all.map(th => th.textContent)"
    )
    assert texts == hostile
    assert panel.locator("img, script").count() == 0
    assert page.evaluate("window.attacked") is None
    assert differences(panel, shown(scores, "causal", 2)) == []
    assert page_overflow(page) == 0
    assert not page.problems


# --- nothing is left behind ---------------------------------------------------------------------------------


CHANGES = """(panel, times) => {
  const mask = panel.querySelector("select");
  const slider = panel.querySelector("[role=slider]");
  for (let k = 0; k < times; k++) {
    const key = k % 4 === 1 ? "ArrowRight" : "ArrowLeft";
    if (k % 2) slider.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    else mask.selectedIndex = (k / 2) % mask.length;
    mask.dispatchEvent(new Event("change", { bubbles: true }));
  }
}"""


def test_200_changes_leak_no_nodes_and_no_listeners(new_page, tmp_path):
    page = new_page(fresh=True)
    [panel] = open_panels(page, tmp_path, [explorer()])
    panel.evaluate(CHANGES, 32)  # whatever is made once, on first use, is made now
    before = read(panel)
    with counting(page) as count:
        nodes, listeners = count()
        panel.evaluate(CHANGES, 202)
        nodes_after, listeners_after = count()
    assert read(panel) != before, "the changes must be seen"
    assert listeners_after <= listeners
    assert nodes_after <= nodes + 20, "a view rebuilt on each change would leave thousands"


LIFECYCLE = """async esm => {
  const active = new Set();
  for (const Observer of [ResizeObserver, MutationObserver]) {
    const { observe, disconnect } = Observer.prototype;
    Observer.prototype.observe = function (...a) { active.add(this); return observe.apply(this, a); };
    Observer.prototype.disconnect = function () { active.delete(this); return disconnect.apply(this); };
  }
  const listeners = new Map();
  const state = STATE;
  const model = {
    get: name => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => {},
    on: (event, f) => listeners.set(f, event),
    off: (event, f) => listeners.get(f) === event && listeners.delete(f),
  };
  const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  const el = document.body.appendChild(document.createElement("div"));
  const end = module.default.render({ model, el });
  const cell = el.querySelectorAll("td[data-grid=weight]")[0];
  const before = { listeners: listeners.size, observers: active.size };
  end();
  cell.click();
  return { before, listeners: listeners.size, observers: active.size, chosen: state.cell };
}"""


def test_listeners_and_observers_end_with_the_view(page):
    state = {k: v for k, v in explorer().widget.get_state().items() if isinstance(v, list | int)}
    page.goto("about:blank")
    result = page.evaluate(LIFECYCLE.replace("STATE", json.dumps(state)), explorer().widget._esm)
    assert result["before"]["listeners"] >= 4 and result["before"]["observers"] == 1
    assert result["listeners"] == result["observers"] == 0
    assert result["chosen"] == [4, 0], "a click after the end must change nothing"
