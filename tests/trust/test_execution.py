"""nbval's one run of a notebook: what is recorded of it, and that every check sees exactly that."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

import trust

CHECK = """
import json

def show(notebook, item):
    made = notebook.executed()
    cells = [[o.get("text") or o["data"]["text/plain"] for o in c.outputs] for c in made.cells]
    print("executed:", json.dumps(cells), len(made.metadata.get("widgets", {})))
    notebook.keep(notebook.path.parent)

def pytest_notebook_checks(config):
    return {"shown": show}
"""
CLEARED = "from IPython.display import clear_output\nprint('antes')\nclear_output()\nprint('depois')"


def notebook(path, *cells, **metadata):
    """A stored notebook of (source, printed) pairs."""
    made = [
        new_code_cell(source, execution_count=1, outputs=[new_output("stream", text=text)] if text else [])
        for source, text in cells
    ]
    for cell in made:
        cell.metadata.update(metadata)
    nbformat.write(new_notebook(cells=made), path)


def run(folder, *options, kernel=("--nbval-current-env",)):
    (folder / "check.py").write_text(CHECK, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--nbval", *kernel, "-q", "-rA", "-p"]
    command += ["no:cacheprovider", "-p", "nbval", "-p", "trust.execution", "-p", "check", *options]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(Path(trust.__file__).parents[1]), str(folder))),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    """A folder with a notebook, what its execution said, and pytest's report on it."""
    folder = tmp_path_factory.mktemp("replayed")
    notebook(
        folder / "made.ipynb", ("x = 1\nprint(x)", "1\n"), (CLEARED, "depois\n"), ("print(x + 1)", "2\n")
    )
    return folder, run(folder, "made.ipynb")


def test_checks_see_what_nbclient_would_store(replayed):
    """Cleared outputs are gone, as a reader would see them; nbval alone would compare both lines."""
    _, done = replayed
    assert done.returncode == 0, done.stdout
    assert 'executed: [["1\\n"], ["depois\\n"], ["2\\n"]] 0' in done.stdout


def test_a_replay_fails_where_the_file_was_changed_and_only_there(replayed):
    folder, _ = replayed
    text = (folder / "made.ipynb").read_text(encoding="utf-8")
    (folder / "made.ipynb").write_text(text.replace('"2\\n"', '"3\\n"'), encoding="utf-8")
    done = run(folder, "made.ipynb", f"--replay={folder}")
    (folder / "made.ipynb").write_text(text, encoding="utf-8")
    assert done.returncode == 1
    assert "FAILED made.ipynb::Cell 2" in done.stdout and "1 failed, 2 passed" in done.stdout
    assert "executed:" not in done.stdout, "a replay is for nbval's verdict alone"


def test_part_of_a_notebook_gives_no_verdict_on_the_whole(replayed):
    folder, _ = replayed
    done = run(folder, "made.ipynb", "--deselect", "made.ipynb::Cell 2")
    assert "not every cell of the notebook was executed" in done.stdout and "1 skipped" in done.stdout


def test_a_notebook_that_cannot_be_read_is_named_and_stops_nobody(replayed):
    folder, _ = replayed
    (folder / "bad.ipynb").write_text("{", encoding="utf-8")
    done = run(folder, "bad.ipynb", "made.ipynb", f"--replay={folder}", "--continue-on-collection-errors")
    assert "bad.ipynb is not JSON, as a notebook is" in done.stdout and "3 passed, 1 error" in done.stdout
    (folder / "bad.ipynb").unlink()


def test_a_kernel_that_is_not_installed_is_named(tmp_path):
    notebook(tmp_path / "r.ipynb", ("1", ""))
    made = nbformat.read(tmp_path / "r.ipynb", as_version=4)
    made.metadata.kernelspec = {"name": "not-installed", "display_name": "None", "language": "none"}
    nbformat.write(made, tmp_path / "r.ipynb")
    done = run(tmp_path, "r.ipynb", kernel=())
    assert "r.ipynb needs the kernel 'not-installed', which is not installed" in done.stdout
