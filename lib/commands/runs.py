"""The folder of a run: one process group at a time, one set of settings, a log that can be mended."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from lib.commands.console import Refusal
from lib.training.loop import sound_records
from lib.training.processes import World


@contextmanager
def alone_in(folder: Path, world: World) -> Iterator[None]:
    """Hold the folder's lock. The system lets go of it when the process ends, however it ends.

    The file says who holds it, and stays: to remove it would leave the next ones with two locks.
    """
    file, holder = None, None
    if world.leads:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("a+", encoding="utf-8")
        holder = None if _locked(file) else _content(file) or "outro processo"
    try:
        if holder := world.from_leader(holder):
            raise Refusal(f"a pasta {folder} está em uso: {holder}; espere, ou escolha outra com --pasta.")
        if file:
            file.truncate(0)
            who = f"o processo {os.getpid()} da máquina {socket.gethostname()}"
            file.write(f"{who} treina nela desde {datetime.now():%d/%m às %H:%M:%S}")
            file.flush()
        yield
    finally:
        if file:
            file.close()


def _content(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


if os.name == "nt":
    import msvcrt

    def _locked(file: IO[str]) -> bool:
        file.seek(2**20)  # far from what is written: others may not read what is locked
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _locked(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def require_same(folder: Path, settings: dict, names: dict[str, str]) -> int | None:
    """Refuse a folder of another run, and say in what they differ; returns how many steps it had, if any.

    More steps are no other run, but the same for longer. `names` are those of the options.
    """
    path = folder / "settings.json"
    if not path.exists():
        return None
    try:
        other = json.loads(path.read_text(encoding="utf-8"))
        steps = int(other["steps"])
    except (ValueError, KeyError, TypeError):
        told = f"{path} está danificado: apague a pasta {folder} ou escolha outra com --pasta."
        raise Refusal(told) from None
    differ = [names[key] for key in names if other.get(key) != settings.get(key) and key != "steps"]
    if differ or (other | {"steps": 0}) != (settings | {"steps": 0}):
        told = ", ".join(differ) or "a versão deste programa"
        raise Refusal(f"a pasta {folder} é de outro treino (diferem: {told}); escolha outra com --pasta.")
    if steps > settings["steps"]:
        raise Refusal(
            f"o treino da pasta {folder} é de {steps} passos, mais do que os {settings['steps']} pedidos; "
            f"para continuar, repita com --passos {steps} ou mais."
        )
    return steps


def mended(log: Path) -> str | None:
    """What to tell of a damaged log, which will be cut at its first bad line; a checkpoint needs no log."""
    records, damaged = sound_records(log)
    if damaged is None:
        return None
    kept = f"ficam as {len(records)} linhas anteriores"
    return f"O registro {log} estava danificado na linha {damaged} e foi cortado ali; {kept}."
