"""`python -m tools`: every command, on every system, and nothing made twice."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest

from tests.refusals import refuses
from tools import __main__ as commands
from tools.console import ROOT
from tools.environment import program, settings


def test_the_makefile_calls_every_command_and_nothing_else():
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    assert re.search(r"^COMMANDS := (.+)$", text, re.MULTILINE)[1].split() == list(commands.COMMANDS)
    assert "\t@$(PYTHON) -m tools $@\n" in text
    listed = subprocess.run(["make", "help"], cwd=ROOT, text=True, capture_output=True).stdout
    for name in commands.COMMANDS:
        assert re.search(rf"^{name} +\w", listed, re.MULTILINE), name


def test_windows_has_its_own_folder_of_programs():
    assert program("python", ".venv", "posix") == Path(".venv/bin/python")
    assert PureWindowsPath(program("python", ".venv", "nt")) == PureWindowsPath(r".venv\Scripts\python.exe")
    assert program("python").samefile(sys.executable)


def test_only_one_function_knows_where_programs_are_and_no_command_is_a_shell():
    """What is written in the code itself; sentences for readers may name a path."""
    for path in (ROOT / "tools").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert "Scripts" not in words or path.name == "environment.py", path.name
        shells = [node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "shell"]
        assert not shells and "os.system" not in ast.unparse(tree), path.name


def test_every_process_is_told_the_same(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert settings()["PYTHONHASHSEED"] == "0" and "PYTHONDONTWRITEBYTECODE" not in settings()
    assert settings()["OMP_NUM_THREADS"] == "7" and settings(threads=1)["OMP_NUM_THREADS"] == "1"


@pytest.fixture
def project(tmp_path, monkeypatch) -> SimpleNamespace:
    """A source, something made of it, and something made of that; `made` says what was made, in order."""
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    (tmp_path / "book" / ".hidden").mkdir(parents=True)
    made = []
    first = commands.Made("first", ("book/**/*",), lambda: made.append("first"))
    second = commands.Made("second", (), lambda: made.append("second"), [first])
    return SimpleNamespace(folder=tmp_path, made=made, second=second)


def write_later(path: Path) -> None:
    """A file that is certainly newer than all that was made so far."""
    path.write_text("x")
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + 10))


def test_what_is_newer_is_made_again_and_nothing_else(project):
    write_later(project.folder / "book" / "page.md")
    os.utime(project.folder / "book" / "page.md", (0, 0))
    project.second.ensure()
    project.second.ensure()
    assert project.made == ["first", "second"], "a second time nothing is made"
    write_later(project.folder / "book" / ".hidden" / "page.md")
    project.second.ensure()
    assert project.made == ["first", "second"], "what an editor leaves is no source"
    write_later(project.folder / "book" / "page.md")
    project.second.ensure()
    assert project.made[2:3] == ["first"]


def test_what_failed_is_not_taken_for_made(project):
    def fail():
        sys.exit(3)

    project.second.make = fail
    with pytest.raises(SystemExit):
        project.second.ensure()
    assert not project.second.stamp.exists() and project.made == ["first"]


def test_a_command_ends_as_its_program_ended():
    with pytest.raises(SystemExit) as ended:
        commands.run(sys.executable, "-c", "raise SystemExit(7)")
    assert ended.value.code == 7


NOT_THERE = r"^error: there is no command bok: `python -m tools help` lists them\.$"
NOTHING_AFTER = r"^error: the command clean takes nothing after it, and all was given\.$"
test_a_wrong_command_gets_a_sentence = refuses(
    (lambda: commands.main(["bok"]), NOT_THERE),
    (lambda: commands.main(["clean", "all"]), NOTHING_AFTER),
    error=SystemExit,
)
