"""Create the virtual environment and install exactly what the requirement files pin.

Usage: python3 -m tools.setup_venv [--venv DIR] [--tests]. It runs under the system's Python, so the standard
library is all it may use, and old interpreters must get as far as the sentence that refuses them.

The pins are complete (tests/tools/test_setup.py and tools.resolve_pins see to that), so pip need not work out
what needs what, and several pips, each with packages of its own, can work at the same time.
"""

import argparse
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from tools.console import ROOT, fail, step
from tools.environment import VENV, program
from tools.pip_failure import explain, of_the_system, system_error

MINIMUM = (3, 11)
# Each pip waits for the index most of its time.
PIPS = 2


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


def pip_problem(python, what, arguments):
    """Run pip quietly; if it fails, the sentence that says why. Some reasons are in its log alone."""
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "log"
        command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        # Wheels: nothing is built. Nor is Python compiled ahead: most of these modules are never imported.
        command += ["--only-binary", ":all:", "--no-compile", "--log", str(log), *arguments]
        done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        noted = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if done.returncode:
        return explain(done.stdout, noted, done.returncode, what, platform.python_version())
    return ""


def install(python, *wanted):
    """Run a pip for each (what, arguments), all at once. None is stopped: that would leave half a package."""
    step(f"installing {', '.join(dict.fromkeys(what for what, _ in wanted))}")
    with ThreadPoolExecutor(len(wanted)) as pips:
        problems = list(pips.map(lambda each: pip_problem(python, *each), wanted))
    for problem in filter(None, problems):
        fail(problem)


def requirement_lines(path):
    """The requirements of a file: no comments, and not the course's own package, which is not on an index."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-e"))]


def install_for_readers(python):
    """What building, reading and running the course need."""
    torch, *others = requirement_lines(ROOT / "requirements.txt")
    shares = [("requirements.txt", ["--no-deps", *others[k::PIPS]]) for k in range(PIPS)]
    data = ("requirements-data.txt", ["--no-deps", "-r", "requirements-data.txt"])
    # torch first, alone and exactly, so that a CPU build is taken where the index has one. What keeps pip
    # from working at all shows here, before several pips say so at once.
    install(python, (torch, ["--no-deps", torch]))
    install(python, *shares, data)
    # The GPU build, where the index has no other, needs more, which is pinned too. The course's own package
    # is built with the setuptools that is installed by now.
    more = [torch, "--constraint", "constraints-gpu.txt", "--no-build-isolation", "-e", "."]
    install(python, ("the course itself", more))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", type=Path, default=VENV)
    parser.add_argument(
        "--tests", action="store_true", help="what only tests need, into an environment that is ready"
    )
    options = parser.parse_args()
    folder = options.venv
    check_python(sys.version_info)
    python = program("python", folder)
    try:
        if options.tests:
            install(python, ("requirements-test.txt", ["--no-deps", "-r", "requirements-test.txt"]))
            return
        if not is_healthy(python, sys.version_info):
            create(folder)
        install_for_readers(python)
    except OSError as problem:
        fail(f"the set-up stopped, because {of_an_exception(problem)}")


if __name__ == "__main__":
    main()
