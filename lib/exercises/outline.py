"""`lib` as answers see it while they are graded: names and constants, no function, no expected value.

A chapter's imports work there, and so does an answer that uses a constant of the course (`IGNORE_INDEX`). A
function of the course says, when called, that the answer must do without it: many of them are solutions.
"""

import ast
import contextlib
from pathlib import Path

LIB = Path(__file__).resolve().parents[1]
WHOLE = ("worker", "isolation", "calling", "tracing", "values")  # of the exercises: what asks an answer there
ABSENT = """
class _Absent:
    def __init__(self, name):
        self.__name__ = name

    def __call__(self, *_, **__):
        raise RuntimeError(f"{self.__name__} é do curso: na correção, a resposta se escreve sem ele")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Absent(name)
"""
CHECKS = """
def __getattr__(name):
    if not name.startswith("check_"):
        raise AttributeError(name)
    return lambda *_, **__: None
"""


def write_outline(folder: Path) -> None:
    """Write it as the package `lib` in a folder."""
    for path in LIB.rglob("*.py"):
        place = path.relative_to(LIB)
        if place.parent.name == "solutions":
            continue
        source = path.read_text(encoding="utf-8")
        if place.parent.name != "exercises":
            source = _constants(source) + ABSENT
        elif path.stem not in WHOLE:
            source = _inputs(source) + CHECKS if path.stem.startswith("chapter_") else ""
        target = folder / "lib" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source, encoding="utf-8")


def _constants(source: str) -> str:
    kept = []
    for statement in ast.parse(source).body:
        with contextlib.suppress(ValueError, AttributeError):
            if isinstance(ast.literal_eval(statement.value), int | float | str):  # pyright: ignore
                kept.append(ast.unparse(statement))
    return "\n".join(kept)


def _inputs(source: str) -> str:
    """The classes of a checker's module: objects of them are among the inputs of an answer."""
    kept = [ast.unparse(node) for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return "\n".join(["from __future__ import annotations", "import torch", *kept])
