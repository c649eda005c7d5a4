"""Keeps untrusted code apart: a forked process with limits, asked by requests and answering in plain data.

Whatever that process does to itself (replace functions of torch, catch every exception, leave, never end),
the one that asks is not touched: it has a deadline, and takes nothing from the other side but numbers, texts
and bytes. It works in an empty folder of its own, so that a file named without its folder is never one of the
caller's. Where there is no fork (Windows) a thread does the work, and one that never ends is left behind.
"""

import contextlib
import io
import os
import pickle
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, NoReturn

import torch

MEMORY = 2**30  # what the process may take beyond what it holds at first, in bytes
LARGEST = 2**26  # a reply, in bytes


class NoReply(Exception):
    """What was asked for did not come."""


class OutOfTime(NoReply):
    """No reply came in time."""


class ProcessEnded(NoReply):
    """The process ended: what ran in it left it, crashed it or ran out of memory."""


class TooLarge(NoReply):
    """The reply is larger than any right one."""


class NotPlainData(NoReply):
    """The reply is not plain data."""


class _MessageSocket:
    """Messages over a socket: their length, then their bytes."""

    deadline = float("inf")

    def __init__(self, end: socket.socket) -> None:
        self.end = end

    def send(self, message: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # whoever is gone does not reply
            self.end.sendall(len(message).to_bytes(8, "big") + message)

    def receive(self) -> bytes:
        size = int.from_bytes(self._exactly(8), "big")
        if size > LARGEST:
            raise TooLarge
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            self.wait()
            chunk = self.end.recv(min(size - len(data), 2**20))
            if not chunk:
                raise ProcessEnded
            data += chunk
        return bytes(data)

    def wait(self) -> None:
        if self.deadline < float("inf"):
            ready, _, _ = select.select([self.end], [], [], max(0.0, self.deadline - time.monotonic()))
            if not ready:
                raise OutOfTime


class Remote:
    """The asking end of an object in another process: `ask("method", ...)` calls its method there.

    The reply is plain data.
    """

    def __init__(self, channel: _MessageSocket) -> None:
        self.channel = channel

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        self.channel.deadline = time.monotonic() + seconds
        self.channel.send(pickle.dumps((method, arguments)))
        return _as_data(self.channel.receive())


class Forked(Remote):
    """An object in a process of its own.

    `fork("name")` copies that process as it stands, with what the object's method `part("name")` gives in the
    place of the object.
    """

    def __init__(self, target: Any) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="exercicio-", ignore_cleanup_errors=True)
        ours, theirs = socket.socketpair()
        self.child = os.fork()
        if self.child == 0:
            _serve_and_leave(target, theirs, self.folder.name)
        theirs.close()
        super().__init__(_MessageSocket(ours))

    @contextlib.contextmanager
    def fork(self, name: str, *, seconds: float) -> Iterator["Remote"]:
        self.channel.deadline = time.monotonic() + seconds
        self.channel.send(pickle.dumps(("fork", (name,))))
        self.channel.wait()
        try:
            _, ends, _, _ = socket.recv_fds(self.channel.end, 1, 1)
        except ConnectionResetError:
            raise ProcessEnded from None
        if not ends:
            raise ProcessEnded
        copy = _MessageSocket(socket.socket(fileno=ends[0]))
        try:
            yield Remote(copy)
        finally:
            copy.end.close()
            self.channel.send(pickle.dumps(("end", ())))  # an endless answer would keep a core from the next

    def __enter__(self) -> "Forked":
        return self

    def __exit__(self, *_: object) -> None:
        self.channel.end.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child, signal.SIGKILL)  # with whatever it has started itself
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGKILL)  # where it was killed before it had its own group
        os.waitpid(self.child, 0)
        self.folder.cleanup()


class Threaded:
    """The same in a thread, with a time limit and no other."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        replies: list[bytes] = []
        own = pickle.loads(pickle.dumps(arguments))  # copies, as across a socket
        thread = threading.Thread(
            target=lambda: replies.append(_reply(self.target, method, own)), daemon=True
        )
        thread.start()
        thread.join(seconds)
        if thread.is_alive():
            raise OutOfTime
        if not replies:
            raise ProcessEnded
        return _as_data(replies[0])

    def fork(self, name: str, *, seconds: float) -> "Threaded":
        return Threaded(self.target.part(name))

    def __enter__(self) -> "Threaded":
        return self

    def __exit__(self, *_: object) -> None:
        pass


Isolated = Forked if hasattr(os, "fork") else Threaded


def limit_memory(beyond: int) -> None:
    """Let this process take at most `beyond` more bytes than it has mapped now."""
    import resource  # not on Windows, which has no fork either

    with open("/proc/self/statm") as pages:
        held = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (held + beyond, held + beyond))


def _serve_and_leave(target: Any, end: socket.socket, folder: str) -> NoReturn:
    """In the child: never return, because what called us (a kernel, pytest) must not run twice."""
    try:
        os.chdir(folder)  # before anything of the answer runs
        os.setpgid(0, 0)
        _leave_only(end.fileno())
        with contextlib.suppress(OSError, ValueError):
            limit_memory(MEMORY)
        torch.set_num_threads(1)  # threads of a pool do not survive a fork
        _serve(target, _MessageSocket(end))
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


def _serve(target: Any, channel: _MessageSocket) -> None:
    copy = None
    while True:
        method, arguments = pickle.loads(channel.receive())
        if method == "end" and copy is not None:
            os.kill(copy, signal.SIGKILL)
            os.waitpid(copy, 0)
            copy = None
        elif method == "fork":
            ours, theirs = socket.socketpair()
            copy = os.fork() or None
            if copy is None:
                channel.end.close()
                ours.close()
                target, channel = target.part(*arguments), _MessageSocket(theirs)
            else:
                socket.send_fds(channel.end, [b"."], [ours.fileno()])
                ours.close()
                theirs.close()
        else:
            channel.send(_reply(target, method, arguments))


def _reply(target: Any, method: str, arguments: tuple) -> bytes:
    return pickle.dumps(getattr(target, method)(*arguments))


class _OnlyData(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise NotPlainData(f"{module}.{name}")


def _as_data(reply: bytes) -> Any:
    try:
        return _OnlyData(io.BytesIO(reply)).load()
    except Exception as error:  # what comes from there may be anything
        raise NotPlainData(str(error)) from None
