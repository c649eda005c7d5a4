"""One voice for every command: a line for each step, one sentence for each failure.

It also runs before the virtual environment exists, so it uses the standard library only.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent


def step(text):
    """Say, in one line, what is about to happen."""
    print(f"==> {text}\n", end="", flush=True)  # one write: threads do not mix their lines


def plain(text):
    """Text without the colours that other programs put in it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def arguments_of(description):
    """A parser of what follows a command, whose help is the description as it is written."""
    layout = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, formatter_class=layout)


def fail(sentence) -> NoReturn:
    """End the command with one sentence on stderr instead of a traceback."""
    sys.exit(f"error: {sentence}")
