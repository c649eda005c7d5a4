"""Grades a folder of students' notebooks: each in a process of its own, with limits of time and memory.

The limits keep a broken notebook from harming the others. They are no sandbox: the code runs as its grader.
Nothing that a notebook prints reaches the table; its process answers through a file of its own.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from lib.exercises.answers import BLANK, LARGEST, TO_READ, Mark, grade_cells, read_cells
from lib.exercises.student import RIGHT

SECONDS = 120.0
MEMORY = 4 * 2**30
ROOT = Path(__file__).resolve().parents[2]


class Report(NamedTuple):
    """A notebook's marks, or why it has none."""

    notebook: str
    marks: list[Mark]
    problem: str = ""

    @property
    def right(self) -> int:
        return sum(mark.status == RIGHT for mark in self.marks)

    @property
    def checked(self) -> int:
        return sum(mark.status not in (TO_READ, BLANK) for mark in self.marks)


def work(path: Path, answer: int) -> None:
    """The notebook's process: grade it, write the marks to the open file `answer`, and leave."""
    import resource  # not on Windows

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))
    try:
        result = {"marks": grade_cells(read_cells(path))}
    except ValueError as error:
        result = {"problem": str(error)}
    except MemoryError:
        result = {"problem": "a memória acabou"}
    os.write(answer, b"\n" + json.dumps(result).encode())
    os._exit(0)  # threads and exit handlers of the notebook have no say


def grade_notebook(path: Path, name: str, seconds: float = SECONDS) -> Report:
    """Grade one notebook in a process of its own, which is killed with all its children when time is up."""
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(
            [sys.executable, "-m", "lib.exercises", "work", str(path.resolve()), str(answer.fileno())],
            cwd=scratch,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "HOME": scratch,
                "OMP_NUM_THREADS": "1",
                "MPLBACKEND": "Agg",
            },
            pass_fds=[answer.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return Report(name, [], f"o caderno não terminou em {seconds:.0f} segundos")
        finally:
            _kill_session(process.pid)
            process.wait()
        answer.seek(0)
        return _report(name, process.returncode, answer.read().rpartition(b"\n")[2])


def _kill_session(leader: int) -> None:
    """End a process and what it started, whatever groups they made for themselves."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(ValueError, ProcessLookupError, PermissionError):
            if os.getsid(int(entry)) == leader:
                os.kill(int(entry), signal.SIGKILL)


def _report(name: str, code: int, answer: bytes) -> Report:
    try:
        result = json.loads(answer)
        marks = [Mark(*map(str, mark)) for mark in result.get("marks", [])]
        return Report(name, marks, str(result.get("problem", "")))
    except (ValueError, TypeError, AttributeError):
        how = f"morto pelo sinal {-code}" if code < 0 else f"código {code}"
        return Report(name, [], f"o processo do caderno terminou sem resultado ({how})")


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks below a folder, without editors' checkpoints."""
    return sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def grade_folder(
    folder: Path,
    *,
    seconds: float = SECONDS,
    jobs: int = 1,
    progress: Callable[[Iterable, int], Iterable] | None = None,
) -> list[Report]:
    """Grade all notebooks below a folder, `jobs` at a time, in the order of their names."""
    paths = notebooks_in(folder)
    with ThreadPoolExecutor(jobs) as pool:
        names = [str(path.relative_to(folder)) for path in paths]
        futures = {
            pool.submit(_grade_safely, *pair, seconds): i
            for i, pair in enumerate(zip(paths, names, strict=True))
        }
        done = as_completed(futures)
        reports = {futures[f]: f.result() for f in (progress(done, len(paths)) if progress else done)}
    return [reports[i] for i in range(len(paths))]


def _grade_safely(path: Path, name: str, seconds: float) -> Report:
    try:
        return grade_notebook(path, name, seconds)
    except OSError as error:
        return Report(name, [], f"o arquivo não pôde ser lido: {error.strerror}")
