"""The pins resolve wherever the README says, and a failure is told by its real cause.

tools/pins.json holds what the package index answered, which needs the network. Here, without one, the answer
must belong to the present requirement files, and the logic of asking and of explaining is tried on what uv
and pip said, word for word, when it happened.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from tests.tools.test_setup_failures import NOWHERE, clean_environment
from tools import pip_failure, resolve_pins
from tools.console import ROOT
from tools.resolve_pins import CouldNotAsk, NoSolution, Target

COMMAND = ".venv/bin/python -m tools.resolve_pins"


# --- the answer that is kept --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record() -> dict:
    return json.loads((ROOT / resolve_pins.RESULT).read_text(encoding="utf-8"))


def test_the_answer_belongs_to_the_present_pins(record):
    assert record["sha256"] == resolve_pins.fingerprints(), f"a file changed: run `{COMMAND}` and commit"


def test_every_promise_is_ok_and_those_of_the_readme_are_among_them(record):
    advice = f"see the problems in {resolve_pins.RESULT}, change the pins, run `{COMMAND}`"
    assert resolve_pins.broken_promises(record["combinations"]) == [], advice
    first, *_, last = resolve_pins.PROMISED_PYTHONS
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"\nOn Linux with Python {first} to {last} " in readme
    assert {"Linux x86-64", "Linux ARM64"} <= set(resolve_pins.PROMISED_PLATFORMS)


def test_the_answer_is_complete(record):
    """3.11.0 may refuse what 3.11.5 takes; Debian 12 has 3.11.2: the ends of a series are asked."""
    for each in record["combinations"]:
        assert each["verdict"] == ("no" if each["problems"] else "ok"), each
        assert each["releases"] == [f"{each['python']}.0", f"{each['python']}.99"]
    assert {each["python"] for each in record["combinations"]} == set(resolve_pins.PYTHONS)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert record["tool"] == resolve_pins.UV.replace("==", " ")


# --- what uv answers ----------------------------------------------------------------------------------------

NO_SOLUTION = """\
error: No solution found when resolving dependencies
  cause: Because {}, we can conclude that your requirements are unsatisfiable.
"""
CONTRADICTION = NO_SOLUTION.format(
    "beautifulsoup4>=4.15.0 depends on soupsieve>=1.6.1 and you require beautifulsoup4==4.15.0, we can "
    "conclude that you require soupsieve>=1.6.1.\n         And because you require soupsieve==1.0"
)
NOBODY_LISTENS = """\
error: Request failed after 3 retries in 4.8s
  cause: Failed to fetch: http://127.0.0.1:9/dante-corpora/
  cause: Connection refused (os error 111)
"""
LOCK = 'lock-version = "1.0"\n[[packages]]\nname = "numpy"\nversion = "2.4.6"\n'


def test_a_program_is_asked_and_its_lock_read(tmp_path):
    program = tmp_path / "uv"
    program.write_text(f"#!/bin/sh\n[ $(cat) = numpy==2.4.6 ] && cat <<'END'\n{LOCK}END\n")
    program.chmod(0o755)
    target = Target(str(program), str(tmp_path), "3.11.0", "Linux x86-64")
    assert target.ask(["numpy==2.4.6"])["numpy"]["version"] == "2.4.6"


def test_a_no_of_the_index_is_not_an_index_that_was_not_reached():
    because = "soupsieve==4.1 depends on Python>=3.11.5"
    with pytest.raises(NoSolution, match=because):
        resolve_pins.read_answer(1, "", NO_SOLUTION.format(because))
    with pytest.raises(CouldNotAsk, match="Connection refused"):
        resolve_pins.read_answer(2, "", NOBODY_LISTENS)


# --- the check, with a made-up index ------------------------------------------------------------------------

INDEX = {
    "page==1.0": {"needs": ["text==2.0"], "needs win32": ["colours==3.0"]},
    "text==1.0": {},
    "text==2.0": {},
    "colours==3.0": {},
    "old==1.0": {"only": "3.11"},
    "corpus==1.0": {"hash": "abc", "needs": ["heavy==1.0"]},
    "driver==1.0": {},
    "torch==1.0": {"needs linux": ["driver==1.0"]},
}
DATA = ["corpus==1.0 --hash=sha256:abc"]
FOR_WINDOWS, FOR_MACOS = (f'colours==3.0; sys_platform == "{name}"' for name in ("win32", "darwin"))


def resolved(index: dict[str, dict], command: list[str], wanted: list[str], system: str) -> tuple[int, str]:
    """The exit code and the words of a uv that is asked for these pins on that system."""
    python = command[command.index("--python-version") + 1]
    lock, versions = "", {}
    for pin in wanted:  # which grows by what a pin needs
        name, version = pin.split("==")
        if versions.setdefault(name, version) != version:
            return 1, CONTRADICTION
        if pin not in index:
            return 1, f"Because there is no version of {pin}"
        if not python.startswith(index[pin].get("only", "")):
            return 1, f"Because {pin} has no wheels with a matching Python ABI tag"
        if "--no-deps" not in command:
            wanted += index[pin].get("needs", []) + index[pin].get(f"needs {system}", [])
        wheel = f'{{ hashes = {{ sha256 = "{index[pin].get("hash", "")}" }} }}'
        lock += f'[[packages]]\nname = "{name}"\nversion = "{version}"\nwheels = [{wheel}]\n'
    return 0, lock


@pytest.fixture
def index(monkeypatch) -> dict[str, dict]:
    """What the index has that uv asks; if a test takes everything out, nobody is reached."""
    packages = dict(INDEX)
    systems = dict(resolve_pins.PLATFORMS.values())

    def run(command: list[str], input: str = "", **_) -> subprocess.CompletedProcess:
        if command[1:] == ["--version"]:
            code, said = 0, "uv 1.2.3 (made-up)"
        elif not packages:
            code, said = 2, NOBODY_LISTENS
        else:
            system = systems[command[command.index("--python-platform") + 1]]
            lines = [line.partition(";") for line in input.splitlines()]
            wanted = [pin for pin, _, marker in lines if system in (marker or system)]
            code, said = resolved(packages, command, wanted, system)
        return subprocess.CompletedProcess(command, code, *(("", said) if code else (said, "")))

    monkeypatch.setattr(resolve_pins, "subprocess", SimpleNamespace(run=run))
    return packages


PAGE = ("page==1.0", "text==2.0")
GONE, OLD = "there is no version of gone==9.0", "old==1.0 has no wheels with a matching Python ABI tag"
NOT_PINNED = "{} is needed and not pinned"


def problems(*pins: str, gpu: tuple[str, ...] = (), python: str = "3.11.0", platform: str = "Linux x86-64"):
    """What is wrong with some pins on one system."""
    return resolve_pins.check_pins(list(pins), list(gpu), Target("uv", "cache", python, platform))


@pytest.mark.parametrize("platform", resolve_pins.PLATFORMS)
def test_pins_that_are_complete_have_no_problem(index, platform):
    assert problems(*PAGE, FOR_WINDOWS, platform=platform) == []
    assert problems("torch==1.0", gpu=("driver==1.0",), platform=platform) == [], "it may come, and need not"


@pytest.mark.parametrize(
    ("pins", "where", "told"),
    [
        ((*PAGE, "gone==9.0"), {}, GONE),
        ((*PAGE, "old==1.0"), {"python": "3.12.0"}, OLD),
        ((*PAGE, FOR_MACOS), {"platform": "Windows x86-64"}, NOT_PINNED.format("colours==3.0")),
        (("torch==1.0",), {}, NOT_PINNED.format("driver==1.0")),
        (("page==1.0", "text==1.0"), {}, "beautifulsoup4>=4.15.0 depends on soupsieve>=1.6.1"),
    ],
)
def test_a_pin_that_has_no_wheel_or_is_missing_or_excluded_is_named(index, pins, where, told):
    (problem,) = problems(*pins, **where)
    assert told in problem


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (DATA, []),
        (["corpus==1.0 --hash=sha256:abd"], ["corpus has no wheel with the hash that is pinned"]),
        (["gone==9.0 --hash=sha256:a"], [f"Because {GONE}"]),
    ],
)
def test_a_data_package_must_have_the_pinned_file(index, data, told):
    assert resolve_pins.check_data(data, Target("uv", "cache", "3.11.0", "Linux x86-64")) == told


@pytest.fixture
def project(index, tmp_path, monkeypatch) -> Callable[..., Path]:
    """The tool, at work on another project: where it keeps its answer."""

    def make(*pins: str) -> Path:
        (tmp_path / "tools").mkdir()
        texts = ("\n".join(["# pins", *pins, "-e ."]), "\n".join(DATA), "driver==1.0")
        for name, text in zip(resolve_pins.FILES, texts, strict=True):
            (tmp_path / name).write_text(text + "\n")
        monkeypatch.setattr(resolve_pins, "ROOT", tmp_path)
        for name in ("PYTHONS", "PROMISED_PYTHONS"):
            monkeypatch.setattr(resolve_pins, name, ("3.11", "3.12"))
        return tmp_path / "tools" / "pins.json"

    return make


def test_the_command_prints_a_table_and_keeps_it(project, capsys):
    kept = project(*PAGE, FOR_WINDOWS, "torch==1.0")
    assert resolve_pins.main(["--uv", "uv"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^3\.11( +ok){5}$", printed, re.MULTILINE), printed
    record = json.loads(kept.read_text())
    assert record["tool"] == "uv 1.2.3" and record["sha256"] == resolve_pins.fingerprints()
    assert {each["verdict"] for each in record["combinations"]} == {"ok"}
    assert len(record["combinations"]) == len(resolve_pins.PYTHONS) * len(resolve_pins.PLATFORMS)


def test_the_command_fails_and_names_what_is_missing(project, capsys):
    kept = project(*PAGE, "old==1.0")
    assert resolve_pins.main(["--uv", "uv"]) == 1
    printed = capsys.readouterr()
    assert re.search(r"^3\.11 +ok +ok +no +ok +ok$", printed.out, re.MULTILINE), printed.out
    assert re.search(r"^3\.12( +no){5}$", printed.out, re.MULTILINE), printed.out
    assert f"Python 3.12 on macOS ARM64: Because {OLD}" in printed.out
    assert "Python 3.11 on Windows x86-64" in printed.err and "Python 3.11 on Linux" not in printed.err
    record = json.loads(kept.read_text())
    assert resolve_pins.broken_promises(record["combinations"]), "the record does not hide it"


def test_the_command_without_a_network_writes_nothing(project, index):
    kept = project(*PAGE)
    index.clear()
    with pytest.raises(SystemExit, match=r"index was not reached .*Request failed.* connect to the network"):
        resolve_pins.main(["--uv", "uv"])
    assert not kept.exists()


def test_the_command_without_uv_and_a_network_gets_a_sentence():
    """pip is asked for uv at a port where nothing listens."""
    nowhere = clean_environment(PIP_INDEX_URL=f"http://{NOWHERE}/")
    told = f"^error: {resolve_pins.UV} was not installed, because the package index was not reached"
    with patch.dict(os.environ, nowhere, clear=True), pytest.raises(SystemExit, match=told):
        resolve_pins.main([])


# --- what pip says when it fails, where test_setup_failures.py does not let it happen -----------------------


def explain(text: str, code: int = 1) -> str:
    sentence = pip_failure.explain(text, "", code, "requirements.txt", "3.11.2")
    assert sentence.startswith("requirements.txt was not installed") and sentence.endswith(".")
    return sentence


NOT_FOUND = """\
ERROR: Could not find a version that satisfies the requirement soupsieve==4.1 (from versions: 1.0, 2.10)
ERROR: No matching distribution found for soupsieve==4.1
"""
NEEDS_ANOTHER_PYTHON = f"""\
ERROR: Ignored the following versions that require a different python version: 3.0.2 Requires-Python \
>=3.11.5; 4.0 Requires-Python >=3.11.5; 4.1 Requires-Python >=3.11.5
{NOT_FOUND}"""
RETRYING = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection \
broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7fe1>: Failed \
to establish a new connection: [Errno -3] Temporary failure in name resolution')': /soupsieve/
"""
COULD_NOT = "ERROR: Could not install packages due to an OSError: "
TIMED_OUT = "urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='x', port=443): Read timed out.\n"
BROKEN = "ProtocolError: ('Connection broken: IncompleteRead(8192 bytes read, 900 more expected)')\n"
CONFLICT = """\
ERROR: Cannot install a==1 and b==2 because these versions have conflicting dependencies.
ERROR: ResolutionImpossible: for help visit the documentation
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (RETRYING + NOT_FOUND, "not reached (Temporary failure in name resolution): connect to the network"),
        (RETRYING + NEEDS_ANOTHER_PYTHON, "soupsieve 4.1 needs Python >=3.11.5 and this is 3.11.2"),
        (COULD_NOT + "[Errno 28] No space left on device\n", "([Errno 28] No space left on device): free"),
        (RETRYING + COULD_NOT + "[Errno 122] Disk quota exceeded\n", "there is no space left on the device"),
        (BROKEN, "connect to the network"),
        (TIMED_OUT, "not reached (Read timed out): connect to the network"),
        (CONFLICT, "the pins contradict each other: run `python -m tools.resolve_pins`"),
        ("WARNING: x\nERROR: What nobody foresaw.\n", "(What nobody foresaw): correct that"),
        ("", "(exit code 1): correct that"),
    ],
)
def test_a_failure_of_pip_is_told_by_its_cause(text, words):
    assert words in explain(text)


def test_a_pip_that_was_killed_is_not_blamed_on_the_network():
    assert "pip was stopped by signal 9" in explain(RETRYING, code=-9)


def test_the_sentence_names_the_pythons_that_work(tmp_path, monkeypatch):
    said = explain(NEEDS_ANOTHER_PYTHON)
    assert re.search(r"name another Python \(3\.\d+ to 3\.\d+\) with `make PYTHON=", said)
    monkeypatch.setattr(pip_failure, "ROOT", tmp_path)  # without a record
    assert "name another Python with `make PYTHON=" in explain(NEEDS_ANOTHER_PYTHON)
