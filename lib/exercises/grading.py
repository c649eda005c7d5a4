"""Grades a folder of students' notebooks: each in a process of its own, with limits of time and memory.

That process reaches the verdicts; the notebook's code runs in another, below it, which has no way to write
marks but to answer right. The limits keep a broken notebook from harming the others. They are no sandbox: the
code runs with its grader's rights.
"""

import contextlib
import errno
import json
import os
import secrets
import signal
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from lib.exercises.answers import BLANK, LARGEST, TO_READ, Mark, cells_of, grade_cells
from lib.exercises.student import RIGHT

SECONDS = 120.0
MEMORY = 4 * 2**30
ROOT = Path(__file__).resolve().parents[2]
TAG = "CORRECAO"  # in the environment of a notebook's processes, to find those that left its session

WHY = {
    errno.EACCES: "falta permissão",
    errno.ELOOP: "é um atalho que dá voltas",
    errno.ENOENT: "é um atalho para o que não existe",
}


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


def work(answer: int) -> None:
    """The notebook's process: grade what comes by the standard input, write to the open file `answer`, leave.

    A line for each mark and one for the end, so that the marks reached before a failure are kept.
    """
    import resource  # not on Windows

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))

    def tell(**what: object) -> None:
        os.write(answer, json.dumps(what).encode() + b"\n")

    try:
        for mark in grade_cells(cells_of(sys.stdin.buffer.read())):
            tell(mark=mark)
        tell(problem="")
    except ValueError as error:
        tell(problem=str(error))
    except MemoryError:
        tell(problem="a memória acabou")
    os._exit(0)


def grade_notebook(path: Path, name: str, seconds: float = SECONDS) -> Report:
    """Grade one notebook in a process of its own, which is killed with all its children when time is up."""
    try:
        file = _content(path)
    except OSError as error:
        why = WHY.get(error.errno or 0, error.strerror)
        return Report(name, [], f"o arquivo não pôde ser lido: {why}")
    except ValueError as error:
        return Report(name, [], str(error))
    tag = secrets.token_hex(8)
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(
            [sys.executable, "-m", "lib.exercises", "work", str(answer.fileno())],
            cwd=scratch,
            env=_environment(scratch) | {TAG: tag},
            pass_fds=[answer.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        late = ""
        try:
            process.communicate(file, timeout=seconds)
        except subprocess.TimeoutExpired:
            late = f"o notebook não terminou em {seconds:.0f} segundos"
        finally:
            _kill_session(process.pid, tag)
            process.wait()
        answer.seek(0)
        report = _report(name, process.returncode, answer.read())
        return report._replace(problem=late or report.problem)


def _content(path: Path) -> bytes:
    """The file; a ValueError if it is a folder, a device, a pipe that would block, or too large."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("não é um arquivo comum")
    if found.st_size > LARGEST:
        raise ValueError(f"o arquivo tem mais de {LARGEST // 2**20} MB")
    return path.read_bytes()


def _environment(scratch: str) -> dict[str, str]:
    """What Python and torch need, and nothing of what else the grader's environment may hold."""
    kept = {k: os.environ[k] for k in ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH") if k in os.environ}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": scratch,
        "TMPDIR": scratch,
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
    }


def _kill_session(leader: int, tag: str) -> None:
    """End a process and what it started, whatever groups and sessions they made for themselves."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
    mark = f"{TAG}={tag}".encode()
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError):
            if os.getsid(int(entry)) == leader or mark in Path("/proc", entry, "environ").read_bytes():
                os.kill(int(entry), signal.SIGKILL)


def _report(name: str, code: int, answer: bytes) -> Report:
    marks: list[Mark] = []
    for line in answer.splitlines():
        with contextlib.suppress(ValueError, TypeError, AttributeError):  # the last line may be cut
            told = json.loads(line)
            if "mark" not in told:
                return Report(name, marks, str(told["problem"]))
            marks.append(Mark(*map(str, told["mark"])))
    how = f"morto pelo sinal {-code}" if code < 0 else f"código {code}"
    return Report(name, marks, f"o processo do notebook terminou antes do fim ({how})")


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks below a folder, without editors' checkpoints."""
    return sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def grade_folder(folder: Path, *, seconds: float = SECONDS, jobs: int = 1) -> list[Report]:
    """Grade all notebooks below a folder, `jobs` at a time, in the order of their names, with a bar."""
    named = [(path, str(path.relative_to(folder))) for path in notebooks_in(folder)]
    pool = ThreadPoolExecutor(jobs)
    try:
        futures = [pool.submit(grade_notebook, path, name, seconds) for path, name in named]
        for future in tqdm(as_completed(futures), total=len(futures), unit="notebook"):
            future.result()  # what went wrong is said at once
    finally:
        pool.shutdown(cancel_futures=True)  # where the teacher interrupts, the notebooks that wait are left
    return [future.result() for future in futures]
