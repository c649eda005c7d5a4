"""What a function depends on: the hash of its code, of all project code that it reaches, and of data files.

A measured number is true of the code that gave it. The hash covers the definitions that are reached by name
from a starting point, across the project's modules, and what runs when those modules are imported; comments
and docstrings are left out. Rewording changes nothing, and neither does a function that is never named.

More may be reached than is used: what a local variable is called like, all of a module that is handed on as
an object. Less may not. What cannot be followed by name (an import by a computed name, a base class that is
told of its subclasses) is an error. A call in an assignment is taken to make a value and nothing else: what
registers a function at import is a statement of its own, or a decorator.
"""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path

from trust.modules import Importing, Imports, Module, chains, decorators, dump, find, without_notes

HIDE_NAMES = {"globals", "locals", "vars", "eval", "exec"}
IMPORT_BY_NAME = {"import_module", "__import__"}


class Project:
    """The project's code and data as they are when they are first looked at."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.find = cache(partial(find, root))
        self.module = cache(self._module)
        self.dump = cache(dump)
        self.chains = cache(lambda statement: {*chains(statement)})
        self.fingerprint = cache(self._fingerprint)

    def _module(self, name: str) -> Module:
        path = self.find(name)
        if path is None:
            return Module(Imports(name))
        module = Module(Imports(name if path.name == "__init__.py" else name.rpartition(".")[0]))
        for statement in without_notes(path.read_text(encoding="utf-8")):
            module.sort(statement)
        module.actions += [
            statement
            for statements in module.definitions.values()
            for statement in statements
            if any(self._is_ours(module, chain) for chain in decorators(statement))
        ]
        return module

    def _is_ours(self, module: Module, chain: tuple[str, ...]) -> bool:
        """True if a name is the project's: as a decorator it may do more at import than wrap a function."""
        targets = module.imports.bound.get(chain[0], set())
        return chain[0] in module.definitions or any(
            self.find(target[0]) or self.find(".".join(target)) for target in targets
        )

    def reached(self, starts: Iterable[str]) -> dict[str, str]:
        """The code that is reached from starting points such as `benchmarks.floor:measure`, by place."""
        reach = Reach(self)
        for start in starts:
            module, _, name = start.partition(":")
            if name not in self.module(module).definitions:
                raise ValueError(f"{start!r} is not a definition in a module of this project")
            reach.follow(module, name)
        return reach.pieces

    def _fingerprint(self, starts: tuple[str, ...], data: tuple[str, ...] = ()) -> str:
        """One hash for all the code that is reached, and for the data files that match the patterns."""
        digest = hashlib.sha256()
        for place, code in sorted(self.reached(starts).items()):
            digest.update(f"{place}\0{code}\0".encode())
        for path in self.files(data):
            name = path.relative_to(self.root).as_posix()
            digest.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def files(self, patterns: Iterable[str]) -> list[Path]:
        """The data files that match; a pattern without a file is a mistake."""
        found = set()
        for pattern in patterns:
            matches = {path for path in self.root.glob(pattern) if path.is_file()}
            if not matches:
                raise ValueError(f"no data file of this project matches {pattern!r}")
            found |= matches
        return sorted(found)


class Reach:
    """Follows names from definition to definition, through the modules of the project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.pieces: dict[str, str] = {}  # place -> code
        self.seen: set[tuple[str, tuple[str, ...] | None]] = set()
        self.ahead: list[tuple[str, tuple[str, ...] | None]] = []

    def follow(self, start: str, name: str) -> None:
        """Take in a name of a module, and everything that it leads to."""
        self.later(start, (name,))
        while self.ahead:
            module, chain = self.ahead.pop()
            if chain is None:
                self.execute(module)
            elif chain:
                self.resolve(module, chain)
            else:
                self.whole(module)

    def later(self, module: str, chain: tuple[str, ...] | None) -> None:
        """Remember a name to take in; an empty chain is all of the module, None what its import executes."""
        if (module, chain) not in self.seen:
            self.seen.add((module, chain))
            self.ahead.append((module, chain))

    def execute(self, module: str) -> None:
        """Take in what runs when a module is imported: its packages, its own imports, its actions."""
        parsed = self.project.module(module)
        for other in (*filter(None, [module.rpartition(".")[0]]), *parsed.imports.executed):
            self.later(other, None)
        for number, statement in enumerate(parsed.actions):
            self.statement(module, f"{module}::{number}", statement)

    def whole(self, module: str) -> None:
        """Take in everything that a module offers: it is used in a way that hides which part."""
        parsed = self.project.module(module)
        self.later(module, None)
        for name in (*parsed.definitions, *parsed.imports.bound):
            self.later(module, (name,))
        for star in parsed.imports.stars:
            self.later(star, ())

    def resolve(self, module: str, chain: tuple[str, ...]) -> None:
        """Take in what a name stands for: definitions, an import passed on, or a module of a package."""
        name, *rest = chain
        parsed = self.project.module(module)
        self.later(module, None)
        for number, statement in enumerate(parsed.definitions.get(name, [])):
            self.statement(module, f"{module}:{name}:{number}", statement)
        targets = parsed.imports.bound.get(name, set())
        for source, *inner in targets - {(module, name)}:
            self.later(source, (*inner, *rest))
        for star in parsed.imports.stars:
            self.later(star, chain)
        if name in parsed.certain and (module, name) not in targets:
            return
        if self.project.find(f"{module}.{name}"):
            self.later(f"{module}.{name}", tuple(rest))
        if "__getattr__" in parsed.definitions:
            self.later(module, ("__getattr__",))

    def statement(self, module: str, place: str, statement: ast.stmt) -> None:
        """Keep one statement's code, and follow every name in it."""
        self.pieces[place] = self.project.dump(statement)
        inner = Imports(self.project.module(module).imports.package)
        for node in ast.walk(statement):
            if isinstance(node, Importing):
                inner.add(node)
            elif isinstance(node, ast.FunctionDef) and node.name == "__init_subclass__":
                raise ValueError(f"{place} is told of its subclasses, which cannot be followed by name")
            elif isinstance(node, ast.Call):
                self.import_by_name(place, node)
        for other in inner.executed:
            self.later(other, None)
        for chain in self.project.chains(statement):
            for source, *name in inner.bound.get(chain[0], set()):
                self.later(source, (*name, *chain[1:]))
            self.later(module, () if chain[0] in HIDE_NAMES else chain)

    def import_by_name(self, place: str, call: ast.Call) -> None:
        called = getattr(call.func, "attr", getattr(call.func, "id", None))
        if called not in IMPORT_BY_NAME:
            return
        name = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        if not isinstance(name, str) or name.startswith("."):
            raise ValueError(f"{place} imports by a computed name, which cannot be followed")
        self.later(name, ())
