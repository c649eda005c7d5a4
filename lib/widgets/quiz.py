"""The quiz at the end of a chapter, from the questions in `lib.quizzes`.

Everything that the reader needs is in the saved state, so the page answers without a kernel. `result` is the
view's twin: what the page says for a list of answers.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import traitlets

from lib.quizzes import Question, questions
from lib.widgets.base import CourseWidget, script_and_style


@dataclass(frozen=True)
class Result:
    """What the page counts: answered, right at the first try; and the sections to read again, once each."""

    answered: int
    right_at_first: int
    read_again: tuple[str, ...]


class Quiz(CourseWidget):
    """The view. `answers` holds, for each question, [] or the [first, last] choices that were checked."""

    _esm, _css = script_and_style("quiz", "fields")

    chapter = traitlets.Unicode().tag(sync=True)
    edition = traitlets.Unicode().tag(sync=True)
    questions = traitlets.List(traitlets.Dict()).tag(sync=True)
    answers = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)


def quiz(chapter: str, *names: str) -> Quiz:
    """The quiz of a chapter, `quiz("01")`, or of a page that asks some of its questions, by their names."""
    return quiz_of(chapter, questions(chapter, *names))


def quiz_of(chapter: str, asked: Sequence[Question]) -> Quiz:
    """A quiz of any questions; `chapter` keeps its answers apart from those of other quizzes."""
    if not asked:
        raise ValueError("asked must hold at least one question")
    data = json.loads(json.dumps([asdict(question) for question in asked]))
    # Answers kept from another edition of the questions would point at other choices.
    edition = hashlib.sha256(json.dumps(data).encode()).hexdigest()[:8]
    return Quiz(chapter=chapter, edition=edition, questions=data, answers=[[] for _ in data])


def result(asked: Sequence[dict], answers: Sequence[Sequence[int]]) -> Result:
    """What the page says for these answers to the questions of a widget."""
    answered = [(question, answer[0]) for question, answer in zip(asked, answers, strict=True) if answer]
    missed = [question["section"] for question, first in answered if not question["choices"][first]["right"]]
    return Result(len(answered), len(answered) - len(missed), tuple(dict.fromkeys(missed)))
