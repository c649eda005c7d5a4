"""Inside the sandbox: a warm process that forks one for each notebook, and the names of a notebook there.

`python -m lib.exercises.worker FD FOLDER` answers through the socket FD. Nothing of a notebook runs in the
warm process, nor in the keeper that stands between the two and ends the notebook's process with all that it
has started.
"""

import ast
import contextlib
import ctypes
import os
import re
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from lib.exercises.calling import Answer
from lib.exercises.isolation import limit_memory, serve

# Of a notebook alone: users, processes, mounted file systems, messages between processes, network.
NAMESPACES = 0x10000000 | 0x20000000 | 0x00020000 | 0x08000000 | 0x40000000
PROCESSES = 16  # of a notebook: its own, an answer's and that one's keeper leave enough for any answer


class Notebook:
    """The names of a notebook, in the process where its cells are run."""

    def __init__(self) -> None:
        self.space = {"__name__": "__main__"}

    def run(self, source: str, whole: bool) -> str:
        """Run a cell, or only its definitions, for what answers may use of it; says what went wrong first.

        An error ends its statement only: what comes after it may be another answer.
        """
        told = ""
        for statement in _statements(source):
            if whole or _is_definition(statement):
                try:
                    exec(compile(statement, "<celula>", "exec"), self.space)
                except BaseException as error:  # nor do SystemExit and KeyboardInterrupt end the grading
                    told = told or f"a célula parou com {type(error).__name__}: {str(error)[:200]}"
        return told

    def has(self, name: str) -> bool:
        return name in self.space

    def part(self, brought: Sequence[int], name: str) -> Answer:
        """In the copy of the process: one of its answers."""
        keep(*brought)
        return Answer(self.space[name])


def _statements(source: str) -> Sequence[ast.Module | str]:
    """The cell's; lines that only a notebook understands (%magic, !command) are left out.

    What still is no Python stays as it is, to fail where it is run.
    """
    for text in (source, re.sub(r"(?m)^[^\S\n]*[%!].*", "", source)):
        with contextlib.suppress(SyntaxError, ValueError):
            return [ast.Module([statement], []) for statement in ast.parse(text).body]
    return [source]


def _is_definition(statement: ast.Module | str) -> bool:
    found = statement.body[0] if isinstance(statement, ast.Module) else None
    if isinstance(found, ast.Assign):
        with contextlib.suppress(ValueError):
            ast.literal_eval(found.value)
            return True
    return isinstance(found, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


class Warm:
    """The process in which Python and torch are loaded.

    In a sandbox, `folder` is where each notebook gets an empty one; it is "" without a sandbox.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        torch.softmax(torch.ones(2, 2) @ torch.ones(2, 2), -1)  # what torch loads at first use
        # The first optimizer loads a compiler, which wants folders; a notebook can write in this one.
        tempfile.tempdir = os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder or tempfile.gettempdir()
        torch.optim.AdamW([torch.zeros(1)])
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers

    def part(self, brought: Sequence[int]) -> Notebook:
        """In the copy of the process: a notebook, confined."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if self.folder:
            _unshare()
        keep(*brought)
        os.setsid()  # no signal to its group reaches the warm process
        os.dup2(1, 2)  # to nowhere
        limit_memory()
        if self.folder:
            _confine(self.folder)
        return Notebook()


def keep(asked: int, life: int) -> None:
    """Return in a fork only, and end that when the other end of `life` is let go."""
    if child := os.fork():
        os.close(asked)
        os.read(life, 1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os._exit(0)
    os.close(life)


def _unshare() -> None:
    """The next fork is the first process of its own process space: when it ends, all others there do."""
    ids = {"uid_map": os.getuid(), "gid_map": os.getgid()}
    _call("unshare", NAMESPACES)
    Path("/proc/self/setgroups").write_text("deny")
    for file, id in ids.items():
        Path("/proc/self", file).write_text(f"{id} {id} 1")


def _confine(folder: str) -> None:
    """An empty folder to write in, no sight of processes, no rights over all this, and a limit."""
    Path("/proc/self/oom_score_adj").write_text("1000")  # where memory ends, this goes before the teacher's
    _call("mount", b"tmpfs", folder.encode(), b"tmpfs", 6, b"size=64m,nr_inodes=4096")
    _call("mount", b"tmpfs", b"/proc", b"tmpfs", 15, b"size=0")
    _call("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))  # before, of all notebooks together


def _call(name: str, *arguments: Any) -> None:
    if ctypes.CDLL(None, use_errno=True)[name](*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    serve(Warm(sys.argv[2]), socket.socket(fileno=int(sys.argv[1])))
