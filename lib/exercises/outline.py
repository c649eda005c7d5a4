"""`lib` as answers see it while they are graded: names and constants, no function, no expected value.

A chapter's imports work there, and so does an answer that uses a constant of the course (`IGNORE_INDEX`). A
function of the course says, when called, that the answer must do without it: many of them are solutions.
"""

import ast
import contextlib
from pathlib import Path

LIB = Path(__file__).resolve().parents[1]
WHOLE = ("worker", "isolation", "calling", "tracing", "values")  # of the exercises: what asks an answer there
HEAD = "from __future__ import annotations\nimport torch\nfrom torch import nn\n"
ABSENT = """

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def absent(*_, **__):
        if not name.startswith("check_"):
            raise RuntimeError(f"{name} é do curso: na correção, a resposta se escreve sem ele")

    return absent
"""


def write_outline(folder: Path) -> None:
    """Write it as the package `lib` in a folder, for everybody to read."""
    for path in LIB.rglob("*.py"):
        place, source = path.relative_to(LIB.parent), path.read_text(encoding="utf-8")
        if place.parent.name == "solutions":
            continue
        if place.parent.name != "exercises" or place.stem not in WHOLE:
            kept = [ast.unparse(node) for node in ast.parse(source).body if _is_kept(node, place)]
            source = HEAD + "\n".join(kept) + ABSENT
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source, encoding="utf-8")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)  # whatever the umask


def _is_kept(statement: ast.stmt, place: Path) -> bool:
    """A constant; of the exercises the classes beside checkers, whose objects are inputs of answers."""
    if "exercises" in place.parts:
        return isinstance(statement, ast.ClassDef) and place.stem.startswith("chapter_")
    with contextlib.suppress(ValueError, AttributeError):
        return isinstance(ast.literal_eval(statement.value), int | float | str)  # pyright: ignore
    return False
