"""The questions of the quizzes, one module per chapter. Every choice, right or wrong, says why.

`questions("01")` gives the questions of chapter 1. Those without a figure are in `chapter_01.toml`; the rest
is built in `chapter_01.py`, with `ask`, `right` and `wrong`; no figure in them is typed: the right one is
computed there, and so are those that typical mistakes lead to.
"""

from functools import cache
from importlib import import_module

from lib.quizzes.question import Choice, Question, ask, right, wrong

CHAPTERS = ("01", "02", "03", "04", "05")

__all__ = ["CHAPTERS", "Choice", "Question", "ask", "questions", "right", "wrong"]


@cache
def questions(chapter: str) -> tuple[Question, ...]:
    """The questions of a chapter, "01" to "05"."""
    if chapter not in CHAPTERS:
        raise ValueError(f"chapter must be one of {', '.join(CHAPTERS)}, got {chapter!r}")
    return tuple(import_module(f"lib.quizzes.chapter_{chapter}").questions())
