"""`lib` as answers see it while they are graded: names and constants, no function, no expected value.

A chapter's imports work there, and so does an answer that uses a constant of the course (`IGNORE_INDEX`). A
function of the course says, when called, that the answer must do without it: many of them are solutions.
"""

import ast
import contextlib
from pathlib import Path

from lib.exercises.catalogue import CHAPTERS, OPEN, exercises

LIB = Path(__file__).resolve().parents[1]
ENTRY = "worker"
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


def write_outline(folder: Path) -> None:
    """Write it as the package `lib` in a folder."""
    whole = _needed(ENTRY)
    for path in LIB.rglob("*.py"):
        place = path.relative_to(LIB)
        ours = place.is_relative_to("exercises")
        if ours and place.parent.name != "exercises":
            continue  # the solutions
        target = folder / "lib" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        source = path.read_text(encoding="utf-8")
        if not ours:
            source = _constants(source) + ABSENT
        elif path.stem not in whole:
            source = ""
        target.write_text(source, encoding="utf-8")
    for chapter in CHAPTERS:
        path = LIB / "exercises" / f"chapter_{chapter:02}.py"
        checks = "".join(f"def {e.check_name}(_): ...\n" for e in exercises(chapter) if e.kind != OPEN)
        source = _inputs(path.read_text(encoding="utf-8")) + checks
        (folder / "lib" / "exercises" / path.name).write_text(source, encoding="utf-8")


def _needed(name: str) -> set[str]:
    """The modules beside this one that a module imports, with those that they import; and itself."""
    tree = ast.parse((LIB / "exercises" / f"{name}.py").read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    beside = [
        module.removeprefix("lib.exercises.") for module in modules if module.startswith("lib.exercises.")
    ]
    return {name}.union(*map(_needed, beside))


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
    return "\n".join(["from __future__ import annotations", "import torch", *kept, ""])
