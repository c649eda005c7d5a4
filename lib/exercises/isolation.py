"""Asks an answer that runs in another process: requests go in, plain data comes out, and time is limited.

Whatever that process does to itself (replace functions of torch, catch every exception, leave, never end),
the one that asks is not touched: it takes nothing from there but numbers and texts, and not too many.
In a student's own notebook the process is a fork, in an empty folder; for a class it is in a `sandbox`.
"""

import contextlib
import json
import os
import pickle
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import torch

MEMORY = 2**30  # what the process may take beyond what it holds at first, in bytes
LARGEST = 2**24  # a reply, in bytes
END_SECONDS = 10.0
LATE, ENDED, LARGE, STRANGE = "tempo", "saiu", "memoria", "estranho"


class NoReply(Exception):
    """What was asked for did not come; why, as the key of a hint for the student."""


class Remote:
    """The asking end of an object in another process: `ask("method", ...)` calls its method there."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        """What the method returns there, which is one line of JSON."""
        deadline, reply = time.monotonic() + seconds, bytearray()
        try:
            self.end.settimeout(max(seconds, 0.001))
            self.end.sendall(_request(method, *arguments))
            while not reply.endswith(b"\n"):
                self.end.settimeout(max(deadline - time.monotonic(), 0.001))
                reply += (received := self.end.recv(2**20))
                if not received:
                    raise NoReply(ENDED)
                if len(reply) > LARGEST:
                    raise NoReply(LARGE)
        except TimeoutError:
            raise NoReply(LATE) from None
        except OSError:
            raise NoReply(ENDED) from None
        return _data(reply)

    @contextlib.contextmanager
    def fork(self, *arguments: Any) -> Iterator["Remote"]:
        """The object's `part` in a copy of that process as it stands, which ends with the `with`."""
        (asks, asked), (life, keeper) = socket.socketpair(), socket.socketpair()
        with asked, keeper, contextlib.suppress(OSError):  # of one that is gone, the copy is gone too
            socket.send_fds(self.end, [_request("part", *arguments)], [asked.fileno(), keeper.fileno()])
        with asks, life:
            try:
                yield Remote(asks)
            finally:
                life.shutdown(socket.SHUT_WR)
                life.settimeout(END_SECONDS)
                with contextlib.suppress(OSError):
                    life.recv(1)  # comes when the keeper has ended


@contextlib.contextmanager
def forked(target: Any) -> Iterator[Remote]:
    """An object in a fork of this process, which ends with the `with`."""
    asks, asked = socket.socketpair()
    # There, a file named without its folder is none of the caller's.
    with asks, tempfile.TemporaryDirectory(prefix="exercicio-", ignore_cleanup_errors=True) as folder:
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                os.chdir(folder)
                _leave_only(asked.fileno())
                limit_memory()
                torch.set_num_threads(1)  # threads of a pool do not survive a fork
                serve(target, asked)
            finally:
                os._exit(0)  # what called us (a kernel, pytest) must not run twice
        asked.close()
        try:
            yield Remote(asks)
        finally:
            for end in (os.killpg, os.kill):  # with whatever it has started; or before it had its own group
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    end(child, signal.SIGKILL)
            os.waitpid(child, 0)


class Unforked:
    """The same where there is no fork (Windows): in this process, without limits."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        return _data(_reply(self.target, *pickle.loads(_request(method, *arguments)[8:])))


def unforked(target: Any) -> contextlib.nullcontext[Unforked]:
    return contextlib.nullcontext(Unforked(target))


isolated = forked if hasattr(os, "fork") else unforked


def serve(target: Any, end: socket.socket) -> None:
    """Answer requests until whoever asks has gone; one that brings sockets is served in a copy."""
    while True:
        size, brought, _, _ = socket.recv_fds(end, 8, 2, socket.MSG_WAITALL)
        if not size:
            return
        method, arguments = pickle.loads(end.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
        if not brought:
            end.sendall(_reply(target, method, arguments))
        elif os.fork() == 0:
            end.close()
            target, end = target.part(brought, *arguments), socket.socket(fileno=brought[0])
        else:
            for file in brought:
                os.close(file)


def limit_memory() -> None:
    """From here on the process may take at most `MEMORY` more."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # not every system can say or do it
        import resource

        with open("/proc/self/statm") as pages:
            most = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _leave_only(kept: int) -> None:
    """Close what the child inherits: the kernel's sockets and a grader's files are none of its business."""
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    # What is here belongs to whoever called us: a kernel's streams would send to the kernel's own threads.
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")


def _request(method: str, *arguments: Any) -> bytes:
    """Its size and itself. It goes the other way, to those who trust whoever asks."""
    request = pickle.dumps((method, arguments))
    return len(request).to_bytes(8, "big") + request


def _reply(target: Any, method: str, arguments: tuple) -> bytes:
    return json.dumps(getattr(target, method)(*arguments)).encode() + b"\n"


def _data(reply: bytes | bytearray) -> Any:
    """JSON, because nothing in it can refer to anything: its size is all the work that it can make."""
    try:
        return json.loads(reply)
    except Exception:  # what comes from there may be anything
        raise NoReply(STRANGE) from None
