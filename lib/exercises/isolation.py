"""Asks an answer that runs in another process: requests go in, plain data comes out, and time is limited.

Whatever that process does to itself (replace functions of torch, catch every exception, leave, never end),
the one that asks is not touched: it takes nothing from there but numbers, texts and bytes, and not too many.
In a student's own notebook the process is a fork, in an empty folder; for a class it is in a `sandbox`.
"""

import base64
import contextlib
import json
import os
import pickle
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NoReturn

import torch

MEMORY = 2**30  # what the process may take beyond what it holds at first, in bytes
LARGEST = 2**24  # a reply, in bytes


class NoReply(Exception):
    """What was asked for did not come; why, as the key of a hint for the student."""


LATE, ENDED, LARGE, STRANGE = "tempo", "saiu", "memoria", "estranho"


class Remote(contextlib.AbstractContextManager["Remote"]):
    """The asking end of an object in another process: `ask("method", ...)` calls its method there."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        """What the method returns there, as plain data."""
        deadline = time.monotonic() + seconds
        try:
            self.end.settimeout(max(seconds, 0.001))
            send(self.end, pickle.dumps((method, arguments)))
            return _data(receive(self.end, deadline, LARGEST))
        except TimeoutError:
            raise NoReply(LATE) from None
        except OSError:
            raise NoReply(ENDED) from None

    def fork(self, name: str) -> "Remote":
        """A copy of that process as it stands, with the object's `part(name)` in the place of the object."""
        ours, theirs = socket.socketpair()
        with theirs, contextlib.suppress(OSError):  # of one that is gone, the copy is gone too
            send(self.end, pickle.dumps(("fork", (name,))))
            socket.send_fds(self.end, [b"."], [theirs.fileno()])
        return Remote(ours)

    def __exit__(self, *_: object) -> None:
        self.end.close()


class Forked(Remote):
    """An object in a fork of this process, which ends with the `with`."""

    def __init__(self, target: Any) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="exercicio-", ignore_cleanup_errors=True)
        ours, theirs = socket.socketpair()
        self.child = os.fork()
        if self.child == 0:  # there, a file named without its folder is none of the caller's
            serve_and_leave(target, theirs.fileno(), lambda: os.chdir(self.folder.name))
        theirs.close()
        super().__init__(ours)

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        for end in (os.killpg, os.kill):  # with whatever it has started; or before it had its own group
            with contextlib.suppress(ProcessLookupError, PermissionError):
                end(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        self.folder.cleanup()


class Unforked(contextlib.AbstractContextManager["Unforked"]):
    """The same where there is no fork (Windows): in this process, without limits."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        return _data(_reply(self.target, method, pickle.loads(pickle.dumps(arguments))))

    def __exit__(self, *_: object) -> None:
        pass


Isolated = Forked if hasattr(os, "fork") else Unforked


def send(end: socket.socket, message: bytes) -> None:
    end.sendall(len(message).to_bytes(8, "big") + message)


def receive(end: socket.socket, deadline: float = float("inf"), largest: int = sys.maxsize) -> bytes:
    size = int.from_bytes(_exactly(end, 8, deadline), "big")
    if size > largest:
        raise NoReply(LARGE)
    return _exactly(end, size, deadline)


def _exactly(end: socket.socket, size: int, deadline: float) -> bytes:
    data = bytearray()
    while len(data) < size:
        if deadline < float("inf"):
            end.settimeout(max(deadline - time.monotonic(), 0.001))
        chunk = end.recv(min(size - len(data), 2**20))
        if not chunk:
            raise NoReply(ENDED)
        data += chunk
    return bytes(data)


def serve_and_leave(target: Any, end: int, confine: Callable[[], None]) -> NoReturn:
    """In the child: never return, because what called us (a kernel, pytest) must not run twice."""
    try:
        os.setsid()
        _leave_only(end)
        with contextlib.suppress(OSError, ValueError):
            _limit_memory()
        confine()
        torch.set_num_threads(1)  # threads of a pool do not survive a fork
        _serve(target, socket.socket(fileno=end))
    finally:
        os._exit(0)


def _leave_only(kept: int) -> None:
    """Close what the child inherits: the kernel's sockets and a grader's files are none of its business."""
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    # What is here belongs to whoever called us: a kernel's streams would send to the kernel's own threads.
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")


def _limit_memory() -> None:
    import resource  # not on Windows, which has no fork either

    with open("/proc/self/statm") as pages:
        most = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _serve(target: Any, end: socket.socket) -> None:
    copy = 0
    while True:
        method, arguments = pickle.loads(receive(end))
        if method != "fork":
            send(end, _reply(target, method, arguments))
            continue
        _, (other,), _, _ = socket.recv_fds(end, 1, 1)
        if copy:  # an endless answer would keep a core from the next
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
        if copy := os.fork():
            os.close(other)
        else:
            target, end = target.part(*arguments), socket.socket(fileno=other)


def _reply(target: Any, method: str, arguments: tuple) -> bytes:
    told = getattr(target, method)(*arguments)
    return json.dumps(told, default=lambda value: {"base64": base64.b64encode(value).decode()}).encode()


def _data(reply: bytes) -> Any:
    """JSON, because nothing in it can refer to anything: its size is all the work that it can make."""
    try:
        return json.loads(reply, object_hook=lambda o: base64.b64decode(o["base64"]) if "base64" in o else o)
    except Exception:  # what comes from there may be anything
        raise NoReply(STRANGE) from None
