"""Create the virtual environment and install exactly what the requirement files pin.

Usage: python3 -m tools.setup_venv [--venv DIR]. It runs under the system's Python, so the standard library is
all it may use, and old interpreters must get as far as the sentence that refuses them.
"""

import argparse
import subprocess
import sys
import venv
from pathlib import Path

from tools.console import ROOT, fail, step

MINIMUM = (3, 11)
NETWORK_HINTS = (
    "NewConnectionError",
    "No matching distribution",
    "Temporary failure in name",
    "ConnectTimeout",
)


def check_python(version):
    """Refuse an interpreter that cannot run the pinned packages."""
    if tuple(version[:2]) < MINIMUM:
        found = ".".join(str(part) for part in version[:3])
        fail(
            f"Python 3.11 or newer is needed and this one is {found}: install python3.11 and run make again."
        )


def is_healthy(python):
    """Tell a finished environment from one that an interruption left half-made."""
    if not python.exists():
        return False
    check = f"import sys, pip; raise SystemExit(sys.version_info < {MINIMUM})"
    return subprocess.run([str(python), "-c", check], capture_output=True).returncode == 0


def create(folder):
    """Make a new environment, replacing what a broken attempt may have left."""
    step(f"creating the virtual environment {folder.name}")
    try:
        venv.EnvBuilder(clear=True, with_pip=True).create(folder)
    except (subprocess.CalledProcessError, OSError) as problem:
        fail(f"the environment could not be created ({problem}): install python3-venv and run make again.")


def install(python, what, arguments):
    """Run pip quietly; on failure show its own error lines and say what to look at."""
    step(f"installing {what}")
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *arguments]
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        return
    errors = [
        line for line in done.stdout.splitlines() if line.startswith("ERROR")
    ] or done.stdout.splitlines()
    reason = errors[-1].removeprefix("ERROR: ").rstrip(".") if errors else f"exit code {done.returncode}"
    if any(hint in done.stdout for hint in NETWORK_HINTS):
        fail(f"pip could not fetch {what} ({reason}): connect to the network and run make again.")
    fail(f"pip could not install {what} ({reason}): correct that and run make again.")


def torch_pin():
    """The torch line of requirements.txt: asked for alone and exactly, it brings no GPU packages along."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("torch=="))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv")
    folder = parser.parse_args().venv
    check_python(sys.version_info)
    python = folder / "bin" / "python"
    if not is_healthy(python):
        create(folder)
    install(python, torch_pin(), [torch_pin()])
    install(python, "requirements.txt", ["-r", "requirements.txt"])
    install(python, "requirements-data.txt", ["--no-deps", "-r", "requirements-data.txt"])


if __name__ == "__main__":
    main()
