"""The quiz: its Python twin, and what it alone does on a page."""

import re

import pytest
from playwright.sync_api import expect

from lib.quizzes import CHAPTERS, ask, right, wrong
from lib.widgets.quiz import quiz, quiz_of
from tests.browser.chromium import assert_becomes, page_overflow
from tests.lib.widgets.cases.quiz import RIGHT, SMALL, QuizPage, at
from tests.lib.widgets.shared import drawn_widgets

HEADINGS = """() => {
  document.querySelector("main").insertAdjacentHTML("afterbegin",
    '<section id="a-secao"><h2>A seção<a class="headerlink" href="#a-secao">#</a></h2></section>' +
    '<h3 id="outra">Outra <code>seção</code></h3>');
}"""


@pytest.fixture
def small(show) -> QuizPage:
    """The small quiz on a page."""
    [opened] = show(quiz_of("t", SMALL))
    return opened


def test_another_edition_of_the_questions_has_another_name():
    assert quiz_of("t", SMALL).edition == quiz_of("t", SMALL).edition != quiz_of("t", SMALL[:2]).edition


# To press some forty buttons by pointer would take most of the time; the other tests press them that way.
CHECK = "(form, k) => { form.querySelectorAll('input')[k].click(); form.querySelector('button').click(); }"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_choice_of_every_question_explains_itself(chapter, page, show):
    [answered] = show(quiz(chapter))
    for i, question in enumerate(answered.stored["questions"]):
        for k in range(len(question["choices"])):
            answered.panel.locator("form").nth(i).evaluate(CHECK, k)
            answered.state[i] = [0, k]
            assert answered.differences() == [], (i, k)
    assert page_overflow(page) == 0
    assert not page.problems


def test_code_is_marked_up_and_nothing_else(small):
    expect(small.panel.locator("legend").first).to_have_text("1. Um a < b?")
    expect(small.panel.locator("legend code")).to_have_text("a")
    feedback = small.answer(0, RIGHT[0])
    expect(feedback.locator("p")).to_have_text("✓ Certo. é <b>.")
    expect(feedback.locator("b")).to_have_count(0)


def test_the_right_answer_unfolds_why_the_others_are_wrong(page, small):
    feedback = small.answer(1, RIGHT[1])
    feedback.get_by_text("E as outras?").click()
    others = [f"{choice.text}: {choice.why}" for choice in SMALL[1].choices if not choice.right]
    items = feedback.locator("li")
    assert_becomes(page, lambda: [re.sub('[“”"]', "", text) for text in items.all_inner_texts()], others)


def test_the_result_comes_at_the_end_and_links_what_to_read_again(page, small):
    page.evaluate(HEADINGS)
    outcome = small.panel.locator(".cw-result")
    for i in (0, 1):
        small.go((i, at(SMALL[i], False)))
        expect(outcome).to_have_text(f"Respondidas: {i + 1} de 3.")
    small.go((0, RIGHT[0]))  # a second try does not count
    small.go((2, at(SMALL[2], False)))
    assert small.differences() == []
    expect(outcome.locator("p")).to_have_text("De primeira, 0 de 3. Para reler:")
    items = ["A seção (questão 1)", "Outra seção (questão 2)", "Sem lugar (questão 3)"]
    expect(outcome.locator("li")).to_have_text(items)
    links = outcome.get_by_role("link")
    assert [link.get_attribute("href") for link in links.all()] == ["#a-secao", "#outra"]
    links.nth(1).click()
    page.wait_for_url("**/*#outra")


def test_a_section_missed_twice_is_listed_once(show):
    asked = [
        ask(f"P{k}?", right("x", "a"), wrong("y", "b"), wrong("z", "c"), section="A seção") for k in range(3)
    ]
    [answered] = show(quiz_of("t", asked))
    for i, question in enumerate(asked):
        answered.answer(i, at(question, False))
    expect(answered.panel.locator(".cw-result li")).to_have_text(["A seção (questões 1, 2 e 3)"])


def test_all_right_needs_nothing_read_again(small):
    for i, question in enumerate(SMALL):
        small.answer(i, at(question, True))
    expect(small.panel.locator(".cw-result")).to_have_text("De primeira, 3 de 3. Nada a reler.")
    expect(small.panel.get_by_role("link")).to_have_count(0)


def test_checking_without_choosing_asks_for_a_choice(small):
    root = small.panel
    root.get_by_role("button", name="Conferir").first.click()
    expect(root.locator(".cw-feedback").first).to_have_text("Escolha uma das respostas.")
    expect(root.locator(".cw-result")).to_have_text("Respondidas: 0 de 3.")


def test_answers_can_be_cleared_for_the_whole_visit(page, small):
    small.go((0, at(SMALL[0], False)))
    small.panel.get_by_role("button", name="Recomeçar").click()
    expect(small.panel.locator(".cw-result")).to_have_text("Respondidas: 0 de 3.")
    page.reload()
    [root] = drawn_widgets(page, [0])
    expect(root.get_by_role("radio", checked=True)).to_have_count(0)


@pytest.mark.parametrize("kept", ["nonsense", "[[0, 9], [], []]", "[[0]]", "{}", '[[0, 0], "x", []]'])
def test_a_damaged_memory_is_ignored(kept, page, small):
    name = f"quiz t {small.stored['edition']}"
    page.evaluate("([name, text]) => sessionStorage.setItem(name, text)", [name, kept])
    page.reload()
    drawn_widgets(page, [0])
    expect(small.panel.locator(".cw-result")).to_have_text("Respondidas: 0 de 3.")
    assert page.evaluate("name => sessionStorage.getItem(name)", name) == kept
    assert not page.problems


def test_without_a_memory_the_quiz_works(new_page, show):
    page = new_page(fresh=True)
    page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('denied') } })"
    )
    [answered] = show(quiz_of("t", SMALL), on=page)
    answered.go((0, RIGHT[0]))
    assert answered.differences() == []
    assert not page.problems


def test_a_screen_reader_hears_question_and_explanation(small):
    root = small.panel
    group = root.get_by_role("group", name="2. Dois?")
    assert [radio.get_attribute("type") for radio in group.get_by_role("radio").all()] == ["radio"] * 3
    group.get_by_role("radio", name="x").check()
    root.get_by_role("button", name="Conferir").nth(1).click()
    expect(root.get_by_role("status").filter(has_text="pois é.")).to_have_count(1)
