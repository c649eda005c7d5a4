"""Measured numbers with their provenance: one JSON file for each program, in parts measured one by one.

Each part holds its values at full precision and how they were made: the command, the date, versions,
processor, load, settings, and the hash of the code and data that they depend on. A seal over all of it shows
a change by hand.

    made = begin(project, part, settings)       # a program, before it measures a part
    keep(path, part, part.measure(...), made)   # and after
    problems(project, read(text), parts, pins)  # a test: complete, and made by the code as it is now
"""

import datetime
import hashlib
import json
import os
import platform
import re
import time
from argparse import Namespace
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trust.dependencies import Project

FIELDS = {"values", "made", "seal"}


@dataclass(frozen=True)
class Part:
    """What one part of a program measures, how it is shown, and what its numbers depend on."""

    name: str
    command: str  # that measures it again
    measure: Callable[[Namespace], Any]  # from the program's options to values that JSON can hold
    show: Callable[[Any], str]  # the values as Markdown
    starts: tuple[str, ...]  # where the code that computes it begins, such as "benchmarks.floor:measure_mlm"
    packages: tuple[str, ...] = ("torch",)
    data: tuple[str, ...] = ()  # patterns of files, from the root of the project


def processor() -> str:
    """The processor's own name, where the system tells it."""
    try:
        named = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        named = None
    return named[1].strip() if named else platform.processor() or platform.machine()


def load_average() -> float:
    """How busy the machine is; 0 where the system does not tell."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0.0


def begin(project: Project, part: Part, settings: dict[str, Any]) -> dict[str, Any]:
    """How a part is about to be measured. The code is hashed now: it may be edited before the end."""
    return {
        "command": part.command,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "began": time.monotonic(),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in part.packages},
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "load": load_average(),
        "code": project.fingerprint(part.starts, part.data),
        "settings": settings,
    }


def keep(path: Path, part: Part, values: Any, made: dict[str, Any]) -> None:
    """Write one part into its program's file; the other parts stay as they are."""
    made = {**made, "load": [made["load"], load_average()]}
    made["seconds"] = time.monotonic() - made.pop("began")
    content = read(path.read_text(encoding="utf-8")) if path.exists() else {}
    content[part.name] = {"values": values, "made": made, "seal": seal(values, made)}
    write(path, as_text(content))


def write(path: Path, text: str) -> None:
    """Replace a file in one step: an interruption leaves the old one whole."""
    scratch = path.with_name(f"{path.name}.writing")
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def as_text(content: dict[str, dict]) -> str:
    """The text of a file of measurements."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def seal(values: Any, made: dict) -> str:
    """The hash of all that a part says."""
    text = json.dumps([values, made], sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read(text: str) -> dict[str, dict]:
    """The parts of a file of measurements; a ValueError says why it is not what a program wrote."""
    content = json.loads(text)
    parts = content.values() if isinstance(content, dict) else [content]
    if not all(isinstance(part, dict) and part.keys() == FIELDS for part in parts):
        raise ValueError("it is not a file of measurements")
    for name, part in content.items():
        if part["seal"] != seal(part["values"], part["made"]):
            raise ValueError(f"the numbers of {name!r} are not those that the program wrote")
    # Two spellings of one number have one value, and so one seal.
    if as_text(content) != text:
        raise ValueError("it is not written as the program writes")
    return content


def problems(
    project: Project, content: dict[str, dict], parts: Iterable[Part], pins: dict[str, str]
) -> list[str]:
    """Parts that are unknown, missing, or measured with other code, data or versions than the present."""
    known = {part.name: part for part in parts}
    found = [f"nobody measures the part {name!r}: delete it" for name in content if name not in known]
    for name, part in known.items():
        for reason in _stale(project, content[name]["made"], part, pins) if name in content else ["missing"]:
            found.append(f"{name}: {reason}; on a quiet machine, run: {part.command}")
    return found


def _stale(project: Project, made: dict, part: Part, pins: dict[str, str]) -> list[str]:
    changed = made["code"] != project.fingerprint(part.starts, part.data)
    return ["the code or the data have changed since it was measured"] * changed + [
        f"measured with {name} {made['versions'].get(name)}, and {pins.get(name)} is pinned"
        for name in part.packages
        if made["versions"].get(name, "").partition("+")[0] != pins.get(name)
    ]


def origin(made: dict) -> str:
    """One sentence on how a part was made, for the Markdown."""
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    settings = "".join(f", {name} {value}" for name, value in made["settings"].items())
    return (
        f"Measured with `{made['command']}` on {made['date'][:10]}, in {made['seconds']:,.0f} s: "
        f"{made['processor']}, {made['cores']} cores{settings}; {versions}; "
        f"load average {made['load'][0]} before and {made['load'][1]} after.\n"
    )


def pins(*requirements: Path) -> dict[str, str]:
    """The pinned version of each package."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in requirements)
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", text, re.MULTILINE))
