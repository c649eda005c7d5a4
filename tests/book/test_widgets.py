"""Every widget in the built book: over http on a large screen, and from the disk on a phone."""

import json

import pytest
from playwright.sync_api import Page, expect

from lib.exercises.catalogue import exercises
from lib.quizzes import questions
from lib.widgets.base import fingerprint
from lib.widgets.cross_entropy_bars import CrossEntropyBars
from lib.widgets.mask_explorer import MaskExplorer
from lib.widgets.mlm_corruption import MLMCorruption
from lib.widgets.page_model import PageModel
from lib.widgets.parameter_counter import ParameterCounter
from lib.widgets.quiz import Quiz
from lib.widgets.real_attention import RealAttention
from lib.widgets.sense_space import SenseSpace
from lib.widgets.wordpiece_steps import WordPieceSteps
from tests.book.test_built_book import soup
from tests.browser.chromium import (
    DESKTOP,
    PHONE,
    axe_violations,
    change_look,
    open_page,
    page_overflow,
    settle,
)
from tests.lib.widgets.masks_page import STATE
from tests.lib.widgets.test_quiz import answer, at, plain
from tests.lib.widgets.tours import TOURS

CHAPTERS = {
    "01_masking": {MaskExplorer, Quiz},
    "02_mlm": {MLMCorruption, PageModel, Quiz},
    "03_bert_encoders": {MaskExplorer, WordPieceSteps, RealAttention, ParameterCounter, Quiz},
    "04_cross_entropy": {CrossEntropyBars, Quiz},
    "05_encoder_only": {SenseSpace, Quiz},
}
# The rest of each page, at the same widths and in the same themes, is judged by test_built_book_browser.
# Here, beside widgets in use, it is judged again once: its contrast has not changed, and no theme moves it.
WIDGETS = ".cw-panel, .cw-quiz"
IN_WIDGETS = (".cw-panel", ".cw-panel *", ".cw-quiz", ".cw-quiz *")
MOVING = """() => [...document.querySelectorAll(".cw-panel *, .cw-panel, .cw-quiz *")].filter(e => {
  const { transitionDuration, animationName } = getComputedStyle(e);
  return /[1-9]/.test(transitionDuration) || animationName !== "none";
}).map(e => e.className)"""


def stored_states(name: str, widget: type) -> list[dict]:
    """The saved states of the widgets of one class that a page of the book carries."""
    models = json.loads(soup(name).find("script", type=STATE).string)["state"].values()
    wanted = f"{widget.__module__}.{widget.__name__}"
    return [model["state"] for model in models if model["state"].get("_anywidget_id") == wanted]


def address(chapter: str) -> str:
    return f"book/{chapter}.html"


@pytest.fixture(scope="module", params=CHAPTERS)
def opened(request, browser, book_url):
    """A chapter over http on a large screen, opened once for all the tests that use it, and its name."""
    with open_page(browser) as page:
        page.goto(f"{book_url}/{address(request.param)}")
        settle(page)
        yield page, request.param


def test_every_widget_of_the_course_has_a_tour_and_a_chapter():
    assert {tour.widget for tour in TOURS} == set.union(*CHAPTERS.values())


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_book_carries_the_widgets_of_today(chapter, book_dir):
    for widget in CHAPTERS[chapter]:
        states = stored_states(address(chapter), widget)
        assert states, f"{chapter} carries no {widget.__name__}"
        for state in states:
            fresh = widget(**{name: state[name] for name in widget.class_own_traits(sync=True)})
            assert fingerprint(state) == fingerprint(fresh.get_state()), "run `make notebooks`, `make book`"


def test_every_hint_and_solution_is_folded_and_named(opened):
    page, chapter = opened
    number = int(chapter[:2])
    found = exercises(number)
    for name in ("Primeira dica", "Segunda dica"):
        expect(page.get_by_role("button", name=name, exact=True, expanded=False)).to_have_count(len(found))
    for exercise in found:
        solution = page.locator(f"#sol-{exercise.label}")
        expect(solution.get_by_role("button", expanded=False)).to_have_accessible_name(
            f"Solução para Exercício {number}.{exercise.number} ({exercise.title})"
        )
        expect(solution.locator(":scope > *").nth(1)).to_be_hidden()


def test_every_link_of_the_result_leads_to_its_section(opened):
    page, chapter = opened
    root, asked = page.locator(".cw-quiz"), questions(chapter[:2])
    for i, question in enumerate(asked):
        answer(root, i, at(question, False))
    sections = list(dict.fromkeys(question.section for question in asked))
    items = root.locator(".cw-result li")
    expect(items).to_have_count(len(sections))
    for i, section in enumerate(sections):
        href = items.nth(i).get_by_role("link").get_attribute("href")
        heading = page.evaluate(
            "id => document.getElementById(id)?.querySelector('h1,h2,h3,h4')?.textContent",
            page.evaluate("href => decodeURIComponent(href.slice(1))", href),
        )
        assert heading and plain(section) in heading, (section, href)
    root.get_by_role("button", name="Recomeçar").click()
    expect(root.get_by_role("radio", checked=True)).to_have_count(0)
    assert not page.problems


def test_widgets_of_a_chapter_show_what_lib_computes_over_http_on_a_desktop(opened):
    page, chapter = opened
    visit(page, chapter)
    use_looks(page, DESKTOP)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_widgets_of_a_chapter_show_what_lib_computes_from_the_disk_on_a_phone(chapter, new_page, book_dir):
    page = new_page(viewport=PHONE)
    page.goto((book_dir / address(chapter)).as_uri())
    settle(page)
    visit(page, chapter)
    use_looks(page, PHONE)


def visit(page: Page, chapter: str) -> None:
    """Take every tour of the chapter: each widget shows, stop by stop, what `lib` computes."""
    found = set()
    for tour in TOURS:
        stored, views = stored_states(address(chapter), tour.widget), page.locator(tour.selector).all()
        for state, view in zip(stored, views, strict=True):
            found.add(tour.widget)
            for stop, differences in tour.stops(view, state):
                assert differences == [], (tour.widget.__name__, stop)
    assert found == CHAPTERS[chapter]


def use_looks(page: Page, viewport: dict) -> None:
    """With every widget of the page in use: accessible in both themes, nothing sideways, no motion."""
    for dark in (False, True):
        change_look(page, viewport, dark)
        assert axe_violations(page, within=WIDGETS if dark else None, contrast=IN_WIDGETS) == []
        assert page_overflow(page) == 0
    assert page.evaluate(MOVING) == [], "whoever asks for less motion gets none"
    assert not page.problems
