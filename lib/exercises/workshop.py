"""`meu_bert.py`: the student's own BERT, which grows beside her notebooks with each answer that is accepted.

It always is a whole program: where she has not been yet, it holds the course's version. A definition is found
by its name, wherever it stands, so that she may move, comment and rewrite what she likes; the line above a
part says whose it is. What is the course's gives way to her answer; what is hers, only when she says so.
"""

import ast
import dis
import inspect
import linecache
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import torch

from lib.exercises.catalogue import Exercise, all_exercises
from lib.files import write_atomically

FILE = "meu_bert.py"
HERS, COURSE = "sua", "do curso"
HEAD = '''"""Meu BERT, escrito peça por peça.

{progress}
"""

import math

import torch
from torch import nn
'''
PROGRESS = re.compile(r"(?m)^[■□]+ \d+ de \d+ peças suas$")
MARK = re.compile(r"# Peça \d+, .*: (sua|do curso)")
LOOKUPS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
CONSTANTS = bool | int | float | str | tuple | torch.dtype | None


class Piece(NamedTuple):
    title: str
    parts: tuple[str, ...]  # the exercises whose answers make it up


PIECES = (
    Piece("vocabulário e moldura", ("framing", "batch")),
    Piece("máscara", ("causal_mask", "batch_mask")),
    Piece("softmax", ("softmax",)),
    Piece("atenção", ("attention",)),
    Piece("cabeças", ("split_heads", "heads")),
    Piece("embeddings", ("embeddings",)),
    Piece("bloco", ("block",)),
    Piece("codificador", ("encoder",)),
    Piece("corrupção", ("select_positions", "corrupt", "mlm_labels")),
    Piece("cabeça do MLM", ("mlm_head",)),
    Piece("perda", ("cross_entropy",)),
    Piece("treino", ("training_loop",)),
)
PARTS = [part for piece in PIECES for part in piece.parts]
ASSEMBLY = ("MeuBert", "perda_mlm", "perda_causal")  # what joins them, given


class Unkept(Exception):
    """The answer is not put into the file: why, in words for the student."""


class Definition(NamedTuple):
    """A top-level definition of the file: its lines (from 0, end excluded), the mark above included."""

    first: int
    end: int
    mark: str
    source: str


# The course's versions


def parts() -> list[Exercise]:
    named = {exercise.name: exercise for exercise in all_exercises()}
    return [named[name] for name in PARTS]


def course_version(part: Exercise) -> str:
    """The published solution; none in a folder for students."""
    try:
        return part.solution_code()
    except AttributeError:
        return ""


def course_file() -> str:
    """The whole program, every piece the course's."""
    text = HEAD.format(progress=_progress(0))
    for part in parts():
        if source := course_version(part):
            text += f"\n\n{_mark(part, COURSE)}\n{source}\n"
    return text + "".join(f"\n\n{source}\n" for source in _assembly())


def _assembly() -> list[str]:
    """As text: in a folder for students, what it imports is not there."""
    found = definitions((Path(__file__).parent / "solutions" / "assembly.py").read_text(encoding="utf-8"))
    return [found[name].source for name in ASSEMBLY]


def steps_before(exercise: Exercise) -> str:
    """The parts that an answer may build on, as the course writes them; where it does not, hers."""
    if exercise.name not in PARTS or exercise.name == PARTS[0]:
        return ""
    before = parts()[: PARTS.index(exercise.name)]
    found = [course_version(part) for part in before]
    if not all(found) and Path(FILE).exists():
        return Path(FILE).read_text(encoding="utf-8")
    return "\n\n".join([_imports_of(HEAD), *found])


# What the file holds


def definitions(text: str) -> dict[str, Definition]:
    """The functions, classes and constants of a program, by name."""
    lines, found = text.splitlines(), {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name, first = node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, first = node.targets[0].id, node.lineno - 1
        else:
            continue
        end = node.end_lineno or first
        mark = lines[first - 1] if first and MARK.fullmatch(lines[first - 1]) else ""
        found[name] = Definition(first - bool(mark), end, mark, "\n".join(lines[first:end]))
    return found


def is_hers(part: Exercise, found: dict[str, Definition]) -> bool:
    """Whether she wrote it: the mark says so, or it is no longer what the course wrote under its own."""
    there = found.get(part.answer)
    if there is None:
        return False
    return there.mark != _mark(part, COURSE) or there.source != course_version(part)


def hers(text: str) -> list[Piece]:
    """The pieces that she wrote whole."""
    found, named = definitions(text), {part.name: part for part in parts()}
    return [piece for piece in PIECES if all(is_hers(named[name], found) for name in piece.parts)]


def progress(text: str) -> str:
    return _progress(len(hers(text)))


def _progress(count: int) -> str:
    return f"{'■' * count}{'□' * (len(PIECES) - count)} {count} de {len(PIECES)} peças suas"


def _mark(part: Exercise, whose: str) -> str:
    piece = _piece(part)
    return f"# Peça {PIECES.index(piece) + 1}, {piece.title}: {whose}"


def _piece(part: Exercise) -> Piece:
    return next(piece for piece in PIECES if part.name in piece.parts)


# Keeping an answer


def keep(name: str, answer: Any, replace: bool = False, path: Path | None = None) -> str:
    """Put an accepted answer into the file; what to tell the student, nothing if it is no part of it."""
    if name not in PARTS:
        return ""
    path = path or Path(FILE)
    part = next(part for part in parts() if part.name == name)
    try:
        text = path.read_text(encoding="utf-8-sig") if path.exists() else course_file()
        new = with_answer(text, part, answer, replace)
        exec(compile(new, str(path), "exec"), {"__name__": path.stem})  # it must be importable, always
    except Unkept as reason:
        return f"  Não guardei em {path.name}: {reason}"
    except SyntaxError as error:
        return (
            f"  Não guardei em {path.name}: o arquivo não é Python na linha {error.lineno}. Corrija-o antes."
        )
    except UnicodeDecodeError:
        return f"  Não guardei em {path.name}: o arquivo não está em UTF-8. Salve-o assim antes."
    except Exception as error:
        return f"  Não guardei em {path.name}, que deixaria de funcionar: {type(error).__name__}: {error}"
    if not path.exists() or new != text:
        write_atomically(path, new)
    missing = [p.answer for p in parts() if p.name in _piece(part).parts and not is_hers(p, definitions(new))]
    rest = f" (da peça {_piece(part).title} falta {', '.join(missing)})" if missing else ""
    return f"  Guardada em {path.name}: {progress(new)}{rest}."


def with_answer(text: str, part: Exercise, answer: Any, replace: bool) -> str:
    """The program with her answer, and what it needs, in the place of what was there."""
    imports, needed = source_of(answer, part.answer)
    found = definitions(text)
    for name, source in needed.items():
        there = found.get(name)
        theirs = name == part.answer and not is_hers(part, found)
        if there and there.source != source and not theirs and not replace:
            raise Unkept(
                f"{name} já está lá, escrita por você de outro jeito. Para trocá-la por esta, execute "
                f"{part.check_name}({part.answer}, trocar=True)."
            )
    text = _placed(text, part.answer, f"{_mark(part, HERS)}\n{needed.pop(part.answer)}", _place(text, part))
    for name, source in needed.items():
        text = _placed(text, name, source, definitions(text)[part.answer].first)
    text = _with_imports(text, imports)
    return PROGRESS.sub(progress(text), text, count=1)


def _place(text: str, part: Exercise) -> int:
    """The line where a part belongs that is not there: after those that come before it."""
    found, before = definitions(text), [p.answer for p in parts()[: PARTS.index(part.name)]]
    ends = [found[name].end for name in before if name in found]
    imports = [
        node.end_lineno or 0 for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return max(ends or imports or [0])


def _placed(text: str, name: str, source: str, place: int) -> str:
    """With a definition in the place of the one of its name, or else as a new one at that line."""
    lines, there = text.splitlines(), definitions(text).get(name)
    if there:
        lines[there.first : there.end] = source.splitlines()
        return "\n".join(lines) + "\n"
    before, after = ("\n".join(part).strip("\n") for part in (lines[:place], lines[place:]))
    return "\n\n\n".join(filter(None, (before, source, after))) + "\n"


def _with_imports(text: str, imports: list[str]) -> str:
    lines = text.splitlines()
    there = [n for n in ast.parse(text).body if isinstance(n, ast.Import | ast.ImportFrom)]
    known = {ast.unparse(ast.fix_missing_locations(_one(n, alias))) for n in there for alias in n.names}
    for line in (line for line in imports if line not in known):
        standard = line.split()[1].split(".")[0] in sys.stdlib_module_names
        ends = [n.end_lineno or 0 for n in there if not standard or _is_standard(n)]
        lines.insert(max(ends, default=0), line)
        there = [n for n in ast.parse("\n".join(lines)).body if isinstance(n, ast.Import | ast.ImportFrom)]
    return "\n".join(lines) + "\n"


def _one(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(node, ast.Import):
        return ast.Import([alias])
    return ast.ImportFrom(node.module, [alias], node.level)


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
    return (module or "").split(".")[0] in sys.stdlib_module_names


def _imports_of(text: str) -> str:
    kept = (n for n in ast.parse(text).body if isinstance(n, ast.Import | ast.ImportFrom))
    return "\n".join(map(ast.unparse, kept))


# An answer as it was written


def source_of(answer: Any, name: str) -> tuple[list[str], dict[str, str]]:
    """The imports that an answer needs, and its source after those of the helpers and constants it uses."""
    if getattr(answer, "__name__", "") != name or not isinstance(answer, FunctionType | type):
        raise Unkept(f"a resposta precisa se chamar {name} e ser escrita com def ou class.")
    imports: dict[str, None] = {}
    needed: dict[str, str] = {}
    _gather(answer, name, imports, needed)
    return [*imports], needed


def _gather(answer: Any, name: str, imports: dict[str, None], needed: dict[str, str]) -> None:
    function = _a_function_of(answer)
    if function is None:
        raise Unkept(f"não achei em {name} nenhuma função escrita por você.")
    node, source = _source(function, name)
    for used in _names_from_outside(node):
        if used == name or used in needed or used in _given() or used not in function.__globals__:
            continue
        value = function.__globals__[used]
        if line := _import_of(used, value, function):
            if re.match(r"(from|import) lib\b", line):
                raise Unkept(f"ela usa {used}, do curso; o seu arquivo se escreve só com o torch.")
            imports[line] = None
        elif isinstance(value, FunctionType | type):
            _gather(value, used, imports, needed)
        elif isinstance(value, CONSTANTS):
            unwritten = isinstance(value, float) and not math.isfinite(value)
            needed[used] = f'{used} = float("{value}")' if unwritten else f"{used} = {value!r}"
        else:
            raise Unkept(f"ela usa {used}, que só existe no seu notebook. Passe-o como argumento.")
    needed[name] = source


def _given() -> set[str]:
    return {part.answer for part in parts()}


def _a_function_of(answer: Any) -> FunctionType | None:
    if isinstance(answer, FunctionType):
        return inspect.unwrap(answer)
    return next((f for f in vars(answer).values() if isinstance(f, FunctionType)), None)


def _source(function: FunctionType, name: str) -> tuple[ast.stmt, str]:
    """From the cell or the file in which it stands; the last definition of the name counts."""
    text = "".join(linecache.getlines(function.__code__.co_filename))
    try:
        nodes = [n for n in ast.parse(text).body if getattr(n, "name", "") == name]
    except SyntaxError:
        nodes = []
    if not nodes:
        raise Unkept(f"não achei o texto de {name}. Escreva-a inteira em uma célula e execute a célula.")
    node = nodes[-1]
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    lines = text.splitlines()[first - 1 : node.end_lineno]
    return node, "\n".join(line.rstrip() for line in lines).expandtabs(4)


def _names_from_outside(node: ast.stmt) -> Iterator[str]:
    """What it looks up where it stands, in its body too; a local name may be that of anything else there."""
    waiting = [compile(ast.Module([node], []), "", "exec")]
    for code in waiting:
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for step in dis.get_instructions(code):
            if step.opname in LOOKUPS and step.argval != "__name__":  # of which a class takes note
                yield step.argval


def _import_of(name: str, value: Any, user: FunctionType) -> str:
    """The line that brings a name in from a module; nothing if it was made where its user was."""
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        if name == value.__name__:
            return f"import {name}"
        return (
            f"from {parent} import {name}"
            if parent and last == name
            else f"import {value.__name__} as {name}"
        )
    there, module = (getattr(value, name, None) for name in ("__name__", "__module__"))
    if not isinstance(there, str):  # a tensor: no module gives it
        return ""
    if not isinstance(module, str) or module.startswith("torch."):  # where its documentation finds it
        public = (m for m in (torch, torch.nn, torch.nn.functional) if vars(m).get(there or "") is value)
        module = next((m.__name__ for m in public), module)
    if not isinstance(module, str) or module == user.__module__:
        return ""
    return f"from {module} import {there}" + ("" if there == name else f" as {name}")
