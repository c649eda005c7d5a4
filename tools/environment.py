"""Where the environment's programs are, and what every process of the course is told: the one place for both.

The set-up and the commands use it before anything is installed: standard library only.
"""

import os
from pathlib import Path

from tools.console import ROOT

VENV = ROOT / ".venv"


def program(name, folder=VENV, system=os.name):
    """The path of a program of an environment: Windows has another folder for them, and another ending."""
    return Path(folder, "Scripts", f"{name}.exe") if system == "nt" else Path(folder, "bin", name)


def settings(threads=0):
    """The variables of a process, with a number of threads where numbers are compared.

    One thread: sums are made in the same order, and test workers do not fight for cores. Nor can a small
    model gain from more: on a busy machine several threads wait for one another.
    """
    # String hashing is the one source of randomness that a seed inside a notebook cannot reach. And files are
    # UTF-8 on every system.
    told = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
    # What is installed is compiled where it is first imported, and kept: a process that may not keep it would
    # compile torch and transformers anew, for 20 seconds.
    told.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**told, "OMP_NUM_THREADS": str(threads)} if threads else told
