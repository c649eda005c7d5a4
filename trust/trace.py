"""What a measurement calls and opens while it runs, to be held against what its hash covers.

`trust.dependencies` follows names in the code; this looks at what happens, and so finds what a name hid.
"""

import sys
from argparse import Namespace
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from trust.dependencies import Project
from trust.provenance import Part

ELSEWHERE = {".venv", "_build"}  # folders of a project that hold what others made


class Trace:
    """The project's definitions that were called, as `module:name`, and its files that were opened."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.called: set[str] = set()
        self.opened: set[str] = set()
        self.known: dict[int, CodeType] = {}  # by id: code that need not be looked at again
        self.listening = False
        self.ours = cache(self._ours)
        sys.addaudithook(self._audit)

    def around(self, measure: Callable[[Namespace], Any]) -> Callable[[Namespace], Any]:
        """The same function, watched."""

        def watched(options: Namespace) -> Any:
            self.listening = True
            sys.settrace(self._call)
            try:
                return measure(options)
            finally:
                sys.settrace(None)
                self.listening = False

        return watched

    def left_out(self, part: Part) -> list[str]:
        """What was called or opened, and is not in the hash of the part."""
        reached = {place.rpartition(":")[0] for place in self.project.reached(part.starts)}
        named = {path.relative_to(self.project.root).as_posix() for path in self.project.files(part.data)}
        return sorted((self.called - reached) | (self.opened - named))

    def _audit(self, event: str, arguments: tuple) -> None:
        if self.listening and event == "open" and isinstance(arguments[0], str):
            path = Path(arguments[0]).absolute()
            if self.ours(path) and path.suffix not in (".py", ".pyc") and path.is_file():
                self.opened.add(path.relative_to(self.project.root).as_posix())

    def _call(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if id(code) in self.known:
            return
        if not self.ours(Path(code.co_filename)):
            self.known[id(code)] = code
        elif not self._importing(frame):
            self.known[id(code)] = code
            self.called.add(self._definition_at(Path(code.co_filename), code.co_firstlineno))

    def _ours(self, path: Path) -> bool:
        root = self.project.root
        return path.is_relative_to(root) and path.relative_to(root).parts[0] not in ELSEWHERE

    def _importing(self, frame: FrameType | None) -> bool:
        """True for what a module does while it is imported, and for what it calls then."""
        while frame:
            if frame.f_code.co_name == "<module>" and self.ours(Path(frame.f_code.co_filename)):
                return frame.f_globals["__name__"] != "__main__"
            frame = frame.f_back
        return False

    def _definition_at(self, file: Path, line: int) -> str:
        """The definition of a module that a line belongs to."""
        path = file.relative_to(self.project.root).with_suffix("")
        module = ".".join(path.parent.parts if path.name == "__init__" else path.parts)
        for name, statements in self.project.module(module).definitions.items():
            for statement in statements:
                first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
                if first <= line <= (statement.end_lineno or first):
                    return f"{module}:{name}"
        raise ValueError(f"{file}, line {line}: no definition is there")
