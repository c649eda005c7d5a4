"""The rubric of the final project: criteria with points, and what a student wrote for each of them.

The teacher marks criteria, one row of the file of marks by hand for each; beside it stands, to be read, what
the student wrote in the cell `projeto-NAME-resposta` of her notebook.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROJECT = "Projeto final"
RUBRIC = Path(__file__).with_name("texts") / "project.toml"


class Criterion(NamedTuple):
    name: str
    title: str
    points: int
    full: str  # when it gets all of its points
    half: str  # and when half of them

    @property
    def question(self) -> str:
        """How the file of marks names it; the number keeps the order of the rubric."""
        number = 1 + [c.name for c in criteria()].index(self.name)
        return f"{PROJECT}, {number}. {self.title} (até {self.points})"

    @property
    def cell(self) -> str:
        """The id of the cell in which the student writes."""
        return f"projeto-{self.name}-resposta"


@cache
def criteria() -> tuple[Criterion, ...]:
    """The rubric, in the order of the work."""
    table = tomllib.loads(RUBRIC.read_text(encoding="utf-8"))
    return tuple(Criterion(name, **text) for name, text in table.items())


def rubric() -> str:
    """The rubric as a table in Markdown, for the page."""
    rows = "".join(f"| {c.title} | {c.points} | {c.full} | {c.half} |\n" for c in criteria())
    total = sum(c.points for c in criteria())
    head = "| critério | pontos | tudo, quando | metade, quando |\n| --- | --- | --- | --- |\n"
    return f"{head}{rows}| total | {total} | | |\n"
