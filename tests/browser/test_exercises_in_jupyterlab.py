"""Doing an exercise as a student does: in a real JupyterLab, typing into the stub and running the cell."""

import pytest
from nbformat.v4 import new_notebook
from playwright.sync_api import expect

from tests.browser.chromium import open_page
from tests.browser.jupyterlab import open_notebook
from tests.browser.jupyterlab import run as run_cell
from tools.insert_exercises import inserted
from tools.student import without_solutions

PREPARATION = "from lib.exercises.chapter_01 import"
RIGHT = "def mascara_causal(n): return torch.ones(n, n).tril().bool()"
INVERTED = "def mascara_causal(n): return torch.ones(n, n).triu(1).bool()"


@pytest.fixture(scope="module")
def lab(jupyterlab, browser):
    """JupyterLab with the exercises of chapter 1, as a student gets them, and the preparation run."""
    notebook = without_solutions(inserted(new_notebook(cells=[]), 1), 1)
    with open_page(browser, fresh=True, viewport={"width": 1280, "height": 4000}) as page:
        open_notebook(page, jupyterlab, "exercises.ipynb", notebook.cells)
        run_cell(page.locator(".jp-CodeCell", has_text=PREPARATION))
        yield page


def run(page, *, instead: str = "", check: str = "check_causal_mask(mascara_causal)"):
    """Run the cell of the first exercise, with other code in it if asked; its output."""
    cell = page.locator(".jp-CodeCell", has_text=check).last
    if instead:
        cell.locator(".cm-content").click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(f"{instead}\n\n{check}")
    return run_cell(cell)


def test_the_stub_invites(lab):
    expect(run(lab)).to_have_text("✎ Sua vez: complete mascara_causal e execute a célula de novo.\n")


def test_a_wrong_answer_gets_what_was_expected_and_the_hint(lab):
    output = run(lab, instead=INVERTED)
    expect(output).to_contain_text("✘ Ainda não.")
    for line in ("Entrada:   n = 1", "Esperado:  [[True]]", "A máscara está invertida"):
        expect(output).to_contain_text(line)


def test_an_error_names_the_line_of_the_cell(lab):
    output = run(lab, instead="def mascara_causal(n):\n    return torch.nada(n)")
    expect(output).to_contain_text(
        "AttributeError: module 'torch' has no attribute 'nada' (linha 2 da célula)"
    )


def test_the_kernel_survives_an_answer_that_leaves(lab):
    expect(run(lab, instead="def mascara_causal(n): import os; os._exit(1)")).to_contain_text(
        "encerrou o processo"
    )


def test_the_right_answer_is_congratulated(lab):
    output = run(lab, instead=RIGHT)
    expect(output).to_contain_text("✔ Certo! A resposta passou em todas as verificações.\n")
    expect(output).to_contain_text("Guardada em meu_bert.py")
    assert lab.problems.external == []
