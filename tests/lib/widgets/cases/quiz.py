"""The quiz: its page object, and what all widgets are tested with."""

import re
from typing import Any

from playwright.sync_api import Locator

from lib.quizzes import Question, ask, questions, right, wrong
from lib.widgets.quiz import Quiz, quiz, quiz_of, result
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import WidgetPage
from tests.lib.widgets.shared import HOSTILE


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

    def wanted(self) -> dict[str, Any]:
        asked, sections = self.stored["questions"], []
        lib = result(asked, self.state)
        line = f"Respondidas: {lib.answered} de {len(asked)}."
        if lib.answered == len(asked):
            sections = [plain(section) for section in lib.read_again]
            line = f"De primeira, {lib.right_at_first} de {len(asked)}. "
            line += "Para reler:" if sections else "Nada a reler."
        answers = enumerate(zip(asked, self.state, strict=True))
        said = [said_of(i, question, answer[-1] if answer else None) for i, (question, answer) in answers]
        return {"questions": said, "result": line, "sections": sections}


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


def wrongs(*texts):
    return [wrong(text, f"{text} não é.") for text in texts]


SMALL = [
    ask("Um `a` < b?", right("sim & *não*", "é <b>."), *wrongs("b", "c"), section="A seção"),
    ask("Dois?", right("x", "pois é."), *wrongs("y", "z"), section="Outra `seção`"),
    ask("Três?", right("1", "é um."), *wrongs("2", "3"), section="Sem lugar"),
]
RIGHT = [at(question, True) for question in SMALL]


def small():
    return quiz_of("t", SMALL)


def hostile():
    # The texts are the course's own: marks of code in them are meant, and no word has 870 letters.
    texts = [text.replace("`", "'") for text in HOSTILE[:5]]
    asked = [
        ask(text, right(f"r {text}", text), wrong(f"w {text}", text), wrong("x", "x"), section=text)
        for text in texts
    ]
    answers = [(i, at(question, i % 2 == 0)) for i, question in enumerate(asked)]
    return quiz_of("t", asked), [*answers, (0, 1)]


def answered(*last):
    """The state after these choices, one a question; None leaves a question open."""
    return [[] if k is None else [k, k] for k in last]


def tour(stored):
    return [(i, (i + 1) % len(question["choices"])) for i, question in enumerate(stored["questions"])]


CASE = Case(
    page=QuizPage,
    make=small,
    starts=lambda: [(small(), answered(None, None, None)), (quiz("02"), [[] for _ in questions("02")])],
    moves=lambda: [(i, k) for i, question in enumerate(SMALL) for k in range(len(question.choices))],
    tour=tour,
    pair=lambda: (quiz("01"), small()),
    used=((3, 0), (1, 1)),
    stops=[plain(SMALL[0].choices[0].text)],
    keys=[
        ("Space", answered(None, None, None)),
        ("ArrowDown", answered(None, None, None)),  # moving among the choices answers nothing
        ("Enter", answered(1, None, None)),
        # The button, after a right answer the unfolding of the others, and the next question.
        *[("Tab", None)] * (3 if SMALL[0].choices[1].right else 2),
        ("ArrowDown", None),
        ("Enter", answered(1, 1, None)),
    ],
    change="""(root, k) => {
      const question = root.querySelectorAll("[data-question]")[k % 3];
      question.querySelectorAll("input")[(k >> 1) % 3].click();
      question.querySelector("button").click();
    }""",
    leaves=60,
    poke="""(el, k) => {
      el.querySelectorAll("input")[k].checked = true;
      el.querySelector("form").dispatchEvent(new Event("submit", { cancelable: true }));
    }""",
    listeners=1,
    refusals=[(lambda: quiz_of("t", []), "asked must hold at least one question")],
    hostile=hostile,
    mutations={
        "call every choice right": ('VERDICTS[right ? "right" : "wrong"]', "VERDICTS.right"),
        "explain the first choice": ("this.choices[k];", "this.choices[0];"),
        "count the last try": ("answers[i] = [first, k];", "answers[i] = [k, k];"),
        "read again what was right": ("choices[first].right ? [] : [i]", "choices[first].right ? [i] : []"),
        "end one question early": ("if (done < n)", "if (done < n - 1)"),
        "forget what was chosen": ("input.checked = k === last;", "input.checked = false;"),
    },
    telling=[(1, 0), (0, at(SMALL[0], False)), (0, RIGHT[0]), (1, RIGHT[1]), (2, 1), (2, 2)],
)
