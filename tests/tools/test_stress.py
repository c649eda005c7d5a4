"""The stress tool: what it starts ends with it, and a failure in any round is seen and kept."""

import os
import re
import subprocess
import sys
import time

import pytest

from tools import stress
from tools.console import ROOT

pytestmark = pytest.mark.slow
SOMETIMES = """
from pathlib import Path

def test_always(): pass

def test_sometimes():
    seen = Path(__file__).with_suffix(".seen")
    first = not seen.exists()
    seen.touch()
    assert first, "the second round fails"
"""


@pytest.fixture(autouse=True)
def only_the_plugin_that_is_needed(monkeypatch):
    """The rounds of these tests start pytest again and again, and most of its start is loading plugins."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def stressed(folder, capsys, times: int, beside: int = 1) -> tuple[int, list[str], list[str]]:
    """Run the tool on the tests of a folder: its exit code, its lines, and the logs that it kept."""
    numbers = {"times": times, "beside": beside, "busy": 2, "jobs": 0}
    arguments = [f"--{name}={number}" for name, number in numbers.items()]
    arguments += ["--logs", str(folder / "logs")]
    with pytest.raises(SystemExit) as ended:
        stress.main([*arguments, str(folder)])
    first, *said = capsys.readouterr().out.splitlines()
    busy = re.fullmatch(r"kept busy by processes (\d+) (\d+)", first).groups()
    assert len(set(busy)) == 2 and not any(alive(int(pid)) for pid in busy)
    return ended.value.code, said, [path.name for path in (folder / "logs").iterdir()]


def test_rounds_without_a_failure_are_counted_and_leave_nothing(tmp_path, capsys):
    (tmp_path / "test_made_up.py").write_text("def test_always(): pass", encoding="utf-8")
    code, said, kept = stressed(tmp_path, capsys, times=1)
    assert (code, kept) == (0, [])
    assert re.fullmatch(r"round 1 of 1: 1 passed, 0 failed in \d+ s", said[0])
    assert said[1:] == ["1 passed, 0 failed"]


def test_a_failure_in_one_round_is_told_kept_and_decides(tmp_path, capsys):
    (tmp_path / "test_made_up.py").write_text(SOMETIMES, encoding="utf-8")
    code, said, kept = stressed(tmp_path, capsys, times=2)
    assert (code, kept) == (1, ["round-02.log"])
    assert said[0].startswith("round 1 of 2: 2 passed, 0 failed in ")
    assert said[1].startswith("round 2 of 2: 1 passed, 1 failed in ") and "test_sometimes" in said[2]
    assert said[3].startswith("failed in 1 of 2 rounds: ") and said[3].endswith("test_sometimes")
    assert said[4:] == ["3 passed, 1 failed"]
    assert "the second round fails" in (tmp_path / "logs" / kept[0]).read_text(encoding="utf-8")


MEETING = """
import os, time
from pathlib import Path

def test_two_rounds_are_there_at_once():
    here = Path(__file__).parent
    Path(here, f"here-{os.getpid()}").touch()
    deadline = time.monotonic() + 60
    while len([*here.glob("here-*")]) < 2:
        assert time.monotonic() < deadline, "nobody came"
        time.sleep(0.01)
"""


def test_rounds_run_side_by_side(tmp_path, capsys):
    (tmp_path / "test_made_up.py").write_text(MEETING, encoding="utf-8")
    code, said, kept = stressed(tmp_path, capsys, times=2, beside=2)
    assert (code, kept, said[-1]) == (0, [], "2 passed, 0 failed")


def test_a_selection_that_finds_no_test_is_a_failure(tmp_path):
    (tmp_path / "test_empty.py").touch()
    assert stress.run_round([str(tmp_path)], 0, tmp_path / "log").failed == ("pytest ended with code 5",)


def test_an_interrupted_program_ends_its_tests_and_its_busy_processes(tmp_path):
    own = tmp_path / "pid"
    (tmp_path / "test_endless.py").write_text(
        "import os, time\n"
        "from pathlib import Path\n"
        "def test_endless():\n"
        f"    Path({str(tmp_path / 'written')!r}).write_text(str(os.getpid()))\n"
        f"    Path({str(tmp_path / 'written')!r}).rename({str(own)!r})\n"
        "    while True: time.sleep(0.01)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "tools.stress", "--busy", "1", "--jobs", "0"]
    command += ["--logs", str(tmp_path / "logs"), str(tmp_path)]
    program = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    busy = int(program.stdout.readline().split()[-1])
    deadline = time.monotonic() + stress.GRACE_SECONDS
    while not own.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    tests = int(own.read_text())
    assert alive(busy) and alive(tests)
    program.terminate()
    assert program.communicate(timeout=2 * stress.GRACE_SECONDS) == ("", "interrupted\n")
    assert program.returncode == 1 and not alive(busy) and not alive(tests)
