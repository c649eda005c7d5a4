"""Static pages with widgets, made as the book makes them, and what the tests need to know of a widget.

A page holds the widgets' saved state, their views and the script that draws them; there is no kernel.
"""

import json
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ipywidgets import Widget
from ipywidgets.embed import dependency_state
from playwright.sync_api import Locator, Page

from lib.widgets.base import CourseWidget, Panel
from tools.console import ROOT
from tools.fetch_vendor import find_program

SCRIPT = "vendor/bundles/widgets.js"
VIEW = "application/vnd.jupyter.widget-view+json"
ROOTS = ".cw-panel, .cw-quiz"
# JavaScript: a model with the `state` of a widget, no kernel behind it, and what draws it.
DRAW_ALONE = """
  const heard = {};
  const model = {
    get: name => state[name],
    set: (name, value) => { state[name] = value; heard[`change:${name}`]?.(); },
    save_changes: () => {},
    on: (event, f) => { heard[event] = f; },
    off: () => {},
  };
  const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  const el = document.body.appendChild(document.createElement("div"));
"""
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
        f"<script>globalThis.courseWidgets = {_escaped(state)}</script>{script}</head>"
        "<body><main><h1>Widgets</h1>"
        f"{''.join(_embedded(VIEW, view) for view in views)}</main></body></html>",
        encoding="utf-8",
    )
    return path.as_uri()


def _embedded(kind: str, data: dict) -> str:
    return f'<script type="{kind}">{_escaped(data)}</script>'


def _escaped(data: dict) -> str:
    """ "</script>" inside a text would end the element."""
    return json.dumps(data).replace("</", "<" + chr(92) + "/")


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


@cache
def node(script: str) -> subprocess.Popen:
    """A module in Node that answers a line, [expression, arguments], with a line; it ends with its input."""
    code = f"""{script}
      import {{ createInterface }} from "node:readline";
      for await (const line of createInterface({{ input: process.stdin }})) {{
        const [result, given] = JSON.parse(line, (_, x) => (x === "-inf" ? -Infinity : x));
        console.log(JSON.stringify(eval(result), (_, x) => (ArrayBuffer.isView(x) ? [...x] : x)));
      }}
    """
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [find_program("node"), "--input-type=module", "--eval", code]
    return subprocess.Popen(command, encoding="utf-8", **pipes)


def run_node(script: str, result: str, arguments: Any) -> Any:
    """The value, in a module, of the expression `result`, in which `given` are the arguments."""
    process = node(script)
    print(json.dumps([result, arguments]), file=process.stdin, flush=True)
    answer = process.stdout.readline()
    assert answer, process.stderr.read()
    return json.loads(answer)


def set_theme(page: Page, dark: bool) -> None:
    """The theme of the page, as the book's switch sets it."""
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", "dark" if dark else "light")
