"""What the browser tests ask of every widget: is it drawn, is a broken copy seen, is anything left behind."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from torch import Tensor

from lib.widgets.base import CourseWidget, Panel
from tests.browser.chromium import DESKTOP, PHONE, axe_violations, lasting, next_frame, page_overflow
from tests.lib.widgets.masks_page import counting, set_theme, write_page

HOSTILE = [
    '<img src=x onerror="window.attacked = true">',
    "</script><script>window.attacked = true</script>",
    "\"'`${1}&amp;<b>",
    "ﷺ مرحبا עברית",
    "👩‍👩‍👧‍👦 🇧🇷",
    "anticonstitucionalissimamente" * 30,
    "",
    " \t\u3000 ",
    "palavra " * 3000,
]


def open_widgets(page: Page, folder: Path, panels: Sequence[Panel], *, dark: bool = False) -> list[Locator]:
    """Open a page with the panels, wait until all are drawn and their sliders named; return them in order."""
    page.goto(write_page(folder / "widgets.html", panels))
    set_theme(page, dark)
    return drawn_widgets(page, [len(panel.controls) for panel in panels])


def drawn_widgets(page: Page, controls: Sequence[int], within: str = ".cw-panel") -> list[Locator]:
    """The panels of a page in order, once each has its controls, its view, and names on its sliders."""
    page.wait_for_function(
        """([selector, controls]) => {
          const panels = [...document.querySelectorAll(selector)];
          return panels.length === controls.length && panels.every((panel, k) =>
            panel.querySelector(".cw")?.childElementCount > 0 &&
            panel.querySelector(".cw-controls").childElementCount === controls[k] &&
            [...panel.querySelectorAll(".cw-controls [role=slider]")].every(handle => handle.ariaLabel));
        }""",
        arg=[within, list(controls)],
    )
    return page.locator(within).all()


LOOKS = [(DESKTOP, False), (DESKTOP, True), (PHONE, False), (PHONE, True)]


def assert_accessible_in_every_look(page: Page) -> None:
    """On a large screen and on a phone, light and dark: no violation, and nothing to scroll to sideways."""
    for viewport, dark in LOOKS:
        page.set_viewport_size(viewport)
        set_theme(page, dark)
        page.wait_for_function("width => innerWidth === width", arg=viewport["width"])
        next_frame(page)
        assert axe_violations(page) == [], (viewport, dark)
        assert page_overflow(page) == 0, (viewport, dark)


def broken(panel: Panel, old: str, new: str) -> Panel:
    """The same panel with one line of its JavaScript changed."""
    assert panel.widget._esm.count(old) == 1, f"{old!r} must occur once in the JavaScript"
    panel.widget._esm = panel.widget._esm.replace(old, new)
    return panel


def survivors(
    page: Page,
    folder: Path,
    make: Callable[[], Panel],
    mutations: dict[str, tuple[str, str]],
    difference: Callable[[Locator], list[str]],
) -> list[str]:
    """The mutations that the comparison does not see; the intact widget must show no difference."""
    mutants = [broken(make(), old, new) for old, new in mutations.values()]
    intact, *panels = open_widgets(page, folder, [make(), *mutants])
    assert lasting(difference)(intact) == []
    return [name for name, panel in zip(mutations, panels, strict=True) if not difference(panel)]


def growth(page: Page, panel: Locator, change: str, times: int = 200) -> tuple[int, int]:
    """How many DOM nodes and listeners `times` changes leave behind; `change` is (panel, k) => void."""
    loop = (
        f"(panel, times) => {{ const change = {change}; for (let k = 0; k < times; k++) change(panel, k); }}"
    )
    panel.evaluate(loop, 32)  # whatever is made once, on first use, is made now
    with counting(page) as count:
        nodes, listeners = count()
        panel.evaluate(loop, times)
        nodes_after, listeners_after = count()
    return nodes_after - nodes, listeners_after - listeners


SHADES = """panel => [...panel.querySelectorAll("td[data-i]")].flatMap(cell =>
  cell.style.getPropertyValue("--cw-weight") === "" ? [] :
    [[Number(cell.dataset.i), Number(cell.dataset.j), Number(cell.style.getPropertyValue("--cw-weight"))]])"""


def wrong_shades(panel: Locator, weights: Tensor) -> list[str]:
    """The cells of a table of weights whose colour is not that of the weight, to a thousandth."""
    shades = panel.evaluate(SHADES)
    if len(shades) != weights.numel():
        return [f"{len(shades)} cells are coloured, of {weights.numel()}"]
    return [
        f"shade {i},{j}: page {shade}, lib {weights[i, j]}"
        for i, j, shade in shades
        if not abs(shade - weights[i, j].item()) <= 1e-3
    ]


LIFECYCLE = """async ([esm, state, poke]) => {
  const active = new Set();
  for (const Observer of [ResizeObserver, MutationObserver]) {
    const { observe, disconnect } = Observer.prototype;
    Observer.prototype.observe = function (...a) { active.add(this); return observe.apply(this, a); };
    Observer.prototype.disconnect = function () { active.delete(this); return disconnect.apply(this); };
  }
  const listeners = new Set();
  const model = {
    get: name => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => {},
    on: (event, f) => listeners.add(f),
    off: (event, f) => listeners.delete(f),
  };
  const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  const el = document.body.appendChild(document.createElement("div"));
  const end = module.default.render({ model, el });
  const before = JSON.stringify(state);
  const poked = eval(poke);
  poked(el);
  const moved = JSON.stringify(state);
  const alive = listeners.size;
  end();
  poked(el);
  return { alive, listeners: listeners.size, observers: active.size,
           pokeWorks: before !== moved, afterEnd: JSON.stringify(state) === moved };
}"""


def after_the_end(page: Page, widget: CourseWidget, poke: str) -> dict:
    """Draw the view on a model of ours, poke it, end it, poke again; what is left and what still answers."""
    page.goto("about:blank")
    state = json.loads(json.dumps(widget.get_state(), default=str))
    return page.evaluate(LIFECYCLE, [widget._esm, state, poke])


def assert_ends(result: dict) -> None:
    """Nothing outlives the view, and a control that moved the model no longer does."""
    assert result["alive"] >= 1 and result["pokeWorks"]
    assert result["listeners"] == result["observers"] == 0
    assert result["afterEnd"], "a control must change nothing after the end of its view"


def move_focus(page: Page, key: str = "Tab") -> None:
    """Press a key that moves the focus, and wait until it has moved."""
    page.evaluate("() => { globalThis.focusedBefore = document.activeElement }")
    page.keyboard.press(key)
    page.wait_for_function("() => document.activeElement !== globalThis.focusedBefore")


def assert_focus_is_visible(page: Page) -> None:
    """What has the focus has the outline of the course around it."""
    expect(page.locator(":focus")).to_have_css("outline-width", "3px")


def tab_stops(page: Page, count: int) -> list[str]:
    """Press Tab `count` times; the accessible name (or text) of each stop."""
    stops = []
    for _ in range(count):
        move_focus(page)
        stops.append(
            page.evaluate(
                "() => { const e = document.activeElement;"
                " return e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent }"
            )
        )
    return stops
