"""How to time fairly: all variants in turn in every round, and the median of the ratios within a round."""

import math
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path


@dataclass(frozen=True)
class Ratio:
    """The median of the rounds' ratios, with an interval around it (see `_rank`)."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def interleaved(variants: Mapping[str, Callable[[int], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each variant in each round. Round 0, which warms caches and pages memory in, is dropped.

    What slows the machine for a while slows the neighbours in the same round too, so ratios survive it.
    The order turns around from round to round: nobody is always the one that finds the cache cold.
    """
    seconds = {name: [] for name in variants}
    for r in range(rounds + 1):
        for name in variants if r % 2 else reversed(variants):
            start = time.perf_counter()
            variants[name](r)
            if r:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(slow: list[float], fast: list[float]) -> Ratio:
    """How many times faster `fast` is than `slow`, round by round."""
    ratios = sorted(a / b for a, b in zip(slow, fast, strict=True))
    k = _rank(len(ratios))
    return Ratio(statistics.median(ratios), ratios[k], ratios[-1 - k])


def _rank(n: int) -> int:
    """The largest k whose order statistics k and n-1-k hold the true median with 95% confidence, or 0.

    They miss it with probability 2 P(Binomial(n, 1/2) <= k), whatever the distribution of the ratios; with
    fewer than six of them even the extremes (k = 0) miss it more often than 5% of the time.
    """
    k, tail = 0, 2 * 0.5**n
    while (tail := tail + 2 * math.comb(n, k + 1) * 0.5**n) <= 0.05:
        k += 1
    return k


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
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
