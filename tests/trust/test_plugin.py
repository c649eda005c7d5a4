"""The plugin on a small notebook, from end to end: what it checks after one execution, and what it tells."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import trust
from tests.trust.made_up import code, notebook

CELLS = (
    code("a", "x = 12\nprint('soma', x)", "soma 12\n"),
    code("b", "print('0.69 ± 0.04')", "0.66 ± 0.04\n", tolerance={"within": 0.1, "reason": "a training"}),
    code("c", "print(34)", "35\n", tags=("nbval-ignore-output",)),
)


def run(folder: Path, *cells: dict) -> subprocess.CompletedProcess:
    nbformat.write(notebook(*cells), folder / "made.ipynb")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "-q",
        "-rA",
        "--tamper",
        "all",
    ]
    command += [
        "-p",
        "no:cacheprovider",
        "-p",
        "nbval",
        "-p",
        "trust.plugin",
        "--tamper-seed",
        "1",
        "made.ipynb",
    ]
    packages = str(Path(trust.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": packages, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return run(tmp_path_factory.mktemp("good"), *CELLS[:2])


def test_a_good_notebook_passes_and_the_summary_counts(good):
    assert good.returncode == 0, good.stdout
    assert "6 passed" in good.stdout, "two cells and four checks"
    assert "stored outputs: 6 of 6 (6 digits)" in good.stdout
    assert "6 of 6 tampered numbers caught (seed 1); 1 figures are compared with a tolerance" in good.stdout


def test_a_stale_text_that_nbval_ignores_fails(tmp_path):
    done = run(tmp_path, *CELLS)
    assert done.returncode == 1
    assert "c: nbval ignores this cell, and its stored text is not what the code gives" in done.stdout
