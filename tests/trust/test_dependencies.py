"""The hash of code and data: what is reached changes it, and nothing else does."""

import pytest

from benchmarks.report import reports
from tests.trust.pages import ROOT
from trust.dependencies import Project

START = "pkg.start:start"


def project(folder, files):
    """A made-up project on disk."""
    for name, text in {"pkg/__init__.py": "", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Project(folder)


def fingerprint(folder, files, data=()):
    return project(folder, files).fingerprint((START,), data)


# Each project twice, with 1 and with 2 in the place of ?.
REACHED = {
    "the body": {"pkg/start.py": "def start():\n    return ?"},
    "a function of the module": {"pkg/start.py": "def start():\n    return f()\ndef f():\n    return ?"},
    "a chain of functions": {
        "pkg/start.py": "from pkg.a import f\ndef start():\n    return f()",
        "pkg/a.py": "from pkg.b import g\ndef f():\n    return g()",
        "pkg/b.py": "def g():\n    return ?",
    },
    "a method": {
        "pkg/start.py": "from pkg.a import A\ndef start():\n    return A().f()",
        "pkg/a.py": "class A:\n    def f(self):\n        return ?",
    },
    "what a method calls": {
        "pkg/start.py": "from pkg.a import A\ndef start():\n    return A().f()",
        "pkg/a.py": "class A:\n    def f(self):\n        return g()\ndef g():\n    return ?",
    },
    "a constant": {"pkg/start.py": "A = ?\ndef start():\n    return A"},
    "a constant of several": {"pkg/start.py": "A, (B, *C) = 0, (?, 0)\ndef start():\n    return C"},
    "an annotated constant": {"pkg/start.py": "A: int = ?\ndef start():\n    return A"},
    "a constant that grows": {"pkg/start.py": "A = []\nA += [?]\ndef start():\n    return A"},
    "a constant within an expression": {"pkg/start.py": "A = (B := ?) + 1\ndef start():\n    return B"},
    "a re-export": {
        "pkg/start.py": "from pkg.inner import f\ndef start():\n    return f()",
        "pkg/inner/__init__.py": "from pkg.inner.a import f\n__all__ = ['f']",
        "pkg/inner/a.py": "def f():\n    return ?",
    },
    "a re-export under another name": {
        "pkg/start.py": "from pkg import inner\ndef start():\n    return inner.g()",
        "pkg/inner/__init__.py": "from .a import f as g",
        "pkg/inner/a.py": "def f():\n    return ?",
    },
    "a re-exported module": {
        "pkg/start.py": "from pkg import inner\ndef start():\n    return inner.a.f()",
        "pkg/inner/__init__.py": "from . import a",
        "pkg/inner/a.py": "def f():\n    return ?",
    },
    "an attribute of a re-export": {
        "pkg/start.py": "from pkg import inner\ndef start():\n    return inner.A.f()",
        "pkg/inner/__init__.py": "from .a import A",
        "pkg/inner/a.py": "class A:\n    f = staticmethod(lambda: ?)",
    },
    "a function that is called like its module": {
        "pkg/start.py": "from pkg.inner import f\ndef start():\n    return f()",
        "pkg/inner/__init__.py": "from pkg.inner.f import f",
        "pkg/inner/f.py": "def f():\n    return ?",
    },
    "a module of a package": {
        "pkg/start.py": "from pkg import a\ndef start():\n    return a.f()",
        "pkg/a.py": "def f():\n    return ?",
    },
    "a module of a folder without __init__": {
        "pkg/start.py": "from bare import a\nfrom bare.b import g\ndef start():\n    return a.f() + g()",
        "bare/a.py": "def f():\n    return 0",
        "bare/b.py": "def g():\n    return ?",
    },
    "a module under another name": {
        "pkg/start.py": "import pkg.a as b\ndef start():\n    return b.f()",
        "pkg/a.py": "def f():\n    return ?",
    },
    "a module by its full name": {
        "pkg/start.py": "import pkg.inner.a\ndef start():\n    return pkg.inner.a.f()",
        "pkg/inner/__init__.py": "",
        "pkg/inner/a.py": "def f():\n    return ?",
    },
    "a relative import": {
        "pkg/start.py": "from .a import f\ndef start():\n    return f()",
        "pkg/a.py": "from . import b\ndef f():\n    return b.g()",
        "pkg/b.py": "def g():\n    return ?",
    },
    "a relative import from above": {
        "pkg/start.py": "from .inner.a import f\ndef start():\n    return f()",
        "pkg/inner/__init__.py": "",
        "pkg/inner/a.py": "from ..b import g\ndef f():\n    return g()",
        "pkg/b.py": "def g():\n    return ?",
    },
    "a relative import in a package's function": {
        "pkg/start.py": "from pkg.inner import f\ndef start():\n    return f()",
        "pkg/inner/__init__.py": "def f():\n    from .a import g\n    return g()",
        "pkg/inner/a.py": "def g():\n    return ?",
    },
    "an import in a function": {
        "pkg/start.py": "def start():\n    from pkg import a as b\n    return b.f()",
        "pkg/a.py": "def f():\n    return ?",
    },
    "an import in a function, for what it does": {
        "pkg/start.py": "def start():\n    import pkg.a\n    return 0",
        "pkg/a.py": "print(?)",
    },
    "a decorator": {
        "pkg/start.py": "from pkg.a import twice\n@twice\ndef start():\n    return 0",
        "pkg/a.py": "def twice(f):\n    return ?",
    },
    "a default argument": {"pkg/start.py": "A = ?\ndef start(a=A):\n    return a"},
    "a keyword's default": {"pkg/start.py": "A = ?\ndef start(*, a=lambda: A):\n    return a()"},
    "a base class": {
        "pkg/start.py": "from pkg.a import A\nclass B(A): pass\ndef start():\n    return B()",
        "pkg/a.py": "class A:\n    f = ?",
    },
    "a base class of a base class": {
        "pkg/start.py": "from pkg.a import B\nclass C(B): pass\ndef start():\n    return C()",
        "pkg/a.py": "import pkg.b\nclass B(pkg.b.A): pass",
        "pkg/b.py": "class A:\n    f = ?",
    },
    "an annotation": {
        "pkg/start.py": "from __future__ import annotations\nfrom pkg.a import A\n"
        "def start(a: A) -> list[A]: pass",
        "pkg/a.py": "class A:\n    f = ?",
    },
    "a star import": {
        "pkg/start.py": "from pkg.a import *\ndef start():\n    return f()",
        "pkg/a.py": "__all__ = ['f']\ndef f():\n    return ?",
    },
    "a star import of a re-export": {
        "pkg/start.py": "from pkg.inner import *\ndef start():\n    return f()",
        "pkg/inner/__init__.py": "from .a import *",
        "pkg/inner/a.py": "def f():\n    return ?",
    },
    "a star import over a definition": {
        "pkg/start.py": "def f():\n    return 0\nfrom pkg.a import *\ndef start():\n    return f()",
        "pkg/a.py": "def f():\n    return ?",
    },
    "a name through another module's star": {
        "pkg/start.py": "import pkg.a\ndef start():\n    return pkg.a.f()",
        "pkg/a.py": "from pkg.b import *",
        "pkg/b.py": "def f():\n    return ?",
    },
    "an import that is tried": {
        "pkg/start.py": "try:\n    from pkg.a import f\nexcept ImportError:\n    f = None\n"
        "def start():\n    return f()",
        "pkg/a.py": "def f():\n    return ?",
    },
    "the import that is the way out": {
        "pkg/start.py": "try:\n    from elsewhere import f\nexcept ImportError:\n    from pkg.a import f\n"
        "def start():\n    return f()",
        "pkg/a.py": "def f():\n    return ?",
    },
    "an import on a condition": {
        "pkg/start.py": "import sys\nif sys.platform == 'linux':\n    import pkg.a as a\nelse:\n"
        "    import pkg.b as a\ndef start():\n    return a.f()",
        "pkg/a.py": "def f():\n    return 0",
        "pkg/b.py": "def f():\n    return ?",
    },
    "a definition on a condition": {
        "pkg/start.py": "import sys\nif sys.platform == 'linux':\n    def f():\n        return g()\n"
        "def g():\n    return ?\ndef start():\n    return f()",
    },
    "a definition on a condition, elsewhere": {
        "pkg/start.py": "from pkg.a import f\ndef start():\n    return f()",
        "pkg/a.py": "try:\n    from elsewhere import f\nexcept ImportError:\n    def f():\n        return ?",
    },
    "a submodule that hides behind a tried import": {
        "pkg/start.py": "from pkg.inner import f\ndef start():\n    return f.g()",
        "pkg/inner/__init__.py": "try:\n    from elsewhere import f\nexcept ImportError:\n    pass",
        "pkg/inner/f.py": "def g():\n    return ?",
    },
    "a registration": {
        "pkg/start.py": "TABLE = []\ndef start():\n    return TABLE[0]()\n"
        "def f():\n    return ?\nTABLE.append(f)",
    },
    "a registration by a decorator": {
        "pkg/start.py": "TABLE = []\ndef register(f):\n    TABLE.append(f)\n"
        "@register\ndef f():\n    return ?\ndef start():\n    return TABLE[0]()",
    },
    "a registration in another module": {
        "pkg/start.py": "import pkg.b\nfrom pkg.a import TABLE\ndef start():\n    return TABLE['f']()",
        "pkg/a.py": "TABLE = {}",
        "pkg/b.py": "from pkg.a import TABLE\ndef f():\n    return ?\nTABLE['f'] = f",
    },
    "a registration by a method's decorator": {
        "pkg/start.py": "from pkg.a import TABLE\nimport pkg.b\ndef start():\n    return TABLE[0]()",
        "pkg/a.py": "TABLE = []\ndef register(f):\n    TABLE.append(f)",
        "pkg/b.py": "from pkg import a\nclass A:\n    @a.register\n    def f(self):\n        return ?",
    },
    "an implementation for one type": {
        "pkg/start.py": "from functools import singledispatch\n@singledispatch\ndef f(a): pass\n"
        "@f.register\ndef _(a: int):\n    return ?\ndef start():\n    return f(1)",
    },
    "what the package does at import": {
        "pkg/__init__.py": "import os\nos.environ['A'] = '?'",
        "pkg/start.py": "def start():\n    return 0",
    },
    "what an imported package does at import": {
        "pkg/start.py": "from other.a import f\ndef start():\n    return 0",
        "other/__init__.py": "import os\nos.environ['A'] = '?'",
        "other/a.py": "def f(): pass",
    },
    "a patch": {
        "pkg/start.py": "from pkg import a\na.A = ?\ndef start():\n    return a.f()",
        "pkg/a.py": "A = 0\ndef f():\n    return A",
    },
    "a loop": {"pkg/start.py": "A = []\nfor a in (?,):\n    A.append(a)\ndef start():\n    return A"},
    "a dictionary of functions": {
        "pkg/start.py": "from pkg.a import f\nTABLE = {'f': f}\ndef start(name):\n    return TABLE[name]()",
        "pkg/a.py": "def f():\n    return ?",
    },
    "a function in a dictionary's lambda": {
        "pkg/start.py": "TABLE = {'g': lambda: g()}\ndef g():\n    return ?\n"
        "def start(name):\n    return TABLE[name]()",
    },
    "a module that is handed on": {
        "pkg/start.py": "from pkg import a\ndef start(name):\n    return getattr(a, name)()",
        "pkg/a.py": "from pkg.b import f",
        "pkg/b.py": "def f():\n    return ?",
    },
    "a module with a star that is handed on": {
        "pkg/start.py": "from pkg import a\ndef start(name):\n    return getattr(a, name)()",
        "pkg/a.py": "from pkg.b import *",
        "pkg/b.py": "def f():\n    return ?",
    },
    "an import by a written name": {
        "pkg/start.py": "import importlib\ndef start():\n    return importlib.import_module('pkg.a').f()",
        "pkg/a.py": "def f():\n    return ?",
    },
    "a look-up among all names": {
        "pkg/start.py": "def start(name):\n    return globals()[name]()\ndef f():\n    return ?",
    },
    "a module that makes its names": {
        "pkg/start.py": "from pkg import a\ndef start():\n    return a.f",
        "pkg/a.py": "def __getattr__(name):\n    return ?",
    },
    "a global that a function sets": {
        "pkg/start.py": "A = 0\ndef start():\n    f()\n    return A\ndef f():\n    global A\n    A = ?",
    },
    "a second definition": {
        "pkg/start.py": "def f():\n    return 0\ndef f():\n    return ?\ndef start():\n    return f()",
    },
    "modules that import each other": {
        "pkg/start.py": "from pkg import a\ndef start():\n    return a.f()\ndef g():\n    return ?",
        "pkg/a.py": "from pkg import start\ndef f():\n    return start.g()",
    },
}
UNREACHED = {
    "a function that is not named": {"pkg/start.py": "def start():\n    return 0\ndef f():\n    return ?"},
    "a constant that is not named": {"pkg/start.py": "def start():\n    return 0\nA = ?"},
    "another function of an imported module": {
        "pkg/start.py": "from pkg import a\ndef start():\n    return a.f()",
        "pkg/a.py": "def f():\n    return 0\ndef g():\n    return ?",
    },
    "another function of a module by its full name": {
        "pkg/start.py": "import pkg.a\ndef start():\n    return pkg.a.f()",
        "pkg/a.py": "def f():\n    return 0\ndef g():\n    return ?",
    },
    "the neighbours of a function that is called like its module": {
        "pkg/start.py": "from pkg.inner import f\ndef start():\n    return f()",
        "pkg/inner/__init__.py": "from pkg.inner.f import f",
        "pkg/inner/f.py": "def f():\n    return 0\ndef g():\n    return ?",
    },
    "a module that nobody imports": {"pkg/start.py": "def start(): pass", "pkg/a.py": "print(?)"},
    "a value that is made at import and not used": {
        "pkg/start.py": "from pkg.a import f\ndef start():\n    return 0",
        "pkg/a.py": "def f():\n    return ?\nA = f()",
    },
    "the command": {
        "pkg/start.py": "def start():\n    return 0\nif __name__ == '__main__':\n    print(start(), ?)",
    },
    "a comment": {"pkg/start.py": "# ?\ndef start():\n    return 0  # ?"},
    "a docstring": {
        "pkg/start.py": "'?'\ndef start():\n    '?'\n    return A()\nclass A:\n    '?'\n    a = 0\n    '?'",
    },
    "a function of Python with the same name": {
        "pkg/start.py": "import json\ndef start():\n    return json.loads('0')",
        "pkg/json.py": "def loads(text):\n    return ?",
    },
}


@pytest.mark.parametrize("files", REACHED.values(), ids=REACHED)
def test_a_change_in_what_is_reached_is_noticed(files, tmp_path):
    one, two = ({name: text.replace("?", n) for name, text in files.items()} for n in "12")
    assert one != two
    assert fingerprint(tmp_path, one) == fingerprint(tmp_path, one)
    assert fingerprint(tmp_path, one) != fingerprint(tmp_path, two)


@pytest.mark.parametrize("files", UNREACHED.values(), ids=UNREACHED)
def test_a_change_elsewhere_is_not(files, tmp_path):
    one, two = ({name: text.replace("?", n) for name, text in files.items()} for n in "12")
    assert one != two
    assert fingerprint(tmp_path, one) == fingerprint(tmp_path, two)


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


def test_a_long_chain_of_functions_is_followed_to_its_end(tmp_path):
    lines = [f"def f{k}():\n    return f{k + 1}()" for k in range(5000)]
    text = "\n".join(["def start():\n    return f0()", *lines, "def f5000():\n    return ?"])
    one, two = (fingerprint(tmp_path, {"pkg/start.py": text.replace("?", n)}) for n in "12")
    assert one != two


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


# The real tree


def parts():
    return {f"{report.name}: {part.name}": part for report in reports() for part in report.parts}


@pytest.fixture(scope="module")
def tree():
    return Project(ROOT)


def test_the_distance_to_the_floor_depends_on_the_whole_training(tree):
    reached = tree.reached(["benchmarks.floor:near_the_floor", "benchmarks.floor:measure_mlm"])
    assert "name='advance'" in reached["lib.training.loop:Trainer:0"]
    assert {
        *("lib.attention:fused_attention:0", "lib.encoder:Encoder:0", "lib.training.optimizers:Muon:0"),
        *("lib.corpus.grammar:Grammar:0", "lib.corpus.lexicon:TOPICS:0", "lib.corpus.portuguese:build:0"),
        *("benchmarks.floor:BUDGET:0", "benchmarks.floor:MLM:0", "lib::0"),
    } <= reached.keys()
    assert not [place for place in reached if place.startswith(("lib.widgets", "lib.exercises", "lib.plots"))]
    assert "benchmarks.floor:CAUSAL:0" not in reached, "the other model's recipe"


def test_reports_and_targets_are_not_part_of_a_measurement(tree):
    for name, part in parts().items():
        for place in tree.reached(part.starts):
            module, definition, _ = place.split(":")
            made = module.startswith("benchmarks.") and definition.startswith(("show", "TARGET", "REPORT"))
            shared = module in ("benchmarks.figures", "benchmarks.report", "benchmarks.program")
            assert not made and not shared, f"{name} depends on {place}"


def test_every_part_starts_where_it_is_measured():
    for name, part in parts().items():
        measure = f"{part.measure.__module__}:{part.measure.__name__}"
        assert measure in part.starts, name
