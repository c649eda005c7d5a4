"""All widgets of the course in one notebook, in a real JupyterLab: same numbers, and Python knows them."""

import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import expect

from lib.quizzes import questions
from lib.widgets.mask_explorer import KINDS
from tests.browser.chromium import DESKTOP, Problems, axe_violations, open_page, wait_until
from tests.browser.jupyterlab import open_notebook, run, run_all
from tests.lib.widgets.cases import CASES
from tests.lib.widgets.cases.mask_explorer import State
from tests.lib.widgets.cases.page import WidgetPage
from tests.lib.widgets.cases.quiz import at
from tests.lib.widgets.shared import drawn_widgets

SECTION = "Quando a máscara está errada"
PIECES = ["o", "gat", "##inho", "corre", "rapida", "##mente", "ra"]
MADE = {
    "mask_explorer": "mask_explorer(['o', 'gato', 'dorme'], [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]], d_k=2)",
    "mlm_corruption": "mlm_corruption('O gato dorme', ['rede', 'manga'], seed=0)",
    "cross_entropy_bars": "cross_entropy_bars(['ladra', 'dorme', 'come', 'mia'], [2.0, 1.0, 0.5, -1.5])",
    "parameter_counter": "parameter_counter()",
    "wordpiece_steps": f"wordpiece_steps(Tokenizer({PIECES}), 'gatinho')",
    "real_attention": "real_attention()",
    "page_model": "page_model()",
    "sense_space": "sense_space()",
    "film": "film(masking_film(['o', 'gato'], [[1.0, 2], [3, 4]], 4))",
    "quiz": "quiz('01')",
}
CONTROLS = [4, 3, 3, 9, 1, 5, 0, 3, 1, 0]
KNOWN = "known.json"
# What Python knows of all widgets, in a file: as a text in the page it would have to be laid out.
WRITE = f"""import json
states = {{name: getattr(w, 'widget', w).get_state() for name, w in made.items()}}
with open({KNOWN!r}, 'w') as file:
    json.dump(states, file, default=str)"""
CELLS = [
    new_markdown_cell(f"## {SECTION}"),
    new_code_cell(
        "from lib.tokenizer import Tokenizer\nfrom lib.widgets.films.masking import masking_film\nmade = {}"
    ),
    *(
        new_code_cell(f"from lib.widgets.{name} import {name}\nmade[{name!r}] = {code}\nmade[{name!r}]")
        for name, code in MADE.items()
    ),
    new_code_cell("pass  # a test writes here"),
    new_code_cell(WRITE),
]
TALL = {"width": 1280, "height": 12000}  # JupyterLab draws the cells that are in view


@pytest.fixture(scope="module")
def tab(browser):
    """A page for all of JupyterLab that is opened here: what it is made of is loaded once."""
    with open_page(browser, fresh=True) as page:
        yield page


@pytest.fixture(scope="module")
def lab(jupyterlab, tab):
    """JupyterLab with the notebook open and all its cells run: the page, and the widgets by their name."""
    tab.goto("about:blank")  # what a page that is left breaks off is no problem of the next one
    tab.problems, tab.known = Problems(), jupyterlab.folder / KNOWN
    tab.set_viewport_size(TALL)
    open_notebook(tab, jupyterlab, "widgets.ipynb", CELLS)
    run_all(tab)
    roots, known = drawn_widgets(tab, CONTROLS), python_states(tab)
    shown = [case.page(root, known[case.name]) for case, root in zip(CASES, roots, strict=True)]
    return tab, dict(zip(MADE, shown, strict=True))


def python_states(page) -> dict[str, dict]:
    """The state of each widget as Python has it right now."""
    run(page.locator(".jp-Cell").nth(len(CELLS) - 1))
    return json.loads(page.known.read_text(encoding="utf-8"))


def assert_python_knows(page, name: str, shown: WidgetPage) -> None:
    """What Python has is what the page shows, at the latest at the limit: a busy kernel hears of it later."""

    def knows() -> bool:
        return type(shown)(shown.panel, python_states(page)[name]).wrong() == []

    assert wait_until(page, knows), f"Python never hears of {shown.state}"


def test_every_widget_of_the_course_is_in_the_notebook():
    assert list(MADE) == [case.name for case in CASES]


@pytest.mark.parametrize("case", CASES[:-1], ids=lambda case: case.name)
def test_a_widget_shows_what_lib_computes_and_python_knows_it(case, lab):
    page, widgets = lab
    shown = widgets[case.name]
    shown.begin()
    assert_python_knows(page, case.name, shown)
    before = shown.read()
    for move in case.tour(shown.stored):
        shown.go(move)
        assert shown.differences() == [], move
    assert shown.read() != before
    assert_python_knows(page, case.name, shown)


def test_python_moves_the_explorer(lab):
    page, widgets = lab
    explored = widgets["mask_explorer"]
    explored.go(State("causal", 1.0, 2, 2, (2, 0)))
    # What the page still had to say would undo what Python is going to set.
    assert_python_knows(page, "mask_explorer", explored)
    moving = page.locator(".jp-Cell").nth(len(CELLS) - 2)
    line = f"made['mask_explorer'].widget.kind_index = {list(KINDS).index('depois')}"
    moving.locator(".cm-content").fill(line)
    run(moving)
    expect(explored.panel.locator(".cw-verdict")).to_contain_text("Erro: máscara depois da softmax")
    expect(explored.panel.locator("select")).to_have_value("Erro: depois da softmax")
    explored.state = State("depois", 1.0, 2, 2, (2, 0))
    assert explored.differences() == []


def test_keys_typed_into_a_widget_are_text_and_no_command_of_jupyterlab(lab):
    page, widgets = lab
    field = widgets["mlm_corruption"].panel.get_by_label("Frase", exact=True)
    field.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("abdd m00 zy")  # letters that, outside a text field, would cut and delete cells
    expect(field).to_have_value("abdd m00 zy")
    expect(page.locator(".jp-Cell")).to_have_count(len(CELLS))
    assert wait_until(page, lambda: python_states(page)["mlm_corruption"]["text"] == "abdd m00 zy")


def test_quiz_is_the_same_and_python_knows_the_answers(lab):
    page, widgets = lab
    page.set_viewport_size(DESKTOP)
    quiz, asked = widgets["quiz"], questions("01")
    outcome = quiz.panel.locator(".cw-result")
    for i, question in enumerate(asked):
        quiz.go((i, at(question, i != 3)))
    assert quiz.differences() == []
    expect(outcome.locator("p")).to_contain_text(f"De primeira, {len(asked) - 1} de {len(asked)}.")
    expect(outcome.get_by_role("link")).to_have_text(SECTION)
    title = page.get_by_role("heading", name=SECTION, level=2)
    expect(title).not_to_be_in_viewport()
    outcome.get_by_role("link").click()
    expect(title).to_be_in_viewport()
    # Arrows and Enter stay in the quiz: JupyterLab's own shortcuts would move or run cells.
    quiz.panel.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    expect(quiz.panel.get_by_role("radio").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    quiz.state = [[quiz.state[0][0], 1], *quiz.state[1:]]
    assert quiz.differences() == []
    page.set_viewport_size(TALL)
    assert_python_knows(page, "quiz", quiz)


@pytest.mark.parametrize("theme", ["claro", "escuro"])
def test_no_accessibility_violation_of_ours_in_either_theme(lab, theme):
    page, _ = lab
    page.keyboard.press("Control+Shift+c")
    palette = page.locator("#modal-command-palette")
    palette.locator("input").fill(f"Usar Tema: JupyterLab {theme}")
    # Enter takes the command that is highlighted, and the list follows the typing a little later.
    expect(palette.locator(".lm-CommandPalette-item.lm-mod-active")).to_contain_text(theme)
    page.keyboard.press("Enter")
    expect(palette).to_be_hidden()
    light = str(theme == "claro").lower()
    page.locator(f"body[data-jp-theme-light={light}]").wait_for(state="attached")
    # The rest of the interface is JupyterLab's own; what is ours is inside the panels and the quiz.
    assert axe_violations(page, within=".cw-panel, .cw-quiz") == []


def test_nothing_external_and_no_error_in_the_whole_session(lab):
    page, _ = lab
    assert page.problems.external == []
    assert page.problems.console == []
