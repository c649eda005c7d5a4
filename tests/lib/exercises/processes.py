"""Processes that an answer started."""

import time

import psutil


def assert_ends(pid: int) -> None:
    """It was killed, but a signal takes its time, and a zombie may wait for whoever adopts it."""
    deadline = time.monotonic() + 60
    while _runs(pid):
        assert time.monotonic() < deadline, f"process {pid} still runs"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
