"""Create the virtual environment and install exactly what the requirement files pin.

Usage: python3 -m tools.setup_venv [--venv DIR]. It runs under the system's Python, so the standard library is
all it may use, and old interpreters must get as far as the sentence that refuses them.
"""

import argparse
import platform
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from tools.console import ROOT, fail, step
from tools.pip_failure import explain, of_the_system, system_error

MINIMUM = (3, 11)
# Where the GPU build of torch is what the index has, what comes with it is pinned too.
GPU = ("--constraint", "constraints-gpu.txt")


def check_python(version):
    """Refuse an interpreter that cannot run the pinned packages."""
    if tuple(version[:2]) < MINIMUM:
        needed = f"Python 3.11 or newer is needed and this one is {'.'.join(map(str, version[:3]))}"
        fail(f"{needed}: install python3.11 and run make again.")


def check_venv():
    """Debian keeps the parts of the standard library that make environments in a package of their own."""
    found = [find_spec(name) for name in ("venv", "ensurepip")]
    # A folder that an uninstallation left empty is found too, but it comes from no file.
    if any(spec is None or spec.origin is None for spec in found):
        fail(
            "this Python cannot make virtual environments (no venv or no ensurepip): install them, "
            "on Debian or Ubuntu with `apt install python3-venv`, and run make again."
        )


def is_healthy(python, version):
    """Tell a finished environment from one that an interruption left half-made or another Python made."""
    if not python.exists():
        return False
    check = f"import sys, pip; raise SystemExit(sys.version_info[:3] != {tuple(version[:3])})"
    return subprocess.run([str(python), "-c", check], capture_output=True).returncode == 0


def create(folder):
    """Make a new environment, replacing what a broken attempt may have left."""
    check_venv()
    import venv  # not at the top: where it is missing, the sentence above must still be said

    step(f"creating the virtual environment {folder.name}")
    try:
        venv.EnvBuilder(clear=True, with_pip=True).create(folder)
    except subprocess.CalledProcessError as problem:
        said = (problem.output or b"").decode(errors="replace")
        last = (said.strip().splitlines() or [str(problem)])[-1].strip()
        reason = of_the_system(said) or f"ensurepip failed ({last}): correct that and run make again."
        fail(f"the environment could not be created, because {reason}")
    except (OSError, ValueError) as problem:
        fail(f"the environment could not be created, because {of_an_exception(problem)}")


def of_an_exception(problem):
    """The sentence for an error of the system that reached us as an exception."""
    known = system_error(getattr(problem, "errno", None), problem)
    return known or f"the system says: {problem}; correct that and run make again."


def install(python, what, arguments):
    """Run pip quietly; on failure say in one sentence why. Some reasons are in its log alone."""
    step(f"installing {what}")
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "log"
        command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        # Wheels: nothing is built. Nor is Python compiled ahead: most of these modules are never imported.
        command += ["--only-binary", ":all:", "--no-compile", "--log", str(log), *arguments]
        done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            noted = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
            fail(explain(done.stdout, noted, done.returncode, what, platform.python_version()))


def torch_pin():
    """The torch line of requirements.txt: asked for alone and exactly, so that a CPU build is taken."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("torch=="))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv")
    folder = parser.parse_args().venv
    check_python(sys.version_info)
    python = folder / "bin" / "python"
    try:
        if not is_healthy(python, sys.version_info):
            create(folder)
        install(python, torch_pin(), [torch_pin(), *GPU])
        install(python, "requirements.txt", ["-r", "requirements.txt", *GPU])
        install(python, "requirements-data.txt", ["--no-deps", "-r", "requirements-data.txt"])
    except OSError as problem:
        fail(f"the set-up stopped, because {of_an_exception(problem)}")


if __name__ == "__main__":
    main()
