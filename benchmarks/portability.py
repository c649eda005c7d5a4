"""The same numbers on other processors: every notebook, and every test of a number.

`python -m benchmarks.portability` runs them as processors with SSE4, AVX2 and AVX-512 would, with one, two
and four threads. A processor can play its elders and not its juniors: a level that this one lacks is said to
be missing, and does not count as passed. Run it before a release; it takes as long as so many test suites.
A later change of a notebook does not make the table stale: it says which tree it was made of.
"""

import argparse
import os
from pathlib import Path

import torch

from benchmarks import program
from benchmarks.figures import table
from benchmarks.report import Report, make_part
from tools.console import ROOT, step
from tools.stress import run_round
from trust.dependencies import Project

# What torch, oneDNN and MKL each call the level, and the flag of a processor that has it.
LEVELS = {
    "SSE4": ("default", "SSE41", "SSE4_2", "sse4_1"),
    "AVX2": ("avx2", "AVX2", "AVX2", "avx2"),
    "AVX-512": ("avx512", "AVX512_CORE", "AVX512", "avx512f"),
}
VARIABLES = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS")
THREADS = (1, 2, 4)
WHICH = "not browser and not exhaustive"
SELECTION = ("tests/lib", "tests/book", "book", "--nbval", "--nbval-current-env", "-m", WHICH)
QUICK = ("tests/lib/test_attention.py",)
TREE = ("lib/**/*.py", "tests/**/*.py", "book/*.ipynb")  # what the table is of, named by its hash
LOGS = ROOT / "_build" / "portability"  # of the runs with a failure


def environment(level: str, threads: int) -> dict[str, str]:
    """What makes the libraries compute as a processor of this level would."""
    names = dict(zip(VARIABLES, LEVELS[level], strict=False))
    return os.environ | names | {"OMP_NUM_THREADS": str(threads), "PYTHONHASHSEED": "0"}


def available(level: str) -> bool:
    """True where this processor can compute as the level does."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # a system that does not tell: what torch itself would choose is what there is
        return LEVELS[level][0] in ("default", torch.backends.cpu.get_cpu_capability().lower())
    return LEVELS[level][3] in flags.split()


def measure(options: argparse.Namespace) -> dict:
    tree, rows = Project(ROOT).fingerprint((), TREE), []
    for level in LEVELS:
        for threads in THREADS:
            row = {"level": level, "threads": threads, "available": available(level)}
            if row["available"]:
                step(f"{level}, threads: {threads}")
                row |= run(level, threads, QUICK if options.quick else SELECTION)
            rows.append(row)
    return {"tree": tree, "rows": rows}


def run(level: str, threads: int, selection: tuple[str, ...]) -> dict:
    """One run of the tests: how many there were, and which failed."""
    log = LOGS / f"{level}-{threads}.log"
    done = run_round([*selection, "--no-loadscope-reorder"], 2, log, environment(level, threads))
    if not done.passed:
        raise RuntimeError(f"{'; '.join(done.failed)}, and no test passed: see {log}")
    tests = done.passed + done.skipped + len(done.failed)
    return {"seconds": done.seconds, "tests": tests, "skipped": done.skipped, "failed": sorted(done.failed)}


def show(values: dict) -> str:
    rows = values["rows"]
    lines = [[row["level"], str(row["threads"]), *result(row)] for row in rows]
    failures = sorted({name for row in rows for name in row.get("failed", [])})
    text = "## Notebooks and tests of lib and of the book, by dispatch and threads\n\n"
    text += f"Of {', '.join(TREE)}; together their hash is {values['tree'][:12]}.\n\n"
    text += table(["level", "threads", "tests", "failed", "seconds"], lines)
    return text + "".join(f"\n- failed: `{name}`" for name in failures) + ("\n" if failures else "")


def result(row: dict) -> list[str]:
    if not row["available"]:
        return ["this processor lacks it", "-", "-"]
    return [str(row["tests"] - row["skipped"]), str(len(row["failed"])), f"{row['seconds']:.0f}"]


COMMAND = "python -m benchmarks.portability"
REPORT = Report("portability", COMMAND, (make_part("matrix", COMMAND, measure, show),))


if __name__ == "__main__":
    program.run(REPORT, program.parser(REPORT, __doc__).parse_args())
