"""Checkpoints that survive: written whole or not at all, checked before they are believed.

A checkpoint is one safetensors file, which holds numbers and no code. Its name carries the step and the
SHA-256 of its bytes, so a file that was cut short, changed or renamed is found out. It is written beside its
place and moved there in one act of the file system. The last two are kept: if the newest is damaged, the one
before it serves. `run` is a fingerprint of the settings: a checkpoint of another run is refused.
"""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from lib.files import write_atomically

KEPT = 2
NAME = re.compile(r"checkpoint-(\d{8})-([0-9a-f]{64})\.safetensors")


class CheckpointError(ValueError):
    """A file that cannot be trusted as a checkpoint of this run; the message names it and says why."""


def fingerprint(settings: dict) -> str:
    """A short name for everything that decides a run."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


class Checkpoints:
    """The checkpoints of one run in one folder."""

    def __init__(self, folder: str | Path, run: str):
        self.folder, self.run = Path(folder), run

    def save(self, tensors: dict[str, Tensor], step: int) -> Path:
        """Write a checkpoint and drop those before the last two."""
        self.folder.mkdir(parents=True, exist_ok=True)
        data = save({name: t.contiguous() for name, t in tensors.items()}, {"run": self.run})
        path = self.folder / f"checkpoint-{step:08d}-{hashlib.sha256(data).hexdigest()}.safetensors"
        write_atomically(path, data)
        unfinished = self.folder.glob(".checkpoint-*.writing")  # left by a kill while writing
        for old in (*self.paths()[:-KEPT], *unfinished):
            old.unlink(missing_ok=True)
        return path

    def paths(self) -> list[Path]:
        """Files that are named as checkpoints, oldest first."""
        if not self.folder.is_dir():
            return []
        named = ((NAME.fullmatch(path.name), path) for path in self.folder.iterdir())
        return [path for _, path in sorted((m[1], path) for m, path in named if m)]

    def read(self, path: Path) -> dict[str, Tensor]:
        """The tensors of one checkpoint, or a CheckpointError that names the file."""
        data, name = path.read_bytes(), NAME.fullmatch(path.name)
        if name is None:
            raise CheckpointError(f"{path.name}: not the name of a checkpoint")
        if hashlib.sha256(data).hexdigest() != name[2]:
            raise CheckpointError(f"{path.name}: damaged, its content does not have the digest in its name")
        try:
            tensors = load(data)
        except SafetensorError as error:
            raise CheckpointError(f"{path.name}: not a safetensors file ({error})") from None
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        run = header.get("__metadata__", {}).get("run")
        if run != self.run:
            raise CheckpointError(f"{path.name}: belongs to run {run}, and this is run {self.run}")
        if "step" not in tensors or int(tensors["step"]) != int(name[1]):
            raise CheckpointError(f"{path.name}: does not hold the step that its name says")
        return tensors

    def newest(self, refused: Callable[[CheckpointError], None]) -> dict[str, Tensor] | None:
        """The newest checkpoint that can be trusted, or None; `refused` hears of every one passed over.

        A refused file is set aside under another name: kept to be looked at, not counted among the last two.
        """
        for path in reversed(self.paths()):
            try:
                return self.read(path)
            except CheckpointError as error:
                refused(error)
                path.rename(path.with_name(f"refused-{path.name}"))
        return None
