"""Open the course in JupyterLab, in a folder that is the student's: nothing of hers is written over.

Usage: .venv/bin/python -m tools.lab [--folder FOLDER] [options of JupyterLab]   (`make lab`)
"""

import subprocess
import sys
from pathlib import Path

from tools.console import ROOT, arguments_of, step
from tools.lab import server
from tools.lab.extensions import copy_patient
from tools.lab.folder import Folder
from tools.lab.notebooks import files, read_book
from tools.lab.start import START, start_page

FOLDER = ROOT / "caderno"


def prepare(path: Path) -> Folder:
    """Bring the folder up to date, and say what is new in it."""
    folder, book, kernel = Folder(path), read_book(), server.kernel()
    first = not any(folder.path.glob("*.ipynb"))
    for name, content in files(book).items():
        folder.place(name, content, kernel)
    pages = len(folder.written)
    folder.place(START, start_page(book, folder.offers()))
    copy_patient(folder.extensions)
    folder.remember()
    if first:
        step(f"{path}: your own copy of the chapters; what you change stays yours")
    elif pages:
        step(f"{path}: {pages} pages are new or have a newer version")
    for hers, newer in folder.beside.items():
        step(f"{hers} is as you left it; its newer version is beside it, in {newer}")
    return folder


def main(arguments: list[str] | None = None) -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options, others = parser.parse_known_args(arguments)
    folder = prepare(options.folder.resolve())
    command = [*server.command(folder), *others]
    try:
        return subprocess.run(command, cwd=folder.path, env=server.environment(folder)).returncode
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
