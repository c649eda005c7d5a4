"""Every command of the course, on every system: python -m tools COMMAND (the Makefile only calls it).

Each command first does whatever set-up is missing. What follows the command goes to the program behind it.
It runs under the system's Python before anything is installed: standard library only.
"""

import functools
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.console import ROOT, fail
from tools.environment import VENV, program, settings

CODE = ("lib", "trust", "tests", "benchmarks", "tools", "book/_ext", "conftest.py")
NOTEBOOKS = ("book", "--nbval", "--nbval-current-env")
VENDORED = ("book/_static/vendor", "tests/_vendor", "tools/_vendor")
MEASURED = (
    "benchmarks",
    *(f"benchmarks.{name}" for name in ("floor", "porttinari", "scaling", "frames", "lighthouse")),
)
# The small models of lib, and how they are trained.
MODELS = {
    "masked": ("--passos", "12000", "--float16"),
    "pairs": ("--objetivo", "mlm+nsp", "--passos", "6000", "--lote", "96", "--float16"),
}


def run(*command, threads=0):
    """Run a program of the environment, or end as it ended."""
    code = subprocess.run([str(part) for part in command], cwd=ROOT, env=settings(threads)).returncode
    if code:
        sys.exit(code)


def module(name, *arguments, threads=0):
    """Run a module with the environment's Python."""
    run(program("python"), "-m", name, *arguments, threads=threads)


def pytest(*arguments, jobs="3"):
    """Run tests. One more worker than two cores: one that waits for a browser or a server needs none."""
    spread = ("-n", os.environ.get("JOBS", jobs), "--dist", "loadscope", "--no-loadscope-reorder")
    module("pytest", *spread, "-q", "--durations=15", *arguments, threads=1)


def side_by_side(*commands):
    """Run commands of this program at the same time; all must succeed."""
    started = [subprocess.Popen([sys.executable, "-m", "tools", name], cwd=ROOT) for name in commands]
    if any([process.wait() for process in started]):  # a list: every one is waited for
        sys.exit(1)


# --- what is made once, and again when what it is made of is newer ------------------------------------------


class Made:
    """A file that says that something was made; what of (patterns, and others that are made), and how."""

    def __init__(self, stamp, sources, make, needs=()):
        self.stamp, self.sources, self.make, self.needs = ROOT / stamp, sources, make, needs

    def is_stale(self):
        if not self.stamp.exists():
            return True
        files = [path for pattern in self.sources for path in ROOT.glob(pattern)]
        files += [each.stamp for each in self.needs]
        made = self.stamp.stat().st_mtime_ns
        return any(path.stat().st_mtime_ns > made for path in files if is_source(path))

    def ensure(self):
        """Make what is missing, in order. The stamp is written only after the step has succeeded."""
        for each in self.needs:
            each.ensure()
        if self.is_stale():
            self.make()
            self.stamp.touch()


def is_source(path):
    """Neither a folder nor what editors and Python leave beside the sources."""
    inner = path.relative_to(ROOT).parts
    hidden = any(part.startswith(".") for part in inner[:-1] if part != VENV.name)
    return path.is_file() and not hidden and "__pycache__" not in inner


def set_up_environment(*arguments):
    # An environment cannot make itself anew: from inside it, its own Python's Python is asked.
    python = getattr(sys, "_base_executable", sys.executable)
    run(python, "-m", "tools.setup_venv", *arguments)


def set_up_tests():
    set_up_environment("--tests")
    module("tools.fetch_vendor", "--tests")


PINS = ("requirements.txt", "requirements-data.txt", "constraints-gpu.txt", "pyproject.toml")
ENVIRONMENT = Made(
    VENV / ".installed", (*PINS, "tools/setup_venv.py", "tools/pip_failure.py"), set_up_environment
)
FOR_TESTS = Made(
    VENV / ".installed-tests", ("requirements-test.txt", "tools/vendor.toml"), set_up_tests, [ENVIRONMENT]
)
VENDOR = Made(
    "book/_static/vendor/.fetched",
    ("tools/vendor.toml", "tools/fetch_vendor.py", "tools/bundles/*"),
    lambda: module("tools.fetch_vendor"),
    [ENVIRONMENT],
)
PAGE_MODEL = Made(
    "book/_static/course_model.js",
    ("lib/models/*.py", "lib/models/masked/*", "lib/corpus/portuguese.py", "lib/corpus/lexicon.py"),
    lambda: module("lib.models", PAGE_MODEL.stamp),
    [ENVIRONMENT],
)
BOOK = Made(
    "_build/.built",
    ("book/**/*", "_config.yml", "_toc.yml", "tools/build_book.py", "tools/notices.*"),
    lambda: module("tools.build_book"),
    [VENDOR, PAGE_MODEL],
)


# --- the commands -------------------------------------------------------------------------------------------

COMMANDS = {}


def command(*needs):
    """Make a function a command, under its own name, that finds this ready."""

    def decorate(function):
        @functools.wraps(function)
        def ready(*arguments):
            for each in needs:
                each.ensure()
            function(*arguments)

        COMMANDS[function.__name__.replace("_", "-")] = ready
        return function

    return decorate


@command()
def help(*_):
    """list the commands"""
    print("\n".join(f"{name:<14}{each.__doc__}" for name, each in COMMANDS.items()))


@command(VENDOR, PAGE_MODEL)
def setup():
    """what reading and running need: environment, pinned packages, third-party JavaScript"""


@command(BOOK)
def book():
    """build the book into _build/html"""
    print("The book is ready: open _build/html/index.html in a browser, or run make serve")


@command(VENDOR, FOR_TESTS)
def lint():
    """layout, lint, types and layers"""
    module("ruff", "check", *CODE)
    module("ruff", "format", "--check", "--quiet", *CODE)
    module("basedpyright", "--project", ".")
    layers = [str(program("lint-imports")), "--no-cache"]
    if subprocess.run(layers, cwd=ROOT, env=settings(), stdout=subprocess.DEVNULL).returncode:
        run(*layers)


@command(VENDOR, PAGE_MODEL, FOR_TESTS)
def check():
    """the daily loop: lint, types, and the quick tests with fewer examples, without notebooks and browser"""
    side_by_side("lint", "quick")


@command(VENDOR, PAGE_MODEL, FOR_TESTS)
def quick(*arguments):
    """the quick tests alone"""
    marks = "not browser and not book and not slow and not exhaustive"
    pytest("tests", "-m", marks, "--hypothesis-profile=quick", *arguments, jobs="2")


@command(VENDOR, PAGE_MODEL, FOR_TESTS)
def test(*arguments):
    """prove the book: lint, types, every test, every notebook executed once and compared"""
    side_by_side("book", "lint")
    module("tools.find_browser")
    module("tools.find_sandbox")
    pytest("tests", *NOTEBOOKS, "-m", "not exhaustive", *arguments)


@command(VENDOR, PAGE_MODEL, FOR_TESTS)
def exhaustive(*arguments):
    """what the tests try a part of, tried whole: every mutant, other days"""
    pytest("tests", "-m", "exhaustive", *arguments)


@command(ENVIRONMENT)
def lab(*arguments):
    """open the course in JupyterLab, in a folder of your own that is kept (caderno)"""
    module("tools.lab", *arguments, threads=1)


@command(ENVIRONMENT)
def edit(*arguments):
    """open the book's own notebooks in JupyterLab, to change the book"""
    # JupyterLab refuses root unless told; inside a container there is nobody else.
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    module("jupyterlab", "--ServerApp.root_dir=book", *as_root, *arguments, threads=1)


@command(BOOK)
def serve(*arguments):
    """serve the built book on this machine only"""
    module("tools.serve", "--port", os.environ.get("PORT", "8000"), *arguments)


@command(BOOK, FOR_TESTS)
def pdf(*arguments):
    """print the whole book into one PDF"""
    module("tools.pdf", *arguments)


@command(ENVIRONMENT)
def notebooks(*arguments):
    """execute every notebook in place (byte-identical where nothing changed)"""
    module("tools.execute_notebooks", *arguments, threads=1)


@command(FOR_TESTS)
def tamper(*arguments):
    """change every number, one by one, and require that a check catches it"""
    pytest("tests/trust", *NOTEBOOKS, "--tamper", "all", *arguments)


@command(BOOK, FOR_TESTS)
def stress(*arguments):
    """the browser and JupyterLab tests, twenty times, with every core kept busy"""
    module("tools.stress", *arguments)


@command(BOOK, FOR_TESTS)
def portability(*arguments):
    """notebooks and tests as on processors with SSE4, AVX2 and AVX-512, 1 to 4 threads"""
    module("benchmarks.portability", *arguments)


@command(ENVIRONMENT)
def pins(*arguments):
    """resolve the pins for every Python and system, without installing"""
    module("tools.resolve_pins", *arguments)


@command(BOOK)
def reproducible():
    """build the book a second time, and require the same bytes"""
    module("tools.build_book", "--compare")


@command(ENVIRONMENT)
def audit():
    """ask for known weaknesses of what is pinned, where the network allows it"""
    module("tools.audit")


@command(ENVIRONMENT)
def student(*arguments):
    """write chapter notebooks without solutions, for students, into _build/student"""
    module("tools.student", *arguments)


@command(ENVIRONMENT)
def model():
    """train the two small models of lib again (about seven minutes)"""
    for name, options in MODELS.items():
        folder = Path("_build", "runs", name)
        # Two threads, always: the order of the sums decides the last bits of the weights.
        module("lib", "treinar", *options, "--pasta", folder, threads=2)
        shutil.copytree(ROOT / folder / "modelo", ROOT / "lib" / "models" / name, dirs_exist_ok=True)


@command(VENDOR, FOR_TESTS)
def bench():
    """measure all that the book quotes, on a quiet machine (over an hour)"""
    for name in MEASURED:
        module(name)


@command()
def clean():
    """remove the built book"""
    shutil.rmtree(ROOT / "_build", ignore_errors=True)


@command()
def clean_venv():
    """remove the virtual environment and the third-party JavaScript"""
    for folder in (VENV, *VENDORED):
        shutil.rmtree(ROOT / folder, ignore_errors=True)


def main(arguments):
    name, *others = arguments or ["help"]
    if name not in COMMANDS:
        fail(f"there is no command {name}: `python -m tools help` lists them.")
    if others and not inspect.signature(COMMANDS[name]).parameters:
        fail(f"the command {name} takes nothing after it, and {' '.join(others)} was given.")
    try:
        COMMANDS[name](*others)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main(sys.argv[1:])
