"""Ask, for every Python and platform, whether each pin has a wheel there and whether a pin is missing.

Usage: .venv/bin/python -m tools.resolve_pins [--uv PROGRAM]. Nothing is installed, except uv in a temporary
folder: it resolves for an interpreter and a platform that are not the running ones, which pip does not. The
answers are printed as a table and kept in tools/pins.json, which a test compares with the requirement files.
It needs the network; another index than uv's own is chosen with UV_DEFAULT_INDEX.
"""

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lib.files import write_atomically
from tools.console import ROOT, fail, plain, step
from tools.setup_venv import install, requirement_lines

UV = "uv==0.13.8"
RESULT = Path("tools") / "pins.json"
FILES = ("requirements.txt", "requirements-test.txt", "requirements-data.txt", "constraints-gpu.txt")

# The names of the platforms, what uv calls them, and their sys.platform, which the markers look at.
# The C library of a Linux and the release of a macOS are the oldest that torch has wheels for.
PLATFORMS = {
    "Linux x86-64": ("x86_64-manylinux_2_28", "linux"),
    "Linux ARM64": ("aarch64-manylinux_2_28", "linux"),
    "Windows x86-64": ("x86_64-pc-windows-msvc", "win32"),
    "macOS ARM64": ("aarch64-apple-darwin", "darwin"),
    "macOS x86-64": ("x86_64-apple-darwin", "darwin"),
}
OLDEST_MACOS = "14.0"
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")

# What must be ok. The others are asked all the same, so that the table says what does not work, and why.
PROMISED_PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROMISED_PLATFORMS = ("Linux x86-64", "Linux ARM64", "Windows x86-64", "macOS ARM64")

# An index that answers slowly is still an index that answers, and one that is asked for everything at once
# may refuse. Both can be set from outside.
PATIENCE = {"UV_HTTP_RETRIES": "8", "UV_CONCURRENT_DOWNLOADS": "10"}


class NoSolution(Exception):
    """The index was asked, and what it has does not fit."""


class CouldNotAsk(Exception):
    """The index was not asked: the answer is not known."""


# --- requirement files --------------------------------------------------------------------------------------


def fingerprints() -> dict[str, str]:
    """The hash of each requirement file: an answer holds for these and no others."""
    return {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in FILES}


# --- asking uv ----------------------------------------------------------------------------------------------


def read_answer(code: int, stdout: str, stderr: str) -> dict[str, dict]:
    """The packages of uv's lock file by name; or an exception that says which kind of no it was."""
    said = " ".join(plain(stderr).split())
    if code == 0:
        return {package["name"]: package for package in tomllib.loads(stdout).get("packages", [])}
    # uv ends with 1 if nothing fits and with 2 if something broke.
    if code == 1:
        raise NoSolution(said)
    raise CouldNotAsk(said)


@dataclass(frozen=True)
class Target:
    """One release of Python on one platform, and the uv that answers for it."""

    uv: str
    cache: str
    python: str
    platform: str

    def ask(self, lines: Iterable[str], *options: str) -> dict[str, dict]:
        """The packages that these requirements bring, resolved by uv from wheels alone."""
        command = [self.uv, "pip", "compile", "-", "--only-binary", ":all:", "--format", "pylock.toml"]
        command += ["--python-version", self.python, "--python-platform", PLATFORMS[self.platform][0]]
        # Any interpreter does, as none is run: without a name uv would look at all that the machine has.
        command += ["--python", sys.executable, "--cache-dir", self.cache, "--quiet", "--no-header", *options]
        settings = {**PATIENCE, **os.environ, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS}
        done = subprocess.run(
            command, cwd=ROOT, env=settings, input="\n".join(lines), text=True, capture_output=True
        )
        return read_answer(done.returncode, done.stdout, done.stderr)

    def held(self, lines: Iterable[str]) -> set[str]:
        """The pins whose marker, if they have one, is true here: `name==version` as uv writes it."""
        here = {"sys_platform": PLATFORMS[self.platform][1]}  # all that a marker of ours asks for
        pins = [pin for pin in map(Requirement, lines) if pin.marker is None or pin.marker.evaluate(here)]
        return {f"{canonicalize_name(pin.name)}{pin.specifier}" for pin in pins}


# --- the check ----------------------------------------------------------------------------------------------


def check_pins(pins: list[str], gpu: list[str], target: Target) -> list[str]:
    """Pins without a wheel here, and packages that would come along without being pinned."""
    try:
        needed = target.ask(pins, "--constraints", "constraints-gpu.txt")
    except NoSolution as problem:
        return [str(problem)]
    found = {f"{name}=={package['version']}" for name, package in needed.items()}
    unpinned = [f"{each} is needed and not pinned" for each in sorted(found - target.held([*pins, *gpu]))]
    return unpinned + [
        f"{name} has no wheel" for name, package in needed.items() if not package.get("wheels")
    ]


def check_data(data: list[str], target: Target) -> list[str]:
    """Data packages without a wheel here, or whose pinned hash is that of none of its wheels."""
    pinned = dict(line.split(" --hash=sha256:") for line in data)
    try:
        packages = target.ask(pinned, "--no-deps")
    except NoSolution as problem:
        return [str(problem)]
    names = {canonicalize_name(pin.split("==")[0]): digest for pin, digest in pinned.items()}
    return [
        f"{name} has no wheel with the hash that is pinned"
        for name, digest in names.items()
        if digest not in {wheel["hashes"]["sha256"] for wheel in packages[name]["wheels"]}
    ]


def check_combination(uv: str, cache: str, python: str, platform: str) -> dict:
    """The verdict on a series of Python: the problems of both its ends, each once."""
    pins, tests, data, gpu = (requirement_lines(ROOT / name) for name in FILES)
    problems, releases = [], [f"{python}.0", f"{python}.99"]
    for release in releases:  # what both ends accept is accepted in between, by Debian 12's 3.11.2 too
        target = Target(uv, cache, release, platform)
        # The reader's pins are complete without those of the tests, and with them.
        problems += check_pins(pins, gpu, target) + check_pins([*pins, *tests], gpu, target)
        problems += check_data(data, target)
    step(f"Python {python} on {platform}: {'no' if problems else 'ok'}")
    return {
        "python": python,
        "releases": releases,
        "platform": platform,
        "verdict": "no" if problems else "ok",
        "problems": list(dict.fromkeys(problems)),
    }


def check_all(uv: str, cache: str) -> list[dict]:
    """The verdict on each combination, as many at a time as there are processors."""
    combinations = itertools.product([uv], [cache], PYTHONS, PLATFORMS)
    with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
        return list(workers.map(lambda each: check_combination(*each), combinations))


# --- the answer ---------------------------------------------------------------------------------------------


def broken_promises(combinations: list[dict]) -> list[str]:
    """Promised combinations that were not asked or are not ok."""
    verdicts = {(each["python"], each["platform"]): each["verdict"] for each in combinations}
    promised = itertools.product(PROMISED_PYTHONS, PROMISED_PLATFORMS)
    return [f"Python {each[0]} on {each[1]}" for each in promised if verdicts.get(each) != "ok"]


def table(combinations: list[dict]) -> str:
    """One row for each Python, one column for each platform, and the problems in full below."""
    problems = {(each["python"], each["platform"]): each["problems"] for each in combinations}
    verdicts = {(each["python"], each["platform"]): each["verdict"] for each in combinations}
    rows = [["Python", *PLATFORMS]]
    rows += [[python, *(verdicts[python, platform] for platform in PLATFORMS)] for python in PYTHONS]
    text = ["".join(f"{entry:<16}" for entry in row).rstrip() for row in rows]
    for (python, platform), found in problems.items():
        text += [f"Python {python} on {platform}: {'; '.join(found)}"] if found else []
    return "\n".join(text)


def keep(combinations: list[dict], uv: str) -> None:
    """Write tools/pins.json."""
    version = subprocess.run([uv, "--version"], text=True, capture_output=True, check=True).stdout
    record = {
        "command": "python -m tools.resolve_pins",
        "date": datetime.now(UTC).date().isoformat(),
        "tool": " ".join(version.split()[:2]),  # without the platform that uv adds
        "oldest": {"glibc": "2.28", "macOS": OLDEST_MACOS},
        "sha256": fingerprints(),
        "combinations": combinations,
    }
    write_atomically(ROOT / RESULT, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def fetch_uv(folder: str) -> str:
    """Install uv where it disturbs nothing, for the time of the check, and give the path of the program."""
    install(sys.executable, (UV, ["--no-deps", "--target", folder, UV]))
    return str(Path(folder) / "bin" / "uv")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uv", help=f"use this program instead of {UV}")
    chosen = parser.parse_args(arguments).uv
    with tempfile.TemporaryDirectory() as folder:
        uv = chosen or fetch_uv(folder)
        try:
            step("asking for every Python and platform; the first answers take longest")
            combinations = check_all(uv, str(Path(folder) / "cache"))
        except CouldNotAsk as problem:
            advice = "connect to the network; nothing is written"
            fail(f"the package index was not reached ({problem}): {advice}.")
        keep(combinations, uv)
    print(table(combinations))
    broken = broken_promises(combinations)
    if broken:
        print(f"error: not everywhere: {'; '.join(broken)}.", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
