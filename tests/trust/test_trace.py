"""What a measurement uses is seen while it runs, also where no name leads to it."""

import sys

from tests.trust.made_up import write
from trust.dependencies import Project
from trust.provenance import Part
from trust.trace import Trace

START = """
import sys
from traced.inner import shown
double = lambda n: 2 * n
def measure(options):
    "Its docstring."
    import traced.other
    with open(options) as file:
        return shown(double(1)), [*sys.modules["traced.other"].Hidden().numbers()], file.read()
"""
OTHER = """
def at_import(): return 3
class Hidden:
    NUMBER = at_import()
    def numbers(self): yield self.NUMBER
"""


def test_calls_and_files_are_seen_and_what_the_hash_leaves_out_is_named(tmp_path, monkeypatch):
    files = {"start": START, "other": OTHER, "inner": "def shown(n): return n\ndef unused(): pass"}
    write(tmp_path, {f"traced/{name}.py": text for name, text in files.items()} | {"data/words.txt": "um"})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    trace = Trace(Project(tmp_path))
    from traced.start import measure  # pyright: ignore[reportMissingImports]

    part = Part("words", "python -m traced", measure, str, ("traced.start:measure",))
    assert trace.watched(part).measure(tmp_path / "data" / "words.txt") == (2, [3], "um")
    assert trace.left_out(part) == ["data/words.txt", "traced.other:Hidden"]
    called = {"traced.start:measure", "traced.start:double", "traced.inner:shown"}
    assert trace.used["words"] == {*trace.left_out(part), *called} and measure.__doc__ == "Its docstring."
    assert not [*tmp_path.rglob("*.pyc")], "code with notes is for this process only"
