"""The hash of code and data: what is reached changes it, and nothing else does."""

import pytest

from benchmarks.report import reports
from tests.trust.made_up import write
from tests.trust.measured import TREE
from trust.dependencies import Project


def fingerprint(folder, files, data=()):
    """The hash of `pkg.start:start` in a made-up project on disk."""
    return Project(write(folder, {"pkg/__init__.py": "", **files})).fingerprint(("pkg.start:start",), data)


def of(code: str, result: str = "0", **modules: str) -> dict[str, str]:
    """A made-up project by file: `pkg.start`, which ends with what `start` returns, and its other modules.

    The module `inner` is a package, and `inner_a` a module of it.
    """
    start = code if "def start" in code else f"{code}\ndef start(): return {result}"
    paths = {name: "inner/__init__" if name == "inner" else name.replace("_", "/") for name in modules}
    return {"pkg/start.py": start} | {f"pkg/{paths[name]}.py": text for name, text in modules.items()}


F, G, CLASS, UNCHANGED = "def f(): return ?", "def g(): return ?", "class A:\n f = ?", "def f(): return 0"
USE_F, USE_A, USE_CLASS = "from pkg.a import f", "from pkg import a", "from pkg.a import A"
INNER, INNER_F = "from pkg import inner", "from pkg.inner import f"
TRIED = "try:\n from {} import f\nexcept ImportError:\n {}"
TABLE, REGISTER = "from pkg.a import TABLE", "TABLE = []\ndef register(f): TABLE.append(f)"
AT_IMPORT = "import os\nos.environ['A'] = '?'"
ON_LINUX = "import sys\nif sys.platform == 'linux':\n "
CHAIN = [f"def f{k}(): return f{k + 1}()" for k in range(1500)]  # longer than Python's stack is deep
# Each project twice, with 1 and with 2 in the place of ?.
REACHED = {
    "the body": of("", "?"),
    "a function of the module": of(F, "f()"),
    "a chain of functions": of(USE_F, "f()", a="from pkg.b import g\ndef f(): return g()", b=G),
    "a long chain of functions": of("\n".join([*CHAIN, "def f1500(): return ?"]), "f0()"),
    "a method": of(USE_CLASS, "A().f()", a="class A:\n def f(self): return ?"),
    "what a method calls": of(USE_CLASS, "A().f()", a=f"class A:\n def f(self): return g()\n{G}"),
    "a constant": of("A = ?", "A"),
    "a constant of several": of("A, (B, *C) = 0, (?, 0)", "C"),
    "an annotated constant": of("A: int = ?", "A"),
    "a constant that grows": of("A = []\nA += [?]", "A"),
    "a constant within an expression": of("A = (B := ?) + 1", "B"),
    "a re-export": of(INNER_F, "f()", inner="from pkg.inner.a import f", inner_a=F),
    "a re-export under another name": of(INNER, "inner.g()", inner="from .a import f as g", inner_a=F),
    "a re-exported module": of(INNER, "inner.a.f()", inner="from . import a", inner_a=F),
    "an attribute of a re-export": of(INNER, "inner.A.f", inner="from .a import A", inner_a=CLASS),
    "a function called like its module": of(INNER_F, "f()", inner="from pkg.inner.f import f", inner_f=F),
    "a module of a package": of(USE_A, "a.f()", a=F),
    "a module of a folder without __init__": of("from bare import a\nfrom bare.b import g", "a.f() + g()")
    | {"bare/a.py": UNCHANGED, "bare/b.py": G},
    "a module under another name": of("import pkg.a as b", "b.f()", a=F),
    "a module by its full name": of("import pkg.inner.a", "pkg.inner.a.f()", inner="", inner_a=F),
    "a relative import": of("from .a import f", "f()", a="from . import b\ndef f(): return b.g()", b=G),
    "a relative import from above": of(
        "from .inner.a import f", "f()", inner="", inner_a="from ..b import g\ndef f(): return g()", b=G
    ),
    "a relative import in a package's function": of(
        INNER_F, "f()", inner="def f():\n from .a import g\n return g()", inner_a=G
    ),
    "an import in a function": of("def start():\n from pkg import a as b\n return b.f()", a=F),
    "an import in a function, for what it does": of("def start():\n import pkg.a\n return 0", a="print(?)"),
    "a decorator": of("from pkg.a import twice\n@twice", a="def twice(f): return ?"),
    "a default argument": of("A = ?\ndef start(a=A): return a"),
    "a keyword's default": of("A = ?\ndef start(*, a=lambda: A): return a()"),
    "a base class": of(f"{USE_CLASS}\nclass B(A): pass", "B()", a=CLASS),
    "a base class of a base class": of(
        "from pkg.a import B\nclass C(B): pass", "C()", a="import pkg.b\nclass B(pkg.b.A): pass", b=CLASS
    ),
    "an annotation": of(
        f"from __future__ import annotations\n{USE_CLASS}\ndef start(a: A) -> list[A]: pass", a=CLASS
    ),
    "a star import": of("from pkg.a import *", "f()", a=f"__all__ = ['f']\n{F}"),
    "a star import of a re-export": of("from pkg.inner import *", "f()", inner="from .a import *", inner_a=F),
    "a star import over a definition": of(f"{UNCHANGED}\nfrom pkg.a import *", "f()", a=F),
    "a name through another module's star": of("import pkg.a", "pkg.a.f()", a="from pkg.b import *", b=F),
    "an import that is tried": of(TRIED.format("pkg.a", "f = None"), "f()", a=F),
    "the import that is the way out": of(TRIED.format("elsewhere", USE_F), "f()", a=F),
    "an import on a condition": of(
        f"{ON_LINUX}import pkg.a as a\nelse:\n import pkg.b as a", "a.f()", a=UNCHANGED, b=F
    ),
    "a definition on a condition": of(f"{ON_LINUX}def f(): return g()\n{G}", "f()"),
    "a definition on a condition, elsewhere": of(USE_F, "f()", a=TRIED.format("elsewhere", F)),
    "a submodule that hides behind a tried import": of(
        INNER_F, "f.g()", inner=TRIED.format("elsewhere", "pass"), inner_f=G
    ),
    "a registration": of(f"TABLE = []\n{F}\nTABLE.append(f)", "TABLE[0]()"),
    "a registration by a decorator": of(f"{REGISTER}\n@register\n{F}", "TABLE[0]()"),
    "a registration in another module": of(
        f"import pkg.b\n{TABLE}", "TABLE['f']()", a="TABLE = {}", b=f"{TABLE}\n{F}\nTABLE['f'] = f"
    ),
    "a registration by a method's decorator": of(
        f"{TABLE}\nimport pkg.b",
        "TABLE[0]()",
        a=REGISTER,
        b=f"{USE_A}\nclass A:\n @a.register\n def f(self): return ?",
    ),
    "an implementation for one type": of(
        "from functools import singledispatch\n@singledispatch\ndef f(a): pass\n"
        "@f.register\ndef _(a: int): return ?",
        "f(1)",
    ),
    "what the package does at import": of("") | {"pkg/__init__.py": AT_IMPORT},
    "what an imported package does at import": of("from other.a import f")
    | {"other/__init__.py": AT_IMPORT, "other/a.py": UNCHANGED},
    "a patch": of(f"{USE_A}\na.A = ?", "a.f()", a="A = 0\ndef f(): return A"),
    "a loop": of("A = []\nfor a in (?,): A.append(a)", "A"),
    "a dictionary of functions": of(f"{USE_F}\nTABLE = {{'f': f}}", "TABLE[name]()", a=F),
    "a function in a dictionary's lambda": of(f"TABLE = {{'g': lambda: g()}}\n{G}", "TABLE[name]()"),
    "a module that is handed on": of(USE_A, "getattr(a, name)()", a="from pkg.b import f", b=F),
    "a module with a star that is handed on": of(USE_A, "getattr(a, name)()", a="from pkg.b import *", b=F),
    "an import by a written name": of("import importlib", "importlib.import_module('pkg.a').f()", a=F),
    "a look-up among all names": of(F, "globals()[name]()"),
    "a module that makes its names": of(USE_A, "a.f", a="def __getattr__(name): return ?"),
    "a global that a function sets": of("A = 0\ndef f():\n global A\n A = ?\ndef start():\n f()\n return A"),
    "a second definition": of(f"{UNCHANGED}\n{F}", "f()"),
    "a circle of imports": of(f"{USE_A}\n{G}", "a.f()", a="from pkg import start\ndef f(): return start.g()"),
}
UNREACHED = {
    "a function that is not named": of(F),
    "a constant that is not named": of("A = ?"),
    "another function of an imported module": of(USE_A, "a.f()", a=f"{UNCHANGED}\n{G}"),
    "another function of a module by its full name": of("import pkg.a", "pkg.a.f()", a=f"{UNCHANGED}\n{G}"),
    "the neighbours of a function that is called like its module": of(
        INNER_F, "f()", inner="from pkg.inner.f import f", inner_f=f"{UNCHANGED}\n{G}"
    ),
    "a module that nobody imports": of("", a="print(?)"),
    "a value that is made at import and not used": of(USE_F, a=f"{F}\nA = f()"),
    "the command": of("def start(): return 0\nif __name__ == '__main__':\n print(start(), ?)"),
    "a comment": of("# ?\ndef start(): return 0  # ?"),
    "a docstring": of("'?'\ndef start():\n '?'\n return A()\nclass A:\n '?'\n a = 0\n '?'"),
    "a module of Python with the same name": of("import json", "json.f()", json=F),
}


@pytest.mark.parametrize("name", [*REACHED, *UNREACHED])
def test_a_change_is_noticed_where_it_is_reached_and_only_there(name, tmp_path):
    files = (REACHED | UNREACHED)[name]
    one, two = ({path: text.replace("?", n) for path, text in files.items()} for n in "12")
    first, again, other = (fingerprint(tmp_path, project) for project in (one, one, two))
    assert one != two and first == again
    assert (first != other) == (name in REACHED)


def test_formatting_is_not_code(tmp_path):
    plain = "def f(a, b): return (a + b) * 'x'\nclass A: pass\ndef start(): return f(1, 2), A"
    spread = (
        "class A:\n    'Nothing.'\n\n\ndef start():\n    return f(1, 2), A\n\n\n"
        'def f(\n    a,  # the first\n    b,\n):\n    """The sum."""\n    return (a + b) * "x"\n'
    )
    assert fingerprint(tmp_path, {"pkg/start.py": plain}) == fingerprint(tmp_path, {"pkg/start.py": spread})


def test_one_hash_with_every_version_of_python(tmp_path):
    """A digest written down once: what `ast` adds to its own dump over the years must not come in."""
    code = (
        "@wrapped\nasync def start(a, /, b: int = 1, *c, d=None, **e):\n"
        "    return f'{a!r:>{b}} á' if b else [*c, ...]"
    )
    found = fingerprint(tmp_path, {"pkg/start.py": code})
    assert found == "37705df0fb61ae36d6c2ed4a95f8cc705163a90e0be80495e8d49d67f62a8b6c"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import importlib\ndef start(name):\n    return importlib.import_module(name)", "computed name"),
        ("def start(name):\n    return __import__('pkg.' + name)", "computed name"),
        ("class A:\n    def __init_subclass__(cls): pass\ndef start():\n    return A", "its subclasses"),
        ("def other(): pass", "'pkg.start:start' is not a definition"),
    ],
)
def test_what_cannot_be_followed_is_an_error(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        fingerprint(tmp_path, {"pkg/start.py": text})


def test_data_is_hashed_by_name_and_content(tmp_path):
    files = {"pkg/start.py": "def start(): pass", "data/a.json": "1", "data/b.json": "2"}

    def found(**changed):
        return fingerprint(tmp_path, files | changed, ("data/*.json",))

    assert fingerprint(tmp_path, files, ("data/a.json", "data/b.json")) == found()
    assert found(**{"data/a.json": "3"}) != found()
    assert found(**{"data/a.json": "2", "data/b.json": "1"}) != found()
    before = found()
    assert found(**{"data/c.json": "0"}) != before
    with pytest.raises(ValueError, match=r"no data file of this project matches 'data/\*\.toml'"):
        fingerprint(tmp_path, files, ("data/*.toml",))


def test_the_distance_to_the_floor_depends_on_the_whole_training():
    reached = TREE.reached(["benchmarks.floor:near_the_floor", "benchmarks.floor:measure_mlm"])
    assert "name='advance'" in reached["lib.training.loop:Trainer:0"]
    assert {
        *("lib.attention:fused_attention:0", "lib.encoder:Encoder:0", "lib.training.optimizers:Muon:0"),
        *("lib.corpus.grammar:Grammar:0", "lib.corpus.lexicon:TOPICS:0", "lib.corpus.portuguese:build:0"),
        *("benchmarks.floor:BUDGET:0", "lib.training.recipes:FLOOR:0", "lib::0"),
    } <= reached.keys()
    assert not [place for place in reached if place.startswith(("lib.widgets", "lib.exercises", "lib.plots"))]
    assert "benchmarks.floor:CAUSAL:0" not in reached, "the other model's recipe"


def test_a_measurement_starts_where_it_is_made_and_leaves_out_reports_and_targets():
    for part in (part for report in reports() for part in report.parts):
        assert f"{part.measure.__module__}:{part.measure.__name__}" in part.starts
        for place in TREE.reached(part.starts):
            module, definition, _ = place.split(":")
            made = module.startswith("benchmarks.") and definition.startswith(("show", "TARGET", "REPORT"))
            shared = module in ("benchmarks.figures", "benchmarks.report", "benchmarks.program")
            assert not made and not shared, f"{part.command} depends on {place}"
