"""One process against two under torchrun: what a step costs, and what of it is talk between processes.

`python -m benchmarks.scaling` measures, on this machine, training steps by one process and by two (one thread
each) with the same batch in all, with the same batch for each, and the exchange of the gradients alone. One
process on half of the batch tells how much of a step does not shrink with it. From these parts a step of more
processes is computed, and said to be computed; the same for two, to be held against what was measured. Kept
in scaling.json, which the appendix of the book reads.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.distributed as dist

from lib.corpus import PORTUGUESE
from lib.encoder import Config
from lib.training import GrammarSource, Masked, Recipe, Trainer, joined

RESULTS = Path(__file__).with_name("scaling.json")
COMPUTED = (2, 4, 8, 16, 64)


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.scaling", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that everything runs")
    parser.add_argument(
        "--measure", nargs=3, help=argparse.SUPPRESS
    )  # what torchrun starts: batch steps file
    options = parser.parse_args()
    if options.measure:
        measure(int(options.measure[0]), int(options.measure[1]), Path(options.measure[2]))
        return
    batch, steps = (16, 4) if options.quick else (256, 40)
    runs = {
        "one": launch(1, batch, steps),
        "one, half of the batch": launch(1, batch // 2, steps),
        "two, same batch in all": launch(2, batch, steps),
        "two, same batch for each": launch(2, 2 * batch, steps),
    }
    result = summary(batch, runs)
    print(json.dumps(result, indent=1))
    if not options.quick:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")


def launch(processes: int, batch: int, steps: int) -> dict:
    """Measure under a torchrun of our own, on loopback."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "seconds.json"
        command = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            str(processes),
        ]
        asked = ["-m", "benchmarks.scaling", "--measure", str(batch), str(steps), str(out)]
        subprocess.run([*command, *asked], check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        return json.loads(out.read_text())


def measure(batch: int, steps: int, out: Path) -> None:
    """The median seconds of a step, and of exchanging its gradients."""
    with joined() as world:
        torch.manual_seed(0)
        objective = Masked(Config(len(PORTUGUESE), d=128, layers=2, heads=4, positions=48, pooler=False))
        trainer = Trainer(objective, GrammarSource(PORTUGUESE, batch, 0), Recipe(steps + 5), world)
        seconds = {"step": [], "exchange": []}
        gradients = torch.zeros(sum(p.numel() for p in objective.parameters()))
        for i in range(steps + 5):
            times = [time.perf_counter()]
            tokens = trainer.advance().tokens
            times.append(time.perf_counter())
            if world.size > 1:
                dist.all_reduce(gradients)
            times.append(time.perf_counter())
            if i >= 5:  # the first ones find caches cold
                for name, a, b in zip(seconds, times[:-1], times[1:], strict=True):
                    seconds[name].append(b - a)
        if world.leads:
            medians = {name: statistics.median(values) for name, values in seconds.items()}
            out.write_text(json.dumps(medians | {"tokens": tokens, "parameters": len(gradients)}))


def summary(batch: int, runs: dict[str, dict]) -> dict:
    whole, half = runs["one"]["step"], runs["one, half of the batch"]["step"]
    fixed = max(0.0, 2 * half - whole)  # what half of the batch does not save
    exchange = runs["two, same batch in all"]["exchange"]  # a ring moves 2 (p - 1) / p of the gradients
    computed = {
        str(p): {
            "step": fixed + (whole - fixed) / p + 2 * (p - 1) / p * exchange,
            "said": "computed, not measured",
        }
        for p in COMPUTED
    }
    return {
        "batch": batch,
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "bytes_exchanged": 4 * runs["one"]["parameters"],
        "measured": runs,
        "computed": computed,
    }


if __name__ == "__main__":
    main()
