"""Build the HTML book from the stored notebooks, with every Sphinx warning an error.

Usage: .venv/bin/python -m tools.build_book. The build goes to a folder of its own and takes the place of
`_build/html` only when it succeeds, so that no page of an older book survives and no half-built book is read.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from tools.console import ROOT, fail, plain, step
from tools.environment import program

BUILD = ROOT / "_build"


def build(output: Path) -> None:
    """Run Jupyter Book; show what it said only if it failed."""
    command = [
        program("jupyter-book"),
        "build",
        ".",
        "--all",
        "-W",
        "-n",
        "--keep-going",
        "--path-output",
        output,
    ]
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    report = plain(done.stdout)
    if done.returncode or not (output / "_build" / "html" / "index.html").exists():
        warnings = [line for line in report.splitlines() if "WARNING" in line or "ERROR" in line]
        print("\n".join(warnings) or report, file=sys.stderr)
        fail("the book was not built: correct what stands above (a warning counts as an error).")


def main() -> None:
    step("building the book into _build/html")
    fresh = BUILD / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    build(fresh)
    # Jupyter Book's own redirection has neither a language nor an icon nor a link.
    shutil.copyfile(ROOT / "book" / "_templates" / "index.html", fresh / "_build" / "html" / "index.html")
    shutil.rmtree(BUILD / "html", ignore_errors=True)
    (fresh / "_build" / "html").rename(BUILD / "html")
    shutil.rmtree(fresh)


if __name__ == "__main__":
    main()
