"""The course in a real JupyterLab, as a student opens it: in Portuguese, whole before anything is run."""

import io
import re

import nbformat
import pytest
from PIL import Image
from playwright.sync_api import expect

from lib.plots import palette
from tests.browser.chromium import DESKTOP, Problems, open_page, wait_until
from tests.browser.jupyterlab import run_all
from tests.lib.widgets.shared import ROOTS, VIEW
from tools.lab.extensions import CHANGES
from tools.lab.start import START

PAGES = ("intro", "01_masking", "02_mlm", "02_practice", "03_bert_block", "03_sizes", "errata")
ENGLISH = r"\b(Lemma|Theorem|Corollary|Proof|Observation|Exercise|Solution to|See also|Figure|Table)\b"
RAW = r"\{[\w:]+\}`|```|:::|:(?:class|label):|sha256="
MENUS = ["Arquivo", "Editar", "Exibir", "Executar", "Kernel", "Abas", "Configurações", "Ajuda"]
SHORT = "02_next_sentence.ipynb"  # it computes little
TALL = {"width": 1280, "height": 40_000}  # JupyterLab draws the cells that are in view
UNSAVED = ".lm-DockPanel-tabBar .jp-mod-dirty"
BROKEN = """() => [...document.querySelectorAll(".jupyter-widgets-disconnected")]
  .filter(part => getComputedStyle(part, "::before").display !== "none").length"""


@pytest.fixture(scope="module")
def tab(browser):
    with open_page(browser, fresh=True) as page:
        yield page


def open_course(tab, jupyterlab, name: str, viewport: dict = TALL) -> None:
    tab.goto("about:blank")  # what a page that is left breaks off is no problem of the next one
    tab.problems = Problems()
    tab.set_viewport_size(viewport)
    tab.goto(jupyterlab.url(name))
    tab.wait_for_selector(".jp-RenderedHTMLCommon h1")
    if name.endswith(".ipynb"):
        tab.get_by_text("Python 3 (ipykernel) | Idle").wait_for()


def test_it_begins_at_a_page_in_portuguese_with_nothing_but_the_course_beside_it(jupyterlab, tab):
    tab.goto(f"{jupyterlab.base_url}/?token={jupyterlab.token}")
    expect(tab.get_by_role("heading", name="Do mascaramento ao BERT")).to_be_visible()
    assert tab.url.startswith(f"{jupyterlab.base_url}/lab/tree/{START}")
    expect(tab.locator("#jp-MainMenu .lm-MenuBar-itemLabel")).to_have_text(MENUS)
    there = {path.name for path in jupyterlab.folder.iterdir() if not path.name.startswith(".")}
    listed = tab.locator(".jp-DirListing-itemText")
    assert wait_until(tab, lambda: set(listed.all_inner_texts()) == there)
    assert not any(name.startswith("_") for name in there)
    tab.get_by_role("link", name="Mascaramento em modelagem de linguagem causal").click()
    expect(tab.locator(".jp-Notebook h1")).to_contain_text("1. Mascaramento")
    assert tab.problems.external == []


def test_the_code_for_widgets_is_the_patient_one(jupyterlab, tab):
    """The hurried one fails now and then, on a busy machine: so what is loaded is looked at."""
    scripts = []
    tab.on("response", lambda answer: "/lab/extensions/" in answer.url and scripts.append(answer))
    open_course(tab, jupyterlab, "03_sizes.ipynb")
    expect(tab.locator(ROOTS)).not_to_have_count(0)
    loaded = [script.text() for script in scripts if script.url.partition("?")[0].endswith(".js")]
    for hurried, patient in CHANGES.values():
        assert any(patient in text for text in loaded)
        assert not any(hurried in text for text in loaded)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_before_anything_is_run(name, jupyterlab, tab):
    """Widgets drawn, formulas typeset, labels in Portuguese, nothing raw, and nothing to save."""
    open_course(tab, jupyterlab, f"{name}.ipynb")
    cells = nbformat.read(jupyterlab.folder / f"{name}.ipynb", as_version=4).cells
    expect(tab.locator(".jp-MarkdownCell .jp-MarkdownOutput")).to_have_count(
        sum(cell.cell_type == "markdown" for cell in cells)
    )
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    expect(tab.locator(ROOTS)).to_have_count(sum(VIEW in output.get("data", {}) for output in outputs))
    for panel in tab.locator(ROOTS).all():
        expect(panel.locator("button, input, select, table").first).to_be_visible()
    pictures = tab.locator(".jp-RenderedSVG img")
    expect(pictures).to_have_count(sum("image/svg+xml" in output.get("data", {}) for output in outputs))
    assert all(pictures.evaluate_all("all => all.map(each => each.naturalWidth)"))
    tags = sum(cell.source.count("\\tag{") for cell in cells if cell.cell_type == "markdown")
    expect(tab.locator("mjx-container mjx-mlabeledtr")).to_have_count(tags)
    expect(tab.locator("mjx-merror")).to_have_count(0)
    seen = tab.locator(".jp-Notebook .jp-MarkdownOutput").all_inner_texts()
    seen += tab.locator(".jp-Notebook .jp-OutputArea").all_inner_texts()
    assert not [text for text in seen if re.search(f"{ENGLISH}|{RAW}", text)]
    assert tab.evaluate(BROKEN) == 0
    expect(tab.locator(UNSAVED)).to_have_count(0)
    assert tab.problems.external == tab.problems.failed == tab.problems.console == []


def test_a_plot_has_the_colours_of_the_theme(jupyterlab, tab):
    open_course(tab, jupyterlab, "03_bert_block.ipynb")
    plot = tab.locator(".jp-RenderedSVG img").first
    grounds = []
    for light in ("true", "false"):
        tab.evaluate("light => { document.body.dataset.jpThemeLight = light; }", light)
        with Image.open(io.BytesIO(plot.screenshot())) as shown:
            grounds.append("#" + bytes(shown.convert("RGB").getpixel((2, shown.height // 2))).hex())
    assert tuple(grounds) == palette.PALETTE["surface"]


def test_a_reference_leads_to_its_place_in_another_notebook(jupyterlab, tab):
    open_course(tab, jupyterlab, "02_practice.ipynb", DESKTOP)
    tab.locator(".jp-Notebook").get_by_role("link", name="Proposição 2.1").first.click()
    expect(tab.locator(".lm-DockPanel-tabBar .lm-mod-current")).to_contain_text("02_mlm.ipynb")
    rendered = tab.locator(".jp-NotebookPanel:visible .jp-MarkdownOutput")
    expect(rendered.get_by_text("Proposição 2.1", exact=True).first).to_be_in_viewport()


def test_a_citation_leads_to_the_work(jupyterlab, tab):
    open_course(tab, jupyterlab, "02_practice.ipynb", DESKTOP)
    tab.locator(".jp-Notebook").get_by_role("link", name="2024").first.click()
    expect(tab.get_by_text("Daniel Jurafsky e James H. Martin")).to_be_in_viewport()


def test_a_widget_moves_before_anything_is_run_and_leaves_nothing_to_save(jupyterlab, tab):
    open_course(tab, jupyterlab, "01_masking.ipynb", DESKTOP)
    panel = tab.locator(ROOTS).first
    panel.locator("select").first.select_option("Bidirecional (sem máscara)")
    expect(panel.locator(".cw-verdict")).to_contain_text("Cada token vê a frase inteira")
    expect(tab.locator(UNSAVED)).to_have_count(0)


def test_a_page_runs_from_beginning_to_end(jupyterlab, tab):
    """`lib` is there, and what the page shows is drawn anew."""
    open_course(tab, jupyterlab, SHORT)
    run_all(tab)
    expect(tab.locator("[data-mime-type='application/vnd.jupyter.stderr']")).to_have_count(0)
    expect(tab.locator(ROOTS)).not_to_have_count(0)
    expect(tab.locator(".jp-Notebook")).not_to_contain_text("Error")
    assert tab.problems.external == []
