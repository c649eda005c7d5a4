"""The files of measurements under test: which digits they have, and what a run of a program does.

python -m tests.trust.measured FILE '{"benchmarks.floor": ["--seeds", "2"]}'     run it, tell what it did
"""

import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.report import Report
from tools.console import ROOT
from trust.dependencies import Project
from trust.tamper import Candidate, digits
from trust.trace import Trace

TREE = Project(ROOT)


def measured_candidates(report: Report) -> Iterator[Candidate]:
    """Digits in the values, in their provenance, and in what is made of them; the report must notice."""
    texts = report.texts()
    if problems := report.problems(texts, TREE):
        raise ValueError(problems[0])
    for name, text in texts.items():

        def notices(changed: str, name: str = name) -> bool:
            return bool(report.problems({**texts, name: changed}, TREE))

        yield from digits(f"benchmarks/{name}", text, notices)


def main() -> None:
    out, programs = sys.argv[1:]
    told = {}
    for name, arguments in json.loads(programs).items():
        trace = Trace(TREE)  # and the project's modules anew, without what they have computed already
        module, program = map(importlib.import_module, (name, "benchmarks.program"))
        parts = module.REPORT.parts
        watched = replace(module.REPORT, parts=tuple(map(trace.watched, parts)))
        program.run(watched, module.parse(["--quick", *arguments]))
        told |= {p.name: {"used": sorted(trace.used[p.name]), "left out": trace.left_out(p)} for p in parts}
    Path(out).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
