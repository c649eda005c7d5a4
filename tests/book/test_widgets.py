"""Every widget in the built book: over http on a large screen, and from the disk on a phone."""

import json
from functools import cache

import pytest
from playwright.sync_api import Page, expect

from lib.exercises.catalogue import exercises
from lib.quizzes import questions
from lib.widgets.base import fingerprint
from tests.book.test_built_book import BUILT
from tests.browser.chromium import DESKTOP, PHONE, axe_violations, change_look, load, open_page, page_overflow
from tests.lib.widgets.cases import CASES
from tests.lib.widgets.cases.quiz import QuizPage, at, plain
from tests.lib.widgets.shared import ROOTS
from tools.insert_exercises import FILES, PAGES

CHAPTERS = {
    "intro": {"page_model"},
    "00_before": {"page_model", "quiz"},
    "01_masking": {"mask_explorer", "film", "quiz"},
    "02_mlm": {"mlm_corruption", "page_model", "film", "quiz"},
    "02_training": {"quiz"},
    "02_next_sentence": {"quiz"},
    "02_context": {"quiz"},
    "03_bert_encoders": {"mask_explorer", "quiz"},
    "03_bert_block": {"quiz"},
    "03_subwords": {"wordpiece_steps", "quiz"},
    "03_sizes": {"parameter_counter", "quiz"},
    "03_attention": {"real_attention", "quiz"},
    "04_cross_entropy": {"cross_entropy_bars", "film", "quiz"},
    "05_encoder_only": {"sense_space", "film", "quiz"},
    "05_fine_tuning": {"quiz"},
    "05_variants": {"quiz"},
    "05_geometry": {"quiz"},
}
# The rest of each page, at the same widths and in the same themes, is judged by tests/browser/test_pages.py.
# Using a widget changes nothing there, and axe would weigh its thousands of elements again.
LEAVE_WIDGETS_ALONE = """selector => {
  const kept = new Set();
  for (let element of document.querySelectorAll(selector)) {
    for (; element; element = element.parentElement) kept.add(element);
  }
  for (const element of document.body.querySelectorAll("*")) {
    if (kept.has(element.parentElement) && !kept.has(element) && !element.closest(selector)) element.remove();
  }
}"""
WITH_QUIZ = [chapter for chapter, kinds in CHAPTERS.items() if "quiz" in kinds]
MOVING = """() => [...document.querySelectorAll(".cw-panel *, .cw-panel, .cw-quiz *")].filter(e => {
  const { transitionDuration, animationName } = getComputedStyle(e);
  return /[1-9]/.test(transitionDuration) || animationName !== "none";
}).map(e => e.className)"""


@cache
def stored_states(chapter: str, widget: type) -> list[dict]:
    """The saved states of the widgets of one class that a chapter carries."""
    script = (BUILT / "book" / f"{chapter}.widgets.js").read_text(encoding="utf-8")
    models = json.loads(script.partition(" = ")[2].rstrip(";\n"))["state"].values()
    wanted = f"{widget.__module__}.{widget.__name__}"
    return [model["state"] for model in models if model["state"].get("_anywidget_id") == wanted]


@pytest.fixture(scope="module", params=CHAPTERS)
def opened(request, browser, book_url):
    """A chapter over http on a large screen, opened once for all the tests that use it, and its name."""
    with open_page(browser) as page:
        load(page, f"{book_url}/book/{request.param}.html")
        yield page, request.param


def test_every_widget_of_the_course_has_a_chapter():
    assert {case.name for case in CASES} == set.union(*CHAPTERS.values())


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_book_carries_the_widgets_of_today(chapter, book_dir):
    for widget in (case.page.widget for case in CASES if case.name in CHAPTERS[chapter]):
        states = stored_states(chapter, widget)
        assert states, f"{chapter} carries no {widget.__name__}"
        for state in states:
            fresh = widget(**{name: state[name] for name in widget.class_own_traits(sync=True)})
            assert fingerprint(state) == fingerprint(fresh.get_state()), "run `make notebooks`, `make book`"


@pytest.mark.parametrize("number", FILES)
def test_every_hint_and_solution_is_folded_and_named(number, book_url, page):
    load(page, f"{book_url}/book/{FILES[number].stem}.html")
    found = exercises(number)
    for name in ("Primeira dica", "Segunda dica"):
        expect(page.get_by_role("button", name=name, exact=True, expanded=False)).to_have_count(len(found))
    for exercise in found:
        solution = page.locator(f"#sol-{exercise.label}")
        expect(solution.get_by_role("button", expanded=False)).to_have_accessible_name(
            f"Solução para Exercício {number}.{exercise.number} ({exercise.title})"
        )
        expect(solution.locator(":scope > *").nth(1)).to_be_hidden()


def texts_of(quiz: dict) -> list[str]:
    """What a stored quiz asks, in its order."""
    return [question["text"] for question in quiz["questions"]]


@pytest.mark.parametrize("number", PAGES)
def test_the_pages_of_a_chapter_ask_each_of_its_questions_once(number, book_dir):
    stems = [path.stem for path in PAGES[number] if path.stem in CHAPTERS]
    quizzes = [state for stem in stems for state in stored_states(stem, QuizPage.widget)]
    asked = [text for quiz in quizzes for text in texts_of(quiz)]
    assert asked == [question.text for question in questions(f"{number:02}")]


@pytest.mark.parametrize("opened", WITH_QUIZ, indirect=True)
def test_every_link_of_the_result_leads_to_its_section(opened):
    page, chapter = opened
    [state] = stored_states(chapter, QuizPage.widget)
    quiz = QuizPage(page.locator(".cw-quiz"), state)
    asked = [question for question in questions(chapter[:2]) if question.text in texts_of(state)]
    for i, question in enumerate(asked):
        quiz.answer(i, at(question, False))
    sections = list(dict.fromkeys(question.section for question in asked))
    items = quiz.panel.locator(".cw-result li")
    expect(items).to_have_count(len(sections))
    for i, section in enumerate(sections):
        href = items.nth(i).get_by_role("link").get_attribute("href")
        heading = page.evaluate(
            "id => document.getElementById(id)?.querySelector('h1,h2,h3,h4')?.textContent",
            page.evaluate("href => decodeURIComponent(href.slice(1))", href),
        )
        assert heading and plain(section) in heading, (section, href)
    quiz.panel.get_by_role("button", name="Recomeçar").click()
    expect(quiz.panel.get_by_role("radio", checked=True)).to_have_count(0)
    assert not page.problems


def test_widgets_of_a_chapter_show_what_lib_computes_over_http_on_a_desktop(opened):
    use(*opened, DESKTOP)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_widgets_of_a_chapter_show_what_lib_computes_from_the_disk_on_a_phone(chapter, new_page, book_dir):
    page = new_page(viewport=PHONE)
    load(page, (book_dir / f"book/{chapter}.html").as_uri())
    use(page, chapter, PHONE)


def use(page: Page, chapter: str, viewport: dict) -> None:
    """Take every tour of the chapter: each widget shows, after each move, what `lib` computes.

    With all of them in use, they are accessible in both themes; the page has nothing sideways, and no motion.
    """
    found = set()
    for case in CASES:
        states, views = stored_states(chapter, case.page.widget), page.locator(case.page.selector).all()
        for state, view in zip(states, views, strict=True):
            found.add(case.name)
            shown = case.page(view, state)
            shown.begin()
            for move in case.tour(state):
                shown.go(move)
                assert shown.differences() == [], (case.name, move)
    assert found == CHAPTERS[chapter]
    for dark in (True, False):
        change_look(page, viewport, dark)
        assert page_overflow(page) == 0
    assert page.evaluate(MOVING) == [], "whoever asks for less motion gets none"
    page.evaluate(LEAVE_WIDGETS_ALONE, ROOTS)
    for dark in (False, True):
        change_look(page, viewport, dark)
        assert axe_violations(page, within=ROOTS) == []
    assert not page.problems
