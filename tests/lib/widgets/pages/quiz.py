"""The quiz on a page."""

import re

from playwright.sync_api import Locator

from lib.quizzes import Question
from lib.widgets.quiz import Quiz, Result, result
from tests.lib.widgets.pages.base import WidgetPage


class QuizPage(WidgetPage):
    """One form per question, and the result. A move is (question, choice); the state, all answers so far."""

    widget, selector = Quiz, ".cw-quiz"
    READ = """{
      questions: all("[data-question]", question => ({
        legend: question.querySelector("legend").textContent,
        choices: all("label", label => label.textContent, question),
        checked: all("input", input => input.checked, question).indexOf(true),
        verdict: question.querySelector(".cw-feedback").dataset.verdict,
        why: question.querySelector(".cw-feedback > p")?.textContent ?? "",
      })),
      result: text(".cw-result p"),
      sections: texts(".cw-result cite"),
    }"""

    def first(self, stored) -> list[list[int]]:
        return [list(answer) for answer in stored["answers"]]

    def go(self, move: tuple[int, int]) -> None:
        self.answer(*move)

    def answer(self, i: int, k: int) -> Locator:
        """Choose and check as a person does; the explanation that appears."""
        form = self.panel.locator(f"[data-question='{i}'] form")
        form.get_by_role("radio").nth(k).check()
        form.get_by_role("button", name="Conferir").click()
        first = self.state[i][0] if self.state[i] else k
        self.state = [[first, k] if at == i else answer for at, answer in enumerate(self.state)]
        return form.locator(".cw-feedback")

    def expected(self) -> Result:
        return result(self.stored["questions"], self.state)

    def wrong(self) -> list[str]:
        page, expected, asked = self.read(), self.expected(), self.stored["questions"]
        found = []
        for i, (says, question, answer) in enumerate(zip(page["questions"], asked, self.state, strict=True)):
            wanted = said_of(i, question, answer[-1] if answer else None)
            found += [
                f"{i} {name}: page {says[name]}, lib {x}" for name, x in wanted.items() if says[name] != x
            ]
        n, sections = len(asked), []
        line = f"Respondidas: {expected.answered} de {n}."
        if expected.answered == n:
            sections = [plain(section) for section in expected.read_again]
            line = f"De primeira, {expected.right_at_first} de {n}. "
            line += "Para reler:" if sections else "Nada a reler."
        if (page["result"], page["sections"]) != (line, sections):
            found.append(f"result: page {page['result']} {page['sections']}, lib {line} {sections}")
        return found


def said_of(i: int, question: dict, k: int | None) -> dict:
    """What the page says of a question once choice k was checked; None, before any was."""
    said = {
        "legend": f"{i + 1}. {plain(question['text'])}",
        "choices": [plain(choice["text"]) for choice in question["choices"]],
    }
    if k is None:
        return {**said, "why": ""}
    choice = question["choices"][k]
    verdict, words = ("right", "✓ Certo.") if choice["right"] else ("wrong", "✗ Ainda não.")
    return {**said, "checked": k, "verdict": verdict, "why": f"{words} {plain(choice['why'])}"}


def plain(text: str) -> str:
    """The text as the page shows it: without the marks of code and emphasis."""
    return re.sub(r"`([^`]+)`|\*([^*]+)\*", lambda m: m[1] or m[2], text)


def at(question: Question, is_right: bool) -> int:
    """The first choice that is right, or wrong."""
    return next(k for k, choice in enumerate(question.choices) if choice.right == is_right)
