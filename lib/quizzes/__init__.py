"""The questions of the quizzes. Every choice, right or wrong, says why.

The tables of `chapter_01.toml` are the questions of chapter 1, in order. No figure is typed there. In the
table `allowed_pairs`, `{allowed:0}` is what the function `allowed_pairs` of `chapter_01.py` gives under that
name: it computes the right figure and those that typical mistakes lead to.
"""

import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path

from lib.quizzes.question import Choice, Question, ask, filled, right, wrong

CHAPTERS = ("00", "01", "02", "03", "04", "05")

__all__ = ["CHAPTERS", "Choice", "Question", "ask", "questions", "right", "wrong"]


@cache
def questions(chapter: str, *names: str) -> tuple[Question, ...]:
    """The questions of a chapter, "01" to "05": all of them, or those that one of its pages names."""
    if chapter not in CHAPTERS:
        raise ValueError(f"chapter must be one of {', '.join(CHAPTERS)}, got {chapter!r}")
    module = import_module(f"lib.quizzes.chapter_{chapter}")
    tables = tomllib.loads(Path(__file__).with_name(f"chapter_{chapter}.toml").read_text(encoding="utf-8"))
    if unknown := [name for name in names if name not in tables]:
        raise ValueError(f"names must be questions of chapter {chapter}, got {', '.join(unknown)}")
    return tuple(filled(tables[name], getattr(module, name, dict)()) for name in names or tables)
