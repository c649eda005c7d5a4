"""The mask explorer: its Python twin, and what it alone does on a page."""

import math
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from playwright.sync_api import expect

from lib.attention import attention, causal_mask, softmax
from lib.experiments.wrong_masks import MISTAKES
from lib.widgets.mask_explorer import KINDS, PADDED, mask_explorer, shown
from tests.browser.chromium import assert_becomes
from tests.lib.widgets.cases.mask_explorer import SCORES, TOKENS, explorer
from tests.lib.widgets.cases.page import read_number

SQUARE = st.integers(1, 6).flatmap(lambda n: arrays("float64", (n, n), elements=st.floats(-50, 50)))


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
    empty = {kind: shown(SCORES, kind, 4).empty_rows for kind in KINDS}
    assert empty == {kind: [] for kind in KINDS} | {"diagonal": [0], "invertida": [4]}


def test_values_outside_the_choices_join_them():
    widget = mask_explorer(["a"], [[1]], d_k=3, temperature=0.7).widget
    assert widget.d_k_choices[widget.d_k_index] == 3
    assert widget.temperatures[widget.temperature_index] == 0.7
    assert widget.temperatures == sorted(widget.temperatures)


# --- the page -----------------------------------------------------------------------------------------------


# The title and the arithmetic of each cell, row by row, with the pointer over it.
READ_STEPS = """panel => [...panel.querySelectorAll("td[data-grid=weight]")].map(cell => {
  cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  return {
    title: panel.querySelector(".cw-steps-title").textContent,
    steps: Object.fromEntries([...panel.querySelectorAll("[data-step]")].map(
      step => [step.dataset.step, step.querySelector("dd").textContent])),
  };
})"""


def test_arithmetic_of_every_cell_ends_in_its_weight(show):
    cells = [(i, j) for i in range(len(TOKENS)) for j in range(len(TOKENS))]
    for explored in show(*(explorer(kind=kind) for kind in KINDS)):
        for (i, j), page_says in zip(cells, explored.panel.evaluate(READ_STEPS), strict=True):
            assert f"(linha {i + 1})" in page_says["title"] and f"(coluna {j + 1})" in page_says["title"]
            check_steps(page_says["steps"], explored.expected(), explored.state.kind, i, j)


def check_steps(steps, expected, kind, i, j):
    """Recompute each written step from `lib`, to the four digits that it shows."""

    def last(name):
        return read_number(re.search(r"(\S+)$", steps[name]).group(1))

    entering, row = expected.entering[i, j].item(), expected.entering[i] / 2.0  # sqrt(d_k) = 2, T = 1
    assert last("pontuação") == pytest.approx(entering, abs=5e-5)
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


def title_of(i: int, j: int) -> str:
    return f"“{TOKENS[i]}” (linha {i + 1}) olha para “{TOKENS[j]}” (coluna {j + 1})"


def test_pointer_shows_a_cell_and_leaves_the_chosen_one(show):
    [explored] = show(explorer())
    title = explored.panel.locator(".cw-steps-title")
    for cell in explored.panel.locator("td[data-i='1'][data-j='0']").all():
        cell.hover()
        expect(title).to_have_text(title_of(1, 0))
        explored.panel.locator(".cw-formula").hover()
        expect(title).to_have_text(title_of(4, 0))
    explored.panel.locator("td[data-i='1'][data-j='0']").first.click()
    explored.panel.locator(".cw-formula").hover()
    expect(title).to_have_text(title_of(1, 0))


def test_arrows_write_out_the_arithmetic_for_a_screen_reader(page, show):
    [explored] = show(explorer())
    heard = explored.panel.locator("[aria-live=polite] .cw-steps-title")
    explored.cell(4, 0).focus()
    for key, at in (("ArrowUp", (3, 0)), ("ArrowRight", (3, 1)), ("End", (3, 4)), ("Control+Home", (0, 0))):
        page.keyboard.press(key)
        expect(explored.cell(*at)).to_be_focused()
        expect(heard).to_have_text(title_of(*at))


WHY = re.compile(r"“Tokens reais” só muda as máscaras com \[PAD\]")


def test_padding_slider_is_enabled_only_where_it_counts_and_else_says_why(page, show):
    [explored] = show(explorer())
    why = explored.panel.locator(".cw-why")
    slider = explored.panel.locator(".widget-slider", has_text="Tokens reais").locator(".noUi-target")
    for kind in ("causal", "padding", "depois", "causal_padding", "diagonal", "padding"):
        explored.choose("Máscara", label=KINDS[kind])
        assert_becomes(page, lambda: slider.get_attribute("disabled") is None, kind in PADDED)
        expect(why).to_have_text(
            "" if kind in PADDED else re.compile("“Tokens reais” só muda as máscaras com \\[PAD\\]")
        )
    explored.slide("Tokens reais", "2")
    for kind in PADDED:
        explored.choose("Máscara", label=KINDS[kind])
        assert_becomes(page, lambda: explored.read()["columns"], ["A", "menina", *["[PAD]"] * 3, "soma"])


def test_a_future_that_is_seen_is_never_written_as_zero(show):
    for explored in show(explorer(kind="zerada"), explorer(kind="zerada", temperature=0.05)):
        explored.slide("Temperatura T", "0,05")
        explored.state = replace(explored.state, temperature=0.05)
        assert explored.differences() == []
        leaks = explored.panel.locator("td[data-mark=leak]").all_inner_texts()
        assert leaks and "0,000" not in leaks


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
def test_colour_scale_is_monotone_and_its_text_readable(dark, show):
    [explored] = show(explorer(), dark=dark)
    measured = explored.panel.evaluate(CONTRASTS)
    luminances = [m["cell"] for m in measured]
    assert luminances == sorted(luminances, reverse=not dark) and len(set(luminances)) == 101
    contrasts = [(max(m.values()) + 0.05) / (min(m.values()) + 0.05) for m in measured]
    lowest = min(contrasts)
    assert lowest >= 4.5, f"contrast {lowest:.2f} at weight {contrasts.index(lowest) / 100}"


def test_hidden_and_wrong_cells_are_marked_without_colour(show):
    [explored] = show(explorer(kind="invertida"))
    past, future = explored.cell(1, 0), explored.cell(1, 2)
    assert "repeating-linear-gradient" in past.evaluate("cell => getComputedStyle(cell).backgroundImage")
    assert future.evaluate("cell => getComputedStyle(cell).backgroundImage") == "none"
    assert past.get_attribute("aria-label").endswith("escondido por engano")
    assert future.get_attribute("aria-label").endswith("futuro que vazou")
    for cell, symbol in ((past, "▽"), (future, "▲")):
        assert symbol in cell.evaluate("cell => getComputedStyle(cell, '::after').content")
