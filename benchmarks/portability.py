"""The same numbers on other processors: every notebook, and every test of a number.

`python -m benchmarks.portability` runs them as processors with SSE4, AVX2 and AVX-512 would, with one, two
and four threads. A processor can play its elders and not its juniors: `--only AVX2` measures one level, which
can so be measured where it is to be had. Run it before a release; it takes as long as so many test suites.
A later change of a notebook does not make a table stale: it says which tree it was made of.
"""

import argparse
import os
from pathlib import Path

import torch

from benchmarks import program
from benchmarks.figures import table
from benchmarks.report import Report, make_part
from tools.console import ROOT, fail, step
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
# No variable reaches the grader's sandbox: what runs there computes as the machine does.
IN_SANDBOX = [f"--ignore=tests/lib/exercises/test_{name}.py" for name in ("attacks", "grading")]
SELECTION = ("tests/lib", "tests/book", "book", "--nbval", "--nbval-current-env", "-m", WHICH, *IN_SANDBOX)
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


def measure_sse4(options: argparse.Namespace) -> dict:
    return measure("SSE4", options)


def measure_avx2(options: argparse.Namespace) -> dict:
    return measure("AVX2", options)


def measure_avx512(options: argparse.Namespace) -> dict:
    return measure("AVX-512", options)


def measure(level: str, options: argparse.Namespace) -> dict:
    if not available(level):
        fail(f"this processor has no {level}: measure the others with --only, and this one elsewhere")
    tree, rows = Project(ROOT).fingerprint((), TREE), []
    for threads in THREADS:
        step(f"{level}, threads: {threads}")
        rows.append({"threads": threads, **run(level, threads, QUICK if options.quick else SELECTION)})
    return {"level": level, "tree": tree, "rows": rows}


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
    lines = [
        [
            str(row["threads"]),
            str(row["tests"] - row["skipped"]),
            str(len(row["failed"])),
            f"{row['seconds']:.0f}",
        ]
        for row in rows
    ]
    failures = sorted({name for row in rows for name in row["failed"]})
    text = f"## Notebooks and tests of lib and of the book, with {values['level']}\n\n"
    text += f"Of {', '.join(TREE)}; together their hash is {values['tree'][:12]}.\n\n"
    text += table(["threads", "tests", "failed", "seconds"], lines)
    return text + "".join(f"\n- failed: `{name}`" for name in failures) + ("\n" if failures else "")


COMMAND = "python -m benchmarks.portability"
MEASURES = {"SSE4": measure_sse4, "AVX2": measure_avx2, "AVX-512": measure_avx512}
PARTS = tuple(make_part(name, f"{COMMAND} --only {name}", each, show) for name, each in MEASURES.items())
REPORT = Report("portability", COMMAND, PARTS)


if __name__ == "__main__":
    program.run(REPORT, program.parser(REPORT, __doc__).parse_args())
