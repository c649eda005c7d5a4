"""How long a page takes, by one rule for all of them.

A hundred words a minute, formulas and figures looked at on the way; ten visible lines of code a minute;
two minutes for a widget; one for each question, of a quiz or with a folded answer. Exercises have their own.
"""

import ast
import json
import re
from pathlib import Path
from typing import NamedTuple

from lib.exercises.catalogue import exercises
from lib.exercises.workshop import PARTS
from lib.quizzes import questions
from tests.trust.pages import ROOT

WORDS_A_MINUTE, LINES_A_MINUTE = 100, 10
OF_A_WIDGET, OF_A_QUESTION = 2, 1
SCRIPTS = {path.stem for path in (ROOT / "lib" / "widgets").glob("*.js")}
WIDGETS = {path.stem for path in (ROOT / "lib" / "widgets").glob("*.py")} & SCRIPTS - {"quiz"}
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
TRACK, OFF_TRACK = "*Trilha de duas horas:", "*Fora da trilha de duas horas.*"
NOT_READ = re.compile(
    r"^```\{mermaid\}.*?^```$|\$\$.*?\$\$"  # diagrams, displayed formulas
    r"|^ *`{3,}\S*|^:\w+:[^\n]*|(?<=\{)[\w:]+(?=\}`)|<[^<>`]*>`",  # directives, roles
    re.M | re.S,
)
FOLDED_ANSWER = re.compile(r"^ *`{3,}\{dropdown\}", re.M)
ONE_WORD = re.compile(r"\$[^$]*\$|`[^`]*`")
WORD = re.compile(r"[^\W\d_][\w'-]*")


class Reading(NamedTuple):
    words: int = 0
    lines: int = 0
    widgets: int = 0
    questions: int = 0

    @property
    def minutes(self) -> float:
        code = self.lines / LINES_A_MINUTE
        return (
            self.words / WORDS_A_MINUTE + code + OF_A_WIDGET * self.widgets + OF_A_QUESTION * self.questions
        )


def total(parts: list[Reading]) -> Reading:
    return Reading(*map(sum, zip(*parts, strict=True))) if parts else Reading()


def page(path: Path) -> Reading:
    """The whole page, without its exercises."""
    return total([part for _, part in _parts(path)])


def track(path: Path) -> Reading:
    """What a page gives to the two-hour track."""
    return total([part for on, part in _parts(path) if on])


def visible_cells(path: Path) -> dict[str, int]:
    """The lines, by cell, of the code that a page shows; what an exercise gives to complete is not."""
    cells = [c for c in _cells(path) if c["cell_type"] == "code" and not c["id"].startswith("ex-")]
    return {c["id"]: code("".join(c["source"]), set(c["metadata"].get("tags", ()))).lines for c in cells}


def exercise_minutes(chapter: int, pieces_only: bool = False) -> int:
    return sum(e.minutes for e in exercises(chapter) if e.name in PARTS or not pieces_only)


def prose(text: str) -> Reading:
    read = ONE_WORD.sub(" x ", NOT_READ.sub(" ", text))
    return Reading(words=len(WORD.findall(read)), questions=len(FOLDED_ANSWER.findall(text)))


def code(source: str, tags: set[str]) -> Reading:
    lines = 0 if tags & FOLDED else sum(bool(line.strip()) for line in source.splitlines())
    called = [call for call in ast.walk(ast.parse(source)) if isinstance(call, ast.Call)]
    named = [(call.func.id, call.args) for call in called if isinstance(call.func, ast.Name)]
    asked = [questions(*map(ast.literal_eval, args)) for name, args in named if name == "quiz"]
    return Reading(0, lines, sum(name in WIDGETS for name, _ in named), sum(map(len, asked)))


def _cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def _parts(path: Path) -> list[tuple[bool, Reading]]:
    """The page in pieces, each with whether the track goes through it."""
    parts, chapter_on, on = [], False, False
    for cell in _cells(path):
        source = "".join(cell["source"])
        if cell["id"].startswith("ex-"):
            continue
        if cell["cell_type"] == "code":
            parts.append((on, code(source, set(cell["metadata"].get("tags", ())))))
            continue
        for section in re.split(r"^(?=#{1,3} )", source, flags=re.M):
            if level := len(section) - len(section.lstrip("#")):
                chapter_on = TRACK in section if level < 3 else chapter_on
                on = TRACK in section or (chapter_on and OFF_TRACK not in section)
            parts.append((on, prose(section)))
    return parts
