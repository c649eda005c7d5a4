"""One process against two under torchrun: what a step costs, and what of it is talk between processes.

`python -m benchmarks.scaling` measures, on this machine, training steps by one process and by two (one thread
each) with the same batch in all, with the same batch for each, and the exchange of the gradients alone. One
process on half of the batch tells how much of a step does not shrink with it. They take turns, so that what
else the machine does falls on all of them. From these parts a step of more processes is computed, and said to
be computed; the same for two, to be held against what was measured.
"""

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from statistics import median

from benchmarks import program
from benchmarks.figures import table
from benchmarks.report import Report, make_part
from tools import console

ONE, HALF = "one", "one, half of the batch"
TWO, TWICE = "two, same batch in all", "two, same batch for each"
COMPUTED = (2, 4, 8, 16, 64)


def measure(options: Namespace) -> dict:
    batch, steps, turns = (16, 2, 2) if options.quick else (256, 10, 8)
    asked = {ONE: (1, batch), HALF: (1, batch // 2), TWO: (2, batch), TWICE: (2, 2 * batch)}
    taken = [{name: launch(*how, steps) for name, how in asked.items()} for _ in range(turns)]
    return {"seed": 0, "runs": {name: joint([turn[name] for turn in taken]) for name in asked}}


def joint(runs: list[dict]) -> dict:
    """The steps of all the turns of one run, as if it had been made at once."""
    seconds = {part: [s for run in runs for s in run["seconds"][part]] for part in runs[0]["seconds"]}
    return runs[0] | {"seconds": seconds}


def launch(processes: int, batch: int, steps: int) -> dict:
    """Measure under a torchrun of our own, on loopback."""
    console.step(f"{processes} processes, batch of {batch}")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "seconds.json"
        torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
        asked = ["-m", "benchmarks.exchange", str(batch), str(steps), str(out)]
        subprocess.run(
            [sys.executable, "-m", *torchrun, *asked], check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
        )
        return json.loads(out.read_text())


def computed(runs: dict[str, dict], processes: int) -> float:
    """The seconds of a step of so many processes, from parts that one and two processes took."""
    whole, half = median(runs[ONE]["seconds"]["step"]), median(runs[HALF]["seconds"]["step"])
    fixed = max(0.0, 2 * half - whole)  # what half of the batch does not save
    exchange = median(runs[TWO]["seconds"]["exchange"])  # a ring moves 2 (p - 1) / p of the gradients
    return fixed + (whole - fixed) / processes + 2 * (processes - 1) / processes * exchange


def show(values: dict) -> str:
    runs = values["runs"]
    measured = []
    for name, run in runs.items():
        step, exchange = (f"{1000 * median(run['seconds'][what]):.1f}" for what in ("step", "exchange"))
        exchanged = exchange if run["processes"] > 1 else ""
        measured.append([name, str(run["batch"]), str(run["tokens"]), step, exchanged])
    more = [[str(p), f"{1000 * computed(runs, p):.1f}"] for p in COMPUTED]
    steps = len(runs[ONE]["seconds"]["step"])
    return (
        f"Median of {steps} steps, one thread for each process; the gradients of "
        f"{runs[ONE]['parameters']:,} parameters are {4 * runs[ONE]['parameters']:,} bytes.\n\n"
        + table(["processes", "batch in all", "tokens", "ms a step", "ms an exchange"], measured)
        + "\nComputed from these, not measured:\n\n"
        + table(["processes", "ms a step, same batch in all"], more)
    )


COMMAND = "python -m benchmarks.scaling"
IN_EACH_PROCESS = "benchmarks.exchange:measure"  # that torchrun starts
REPORT = Report("scaling", COMMAND, (make_part("processes", COMMAND, measure, show, IN_EACH_PROCESS),))


def parse(arguments: list[str] | None = None) -> Namespace:
    return program.parser(REPORT, __doc__).parse_args(arguments)


if __name__ == "__main__":
    program.run(REPORT, parse())
