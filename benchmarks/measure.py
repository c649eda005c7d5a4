"""How to time fairly: all variants in turn in every round. And how much memory a piece of work takes."""

import re
import resource
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path


def interleaved(variants: Mapping[str, Callable[[int], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each variant in each round. Round 0, which warms caches and pages memory in, is dropped.

    What slows the machine for a while slows the neighbours in the same round too, so ratios survive it.
    The order turns around from round to round: nobody is always the one that finds the cache cold.
    """
    seconds = {name: [] for name in variants}
    order = list(variants)
    for r in range(rounds + 1):
        for name in order if r % 2 else reversed(order):
            start = time.perf_counter()
            variants[name](r)
            if r:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def peak_memory_mb(work: Callable, *arguments) -> float:
    """How much `work(*arguments)` raises the memory of a fresh process beyond what building it took.

    `work` builds its inputs and returns a function without arguments, which is the part that is measured.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_growth, work, arguments).result()


def _growth(work: Callable, arguments: tuple) -> float:
    run = work(*arguments)
    before = _most_memory_mb()
    run()
    return _most_memory_mb() - before


def _most_memory_mb() -> float:
    """The most memory that this process has held so far."""
    if sys.platform == "linux":  # where getrusage also counts what the parent held when it started this one
        [kilobytes] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        return int(kilobytes) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
