"""Repeat the tests that use a browser or JupyterLab while other processes keep every core busy.

python -m tools.stress [--times 20] [--beside 4] [--busy N] [--jobs 2] [what pytest is to run ...]

A test that waits for time to pass, or reads a page before the page has answered, passes on an idle machine
and fails now and then on a busy one. Without a selection, all tests with the marker `browser` are repeated.
Several rounds run side by side, each a part of the others' load: most of the time that it takes is tests'.
What a round with a failure printed is kept in `_build/stress`. Ctrl+C ends the rounds and the busy processes.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tools.console import ROOT
from tools.environment import settings

BROWSER_TESTS = ("tests", "-m", "browser")
LOGS = ROOT / "_build" / "stress"
# Ends by itself should its parent be killed: nobody else would end it.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(10**6))"
GRACE_SECONDS = 60  # for tests that are interrupted, to stop the servers and browsers that they started
LOOK_SECONDS = 0.2  # how often it is seen whether a round has ended


@dataclass(frozen=True)
class Round:
    """What one run of the tests came to."""

    seconds: float
    passed: int
    skipped: int
    failed: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.passed} passed, {len(self.failed)} failed in {self.seconds:.0f} s"


@contextlib.contextmanager
def kept_busy(count: int) -> Iterator[list[int]]:
    """The ids of `count` processes that only use a core; they end with the block, however it ends."""
    processes = []
    try:
        for _ in range(count):
            # A session of its own: Ctrl+C reaches this program only, which ends them in order.
            processes.append(subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True))
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def read_report(path: Path) -> tuple[int, int, tuple[str, ...]]:
    """How many tests passed, how many were skipped and which failed, from the report that pytest writes."""
    cases = ElementTree.parse(path).iter("testcase") if path.exists() else ()
    found = [
        (f"{case.get('classname')}::{case.get('name')}", {child.tag for child in case}) for case in cases
    ]
    failed = [name for name, tags in found if tags & {"failure", "error"}]
    skipped = sum("skipped" in tags for _, tags in found)
    # A test may fail, and its clean-up too.
    return len(found) - len(failed) - skipped, skipped, tuple(dict.fromkeys(failed))


def wait_or_interrupt(process: subprocess.Popen, interrupted: threading.Event) -> int:
    """The exit code of a process with a group of its own, which is interrupted if this program is."""
    try:
        while process.poll() is None:
            if interrupted.wait(LOOK_SECONDS):  # in the thread of a round, which no signal reaches
                raise KeyboardInterrupt
        return process.returncode
    except BaseException:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(timeout=GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise


def run_round(
    selection: Sequence[str],
    jobs: int,
    log: Path,
    environment: Mapping[str, str] | None = None,
    interrupted: threading.Event | None = None,
) -> Round:
    """Run the tests once; what pytest printed goes to `log`, and stays there if anything failed."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, open(log, "wb") as output:
        report = Path(scratch) / "report.xml"
        command = [sys.executable, "-m", "pytest", *selection, "-q", f"--junitxml={report}"]
        command += ["-n", str(jobs), "--dist", "loadscope", "-p", "no:cacheprovider"]
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment or settings(threads=1),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code = wait_or_interrupt(process, interrupted or threading.Event())
        seconds = time.monotonic() - start
        passed, skipped, failed = read_report(report)
    if code and not failed:  # nothing was collected, or pytest itself broke
        failed = (f"pytest ended with code {code}",)
    if not failed:
        log.unlink()
    return Round(seconds, passed, skipped, failed)


def summary(rounds: Sequence[Round]) -> list[str]:
    """Each test that failed with how often it did, and one line with the totals."""
    often = Counter(name for each in rounds for name in each.failed)
    lines = [f"failed in {count} of {len(rounds)} rounds: {name}" for name, count in often.most_common()]
    passed = sum(each.passed for each in rounds)
    return [*lines, f"{passed} passed, {sum(often.values())} failed"]


def repeat(
    selection: Sequence[str], times: int, beside: int, busy: int, jobs: int, logs: Path
) -> list[Round]:
    """Run the tests `times` times, `beside` at a time, with `busy` busy processes; say how each went."""
    rounds, interrupted = [], threading.Event()
    with kept_busy(busy) as ids, ThreadPoolExecutor(beside) as pool:
        print("kept busy by processes", *ids, flush=True)
        paths = [logs / f"round-{k:02}.log" for k in range(1, times + 1)]
        started = {pool.submit(run_round, selection, jobs, log, None, interrupted): log for log in paths}
        try:
            for done in as_completed(started):
                rounds.append(done.result())
                print(f"round {len(rounds)} of {times}: {rounds[-1]}", flush=True)
                for name in rounds[-1].failed:
                    print(f"  {name}  (see {started[done]})", flush=True)
        except BaseException:
            interrupted.set()
            pool.shutdown(cancel_futures=True)
            raise
    return rounds


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=20, help="how often the tests are repeated (default 20)")
    parser.add_argument("--beside", type=int, default=4, help="rounds at the same time (default 4)")
    parser.add_argument("--busy", type=int, default=os.cpu_count(), help="busy processes (default: cores)")
    parser.add_argument("--jobs", type=int, default=2, help="processes that run tests (default 2)")
    parser.add_argument("--logs", type=Path, default=LOGS, help="where failed rounds are kept")
    options, selection = parser.parse_known_args(arguments)
    try:
        rounds = repeat(
            selection or BROWSER_TESTS,
            options.times,
            options.beside,
            options.busy,
            options.jobs,
            options.logs,
        )
    except KeyboardInterrupt:
        sys.exit("interrupted")
    print("\n".join(summary(rounds)))
    sys.exit(any(each.failed for each in rounds))


if __name__ == "__main__":
    # Both: a shell that starts this in the background has its programs ignore Ctrl+C, and theirs too.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)
    main()
