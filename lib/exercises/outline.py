"""`lib` as answers see it while they are graded: names and constants, no function, no expected value.

A chapter's imports work there, and so does an answer that uses a constant of the course (`IGNORE_INDEX`). A
function of the course says, when called, that the answer must do without it: many of them are solutions.
"""

import ast
import contextlib
from pathlib import Path

LIB = Path(__file__).resolve().parents[1]
WHOLE = ("worker", "isolation", "calling", "tracing", "values")  # of the exercises: what asks an answer there
HEAD = "from __future__ import annotations\nimport torch\n"
ABSENT = """

class _Absent:
    def __init__(self, name):
        self.__name__ = name

    def __call__(self, *_, **__):
        raise RuntimeError(f"{self.__name__} é do curso: na correção, a resposta se escreve sem ele")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return (lambda *_, **__: None) if name.startswith("check_") else _Absent(name)
"""


def write_outline(folder: Path) -> None:
    """Write it as the package `lib` in a folder."""
    for path in LIB.rglob("*.py"):
        place, source = path.relative_to(LIB), path.read_text(encoding="utf-8")
        if "solutions" in place.parts:
            continue
        if place.parent.name != "exercises" or path.stem not in WHOLE:
            kept = [ast.unparse(node) for node in ast.parse(source).body if _is_kept(node, place)]
            source = HEAD + "\n".join(kept) + ABSENT
        target = folder / "lib" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source, encoding="utf-8")


def _is_kept(statement: ast.stmt, place: Path) -> bool:
    """A constant; of the exercises the classes beside checkers, whose objects are inputs of answers."""
    if place.parts[0] == "exercises":
        return isinstance(statement, ast.ClassDef) and place.stem.startswith("chapter_")
    with contextlib.suppress(ValueError, AttributeError):
        return isinstance(ast.literal_eval(statement.value), int | float | str)  # pyright: ignore
    return False
