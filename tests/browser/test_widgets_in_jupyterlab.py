"""The widgets in a real JupyterLab, all in one notebook: same numbers, and Python knows them."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import expect

from lib.quizzes import questions
from lib.tokenizer import Tokenizer
from lib.widgets.mask_explorer import KINDS
from lib.widgets.quiz import Result
from tests.browser.chromium import DESKTOP, axe_violations, open_page
from tests.browser.jupyterlab import expect_in_python as expect_in_cell
from tests.browser.jupyterlab import open_notebook, run, run_all
from tests.lib.widgets import masks_page as masks
from tests.lib.widgets import test_cross_entropy_bars as bars
from tests.lib.widgets import test_mlm_corruption as mlm
from tests.lib.widgets import test_page_model as model
from tests.lib.widgets import test_parameter_counter as counter
from tests.lib.widgets import test_real_attention as attention
from tests.lib.widgets import test_sense_space as senses
from tests.lib.widgets import test_wordpiece_steps as wordpiece
from tests.lib.widgets.shared import drawn_widgets
from tests.lib.widgets.test_quiz import answer, at

TOKENS = ["o", "gato", "dorme"]
SCORES = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
PIECES = ["o", "gat", "##inho", "corre", "rapida", "##mente", "ra"]
SECTION = "Quando a máscara está errada"
WIDGETS = [
    f"explorer = mask_explorer({TOKENS}, {SCORES}, d_k=2)\nexplorer",
    f"corruption = mlm_corruption({mlm.SENTENCES[0]!r}, {mlm.VOCABULARY}, seed=0)\ncorruption",
    f"bars = cross_entropy_bars({bars.WORDS}, {bars.LOGITS})\nbars",
    "counter = parameter_counter()\ncounter",
    f"pieces = wordpiece_steps(Tokenizer({PIECES}), 'gatinho')\npieces",
    "heads = real_attention()\nheads",
    "model = page_model()\nmodel",
    "senses = sense_space()\nsenses",
    "teste = quiz('01')\nteste",
]
CONTROLS = [4, 3, 3, 9, 1, 5, 3, 3]
PRINT = """w = explorer.widget
place = w.temperatures[w.temperature_index], w.d_k_choices[w.d_k_index], w.real_tokens, w.cell
print('máscara', w.kinds[w.kind_index], *place, w.shown().weights.round(decimals=3).tolist())
print('sorteio', corruption.widget.text, corruption.widget.shown().counted)
print('perda', round(bars.widget.shown().loss, 6))
print('total', counter.widget.shown().count.total)
print('passo', pieces.widget.text, pieces.widget.word, pieces.widget.step)
weights = heads.widget.shown().weights
print('cabeça', heads.widget.cell, [round(x, 4) for x in weights[heads.widget.cell[0]].tolist()])
print('lacuna', model.widget.text, model.widget.gap, round(model.widget.shown().divergence, 3))
print('sentidos', senses.widget.chosen, round(senses.widget.shown().anisotropy, 4))
print('teste', teste.result())"""
CELLS = [
    new_markdown_cell(f"## {SECTION}"),
    new_code_cell("from lib.tokenizer import Tokenizer\nfrom lib.widgets import *"),
    *map(new_code_cell, WIDGETS),
    new_code_cell("pass  # a test writes here"),
    new_code_cell(PRINT),
]
TALL = {"width": 1280, "height": 12000}  # JupyterLab draws the cells that are in view


@pytest.fixture(scope="module")
def lab(jupyterlab, browser):
    """JupyterLab with the notebook open and all its cells run; the page and the panels."""
    with open_page(browser, fresh=True, viewport=TALL) as page:
        open_notebook(page, jupyterlab, "widgets.ipynb", CELLS)
        run_all(page)
        yield page, drawn_widgets(page, CONTROLS)


def expect_in_python(page, text: str) -> None:
    """The last cell, run again, prints `text`."""
    expect_in_cell(page.locator(".jp-Cell").nth(len(CELLS) - 1), text)


def known(state: masks.State, cell: list[int]) -> str:
    """What Python prints of the explorer once every control and the chosen cell have reached it."""
    weights = state.shown(SCORES).weights.round(decimals=3).tolist()
    return f"máscara {state.kind} {state.temperature} {state.d_k} {state.real_tokens} {cell} {weights}\n"


def test_explorer_shows_what_lib_computes_and_python_knows_it(lab):
    page, (panel, *_) = lab
    expect_in_python(page, known(masks.State("causal", 1.0, 2, 2), [2, 0]))
    for state in (
        masks.State("bidirecional", 1.0, 2, 2),
        masks.State("padding", 0.5, 8, 1),
        masks.State("zerada", 2.0, 4, 1),
    ):
        state.apply(panel)
        assert masks.differences(panel, state.shown(SCORES)) == [], state
        expect_in_python(page, known(state, [2, 0]))


def test_chosen_cell_travels_to_python(lab):
    page, (panel, *_) = lab
    panel.locator("td[data-grid=weight][data-i='0'][data-j='1']").click()
    page.keyboard.press("ArrowDown")
    expect_in_python(page, " [1, 1] [[")


def test_python_moves_the_explorer(lab):
    page, (panel, *_) = lab
    masks.State("causal", 1.0, 2, 2).apply(panel)
    # What the page still had to say would undo what Python is going to set.
    expect_in_python(page, "máscara causal 1.0 2 ")
    moving = page.locator(".jp-Cell").nth(len(CELLS) - 2)
    moving.locator(".cm-content").fill(f"explorer.widget.kind_index = {list(KINDS).index('depois')}")
    run(moving)
    expect(panel.locator(".cw-verdict")).to_contain_text("Erro: máscara depois da softmax")
    expect(panel.locator("select")).to_have_value("Erro: depois da softmax")
    assert masks.differences(panel, masks.State("depois", 1.0, 2, 2).shown(SCORES)) == []


def test_corruption_is_that_of_lib_and_python_knows_the_sentence(lab):
    page, (_, panel, *_) = lab
    state = mlm.State("O gato dorme na rede", 60, 50, 30, 3)
    state.apply(panel)
    assert mlm.differences(panel, state.shown(), 2) == []
    expect_in_python(page, f"sorteio O gato dorme na rede {state.shown().counted}")


def test_keys_typed_into_a_widget_are_text_and_no_command_of_jupyterlab(lab):
    page, (_, panel, *_) = lab
    field = panel.get_by_label("Frase", exact=True)
    field.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("abdd m00 zy")  # letters that, outside a text field, would cut and delete cells
    expect(field).to_have_value("abdd m00 zy")
    expect(page.locator(".jp-Cell")).to_have_count(len(CELLS))
    expect_in_python(page, "sorteio abdd m00 zy")


def test_bars_are_those_of_lib_and_python_knows_the_loss(lab):
    page, (_, _, panel, *_) = lab
    reader = bars.Reader(panel)
    reader.choose(2, "probabilidades", 0.1)
    reader.drag(2, 0.63)
    assert reader.differences() == []
    expect_in_python(page, f"perda {round(bars.shown(reader.logits, 2, 0.1).loss, 6)}")


def test_counter_is_that_of_lib_and_python_knows_the_model(lab):
    page, (_, _, _, panel, *_) = lab
    reader = counter.Reader(panel)
    reader.choose("gpt-1")
    reader.size("layers", 6)
    assert reader.differences() == []
    total = counter.shown(counter.config_of(reader.sizes, reader.flags)).count.total
    expect_in_python(page, f"total {total}")


def test_steps_are_those_of_lib_and_python_knows_the_step(lab):
    page, (_, _, _, _, panel, *_) = lab
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


def test_quiz_is_the_same_and_python_knows_the_answers(lab):
    page, _ = lab
    page.set_viewport_size(DESKTOP)
    root, asked = page.locator(".cw-quiz"), questions("01")
    outcome = root.locator(".cw-result")
    for i, question in enumerate(asked):
        answer(root, i, at(question, i != 3))
    expect(outcome.locator("p")).to_contain_text(f"De primeira, {len(asked) - 1} de {len(asked)}.")
    expect(outcome.get_by_role("link")).to_have_text(SECTION)
    title = page.get_by_role("heading", name=SECTION, level=2)
    expect(title).not_to_be_in_viewport()
    outcome.get_by_role("link").click()
    expect(title).to_be_in_viewport()
    # Arrows and Enter stay in the quiz: JupyterLab's own shortcuts would move or run cells.
    root.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    expect(root.get_by_role("radio").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(root.locator(".cw-feedback").first).to_contain_text(asked[0].choices[1].why.split("*")[0])
    page.set_viewport_size(TALL)
    expect_in_python(page, f"teste {Result(len(asked), len(asked) - 1, (SECTION,))}")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_no_accessibility_violation_of_ours_in_either_theme(lab, theme):
    page, _ = lab
    page.keyboard.press("Control+Shift+c")
    palette = page.locator("#modal-command-palette")
    palette.locator("input").fill(f"Use Theme: {theme}")
    # Enter takes the command that is highlighted, and the list follows the typing a little later.
    expect(palette.locator(".lm-CommandPalette-item.lm-mod-active")).to_contain_text(theme)
    page.keyboard.press("Enter")
    expect(palette).to_be_hidden()
    light = str(theme.endswith("Light")).lower()
    page.locator(f"body[data-jp-theme-light={light}]").wait_for(state="attached")
    # The rest of the interface is JupyterLab's own; what is ours is inside the panels and the quiz.
    assert axe_violations(page, within=".cw-panel, .cw-quiz") == []


def test_nothing_external_and_no_error_in_the_whole_session(lab):
    page, _ = lab
    assert page.problems.external == []
    assert page.problems.console == []
