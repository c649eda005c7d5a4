"""Build the HTML book from the stored notebooks, with every Sphinx warning an error.

Usage: .venv/bin/python -m tools.build_book [--compare]. The build goes to a folder of its own and takes the
place of `_build/html` only when it succeeds: no page of an older book survives, and nobody reads half of one.
With --compare it is compared with `_build/html` instead: the same sources give the same bytes.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from tools import notices
from tools.console import ROOT, fail, plain, step
from tools.environment import program

BUILD = ROOT / "_build"


def build(output: Path) -> None:
    """Run Jupyter Book; show what it said only if it failed."""
    options = ["--all", "-W", "-n", "--keep-going", "--path-output", output]
    command = [program("jupyter-book"), "build", ".", *options]
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    report = plain(done.stdout)
    if done.returncode or not (output / "_build" / "html" / "index.html").exists():
        warnings = [line for line in report.splitlines() if "WARNING" in line or "ERROR" in line]
        print("\n".join(warnings) or report, file=sys.stderr)
        fail("the book was not built: correct what stands above (a warning counts as an error).")


def differences(one: Path, other: Path) -> list[str]:
    """The files that two folders do not both have with the same bytes."""

    def files(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }

    a, b = files(one), files(other)
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compare", action="store_true", help="with the book that is there")
    compare = parser.parse_args().compare
    step("building the book again, to compare" if compare else "building the book into _build/html")
    fresh = BUILD / "fresh"
    html = fresh / "_build" / "html"
    shutil.rmtree(fresh, ignore_errors=True)
    build(fresh)
    # Pages that are whole in themselves. Jupyter Book's own redirection has neither a language nor a link.
    for name in ("index.html", "404.html"):
        shutil.copyfile(ROOT / "book" / "_templates" / name, html / name)
    notices.write(html)
    if compare:
        if other := differences(html, BUILD / "html"):
            fail(f"two builds differ in {', '.join(other[:5])} ({len(other)} files): see _build/fresh.")
        step("the two books are the same, byte for byte")
    else:
        shutil.rmtree(BUILD / "html", ignore_errors=True)
        html.rename(BUILD / "html")
    shutil.rmtree(fresh)


if __name__ == "__main__":
    main()
