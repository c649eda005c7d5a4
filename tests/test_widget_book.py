"""Every widget in the built book: over http on a large screen, and from the disk on a phone."""

import json

import pytest
from playwright.sync_api import Page

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
from tests.browser import DESKTOP, PHONE, axe_violations, change_look, page_overflow, settle
from tests.widget_tours import TOURS
from tests.widgets_page import STATE

CHAPTERS = {
    "01_masking": {MaskExplorer, Quiz},
    "02_mlm": {MLMCorruption, PageModel, Quiz},
    "03_bert_encoders": {MaskExplorer, WordPieceSteps, RealAttention, ParameterCounter, Quiz},
    "04_cross_entropy": {CrossEntropyBars, Quiz},
    "05_encoder_only": {SenseSpace, Quiz},
}
DRAWN = """() => document.querySelectorAll(".cw-panel, .cw-quiz").length > 0 &&
  [...document.querySelectorAll(".cw-panel")].every(panel =>
    panel.querySelector(".cw")?.childElementCount && panel.querySelector(".cw-controls")?.childElementCount &&
    [...panel.querySelectorAll("[role=slider]")].every(handle => handle.ariaLabel))"""
MOVING = """() => [...document.querySelectorAll(".cw-panel *, .cw-panel, .cw-quiz *")].filter(e => {
  const { transitionDuration, animationName } = getComputedStyle(e);
  return /[1-9]/.test(transitionDuration) || animationName !== "none";
}).map(e => e.className)"""


def stored_states(page: Page, widget: type) -> list[dict]:
    """The saved states of the widgets of one class that the page carries."""
    name = f"{widget.__module__}.{widget.__name__}"
    models = json.loads(page.locator(f"script[type='{STATE}']").text_content())["state"].values()
    return [model["state"] for model in models if model["state"].get("_anywidget_id") == name]


def test_every_widget_of_the_course_has_a_tour_and_a_chapter():
    assert {tour.widget for tour in TOURS} == set.union(*CHAPTERS.values())


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("http", DESKTOP), ("file", PHONE)], ids=["http-desktop", "file-phone"]
)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_widgets_of_a_chapter_show_what_lib_computes(chapter, scheme, viewport, new_page, book_url, book_dir):
    """Then, with every widget of the page in use: accessible in both themes, nothing sideways, no motion."""
    page = new_page(viewport=viewport)
    name = f"book/{chapter}.html"
    page.goto(f"{book_url}/{name}" if scheme == "http" else (book_dir / name).as_uri())
    settle(page)
    page.wait_for_function(DRAWN)
    found = set()
    for tour in TOURS:
        stored, views = stored_states(page, tour.widget), page.locator(tour.selector).all()
        for state, view in zip(stored, views, strict=True):
            found.add(tour.widget)
            for stop, differences in tour.stops(view, state):
                assert differences == [], (tour.widget.__name__, stop)
    assert found == CHAPTERS[chapter]
    for dark in (False, True):
        change_look(page, viewport, dark)
        assert axe_violations(page) == []
        assert page_overflow(page) == 0
    assert page.evaluate(MOVING) == [], "whoever asks for less motion gets none"
    assert not page.problems


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_book_carries_the_widgets_of_today(chapter, page, book_url):
    page.goto(f"{book_url}/book/{chapter}.html")
    for widget in CHAPTERS[chapter]:
        for state in stored_states(page, widget):
            fresh = widget(**{name: state[name] for name in widget.class_own_traits(sync=True)})
            assert fingerprint(state) == fingerprint(fresh.get_state()), "run `make notebooks`, `make book`"
