"""How long a class takes to be graded, now and at an earlier commit, on the same notebooks in one run.

Usage: .venv/bin/python -m benchmarks.grading --before COMMIT [--notebooks 300] [--jobs 2]

The earlier grader is taken out of git into a temporary folder and run with the same Python. The two take
turns on parts of the class, so that a machine that is busy for a while is busy for both.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools import example_class
from tools.console import ROOT

PARTS = 2


def seconds_to_grade(code: Path, class_: Path, out: Path, jobs: int) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "lib.exercises", "grade", str(class_), f"--jobs={jobs}", f"--out={out}"]
    started = time.perf_counter()
    subprocess.run(
        command, cwd=code, env=environment | {"PYTHONPATH": str(code)}, check=True, capture_output=True
    )
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", required=True)
    parser.add_argument("--notebooks", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        packed = subprocess.run(
            ["git", "archive", options.before, "lib"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        (folder / "before").mkdir()
        subprocess.run(["tar", "x", "-C", str(folder / "before")], input=packed, check=True)
        totals = {"before": 0.0, "now": 0.0}
        for part in range(PARTS):
            class_ = folder / f"class-{part}"
            example_class.main([str(class_), f"--students={options.notebooks // PARTS}", "--chapters", "1"])
            for name, code in (("before", folder / "before"), ("now", ROOT)):
                seconds = seconds_to_grade(code, class_, folder / f"{name}-{part}", options.jobs)
                totals[name] += seconds
                print(f"part {part + 1} of {PARTS}, {name}: {seconds:.1f} s", flush=True)
    print(f"{options.notebooks} notebooks of six exercises, {options.jobs} at a time:")
    for name, seconds in totals.items():
        print(f"  {name:7} {seconds:7.1f} s")
    print(f"  before / now: {totals['before'] / totals['now']:.1f}")


if __name__ == "__main__":
    main()
