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
FORMS = {
    "completar": "Complete",
    "defeito": "Ache o defeito",
    "preveja": "Preveja",
    "experimento": "Desenhe o experimento",
}
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
    third_hint: str
    answer: str = ""
    form: str = ""  # one of FORMS, if it is not a function to write from its docstring
    start: str = ""  # the program that the cell begins with: half-written, or with a defect
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
        """What the notebook offers: a name, a program to mend, or the solution without what it does.

        Of a function its signature and docstring are left; of a class all but the body of its last method.
        """
        if self.kind == NUMBER:
            return f"{self.answer} = {TO_DO}: um número"
        if self.start:
            return self.start.strip()
        code = self.solution_code()
        found = ast.parse(code).body[0]
        assert isinstance(found, ast.FunctionDef | ast.ClassDef)
        last = found.body[0] if isinstance(found, ast.FunctionDef) else found.body[-1]
        kept = last.end_lineno if isinstance(found, ast.FunctionDef) else last.lineno
        indent = " " * (4 if isinstance(found, ast.FunctionDef) else 8)
        return "\n".join([*code.splitlines()[:kept], f"{indent}return {TO_DO}"])


@cache
def exercises(chapter: int) -> tuple[Exercise, ...]:
    """The exercises of a chapter, in order."""
    texts = tomllib.loads((TEXTS / f"chapter_{chapter:02}.toml").read_text(encoding="utf-8"))
    return tuple(Exercise(chapter, i, name, **text) for i, (name, text) in enumerate(texts.items(), 1))


def all_exercises() -> tuple[Exercise, ...]:
    return tuple(exercise for chapter in CHAPTERS for exercise in exercises(chapter))


@cache
def _general() -> dict[str, dict[str, str]]:
    return tomllib.loads((TEXTS / "general.toml").read_text(encoding="utf-8"))


def general_mistakes() -> dict[str, str]:
    """Hints that every checker may give."""
    return _general()["mistakes"]


def finish_line(chapter: int) -> str:
    """What the end of a chapter asks of the student's own file."""
    return _general()["finish"][str(chapter)]


def named(name: str) -> Exercise:
    return next(exercise for exercise in all_exercises() if exercise.name == name)
