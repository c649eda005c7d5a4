"""Static pages with widgets for the browser tests, and what a person would do with the mask explorer on them.

A page is made as the book makes it: the widgets' saved state, their views, the same local script; no kernel.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from ipywidgets.embed import dependency_state
from playwright.sync_api import Locator, Page

from lib.widgets.base import Panel
from lib.widgets.mask_explorer import KINDS, PADDED, Shown, shown
from tests.browser.chromium import lasting, next_frame
from tools.console import ROOT

SCRIPT = "vendor/bundles/widgets.js"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


def write_page(path: Path, panels: Sequence[Panel]) -> str:
    """Write a page that shows the panels from their saved state, and return its file:// address."""
    static = ROOT / "book" / "_static"
    script = f'<script src="{(static / SCRIPT).as_uri()}"></script>'
    state = {"version_major": 2, "version_minor": 0, "state": dependency_state(panels, drop_defaults=False)}
    views = [{"version_major": 2, "version_minor": 0, "model_id": panel.model_id} for panel in panels]
    path.write_text(
        '<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><title>Widgets</title>'
        '<meta name="viewport" content="width=device-width">'
        '<style>html[data-theme="dark"] { background: #121212; color: #eee }</style>'
        f"{script}{_embedded(STATE, state)}</head><body><main><h1>Widgets</h1>"
        f"{''.join(_embedded(VIEW, view) for view in views)}</main></body></html>",
        encoding="utf-8",
    )
    return path.as_uri()


def _embedded(kind: str, data: dict) -> str:
    # "</script>" inside a token would end the element; the book's builder escapes it too.
    return f'<script type="{kind}">{json.dumps(data).replace("</", "<" + chr(92) + "/")}</script>'


def open_panels(page: Page, folder: Path, panels: Sequence[Panel], *, dark: bool = False) -> list[Locator]:
    """Open a page with the panels, wait until all are drawn, and return them in order."""
    page.goto(write_page(folder / "widgets.html", panels))
    set_theme(page, dark)
    return explorers(page, len(panels))


def set_theme(page: Page, dark: bool) -> None:
    """The theme of the page, as the book's switch sets it."""
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", "dark" if dark else "light")


def explorers(page: Page, count: int) -> list[Locator]:
    """The mask explorers of a page, once `count` of them are drawn and their sliders named."""
    page.wait_for_function(
        """count => {
          const panels = [...document.querySelectorAll(".cw-panel:has(.cw-mask td[data-i])")];
          const named = panel => panel.querySelectorAll("[role=slider][aria-label]").length === 3;
          return panels.length === count && panels.every(named);
        }""",
        arg=count,
    )
    return page.locator(".cw-panel:has(.cw-mask)").all()


@dataclass(frozen=True)
class State:
    """Where the explorer's controls stand."""

    kind: str
    temperature: float
    d_k: int
    real_tokens: int

    def apply(self, panel: Locator) -> None:
        """Set the controls as a person does: the list by its label, the sliders by the keyboard."""
        panel.get_by_label("Máscara", exact=True).select_option(label=KINDS[self.kind])
        set_slider(panel, "Temperatura T", f"{self.temperature:g}".replace(".", ","))
        set_slider(panel, "Dimensão dₖ", str(self.d_k))
        if self.kind in PADDED:
            set_slider(panel, "Tokens reais", str(self.real_tokens))

    def shown(self, scores: Sequence[Sequence[float]]) -> Shown:
        """What `lib` computes for this state."""
        return shown(scores, self.kind, self.d_k, self.temperature, self.real_tokens)


SET_SLIDER = """async (handle, text) => {
  const press = key => handle.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
  const says = async () => { await null; return handle.getAttribute("aria-valuetext"); };
  if (await says() === text) return true;
  press("Home");
  for (let k = 0; k < 64 && await says() !== text; k++) press("ArrowRight");
  return await says() === text;
}"""


def set_slider(panel: Locator, name: str, text: str) -> None:
    """Move a slider with the arrow keys until it says `text`."""
    assert panel.get_by_role("slider", name=name, exact=True).evaluate(SET_SLIDER, text), (
        f"{name} never says {text}"
    )


def read_number(text: str) -> float:
    """A number as the page writes it: "0,330", "−∞", "1,0·10⁶"."""
    text = text.translate(str.maketrans("−,⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "-.0123456789-")).replace("∞", "inf")
    mantissa, _, exponent = text.partition("·10")
    return float(mantissa) * 10 ** int(exponent or 0)


def half_unit(text: str) -> float:
    """Half a unit of the last digit that `text` shows: how far the true value may be from it."""
    decimals = re.match(r"[^·]*?(?:,(\d+))?(?:·|$)", text).group(1) or ""
    exponent = re.search(r"·10(.*)", text)
    scale = round(math.log10(abs(read_number("1·10" + exponent.group(1))))) if exponent else 0
    return 0.5 * 10.0 ** (scale - len(decimals))


READ = """panel => {
  const text = el => el.textContent;
  const grid = name => {
    const rows = [];
    for (const cell of panel.querySelectorAll(`td[data-grid=${name}]`)) {
      (rows[cell.dataset.i] ??= [])[cell.dataset.j] = text(cell);
    }
    return rows;
  };
  return {
    scores: grid("score"),
    weights: grid("weight"),
    shades: [...panel.querySelectorAll("td[data-grid=weight]")].map(
      cell => Number(cell.style.getPropertyValue("--cw-weight"))),
    sums: [...panel.querySelectorAll("td[data-sum]")].map(text),
    facts: text(panel.querySelector(".cw-facts")),
  };
}"""
READ_STEPS = """panel => [...panel.querySelectorAll("td[data-grid=weight]")].map(cell => {
  cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  return {
    title: panel.querySelector(".cw-steps-title").textContent,
    steps: Object.fromEntries([...panel.querySelectorAll("[data-step]")].map(
      step => [step.dataset.step, step.querySelector("dd").textContent])),
  };
})"""


def read(panel: Locator) -> dict:
    """Everything that the explorer says, as text."""
    return panel.evaluate(READ)


def read_steps(panel: Locator) -> list[dict]:
    """The title and the arithmetic of each cell, row by row, with the pointer over it."""
    return panel.evaluate(READ_STEPS)


@lasting
def differences(panel: Locator, expected: Shown) -> list[str]:
    """Where the numbers on the page are not those of `lib`, to the precision that the page shows."""
    page = read(panel)
    empty = expected.empty_rows
    pairs = [("facts", text, value) for text, value in _facts(page["facts"], expected)]
    for i, (scores, weights) in enumerate(zip(page["scores"], page["weights"], strict=True)):
        pairs += [(f"sum {i}", page["sums"][i], None if i in empty else expected.row_sums[i].item())]
        for j, (score, weight) in enumerate(zip(scores, weights, strict=True)):
            pairs += [(f"score {i},{j}", score, expected.entering[i, j].item())]
            pairs += [(f"weight {i},{j}", weight, None if i in empty else expected.weights[i, j].item())]
    found = [f"{where}: page {text}, lib {value}" for where, text, value in pairs if not agrees(text, value)]
    if page["shades"] != pytest.approx(expected.weights.flatten().tolist(), abs=1e-9):
        found.append(f"shades: page {page['shades']}, lib {expected.weights}")
    return found


def _facts(sentence: str, expected: Shown) -> Iterator[tuple[str, float]]:
    number = r"(\S*[\d∞?])"
    found = re.match(rf"Maior peso no futuro: {number}\. Soma das linhas: de {number} a {number}\.", sentence)
    sums = [s for i, s in enumerate(expected.row_sums.tolist()) if i not in expected.empty_rows]
    values = [expected.largest_future_weight, min(sums), max(sums)]
    yield from zip(found.groups() if found else [sentence] * 3, values, strict=True)


def agrees(text: str, value: float | None) -> bool:
    """True if `text` is `value` rounded as shown; None stands for a row with nothing to attend to."""
    if value is None:
        return text == "—"
    try:
        number = read_number(text)
    except ValueError:
        return False
    if math.isinf(value) or math.isinf(number):
        return number == value
    return abs(number - value) <= half_unit(text) * (1 + 1e-9)


@contextmanager
def counting(page: Page) -> Iterator:
    """A function that counts the live DOM nodes and event listeners of the page, garbage apart."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def count() -> tuple[int, int]:
        next_frame(page)  # what a change put off until the next frame is done
        session.send("HeapProfiler.collectGarbage")
        metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        return int(metrics["Nodes"]), int(metrics["JSEventListeners"])

    yield count
    session.detach()
