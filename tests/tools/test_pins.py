"""The pins resolve wherever the README says, and a failure is told by its real cause.

tools/pins.json holds what the package index answered, which needs the network. Here, without one, the answer
must belong to the present requirement files, and the logic of asking and of explaining is tried on what uv
and pip said, word for word, when it happened.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
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
    assert f"\nWith Python {first} to {last}, on Linux" in readme
    promised = {"Linux x86-64", "Linux ARM64", "Windows x86-64", "macOS ARM64"}
    assert promised <= set(resolve_pins.PROMISED_PLATFORMS)


def test_the_answer_is_complete(record):
    """3.11.0 may refuse what 3.11.5 takes; Debian 12 has 3.11.2: the ends of a series are asked."""
    for each in record["combinations"]:
        assert each["verdict"] == ("no" if each["problems"] else "ok"), each
        assert each["releases"] == [f"{each['python']}.0", f"{each['python']}.99"]
    assert {each["python"] for each in record["combinations"]} == set(resolve_pins.PYTHONS)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert record["tool"] == resolve_pins.UV.replace("==", " ")


# --- what uv answers ----------------------------------------------------------------------------------------


@pytest.fixture
def uv(tmp_path) -> str:
    """A program that gives the lock of the one pin that it knows, and its version."""
    program = tmp_path / "uv"
    lock = '[[packages]]\nname = "numpy"\nversion = "2.4.6"\n'
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exec echo uv 1.2.3 "(made-up)"\n'
        f"[ $(cat) = numpy==2.4.6 ] && cat <<'END'\n{lock}END\n"
    )
    program.chmod(0o755)
    return str(program)


def test_a_program_is_asked_and_its_lock_read(uv, tmp_path):
    target = Target(uv, str(tmp_path), "3.11.0", "Linux x86-64")
    assert target.ask(["numpy==2.4.6"])["numpy"]["version"] == "2.4.6"


def test_a_no_of_the_index_is_not_an_index_that_was_not_reached():
    no = "error: No solution found\n  cause: Because soupsieve==4.1 depends on Python>=3.11.5, you cannot"
    with pytest.raises(NoSolution, match=r"Because soupsieve==4\.1 depends on Python>=3\.11\.5"):
        resolve_pins.read_answer(1, "", no)
    nobody = "error: Request failed after 3 retries\n  cause: Connection refused (os error 111)"
    with pytest.raises(CouldNotAsk, match="Connection refused"):
        resolve_pins.read_answer(2, "", nobody)


# --- the check, with answers made up ------------------------------------------------------------------------

OLD = "Because old==1.0 has no wheels with a matching Python ABI tag"
DATA = ["corpus==1.0 --hash=sha256:abc"]
FOR_WINDOWS, FOR_MACOS = (f'colours==3.0; sys_platform == "{name}"' for name in ("win32", "darwin"))
NOT_PINNED = "colours==3.0 is needed and not pinned"
NO_HASH = "corpus has no wheel with the hash that is pinned"
WHEELS = [{"hashes": {"sha256": "abc"}}]


def found(*pins: str, wheels: Sequence[dict] = WHEELS) -> dict[str, dict]:
    """What uv found: packages by name."""
    pairs = dict(pin.split("==") for pin in pins)
    return {name: {"version": version, "wheels": wheels} for name, version in pairs.items()}


@pytest.fixture
def answer(monkeypatch) -> Callable[..., None]:
    """Sets what every target is answered: a function of it, or an exception."""

    def set_answer(given: Callable[[Target], dict] | Exception) -> None:
        def ask(target: Target, lines: Iterable[str], *options: str) -> dict[str, dict]:
            if isinstance(given, Exception):
                raise given
            return found("corpus==1.0") if "--no-deps" in options else given(target)

        monkeypatch.setattr(Target, "ask", ask)

    return set_answer


@pytest.mark.parametrize(
    ("pins", "platform", "needed", "problems"),
    [
        (["page==1.0", FOR_WINDOWS], "Windows x86-64", found("page==1.0", "colours==3.0"), []),
        (["page==1.0", FOR_WINDOWS], "Linux ARM64", found("page==1.0"), []),
        (["page==1.0", FOR_MACOS], "Windows x86-64", found("page==1.0", "colours==3.0"), [NOT_PINNED]),
        (["page==1.0", "colours==2.0"], "Linux ARM64", found("page==1.0", "colours==3.0"), [NOT_PINNED]),
        (["page==1.0"], "Linux x86-64", found("page==1.0", "driver==1.0"), []),  # it may come, and need not
        (["page==1.0"], "Linux x86-64", found("page==1.0", wheels=[]), ["page has no wheel"]),
        (["old==1.0"], "Linux x86-64", NoSolution(OLD), [OLD]),
    ],
)
def test_a_pin_that_has_no_wheel_or_is_missing_or_excluded_is_named(answer, pins, platform, needed, problems):
    answer(needed if isinstance(needed, Exception) else lambda _: needed)
    target = Target("uv", "cache", "3.11.0", platform)
    assert resolve_pins.check_pins(pins, ["driver==1.0"], target) == problems


def test_a_data_package_must_have_the_pinned_file(answer):
    target = Target("uv", "cache", "3.11.0", "Linux x86-64")
    answer(lambda _: {})
    assert resolve_pins.check_data(DATA, target) == []
    assert resolve_pins.check_data(["corpus==1.0 --hash=sha256:abd"], target) == [NO_HASH]
    answer(NoSolution(OLD))
    assert resolve_pins.check_data(DATA, target) == [OLD]


@pytest.fixture
def kept(tmp_path, monkeypatch) -> Path:
    """Where the tool, at work on another project, keeps its answer."""
    (tmp_path / "tools").mkdir()
    for name, text in zip(resolve_pins.FILES, ("# pins\npage==1.0\n-e .\n", "", *DATA, ""), strict=True):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(resolve_pins, "ROOT", tmp_path)
    for name in ("PYTHONS", "PROMISED_PYTHONS"):
        monkeypatch.setattr(resolve_pins, name, ("3.11", "3.12"))
    return tmp_path / "tools" / "pins.json"


def test_the_command_prints_a_table_and_keeps_it(kept, answer, uv, capsys):
    answer(lambda _: found("page==1.0"))
    assert resolve_pins.main(["--uv", uv]) == 0
    assert re.search(r"^3\.11( +ok){5}$", capsys.readouterr().out, re.MULTILINE)
    record = json.loads(kept.read_text())
    assert record["tool"] == "uv 1.2.3" and record["sha256"] == resolve_pins.fingerprints()
    assert [each["verdict"] for each in record["combinations"]] == 10 * ["ok"]


def test_the_command_fails_and_names_what_is_missing(kept, answer, uv, capsys):
    """Windows needs one package more, and only the last release of 3.12 refuses another."""

    def needed(target: Target) -> dict[str, dict]:
        if target.python == "3.12.99":
            raise NoSolution(OLD)
        return found("page==1.0", *(["colours==3.0"] if "Windows" in target.platform else []))

    answer(needed)
    assert resolve_pins.main(["--uv", uv]) == 1
    printed = capsys.readouterr()
    assert re.search(r"^3\.11 +ok +ok +no +ok +ok$", printed.out, re.MULTILINE), printed.out
    assert re.search(r"^3\.12( +no){5}$", printed.out, re.MULTILINE), printed.out
    assert f"Python 3.12 on macOS ARM64: {OLD}" in printed.out
    assert f"Python 3.11 on Windows x86-64: {NOT_PINNED}" in printed.out
    assert "Python 3.11 on Windows x86-64" in printed.err and "Python 3.11 on Linux" not in printed.err
    record = json.loads(kept.read_text())
    assert resolve_pins.broken_promises(record["combinations"]), "the record does not hide it"


def test_the_command_without_a_network_writes_nothing(kept, answer, uv):
    answer(CouldNotAsk("Connection refused"))
    with pytest.raises(SystemExit, match=r"was not reached \(Connection refused\): connect to the network"):
        resolve_pins.main(["--uv", uv])
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
