"""The files of measurements under test: which digits they have, and what a run of a program does.

python -m tests.trust.measured benchmarks.floor FILE --seeds 2     run it quickly, and tell what it did
"""

import ast
import importlib
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks import program
from benchmarks.report import Report
from tools.console import ROOT
from trust.dependencies import Project
from trust.provenance import Part
from trust.tamper import Candidate, digits

ELSEWHERE = (ROOT / ".venv", ROOT / "_build")


def measured_candidates(report: Report, project: Project) -> Iterator[Candidate]:
    """Digits in the values, in their provenance, and in what is made of them; the report must notice."""
    texts = report.texts()
    if problems := report.problems(texts, project):
        raise ValueError(problems[0])
    for name, text in texts.items():

        def notices(changed: str, name: str = name) -> bool:
            return bool(report.problems({**texts, name: changed}, project))

        yield from digits(f"benchmarks/{name}", text, notices)


@dataclass
class Trace:
    """The project's definitions that were called, as `module:name`, and its files that were opened."""

    called: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    known: dict[int, CodeType] = field(default_factory=dict)  # by id: code that need not be looked at again
    listening: bool = False

    def __post_init__(self) -> None:
        sys.addaudithook(self.audit)

    def audit(self, event: str, arguments: tuple) -> None:
        if self.listening and event == "open" and isinstance(arguments[0], str):
            path = Path(arguments[0]).absolute()
            if ours(path) and path.suffix not in (".py", ".pyc") and path.is_file():
                self.opened.add(path.relative_to(ROOT).as_posix())

    def call(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if id(code) in self.known:
            return
        if not ours(Path(code.co_filename)):
            self.known[id(code)] = code
        elif not importing(frame):
            self.known[id(code)] = code
            self.called.add(definition_at(code.co_filename, code.co_firstlineno))

    def around(self, measure: Callable[[Namespace], Any]) -> Callable[[Namespace], Any]:
        def traced(options: Namespace) -> Any:
            self.listening = True
            sys.settrace(self.call)
            try:
                return measure(options)
            finally:
                sys.settrace(None)
                self.listening = False

        return traced


@cache
def ours(path: Path) -> bool:
    return path.is_relative_to(ROOT) and not any(path.is_relative_to(folder) for folder in ELSEWHERE)


def importing(frame: FrameType | None) -> bool:
    """True for what a module does while it is imported, and for what it calls then."""
    while frame:
        if frame.f_code.co_name == "<module>" and ours(Path(frame.f_code.co_filename)):
            return frame.f_globals["__name__"] != "__main__"
        frame = frame.f_back
    return False


@cache
def definition_at(file: str, line: int) -> str:
    """The definition of a module that a line belongs to."""
    path = Path(file).relative_to(ROOT).with_suffix("")
    module = ".".join(path.parent.parts if path.name == "__init__" else path.parts)
    for statement in ast.parse(Path(file).read_text(encoding="utf-8")).body:
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        if first <= line <= statement.end_lineno:
            targets = getattr(statement, "targets", [getattr(statement, "target", None)])
            return f"{module}:{getattr(statement, 'name', None) or ast.unparse(targets[0])}"
    raise ValueError(f"{file}, line {line}: no definition is there")


def traced(part: Part, traces: dict[str, Trace]) -> Part:
    traces[part.name] = Trace()
    return replace(part, measure=traces[part.name].around(part.measure))


def main() -> None:
    name, out, *arguments = sys.argv[1:]
    module, traces = importlib.import_module(name), {}
    report = replace(module.REPORT, parts=tuple(traced(part, traces) for part in module.REPORT.parts))
    program.run(report, module.parse(["--quick", *arguments]))
    told = {name: {"called": sorted(t.called), "opened": sorted(t.opened)} for name, t in traces.items()}
    Path(out).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
