"""The exercises as data: texts from `texts/*.toml`, solutions from `solutions/*.py`.

The stub of the notebook and the solution shown are both made here from one function, so they cannot drift
apart; the tests run that same function through the checker.
"""

import ast
import importlib
import inspect
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

TEXTS = Path(__file__).with_name("texts")
CHAPTERS = (1, 2, 3, 4, 5)
CODE, NUMBER, OPEN = "code", "number", "open"
TO_DO = "...  # sua vez"


@dataclass(frozen=True)
class Exercise:
    """One exercise: what the page says of it. `answer` is the name that the student gives to the answer."""

    chapter: int
    number: int
    name: str
    title: str
    minutes: int
    goal: str
    needs: str
    statement: str
    first_hint: str
    second_hint: str
    answer: str = ""
    solution: str = ""
    mistakes: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """An open question has no answer to check; the solution of a number is told in words."""
        return OPEN if not self.answer else NUMBER if self.solution else CODE

    @property
    def label(self) -> str:
        return f"exr-{self.name.replace('_', '-')}"

    @property
    def check_name(self) -> str:
        return f"check_{self.name}"

    def function(self) -> Callable:
        """The published solution of an exercise in code."""
        module = importlib.import_module(f"lib.exercises.solutions.chapter_{self.chapter:02}")
        return getattr(module, self.answer)

    def solution_code(self) -> str:
        return inspect.getsource(self.function()).rstrip()

    def stub(self) -> str:
        """What the notebook offers: the solution's signature and docstring, or a name, and nothing else."""
        if self.kind == NUMBER:
            return f"{self.answer} = {TO_DO}: um número"
        code = self.solution_code()
        function = ast.parse(code).body[0]
        assert isinstance(function, ast.FunctionDef)
        docstring = function.body[0]
        return "\n".join([*code.splitlines()[: docstring.end_lineno], f"    return {TO_DO}"])


@cache
def exercises(chapter: int) -> tuple[Exercise, ...]:
    """The exercises of a chapter, in order."""
    texts = tomllib.loads((TEXTS / f"chapter_{chapter:02}.toml").read_text(encoding="utf-8"))
    return tuple(Exercise(chapter, i, name, **text) for i, (name, text) in enumerate(texts.items(), 1))


def all_exercises() -> tuple[Exercise, ...]:
    return tuple(exercise for chapter in CHAPTERS for exercise in exercises(chapter))


@cache
def general_mistakes() -> dict[str, str]:
    """Hints that every checker may give."""
    return tomllib.loads((TEXTS / "general.toml").read_text(encoding="utf-8"))["mistakes"]


def mistakes_of(name: str) -> dict[str, str]:
    """All hints that the checker of the exercise of this name may give, by key."""
    own = next(e.mistakes for e in all_exercises() if e.name == name)
    return general_mistakes() | own
