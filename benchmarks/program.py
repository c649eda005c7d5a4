"""What every program does around its measurements: options, what it says, and keeping what was measured."""

import argparse
import json
import os
from collections.abc import Callable

import torch

from benchmarks.report import Report
from tools.console import ROOT, fail, step
from trust import provenance
from trust.dependencies import Project

BUSY = 0.5  # of the cores


def parser(report: Report, description: str | None) -> argparse.ArgumentParser:
    """The options that all programs have; the description is a module's docstring."""
    made = argparse.ArgumentParser(report.command, description=(description or "").partition("\n")[0])
    made.add_argument("--quick", action="store_true", help="to see that everything runs; nothing is kept")
    if len(report.parts) > 1:
        names = [part.name for part in report.parts]
        made.add_argument("--only", choices=names, help="one part; the others are kept as they are")
    return made


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option that is a whole number."""

    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {text}")
        return int(text)

    return number


def run(report: Report, options: argparse.Namespace) -> None:
    """Measure the parts that are asked for; print each, and unless the run is quick keep it at once."""
    if provenance.load_average() > BUSY * (os.cpu_count() or 1):
        step("The machine is busy: the intervals will be wide. Repeat it when it is quiet.")
    if "threads" in options:
        torch.set_num_threads(options.threads)
    if not options.quick:
        try:  # now, not after the measurement: what is kept of the other parts may be damaged
            report.content()
        except ValueError as problem:
            fail(f"{problem}; put it back, or delete it and measure all parts again")
    try:
        for part in report.parts:
            if getattr(options, "only", None) in (None, part.name):
                measure(report, part, options)
    finally:
        if not options.quick:
            report.write()


def measure(report: Report, part: provenance.Part, options: argparse.Namespace) -> None:
    step(f"Measuring {part.name}")
    asked = {name: value for name, value in vars(options).items() if name not in ("quick", "only")}
    settings = {"instructions": torch.backends.cpu.get_cpu_capability(), **asked}
    made = provenance.begin(Project(ROOT), part, settings)
    values = json.loads(json.dumps(part.measure(options)))  # as they will be read from the file
    print(part.show(values), flush=True)
    if not options.quick:
        provenance.keep(report.json, part, values, made)
        step(f"Kept in {report.json.name}, and shown in {' and '.join(report.shown)}")
