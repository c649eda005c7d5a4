"""The widgets in a real JupyterLab, all in one notebook: same numbers, and Python knows them."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from lib.tokenizer import Tokenizer
from tests import test_widget_cross_entropy_bars as bars
from tests import test_widget_mlm_corruption as mlm
from tests import test_widget_page_model as model
from tests import test_widget_parameter_counter as counter
from tests import test_widget_real_attention as attention
from tests import test_widget_sense_space as senses
from tests import test_widget_wordpiece_steps as wordpiece
from tests.browser import open_page
from tests.widget_kit import drawn_widgets

NOTEBOOK = "widgets.ipynb"
PIECES = ["o", "gat", "##inho", "corre", "rapida", "##mente", "ra"]
CELLS = [
    "from lib.tokenizer import Tokenizer\n"
    "from lib.widgets import cross_entropy_bars, mlm_corruption, parameter_counter, wordpiece_steps\n"
    "from lib.widgets import page_model, real_attention, sense_space",
    f"corruption = mlm_corruption({mlm.SENTENCES[0]!r}, {mlm.VOCABULARY}, seed=0)\ncorruption",
    f"bars = cross_entropy_bars({bars.WORDS}, {bars.LOGITS})\nbars",
    "counter = parameter_counter()\ncounter",
    f"pieces = wordpiece_steps(Tokenizer({PIECES}), 'gatinho')\npieces",
    "heads = real_attention()\nheads",
    "model = page_model()\nmodel",
    "senses = sense_space()\nsenses",
    "print('sorteio', corruption.widget.text, corruption.widget.shown().counted)\n"
    "print('perda', round(bars.widget.shown().loss, 6))\n"
    "print('total', counter.widget.shown().count.total)\n"
    "print('passo', pieces.widget.text, pieces.widget.word, pieces.widget.step)\n"
    "weights = heads.widget.shown().weights\n"
    "print('cabeça', heads.widget.cell, [round(x, 4) for x in weights[heads.widget.cell[0]].tolist()])\n"
    "print('lacuna', model.widget.text, model.widget.gap, round(model.widget.shown().divergence, 3))\n"
    "print('sentidos', senses.widget.chosen, round(senses.widget.shown().anisotropy, 4))",
]


@pytest.fixture(scope="module")
def lab(jupyterlab, browser):
    """JupyterLab with the notebook open and all its cells run; the page and the panels."""
    notebook = new_notebook(
        cells=[new_code_cell(source) for source in CELLS],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, jupyterlab.folder / NOTEBOOK)
    with open_page(browser, viewport={"width": 1280, "height": 8000}) as page:
        page.goto(jupyterlab.url(NOTEBOOK))
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        yield page, drawn_widgets(page, [3, 3, 9, 1, 5, 3, 3])


def expect_in_python(page, text: str) -> None:
    """Run the printing cell until Python knows: a busy kernel gets the last of many changes later."""
    cell = page.locator(".jp-Cell").nth(len(CELLS) - 1)
    for attempt in range(9):
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        try:
            expect(cell.locator(".jp-OutputArea-output pre")).to_contain_text(text, timeout=2000)
            return
        except AssertionError:
            if attempt == 8:
                raise


def test_corruption_is_that_of_lib_and_python_knows_the_sentence(lab):
    page, (panel, *_) = lab
    state = mlm.State("O gato dorme na rede", 60, 50, 30, 3)
    state.apply(panel)
    assert mlm.differences(panel, state.shown(), 2) == []
    expect_in_python(page, f"sorteio O gato dorme na rede {state.shown().counted}")


def test_keys_typed_into_a_widget_are_text_and_no_command_of_jupyterlab(lab):
    page, (panel, *_) = lab
    field = panel.get_by_label("Frase", exact=True)
    field.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("abdd m00 zy")  # letters that, outside a text field, would cut and delete cells
    assert field.input_value() == "abdd m00 zy"
    assert page.locator(".jp-Cell").count() == len(CELLS)
    expect_in_python(page, "sorteio abdd m00 zy")


def test_bars_are_those_of_lib_and_python_knows_the_loss(lab):
    page, (_, panel, *_) = lab
    reader = bars.Reader(panel)
    reader.choose(2, "probabilidades", 0.1)
    reader.drag(2, 0.63)
    assert reader.differences() == []
    expect_in_python(page, f"perda {round(bars.shown(reader.logits, 2, 0.1).loss, 6)}")


def test_counter_is_that_of_lib_and_python_knows_the_model(lab):
    page, (_, _, panel, *_) = lab
    reader = counter.Reader(panel)
    reader.choose("gpt-1")
    reader.size("layers", 6)
    assert reader.differences() == []
    total = counter.shown(counter.config_of(reader.sizes, reader.flags)).count.total
    expect_in_python(page, f"total {total}")


def test_steps_are_those_of_lib_and_python_knows_the_step(lab):
    page, (_, _, _, panel, *_) = lab
    tokenizer = Tokenizer(PIECES)
    panel.get_by_label("Texto", exact=True).fill("o gatinho corre rapidamente")
    panel.locator("[data-word]").nth(3).click()
    wordpiece.set_step(panel, 2)
    expected = wordpiece.shown("o gatinho corre rapidamente", tokenizer, 3, 2)
    assert wordpiece.differences(panel, expected, 3) == []
    expect_in_python(page, "passo o gatinho corre rapidamente 3 2")


def test_heads_are_those_of_lib_and_python_knows_the_cell(lab):
    page, (*_, panel, _, _) = lab
    state = attention.State(1, "causal", 5, 7, query=4, key=2)
    state.apply(panel)
    assert attention.differences(panel, state) == []
    expect_in_python(page, f"cabeça [4, 2] {[round(x, 4) for x in state.shown().weights[4].tolist()]}")


def test_model_comes_from_the_kernel_and_python_knows_the_gap(lab):
    page, (*_, panel, _) = lab
    model.load(panel)
    state = model.State("o pescador [MASK] a [MASK] no sábado", 1, 2, 3)
    state.apply(panel)
    assert model.differences(panel, state) == []
    expect_in_python(page, f"lacuna {state.text} 1 {round(state.shown().divergence, 3)}")


def test_senses_are_those_of_lib_and_python_knows_the_choice(lab):
    page, (*_, panel) = lab
    state = senses.State(1, 3, "z", chosen=6)
    state.apply(panel)
    assert senses.differences(panel, state) == []
    expect_in_python(page, f"sentidos 6 {round(state.shown().anisotropy, 4)}")


def test_nothing_external_and_no_error_in_the_whole_session(lab):
    page, _ = lab
    assert page.problems.external == []
    assert page.problems.console == []
