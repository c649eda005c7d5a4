"""Runs untrusted work apart: a forked process with a time limit and a memory limit, which nothing outlives.

A signal in the same process would not do: it waits for long calls into C to end, and an answer that catches
every exception swallows it. A killed process has no say. Where there is no fork (Windows), a thread does the
work, and one that never ends is left behind.
"""

import contextlib
import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import torch

MEMORY = 2**30  # what an answer may take beyond what the process already holds, in bytes


class OutOfTime(Exception):
    """The work did not end in time."""


class Vanished(Exception):
    """The process ended without a result: the answer left it, crashed it or ran out of memory."""


def isolated(work: Callable[[], Any], seconds: float) -> Any:
    """The JSON-serialisable result of `work()`, computed apart from this process."""
    return _forked(work, seconds) if hasattr(os, "fork") else _threaded(work, seconds)


def limit_memory(beyond: int) -> None:
    """Let this process take at most `beyond` more bytes than it has mapped now."""
    import resource  # not on Windows, which has no fork either

    with open("/proc/self/statm") as pages:
        held = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (held + beyond, held + beyond))


def _forked(work: Callable[[], Any], seconds: float) -> Any:
    torch.broadcast_shapes((1,), (1,))  # imports a good part of torch, once here instead of in each child
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _work_and_leave(work, write)
    os.close(write)
    try:
        text = _read_line(read, time.monotonic() + seconds)
    finally:
        os.close(read)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # with whatever the answer itself has started
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # where it was killed before it had its own group
        os.waitpid(child, 0)
    return json.loads(text)


def _work_and_leave(work: Callable[[], Any], write: int) -> None:
    """In the child: never return, because what called us (a kernel, pytest) must not run twice."""
    try:
        os.setpgid(0, 0)
        with contextlib.suppress(OSError, ValueError):
            limit_memory(MEMORY)
        torch.set_num_threads(1)  # threads of a pool do not survive a fork
        os.write(write, json.dumps(work()).encode() + b"\n")
    finally:
        os._exit(0)


def _read_line(read: int, deadline: float) -> bytes:
    """Up to the end of the line, not of the file: a stray process may hold the pipe open."""
    text = b""
    while not text.endswith(b"\n"):
        ready, _, _ = select.select([read], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise OutOfTime
        chunk = os.read(read, 65536)
        if not chunk:
            raise Vanished
        text += chunk
    return text


def _threaded(work: Callable[[], Any], seconds: float) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise OutOfTime
    if not results:
        raise Vanished
    return results[0]
