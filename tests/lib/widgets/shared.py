"""Static pages with widgets, made as the book makes them, and what the tests ask of every widget on one.

A page holds the widgets' saved state, their views and the script that draws them; there is no kernel.
"""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ipywidgets import Widget
from ipywidgets.embed import dependency_state
from playwright.sync_api import Locator, Page, expect

from lib.widgets.base import CourseWidget, Panel
from tests.browser.chromium import LOOKS, axe_violations, next_frame, page_overflow
from tools.console import ROOT
from tools.fetch_vendor import find_program

SCRIPT = "vendor/bundles/widgets.js"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
ROOTS = ".cw-panel, .cw-quiz"
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


# --- a page with widgets ------------------------------------------------------------------------------------


def write_page(path: Path, panels: Sequence[Widget]) -> str:
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


def open_widgets(page: Page, folder: Path, panels: Sequence[Widget], *, dark: bool = False) -> list[Locator]:
    """Open a page with the panels, wait until all are drawn and their sliders named; return them in order."""
    page.goto(write_page(folder / "widgets.html", panels))
    set_theme(page, dark)
    return drawn_widgets(page, [len(getattr(panel, "controls", ())) for panel in panels])


def drawn_widgets(page: Page, controls: Sequence[int]) -> list[Locator]:
    """The widgets of a page in order, once each has its controls, its view, and names on its sliders."""
    page.wait_for_function(
        """([selector, controls]) => {
          const roots = [...document.querySelectorAll(selector)];
          return roots.length === controls.length && roots.every((root, k) =>
            (root.matches(".cw") ? root : root.querySelector(".cw"))?.childElementCount > 0 &&
            (root.querySelector(".cw-controls")?.childElementCount ?? 0) === controls[k] &&
            [...root.querySelectorAll(".cw-controls [role=slider]")].every(handle => handle.ariaLabel));
        }""",
        arg=[ROOTS, list(controls)],
    )
    return page.locator(ROOTS).all()


def own(widget: Panel | CourseWidget) -> CourseWidget:
    """The widget itself, without the controls above it."""
    return widget.widget if isinstance(widget, Panel) else widget


def stored(widget: Panel | CourseWidget) -> dict[str, Any]:
    """The state that a page or a notebook stores for a widget, through JSON and back."""
    return json.loads(json.dumps(own(widget).get_state(), default=str))


def run_node(script: str, result: str, arguments: Any) -> Any:
    """Run a module in Node; the value of the expression `result`, in which `given` are the arguments."""
    code = f"""{script}
      const given = JSON.parse(process.argv[1], (_, x) => (x === "-inf" ? -Infinity : x));
      console.log(JSON.stringify({result}, (_, x) => (ArrayBuffer.isView(x) ? [...x] : x)));
    """
    command = [find_program("node"), "--input-type=module", "--eval", code, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# --- looks --------------------------------------------------------------------------------------------------


def set_theme(page: Page, dark: bool) -> None:
    """The theme of the page, as the book's switch sets it."""
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", "dark" if dark else "light")


def assert_accessible_in_every_look(page: Page) -> None:
    """On a large screen and on a phone, light and dark: no violation, and nothing to scroll to sideways."""
    for viewport, dark in LOOKS:
        page.set_viewport_size(viewport)
        set_theme(page, dark)
        page.wait_for_function("width => innerWidth === width", arg=viewport["width"])
        next_frame(page)
        assert axe_violations(page) == [], (viewport, dark)
        assert page_overflow(page) == 0, (viewport, dark)


# --- a broken copy ------------------------------------------------------------------------------------------


def broken(widget: Panel | CourseWidget, old: str, new: str) -> Panel | CourseWidget:
    """The same widget with one thing changed in its JavaScript, however that is broken into lines."""
    pattern = r"\s*".join(re.escape(part) for part in old.split())
    own(widget)._esm, count = re.subn(pattern, lambda _: new, own(widget)._esm)
    assert count == 1, f"{old!r} must occur once in the JavaScript, not {count} times"
    return widget


# --- what is left behind ------------------------------------------------------------------------------------


def growth(page: Page, panel: Locator, change: str, times: int) -> tuple[int, int]:
    """How many DOM nodes and listeners `times` changes leave behind; `change` is (panel, k) => void."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def count_after(changes: int) -> tuple[int, int]:
        panel.evaluate(f"(panel, n) => {{ for (let k = 0; k < n; k++) ({change})(panel, k); }}", changes)
        next_frame(page)  # what a change put off until the next frame is done
        session.send("HeapProfiler.collectGarbage")
        metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        return int(metrics["Nodes"]), int(metrics["JSEventListeners"])

    nodes, listeners = count_after(32)  # whatever is made once, on first use, is made now
    nodes_after, listeners_after = count_after(times)
    session.detach()
    return nodes_after - nodes, listeners_after - listeners


LIFECYCLE = """async ([esm, state, poke]) => {
  const active = new Set();
  for (const Observer of [ResizeObserver, MutationObserver]) {
    const { observe, disconnect } = Observer.prototype;
    Observer.prototype.observe = function (...a) { active.add(this); return observe.apply(this, a); };
    Observer.prototype.disconnect = function () { active.delete(this); return disconnect.apply(this); };
  }
  const listeners = new Map();  // what listens: to which events
  const model = {
    get: name => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => {},
    on: (event, f) => listeners.set(f, new Set([...listeners.get(f) ?? [], event])),
    off: (event, f) => {
      listeners.get(f)?.delete(event);
      if (listeners.get(f)?.size === 0) listeners.delete(f);
    },
  };
  const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  const el = document.body.appendChild(document.createElement("div"));
  const end = module.default.render({ model, el });
  const before = JSON.stringify(state);
  const poked = eval(poke);
  poked(el, 1);
  const moved = JSON.stringify(state);
  const alive = { listeners: listeners.size, observers: active.size };
  end();
  poked(el, 2);
  return { alive, left: { listeners: listeners.size, observers: active.size },
           pokeWorks: before !== moved, stillWorks: JSON.stringify(state) !== moved };
}"""


def after_the_end(page: Page, state: Mapping[str, Any], poke: str) -> dict[str, Any]:
    """Draw the view on a model of ours, poke it, end it, poke again; what is left and what still answers."""
    page.goto("about:blank")
    return page.evaluate(LIFECYCLE, [state["_esm"], state, poke])


# --- the keyboard -------------------------------------------------------------------------------------------


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
            page.locator(":focus").evaluate("e => e.ariaLabel || e.labels?.[0]?.textContent || e.textContent")
        )
    return stops
