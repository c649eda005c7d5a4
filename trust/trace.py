"""What a measurement calls and opens while it runs, to be held against what its hash covers.

`trust.dependencies` follows names in the code; this looks at what happens, and so finds what a name hid. Each
function of the project is compiled with a note at its start. To have the interpreter tell of every call would
slow all packages down, and most calls are theirs.
"""

import ast
import sys
from argparse import Namespace
from dataclasses import replace
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from trust.dependencies import Project
from trust.modules import defined
from trust.provenance import Part

ELSEWHERE = {".venv", "_build"}  # folders of a project that hold what others made
NOTE = "__trace_note__"  # what a function calls at its start


class Trace:
    """The project's definitions that a part calls, as `module:name`, and its files that it opens.

    It sees what modules do that are imported after it was made: those that are there are forgotten.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.used: dict[str, set[str]] = {}  # by the name of the part
        self.current: set[str] | None = None  # of the part that is being measured
        self.importing = 0  # how many modules are being imported, one within another
        for name in [name for name in sys.modules if project.find(name)]:
            del sys.modules[name]
        sys.meta_path.insert(0, self)
        sys.addaudithook(self._audit)

    def watched(self, part: Part) -> Part:
        """The same part; what its measurement uses is kept."""

        def measure(options: Namespace) -> Any:
            self.current = self.used[part.name] = set()
            try:
                return part.measure(options)
            finally:
                self.current = None

        return replace(part, measure=measure)

    def left_out(self, part: Part) -> list[str]:
        """What was called or opened, and is not in the hash of the part."""
        reached = {place.rpartition(":")[0] for place in self.project.reached(part.starts)}
        named = {path.relative_to(self.project.root).as_posix() for path in self.project.files(part.data)}
        return sorted(self.used[part.name] - reached - named)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The project's modules are loaded with notes; others are left to the finders after this one."""
        file = self.project.find(name)
        return spec_from_file_location(name, file, loader=_Loader(self, name, str(file))) if file else None

    def note(self, place: str) -> None:
        """A function is called; what a module does while it is imported does not count."""
        if self.current is not None and not self.importing:
            self.current.add(place)

    def _audit(self, event: str, arguments: tuple) -> None:
        if self.current is not None and event == "open" and isinstance(arguments[0], str):
            path = Path(arguments[0]).absolute()
            if path.is_relative_to(self.project.root) and path.is_file():
                path = path.relative_to(self.project.root)
                if path.parts[0] not in ELSEWHERE and path.suffix not in (".py", ".pyc"):
                    self.current.add(path.as_posix())


class _Loader(SourceFileLoader):
    """Loads a module whose functions tell when they are called."""

    def __init__(self, trace: Trace, name: str, path: str) -> None:
        super().__init__(name, path)
        self.trace = trace

    def path_stats(self, path: Any) -> Any:
        raise OSError("the notes are for this process: bytecode is neither read nor written")

    def source_to_code(self, data: Any, path: Any, **options: Any) -> CodeType:
        module = ast.parse(data)
        for statement in module.body:
            place = f"{self.name}:{min(defined(statement), default='')}"
            note = ast.Expr(ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(place)], []))
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    node.body.insert(0 if ast.get_docstring(node) is None else 1, note)
                elif isinstance(node, ast.Lambda):
                    node.body = ast.BoolOp(ast.Or(), [note.value, node.body])
        return compile(ast.fix_missing_locations(module), path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, NOTE, self.trace.note)
        self.trace.importing += 1
        try:
            super().exec_module(module)
        finally:
            self.trace.importing -= 1
