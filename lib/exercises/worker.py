"""Inside the sandbox: a warm process that forks one for each notebook, and the names of a notebook there.

`python -m lib.exercises.worker FD FOLDER`: through the socket FD come, for each notebook, the socket by
which it is asked and one that says when it is over. Nothing of a notebook runs in the warm process, nor in
the keeper that stands between the two and ends the notebook's process with all that it has started.
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
from pathlib import Path
from typing import Any, NoReturn

import torch

from lib.exercises.calling import Answer
from lib.exercises.isolation import serve_and_leave

# Of a notebook alone: users, processes, mounted file systems, messages between processes, network.
NAMESPACES = 0x10000000 | 0x20000000 | 0x00020000 | 0x08000000 | 0x40000000
PROCESSES = 64  # of a notebook: set before, the limit would be one of all notebooks together


class Notebook:
    """The names of a notebook, in the process where its cells are run."""

    def __init__(self) -> None:
        self.space = {"__name__": "__main__"}

    def answer(self, source: str) -> str:
        """Run a cell that answers an exercise; what went wrong, if anything did."""
        try:
            self._execute(_parsed(source))
        except BaseException as error:  # SystemExit and KeyboardInterrupt end the cell, not the grading
            return f"a célula parou com {type(error).__name__}: {str(error)[:200]}"
        return ""

    def prepare(self, source: str, whole: bool) -> str:
        """Run another cell, or only its definitions, for what the answers may use of it."""
        with contextlib.suppress(SyntaxError):
            for statement in _parsed(source).body:
                if whole or _is_definition(statement):
                    with contextlib.suppress(BaseException):
                        self._execute(ast.Module([statement], []))
        return ""

    def _execute(self, tree: ast.Module) -> None:
        exec(compile(tree, "<celula>", "exec"), self.space)

    def names(self) -> list[str]:
        return [str(name) for name in self.space]

    def part(self, name: str) -> Answer:
        return Answer(self.space[name])


def _parsed(source: str) -> ast.Module:
    """The cell's code; lines that only a notebook understands (%magic, !command) are left out."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.parse(re.sub(r"(?m)^[^\S\n]*[%!].*", "", source))


def _is_definition(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        with contextlib.suppress(ValueError):
            ast.literal_eval(statement.value)
            return True
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def main(control: int, folder: str) -> None:
    """Serve notebooks; in a sandbox, `folder` is where each of them gets an empty one, and "" without one."""
    torch.softmax(torch.ones(2, 2) @ torch.ones(2, 2), -1)  # what torch loads at first use
    # The first optimizer loads a compiler, which wants folders; this one is writable in a notebook's process.
    tempfile.tempdir = os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder or tempfile.gettempdir()
    torch.optim.AdamW([torch.zeros(1)])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    grader = socket.socket(fileno=control)
    while ends := socket.recv_fds(grader, 1, 2)[1]:
        if os.fork() == 0:
            _keep(folder, *ends)
        for end in ends:
            os.close(end)


def _keep(folder: str, asked: int, life: int) -> NoReturn:
    """Hold a notebook's process until the other end of `life` is let go; then end it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        if folder:
            uid, gid = os.getuid(), os.getgid()
            _call("unshare", NAMESPACES)
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
            Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        child = os.fork()  # the first process of its own process space: when it ends, all others there do
        if child == 0:
            serve_and_leave(Notebook(), asked, lambda: _confine(folder) if folder else None)
        os.close(asked)
        os.read(life, 1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except OSError as error:
        print(error, file=sys.stderr, flush=True)  # the grader shows it
    finally:
        os._exit(0)


def _confine(folder: str) -> None:
    """An empty folder to write in, no sight of processes, no rights over all this, and limits."""
    Path("/proc/self/oom_score_adj").write_text("1000")  # where memory ends, this goes before the teacher's
    _call("mount", b"tmpfs", folder.encode(), b"tmpfs", 6, b"size=64m,nr_inodes=4096")
    _call("mount", b"tmpfs", b"/proc", b"tmpfs", 15, b"size=0")
    _call("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))


def _call(name: str, *arguments: Any) -> None:
    if ctypes.CDLL(None, use_errno=True)[name](*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
