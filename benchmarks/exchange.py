"""What torchrun starts for `benchmarks.scaling`, once in each process: training steps, timed one by one."""

import argparse
import json
import time
from pathlib import Path

import torch
import torch.distributed as dist

from lib.corpus import PORTUGUESE
from lib.encoder import Config
from lib.training import GrammarSource, Masked, Recipe, Trainer, joined

COLD = 5  # steps that find caches cold, and are dropped


def measure(batch: int, steps: int, out: Path) -> None:
    """The seconds of each step, and of exchanging its gradients once more."""
    with joined() as world:
        torch.manual_seed(0)
        objective = Masked(Config(len(PORTUGUESE), d=128, layers=2, heads=4, positions=48, pooler=False))
        trainer = Trainer(objective, GrammarSource(PORTUGUESE, batch, 0), Recipe(steps + COLD), world)
        seconds = {"step": [], "exchange": []}
        gradients = torch.zeros(sum(p.numel() for p in objective.parameters()))
        for i in range(steps + COLD):
            times = [time.perf_counter()]
            tokens = trainer.advance().tokens
            times.append(time.perf_counter())
            if world.size > 1:
                dist.all_reduce(gradients)
            times.append(time.perf_counter())
            if i >= COLD:
                for name, a, b in zip(seconds, times[:-1], times[1:], strict=True):
                    seconds[name].append(b - a)
        if world.leads:
            described = {"processes": world.size, "batch": batch, "tokens": tokens}
            out.write_text(json.dumps(described | {"parameters": len(gradients), "seconds": seconds}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.exchange", description=__doc__)
    parser.add_argument("batch", type=int)
    parser.add_argument("steps", type=int)
    parser.add_argument("out", type=Path)
    measure(**vars(parser.parse_args()))
