"""A module's code in parts: its definitions by name, its imports, and what runs when it is imported.

Comments and docstrings are left out; what remains has one text, whatever the formatting and the Python.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import resolve_name
from pathlib import Path

MAIN = "__name__ == '__main__'"
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign
Importing = ast.Import | ast.ImportFrom


@dataclass
class Imports:
    """What import statements of one package bind and execute."""

    package: str
    bound: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)  # to a module, or a name in one
    stars: set[str] = field(default_factory=set)
    executed: set[str] = field(default_factory=set)

    def add(self, statement: Importing) -> None:
        source = ""
        if isinstance(statement, ast.ImportFrom):
            source = resolve_name("." * statement.level + (statement.module or ""), self.package)
        for alias in statement.names:
            self.executed |= {source, f"{source}.{alias.name}"} if source else {alias.name}
            name, target = _binding(alias, source)
            if name == "*":
                self.stars.add(source)
            else:
                self.bound.setdefault(name, set()).add(target)


def _binding(alias: ast.alias, source: str = "") -> tuple[str, tuple[str, ...]]:
    """The name that one part of an import statement binds, and to what: a module, or a name in one."""
    if source:
        return alias.asname or alias.name, (source, alias.name)
    first = alias.name.partition(".")[0]
    return (alias.asname, (alias.name,)) if alias.asname else (first, (first,))


@dataclass
class Module:
    """A parsed module: its definitions by name, its imports, and what else runs when it is imported."""

    imports: Imports
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    actions: list[ast.stmt] = field(default_factory=list)
    certain: set[str] = field(default_factory=set)  # names that are bound whatever happens

    def sort(self, statement: ast.stmt) -> None:
        if isinstance(statement, Importing):
            self.imports.add(statement)
            self.certain |= {_binding(alias)[0] for alias in statement.names}
        elif names := defined(statement):
            self.certain |= names
            for name in names:
                self.definitions.setdefault(name, []).append(statement)
        elif not _is_main(statement):
            self.actions.append(statement)
            for node in ast.walk(statement):
                if isinstance(node, Importing):
                    self.imports.add(node)


def _is_main(statement: ast.stmt) -> bool:
    """True for what runs only when the module is a command."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == MAIN and not statement.orelse


def defined(statement: ast.stmt) -> set[str]:
    """The names of a definition or an assignment; none if it changes part of something, `table[key] = f`."""
    if isinstance(statement, Definition):
        return {statement.name}
    if not isinstance(statement, Assignment):
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    inside = [node.target for node in ast.walk(statement) if isinstance(node, ast.NamedExpr)]
    nodes = [node for target in (*targets, *inside) for node in ast.walk(target)]
    if any(isinstance(node, ast.Attribute | ast.Subscript) for node in nodes):
        return set()
    return {node.id for node in nodes if isinstance(node, ast.Name)}


class _WithoutNotes(ast.NodeTransformer):
    """Drops what does nothing: docstrings, other constants that stand alone, `pass`."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_Pass(self, node: ast.Pass) -> None:
        return None


def without_notes(text: str) -> list[ast.stmt]:
    """The statements of a module, without what does nothing."""
    return _WithoutNotes().visit(ast.parse(text)).body


def dump(node: object) -> str:
    """Code as text without formatting; like `ast.dump`, and the same with every version of Python."""
    if isinstance(node, ast.AST):
        fields = (f"{k}={dump(v)}" for k, v in ast.iter_fields(node) if v is not None and v != [])
        return f"{type(node).__name__}({', '.join(fields)})"
    return f"[{', '.join(map(dump, node))}]" if isinstance(node, list) else ascii(node)


def chains(statement: ast.AST) -> Iterator[tuple[str, ...]]:
    """Every name in a statement, with the attributes that are taken of it: `a.b.f()` gives (a, b, f)."""
    around = {id(node.value): node for node in ast.walk(statement) if isinstance(node, ast.Attribute)}
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            chain = [node.id]
            while node := around.get(id(node)):
                chain.append(node.attr)
            yield tuple(chain)


def find(root: Path, name: str) -> Path | None:
    """The file of a project module, or None for a module from elsewhere."""
    path = root.joinpath(*name.split("."))
    return next((p for p in (path / "__init__.py", path.with_name(f"{path.name}.py")) if p.is_file()), None)


def decorators(statement: ast.stmt) -> Iterator[tuple[str, ...]]:
    """Every name in the decorators of a statement, and of what is within it."""
    for node in ast.walk(statement):
        for decorator in getattr(node, "decorator_list", []):
            yield from chains(decorator)
