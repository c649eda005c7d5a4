"""Files: written whole or not at all, and those that installed packages carry."""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path


def package_folder(module: str, requirement: str) -> Path:
    """Where an installed package keeps its files, found without importing (so without running) it."""
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        advice = f"pip install --no-deps '{requirement}'"
        raise ModuleNotFoundError(f"the package {module} is not installed: {advice}", name=module)
    return Path(spec.submodule_search_locations[0])


def write_atomically(path: Path, data: bytes | str) -> None:
    """Put `data` at `path` in one act: a reader, or a kill, finds the old file or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".writing")
    try:
        with open(handle, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:  # a full disk, Ctrl-C: what was written of it would only take room
        os.unlink(name)
        raise
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the new name itself must reach the disk too
        finally:
            os.close(folder)


def _umask() -> int:
    """What this process leaves out of the rights of a new file; it can only be read by setting it."""
    umask = os.umask(0)
    os.umask(umask)
    return umask
