"""A pytest plugin: each notebook is executed once, compared by nbval, and checked for what nbval skips.

    pytest_plugins = ["trust.plugin"]            # in the root conftest.py
    pytest --nbval --nbval-current-env book      # and --tamper all, to change every digit

After the last cell come widgets and pictures, which nbval skips; a sample of changed digits, each of which
must be noticed; and a notebook with changed digits given to a real pytest, which must fail at those cells.
"""

import os
import random
import re
import secrets
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import nbformat
import pytest
from nbval.plugin import IPyNbFile

from trust import comparison, tamper, tolerance
from trust.execution import ExecutedNotebook
from trust.notebooks import Cell, tags
from trust.tamper_outputs import cell_candidates, output_candidates, widget_candidates

SAMPLE = 40  # digits of each kind and notebook; about as many as changes that a person could make in a day
TAMPERED = "tampered"  # the property in which a test counts its digits
TOLERANT = "tolerant"  # the property in which a test counts the figures that may differ between machines


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("trust")
    group.addoption("--tamper", default=str(SAMPLE), help="digits of each kind to change, or all")
    group.addoption("--tamper-seed", type=int, help="repeat a run of changes")
    group.addoption("--replay", type=Path, help="compare with this executed notebook, execute nothing")


def pytest_configure(config: pytest.Config) -> None:
    # Chosen once, by the process that starts the others: a failure can be repeated with it.
    if config.option.tamper_seed is None:
        config.option.tamper_seed = secrets.randbelow(10**9)
    # String hashing is the one source of randomness that a seed inside a notebook cannot reach.
    os.environ["PYTHONHASHSEED"] = "0"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, list, list]:
    """Notebooks are nbval's; what becomes of their outputs is ours."""
    collected = yield
    ours = partial(ExecutedNotebook.from_parent, parent, path=file_path, checks=CHECKS)
    return [ours() if isinstance(node, IPyNbFile) else node for node in collected]


def what_nbval_skips(notebook: ExecutedNotebook, item: pytest.Item) -> None:
    stored, made = notebook.stored(), notebook.executed()
    found = comparison.widget_problems(stored, made) + comparison.ignored_text_problems(stored, made)
    found += tolerance.problems(notebook.path.name, stored["cells"])
    tolerant = [cell for cell in stored["cells"] if tolerance.KEY in cell["metadata"]]
    item.user_properties.append((TOLERANT, sum(len(tolerance.shown(cell)) for cell in tolerant)))
    assert not found, "\n".join(found)


def changed_digits(candidates: Callable, kind: str, notebook: ExecutedNotebook, item: pytest.Item) -> None:
    found = candidates(notebook.path.name, notebook.stored(), notebook.executed())
    tampered(list(found), kind, item)


def tampered(candidates: list[tamper.Candidate], kind: str, item: pytest.Item) -> None:
    """Change digits of one kind; none may go unnoticed."""
    option, seed = item.config.option.tamper, item.config.option.tamper_seed
    tried, missed = tamper.attempt(candidates, seed, None if option == "all" else int(option))
    item.user_properties.append((TAMPERED, [kind, tried - len(missed), tried, len(candidates)]))
    assert not missed, f"--tamper-seed={seed}, not noticed:\n" + "\n".join(map(str, missed))


def real_pytest_fails_there(notebook: ExecutedNotebook, item: pytest.Item) -> None:
    """The whole way from a changed file to pytest's report, with the outputs that are there already."""
    seed = item.config.option.tamper_seed
    rng, changed = random.Random(seed), notebook.stored()
    numbers = set()
    for number, cell in enumerate(c for c in changed["cells"] if c["cell_type"] == "code"):
        if comparison.IGNORE not in tags(cell) and rng.random() < 0.7 and change_one_digit(cell, rng):
            numbers.add(number)
    factory: pytest.TempPathFactory = item.config._tmp_path_factory  # pyright: ignore
    path = factory.mktemp(notebook.path.stem) / notebook.path.name
    executed = path.with_name(f"executed_{path.name}")
    for content, where in ((changed, path), (notebook.executed(), executed)):
        nbformat.write(nbformat.from_dict(content), where)
    assert failing_cells(path, executed) == numbers, f"--tamper-seed={seed}"


def change_one_digit(cell: Cell, rng: random.Random) -> bool:
    """Change one digit of a cell's stored text, in place; False where there is none that must be noticed."""

    def take_over(changed: Cell) -> bool:
        cell.update(changed)
        return True

    found = list(cell_candidates("", cell, take_over))
    return bool(found) and rng.choice(found).caught(rng)


CHECKS = {
    "what nbval skips": what_nbval_skips,
    "changed digits in outputs": partial(changed_digits, output_candidates, "stored outputs"),
    "changed digits in widgets": partial(changed_digits, widget_candidates, "widget state"),
    "pytest fails at changed cells": real_pytest_fails_there,
}


def failing_cells(path: Path, executed: Path) -> set[int]:
    """The numbers of the cells that fail in a real run of pytest --nbval, given an executed notebook."""
    report = path.with_suffix(".xml")
    options = ["-q", "-pno:cacheprovider", "-pnbval", "-ptrust.plugin", "--nbval", "--nbval-current-env"]
    command = [sys.executable, "-m", "pytest", *options, f"--replay={executed}", f"--junitxml={report}"]
    packages = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONPATH": packages, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, path.name], cwd=path.parent, env=environment, capture_output=True, text=True
    )
    assert report.exists(), done.stdout + done.stderr
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = {case for case in cases if case.find("failure") is not None or case.find("error") is not None}
    assert bool(failed) == bool(done.returncode), "pytest's exit code tells whether a cell failed"
    return {int(re.findall(r"\d+", case.get("name", ""))[-1]) for case in failed}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """How many changed digits were noticed, and how many figures are compared with a tolerance."""
    reports = [r for outcome in ("passed", "failed") for r in terminalreporter.stats.get(outcome, [])]
    told = [pair for report in reports for pair in getattr(report, "user_properties", [])]
    counts: dict[str, Counter] = defaultdict(Counter)
    for kind, caught, tried, digits in (value for name, value in told if name == TAMPERED):
        counts[kind].update(caught=caught, tried=tried, digits=digits)
    for kind, count in counts.items():
        line = f"  {kind}: {count['caught']} of {count['tried']} ({count['digits']} digits)"
        terminalreporter.write_line(line)
    if counts:
        total, seed = sum(counts.values(), Counter()), config.option.tamper_seed
        tolerant = sum(value for name, value in told if name == TOLERANT)
        terminalreporter.write_line(
            f"{total['caught']} of {total['tried']} tampered numbers caught (seed {seed}); "
            f"{tolerant} figures are compared with a tolerance"
        )
