"""Grades a folder of students' notebooks, several at a time, in one sandbox; a broken one fails by itself."""

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

import torch
from tqdm import tqdm

from lib.exercises.answers import Mark, cells_of, grade_cells
from lib.exercises.isolation import NoReply, Remote
from lib.exercises.sandbox import warm_process

SECONDS = 120.0
JOBS = os.cpu_count() or 1
LARGEST = 50 * 2**20  # a notebook's file, in bytes


class Report(NamedTuple):
    """A notebook's marks, or why it has none."""

    notebook: str
    marks: list[Mark]
    problem: str = ""


def grade_notebook(path: Path, name: str, warm: Remote, seconds: float = SECONDS) -> Report:
    """Grade one notebook; the marks reached before a failure are kept."""
    marks, problem = [], ""
    try:
        for mark in grade_cells(cells_of(_content(path)), warm, seconds):
            marks.append(mark)
    except OSError as error:
        problem = f"o arquivo não pôde ser lido: {error.strerror}"
    except NoReply:
        problem = f"o notebook não terminou em {seconds:.0f} segundos"
    except ValueError as error:
        problem = str(error)
    except Exception as error:  # whatever it has come to, the others are graded
        problem = f"a correção deste notebook falhou com {type(error).__name__}"
    return Report(name, marks, problem)


def _content(path: Path) -> bytes:
    """The file; a ValueError if it is a folder, a device, a pipe that would block, or too large.

    Or a link: it could lead to a colleague's notebook.
    """
    if path.is_symlink():
        raise ValueError("é um atalho para outro arquivo: envie o próprio notebook")
    if not path.is_file():
        raise ValueError("não é um arquivo comum")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"o arquivo tem mais de {LARGEST // 2**20} MB")
    return path.read_bytes()


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks below a folder, without editors' checkpoints."""
    return sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def grade_folder(
    folder: Path, *, seconds: float = SECONDS, jobs: int = JOBS, unsafe: bool = False
) -> list[Report]:
    """Grade all notebooks below a folder, `jobs` at a time; shows how many are done and the time left."""
    torch.set_num_threads(1)  # the checkers' tensors are small: threads would only wait for one another
    with warm_process(unsafe, hidden=(folder,)) as warm, ThreadPoolExecutor(jobs) as pool:
        futures = [
            pool.submit(grade_notebook, path, str(path.relative_to(folder)), warm, seconds)
            for path in notebooks_in(folder)
        ]
        try:
            for future in tqdm(as_completed(futures), "corrigindo", len(futures), unit=" caderno"):
                future.result()  # what went wrong is said at once
        finally:
            pool.shutdown(cancel_futures=True)  # where the teacher interrupts, the others are left
    return [future.result() for future in futures]
