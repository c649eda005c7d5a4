"""Ask for known weaknesses of what is pinned: pip-audit for Python packages, npm audit for JavaScript.

Usage: .venv/bin/python -m tools.audit. It ends with 1 if there are any, and with 2 if the data on weaknesses
could not be reached: nothing is said of what was not looked up.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.console import ROOT, step
from tools.environment import program
from tools.fetch_vendor import find_program, read_manifest
from tools.setup_venv import requirement_lines

AUDITOR = "pip-audit==2.10.1"
CLEAN, FOUND, NOT_REACHED = 0, 1, 2


def output_of(command: list, folder: Path) -> str:
    return subprocess.run([*map(str, command)], cwd=folder, text=True, capture_output=True).stdout


def ask_pip_audit(scratch: Path) -> str:
    """What pip-audit, in an environment of its own, says of the pins, as JSON."""
    subprocess.run([sys.executable, "-m", "venv", scratch / "venv"], check=True)
    pip = [program("python", scratch / "venv"), "-m", "pip", "install", "--quiet", AUDITOR]
    subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
    pins = [line.split()[0] for path in ROOT.glob("requirements*.txt") for line in requirement_lines(path)]
    (scratch / "pins.txt").write_text("\n".join(pins), encoding="utf-8")
    options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
    return output_of([program("pip-audit", scratch / "venv"), *options, "-r", scratch / "pins.txt"], scratch)


def ask_npm(scratch: Path) -> str:
    """What npm audit says of the packages of vendor.toml and of what they ask for in turn, as JSON."""
    wanted = {each["name"]: each["version"] for each in read_manifest(ROOT / "tools" / "vendor.toml")}
    package = {"name": "course", "version": "0.0.0", "dependencies": wanted}
    (scratch / "package.json").write_text(json.dumps(package), encoding="utf-8")
    npm = find_program("npm")
    output_of([npm, "install", "--package-lock-only", "--ignore-scripts", "--legacy-peer-deps"], scratch)
    return output_of([npm, "audit", "--json"], scratch)


def read_pip_audit(told: str) -> tuple[list[str], list[str]]:
    """The weaknesses that it knows of, and the packages that it could not look up."""
    packages = json.loads(told or "{}").get("dependencies", [])
    found = [f"{p['name']} {p['version']}: {v['id']}" for p in packages for v in p.get("vulns", ())]
    unknown = [p["name"] for p in packages if "skip_reason" in p]
    return found, unknown if packages else ["every package"]


def read_npm(told: str) -> tuple[list[str], list[str]]:
    answer = json.loads(told or "{}")
    weak = answer.get("vulnerabilities")
    if weak is None:
        return [], ["every package"]
    return [f"{name} {each['range']}: {each['severity']}" for name, each in weak.items()], []


def report(auditor: str, found: list[str], unknown: list[str]) -> int:
    for weakness in found:
        print(f"{auditor} knows of a weakness: {weakness}")
    if unknown:
        shown = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        print(f"{auditor} could not reach its data for {shown}: ask again where the network allows it.")
    if not found and not unknown:
        print(f"{auditor} knows of no weakness.")
    return FOUND if found else NOT_REACHED if unknown else CLEAN


def main() -> None:
    step("asking for known weaknesses of what is pinned")
    with tempfile.TemporaryDirectory() as scratch:
        python = report("pip-audit", *read_pip_audit(ask_pip_audit(Path(scratch))))
        javascript = report("npm audit", *read_npm(ask_npm(Path(scratch))))
    sys.exit(FOUND if FOUND in (python, javascript) else max(python, javascript))


if __name__ == "__main__":
    main()
