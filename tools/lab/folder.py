"""What is put into the student's folder, and what is left alone: nothing that she changed is written over.

A record says which version she was given under each name, and what was written. What still is that gives way
to a newer version; beside what is hers the newer version is placed under another name, once, and she is told.
"""

import hashlib
import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

from lib.files import write_atomically

PRIVATE = ".jupyter"  # what begins with a point is not in JupyterLab's list of files
CONFIG = Path(__file__).parent / "config"  # what JupyterLab is told, named as it wants it
SIGNATURES = {"db_file": "signatures.db", "secret_file": "secret"}  # as in CONFIG
NEWER = "-versao-nova"


class Folder:
    """The folder, with the record of what was written into it."""

    def __init__(self, path: Path) -> None:
        self.path, self.private = path, path / PRIVATE
        self.extensions = self.private / "labextensions"
        shutil.copytree(CONFIG, self.private, dirs_exist_ok=True)
        self._record = self.private / "versions.json"
        self._known: dict[str, dict[str, str]] = {}
        self.written: list[str] = []
        self.beside: dict[str, str] = {}  # a file of hers, and where its newer version was placed now
        if self._record.exists():
            self._known = json.loads(self._record.read_text(encoding="utf-8"))

    def place(self, name: str, content: NotebookNode | str, kernel: dict | None = None) -> None:
        """Put the present version of a file in its place, or beside it if what is there is hers.

        What only this machine's kernel says of a notebook is no other version of it.
        """
        version = _digest(_text(content).encode())
        if (self.path / name).exists() and self._known.get(name, {}).get("version") == version:
            return
        free = next(other for other in _names(name) if not self._is_hers(other))
        if isinstance(content, NotebookNode):
            content.metadata.update(kernel or {})
            self.notary().sign(content)
        text = _text(content)
        write_atomically(self.path / free, text)
        self.written.append(free)
        self._known[free] = {"version": version, "written": _digest(text.encode())}
        if free != name:
            self._known[name] = {"version": version, "written": ""}
            self.beside[name] = free

    def _is_hers(self, name: str) -> bool:
        path = self.path / name
        return path.exists() and _digest(path.read_bytes()) != self._known.get(name, {}).get("written")

    def offers(self) -> list[str]:
        """The newer versions that lie beside something of hers."""
        return sorted(path.name for path in self.path.glob(f"*{NEWER}*") if path.is_file())

    def notary(self) -> NotebookNotary:
        """Signs what we write: JupyterLab shows widgets only in notebooks that it trusts."""
        places = {name: str(self.private / file) for name, file in SIGNATURES.items()}
        return NotebookNotary(**places)

    def remember(self) -> None:
        """Keep the record for the next start."""
        write_atomically(self._record, json.dumps(self._known, indent=1, sort_keys=True) + "\n")


def _names(name: str) -> Iterator[str]:
    """The name of a file, then those for newer versions of it."""
    path = Path(name)
    yield name
    yield f"{path.stem}{NEWER}{path.suffix}"
    for i in itertools.count(2):
        yield f"{path.stem}{NEWER}-{i}{path.suffix}"


def _text(content: NotebookNode | str) -> str:
    return content if isinstance(content, str) else nbformat.writes(content) + "\n"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
