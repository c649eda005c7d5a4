"""The quiz as a reader meets it: in a static page without a kernel, in the built book, in JupyterLab."""

import re

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Locator, Page, expect

from lib.quizzes import CHAPTERS, Question, ask, questions, right, wrong
from lib.widgets.quiz import Quiz, quiz, quiz_of, result
from tests.browser.chromium import (
    assert_becomes,
    page_overflow,
)
from tests.lib.quizzes.test_quizzes import chapters_of_the_book
from tests.lib.widgets.masks_page import write_page
from tests.lib.widgets.shared import assert_accessible_in_every_look, move_focus

SMALL = [
    ask(
        "Um `a` < b?",
        right("sim & *não*", "é <b>."),
        wrong("b", "não é."),
        wrong("c", "nem."),
        section="A seção",
    ),
    ask(
        "Dois?",
        right("x", "pois é."),
        wrong("y", "não mesmo."),
        wrong("z", "z não."),
        section="Outra `seção`",
    ),
    ask("Três?", right("1", "é um."), wrong("2", "dois não."), wrong("3", "três não."), section="Sem lugar"),
]
HEADINGS = """() => {
  document.querySelector("main").insertAdjacentHTML("afterbegin",
    '<section id="a-secao"><h2>A seção<a class="headerlink" href="#a-secao">#</a></h2></section>' +
    '<h3 id="outra">Outra <code>seção</code></h3>');
}"""


def at(question: Question, is_right: bool) -> int:
    """The first choice that is right, or wrong."""
    return next(k for k, choice in enumerate(question.choices) if choice.right == is_right)


def open_quiz(page: Page, folder, widget: Quiz, *, dark: bool = False) -> Locator:
    page.goto(write_page(folder / "quiz.html", [widget]))
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", "dark" if dark else "light")
    return drawn(page)


def drawn(page: Page) -> Locator:
    root = page.locator(".cw-quiz")
    root.locator("[data-question]").first.wait_for()
    return root


def answer(root: Locator, i: int, k: int) -> Locator:
    """Choose and check as a person does; returns the explanation that appears."""
    form = root.locator(f"[data-question='{i}'] form")
    form.get_by_role("radio").nth(k).check()
    form.get_by_role("button", name="Conferir").click()
    return form.locator(".cw-feedback")


# --- the twin -----------------------------------------------------------------------------------------------


def test_the_result_counts_the_first_try():
    data = quiz_of("t", SMALL).questions
    wrong_then_right = [at(SMALL[0], False), at(SMALL[0], True)]
    found = result(data, [wrong_then_right, [at(SMALL[1], True)] * 2, []])
    assert (found.answered, found.right_at_first, found.read_again) == (2, 1, ("A seção",))


def test_a_quiz_without_questions_is_refused():
    with pytest.raises(ValueError, match="asked must hold at least one question"):
        quiz_of("t", [])


def test_another_edition_of_the_questions_has_another_name():
    assert quiz_of("t", SMALL).edition == quiz_of("t", SMALL).edition != quiz_of("t", SMALL[:2]).edition


# --- the static page ----------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """The text as the page shows it: without the marks of code and emphasis."""
    return re.sub(r"`([^`]+)`|\*([^*]+)\*", lambda m: m[1] or m[2], text)


# To press some forty buttons by pointer would take most of the time; the other tests press them that way.
ANSWER_EVERYTHING = """root => [...root.querySelectorAll("[data-question]")].map(question => ({
  legend: question.querySelector("legend").textContent,
  choices: [...question.querySelectorAll("label")].map(label => {
    label.querySelector("input").click();
    question.querySelector("button").click();
    const feedback = question.querySelector(".cw-feedback");
    return [label.textContent, feedback.dataset.verdict, feedback.querySelector("p").textContent];
  }),
}))"""


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_choice_of_every_question_explains_itself(chapter, page, tmp_path):
    root = open_quiz(page, tmp_path, quiz(chapter))
    assert root.evaluate(ANSWER_EVERYTHING) == [
        {
            "legend": f"{i + 1}. {plain(question.text)}",
            "choices": [
                [
                    plain(choice.text),
                    "right" if choice.right else "wrong",
                    f"{'✓ Certo.' if choice.right else '✗ Ainda não.'} {plain(choice.why)}",
                ]
                for choice in question.choices
            ],
        }
        for i, question in enumerate(questions(chapter))
    ]
    assert page_overflow(page) == 0
    assert not page.problems


def test_text_is_never_markup(page, tmp_path):
    root = open_quiz(page, tmp_path, quiz_of("t", SMALL))
    expect(root.locator("legend").first).to_have_text("1. Um a < b?")
    expect(root.locator("legend code")).to_have_text("a")
    feedback = answer(root, 0, at(SMALL[0], True))
    expect(feedback.locator("p")).to_have_text("✓ Certo. é <b>.")
    expect(feedback.locator("b")).to_have_count(0)


def test_the_right_answer_unfolds_why_the_others_are_wrong(page, tmp_path):
    root = open_quiz(page, tmp_path, quiz_of("t", SMALL))
    feedback = answer(root, 1, at(SMALL[1], True))
    feedback.get_by_text("E as outras?").click()
    others = [f"{choice.text}: {choice.why}" for choice in SMALL[1].choices if not choice.right]
    assert_becomes(
        lambda: [re.sub('[“”"]', "", text) for text in feedback.locator("li").all_inner_texts()], others
    )


def test_the_result_comes_at_the_end_and_links_what_to_read_again(page, tmp_path):
    root = open_quiz(page, tmp_path, quiz_of("t", SMALL))
    page.evaluate(HEADINGS)
    outcome = root.locator(".cw-result")
    for i in range(2):
        answer(root, i, at(SMALL[i], False))
        expect(outcome).to_have_text(f"Respondidas: {i + 1} de 3.")
    answer(root, 0, at(SMALL[0], True))  # a second try does not count
    answer(root, 2, at(SMALL[2], False))
    expect(outcome.locator("p")).to_have_text("De primeira, 0 de 3. Para reler:")
    items = ["A seção (questão 1)", "Outra seção (questão 2)", "Sem lugar (questão 3)"]
    expect(outcome.locator("li")).to_have_text(items)
    links = outcome.get_by_role("link")
    assert [link.get_attribute("href") for link in links.all()] == ["#a-secao", "#outra"]
    links.nth(1).click()
    page.wait_for_url("**/*#outra")


def test_a_section_missed_twice_is_listed_once(page, tmp_path):
    asked = [
        ask(f"P{k}?", right("x", "a"), wrong("y", "b"), wrong("z", "c"), section="A seção") for k in range(3)
    ]
    root = open_quiz(page, tmp_path, quiz_of("t", asked))
    for i, question in enumerate(asked):
        answer(root, i, at(question, False))
    expect(root.locator(".cw-result li")).to_have_text(["A seção (questões 1, 2 e 3)"])


def test_all_right_needs_nothing_read_again(page, tmp_path):
    root = open_quiz(page, tmp_path, quiz_of("t", SMALL))
    for i, question in enumerate(SMALL):
        answer(root, i, at(question, True))
    expect(root.locator(".cw-result")).to_have_text("De primeira, 3 de 3. Nada a reler.")
    expect(root.get_by_role("link")).to_have_count(0)


def test_checking_without_choosing_asks_for_a_choice(page, tmp_path):
    root = open_quiz(page, tmp_path, quiz_of("t", SMALL))
    root.get_by_role("button", name="Conferir").first.click()
    expect(root.locator(".cw-feedback").first).to_have_text("Escolha uma das respostas.")
    expect(root.locator(".cw-result")).to_have_text("Respondidas: 0 de 3.")


def test_answers_are_kept_for_the_visit_and_can_be_cleared(page, tmp_path):
    root = open_quiz(page, tmp_path, quiz_of("t", SMALL))
    first = at(SMALL[0], False)
    answer(root, 0, first)
    page.reload()
    root = drawn(page)
    expect(root.locator(".cw-result")).to_have_text("Respondidas: 1 de 3.")
    expect(root.get_by_role("radio").nth(first)).to_be_checked()
    expect(root.locator(".cw-feedback").first).to_contain_text(SMALL[0].choices[first].why)
    root.get_by_role("button", name="Recomeçar").click()
    expect(root.locator(".cw-result")).to_have_text("Respondidas: 0 de 3.")
    page.reload()
    expect(drawn(page).get_by_role("radio", checked=True)).to_have_count(0)


@pytest.mark.parametrize("stored", ["nonsense", "[[0, 9], [], []]", "[[0]]", "{}", '[[0, 0], "x", []]'])
def test_a_damaged_memory_is_ignored(stored, page, tmp_path):
    widget = quiz_of("t", SMALL)
    open_quiz(page, tmp_path, widget)
    memory = [f"quiz t {widget.edition}", stored]
    page.evaluate("([name, text]) => sessionStorage.setItem(name, text)", memory)
    page.reload()
    expect(drawn(page).locator(".cw-result")).to_have_text("Respondidas: 0 de 3.")
    assert page.evaluate("name => sessionStorage.getItem(name)", memory[0]) == stored
    assert not page.problems


def test_without_a_memory_the_quiz_works(new_page, tmp_path):
    page = new_page(fresh=True)
    page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('denied') } })"
    )
    root = open_quiz(page, tmp_path, quiz_of("t", SMALL))
    answer(root, 0, at(SMALL[0], True))
    expect(root.locator(".cw-result")).to_have_text("Respondidas: 1 de 3.")
    assert not page.problems


def test_the_keyboard_is_enough(page, tmp_path):
    root = open_quiz(page, tmp_path, quiz_of("t", SMALL))
    move_focus(page)
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")  # moving among the choices answers nothing
    expect(root.locator(".cw-feedback").first).to_be_empty()
    page.keyboard.press("Enter")
    why = SMALL[0].choices[1].why
    expect(root.locator(".cw-feedback").first).to_contain_text(why)
    move_focus(page)
    expect(root.get_by_role("button", name="Conferir").first).to_be_focused()
    move_focus(page)
    if SMALL[0].choices[1].right:
        move_focus(page)  # the unfolding of the others comes first
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(root.locator(".cw-result")).to_have_text("Respondidas: 2 de 3.")


def test_a_screen_reader_hears_question_and_explanation(page, tmp_path):
    root = open_quiz(page, tmp_path, quiz_of("t", SMALL))
    group = root.get_by_role("group", name="2. Dois?")
    assert [radio.get_attribute("type") for radio in group.get_by_role("radio").all()] == ["radio"] * 3
    group.get_by_role("radio", name="x").check()
    root.get_by_role("button", name="Conferir").nth(1).click()
    expect(root.get_by_role("status").filter(has_text="pois é.")).to_have_count(1)


def test_no_accessibility_violation(page, tmp_path):
    root = open_quiz(page, tmp_path, quiz("01"))
    page.evaluate(HEADINGS)
    for i, question in enumerate(questions("01")):
        answer(root, i, at(question, i % 2 == 0))
    expect(root.locator(".cw-result p")).to_contain_text("De primeira")
    assert_accessible_in_every_look(page)


# --- the built book -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", chapters_of_the_book())
def test_the_built_page_has_an_anchor_for_every_section(chapter, book_dir):
    html = (book_dir / "book" / f"{chapters_of_the_book()[chapter].stem}.html").read_text(encoding="utf-8")
    found = set()
    for section in BeautifulSoup(html, "html.parser").select("section[id]"):
        for heading in section.find_all(re.compile("^h[1-4]$"), recursive=False):
            for mark in heading.select("a.headerlink, .section-number"):
                mark.extract()
            found.add(" ".join(heading.get_text().split()))
    assert {plain(question.section) for question in questions(chapter)} <= found


# Every link of the result leads to its section: test_widget_book sees it, which has each chapter open.
# The quiz in JupyterLab: test_widgets_in_jupyterlab has it beside all other widgets.
