"""The mask explorer in a real JupyterLab: the same page, and state that travels back to Python."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, expect

from lib.widgets.mask_explorer import KINDS
from tests.browser import AXE, open_page
from tests.widgets_page import State, differences, explorers

TOKENS = ["o", "gato", "dorme"]
SCORES = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
NOTEBOOK = "widget.ipynb"
CELLS = [
    f"from lib.widgets import mask_explorer\npanel = mask_explorer({TOKENS}, {SCORES}, d_k=2)",
    "panel",
    "w = panel.widget\n"
    "print(w.kinds[w.kind_index], w.temperatures[w.temperature_index], w.d_k_choices[w.d_k_index], w.cell)\n"
    "print(w.shown().weights.round(decimals=3).tolist())",
]


@pytest.fixture(scope="module")
def lab_page(jupyterlab, browser):
    """JupyterLab with the notebook open and all its cells run."""
    notebook = new_notebook(
        cells=[new_code_cell(source) for source in CELLS],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, jupyterlab.folder / NOTEBOOK)
    with open_page(browser) as page:
        page.goto(jupyterlab.url(NOTEBOOK))
        # Before its kernel is up, JupyterLab would answer "run all" by asking for one.
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        yield page


def printed(page: Page) -> Locator:
    return page.locator(".jp-Cell").nth(2).locator(".jp-OutputArea-output pre")


def run_last_cell(page: Page) -> None:
    page.locator(".jp-Cell").nth(2).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")


def expect_in_python(page: Page, text: str) -> None:
    """Run the printing cell until Python knows: a busy kernel gets the last of many changes later."""
    for _ in range(9):
        run_last_cell(page)
        try:
            return expect(printed(page)).to_contain_text(text, timeout=2000)
        except AssertionError:
            continue
    expect(printed(page)).to_contain_text(text)


def test_page_in_jupyterlab_shows_what_lib_computes_and_python_knows_it(lab_page):
    [panel] = explorers(lab_page, 1)
    expect(printed(lab_page)).to_contain_text("causal 1.0 2 [2, 0]", timeout=30_000)
    for state in [State("bidirecional", 1.0, 2, 2), State("padding", 0.5, 8, 1), State("zerada", 2.0, 4, 2)]:
        state.apply(panel)
        expected = state.shown(SCORES)
        assert differences(panel, expected) == [], state
        expect_in_python(lab_page, f"{state.kind} {state.temperature} {state.d_k} [2, 0]")
        expect(printed(lab_page)).to_contain_text(str(expected.weights.round(decimals=3).tolist()))


def test_chosen_cell_travels_to_python(lab_page):
    [panel] = explorers(lab_page, 1)
    panel.locator("td[data-grid=weight][data-i='0'][data-j='1']").click()
    lab_page.keyboard.press("ArrowDown")
    expect_in_python(lab_page, "[1, 1]")


def test_python_moves_the_explorer(lab_page):
    [panel] = explorers(lab_page, 1)
    State("causal", 1.0, 2, 2).apply(panel)
    lab_page.locator(".jp-Cell").nth(2).locator(".cm-content").fill(
        f"panel.widget.kind_index = {list(KINDS).index('depois')}"
    )
    run_last_cell(lab_page)
    expect(panel.locator(".cw-verdict")).to_contain_text("Erro: máscara depois da softmax")
    expect(panel.locator("select")).to_have_value("Erro: depois da softmax")
    assert differences(panel, State("depois", 1.0, 2, 2).shown(SCORES)) == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_no_accessibility_violation_of_ours_in_either_theme(lab_page, theme):
    explorers(lab_page, 1)
    lab_page.keyboard.press("Control+Shift+c")
    lab_page.locator("#modal-command-palette input").fill(f"Use Theme: {theme}")
    lab_page.keyboard.press("Enter")
    light = str(theme.endswith("Light")).lower()
    lab_page.locator(f"body[data-jp-theme-light={light}]").wait_for(state="attached")
    # The rest of the interface is JupyterLab's own; what is ours is inside the panel.
    lab_page.evaluate(AXE.read_text(encoding="utf-8"))
    found = lab_page.evaluate("() => axe.run('.cw-panel', { resultTypes: ['violations'] })")["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []


def test_nothing_external_and_no_error_in_the_whole_session(lab_page):
    assert lab_page.problems.external == []
    assert lab_page.problems.console == []
