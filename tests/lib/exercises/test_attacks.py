"""Hostile notebooks: no mark gained, nothing outside touched, the next student unaffected, no process left.

No attack deletes anything, and each writes only into folders made for it.
"""

import csv
import hashlib
import io
import socket
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import lib
from lib.exercises import answers
from lib.exercises.__main__ import main
from lib.exercises.answers import cells_of, grade_cells
from lib.exercises.catalogue import CHAPTERS, CODE, exercises
from lib.exercises.isolation import NoReply
from lib.exercises.sandbox import warm_process
from lib.exercises.student import RIGHT
from tests.lib.exercises.notebooks import blank, filled, needs_bwrap, write
from tools.insert_exercises import cells

pytestmark = [needs_bwrap, pytest.mark.slow]
ROOT = Path(lib.__file__).parents[1]

EVERY_ANSWER = """
mascara_causal = softmax_estavel = mascara_do_lote = atencao = {answer}
meu_peso = saidas_que_mudam = {number}
"""
# Each is a cell of a notebook without answers. What a comment calls gained would be a right mark.
ATTACKS = {
    "writes marks into every open file": """
import os
for n in range(3, 300):
    for text in (b'{"mark": ["softmax", "certo", ""]}\\n{"problem": ""}\\n', b'{"value": true}'):
        try:
            os.write(n, text + b'\\n')
        except OSError:
            pass
""",
    "writes through the process entries of others": """
import glob, os
for path in glob.glob("/proc/[0-9]*/fd/*") + glob.glob("/proc/[0-9]*/mem"):
    try:
        open(path, "r+b").write(b'{"mark": ["softmax", "certo", ""]}')
    except OSError:
        pass
assert not os.listdir("/proc")
""",
    "writes the memory of others": """
import ctypes, os
libc = ctypes.CDLL(None)
for pid in {os.getppid(), *range(2, 400)}:
    if libc.ptrace(16, pid, 0, 0) == 0:
        mascara_causal = lambda n: torch.ones(n, n).tril().bool()  # gained
""",
    "signals everybody": """
import os, signal
for pid in (0, -1, os.getppid(), 2, 3, 4):
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.kill(pid, signal.SIGTERM)
    except (OSError, ValueError):
        pass
""",
    "changes lib on disk": """
import lib, pathlib
for folder in {pathlib.Path(lib.__file__).parent, pathlib.Path(ROOT, "lib")}:
    for path in [folder / "exercises" / "values.py", folder / "exercises" / "student.py", folder / "new.py"]:
        try:
            with open(path, "a") as file:
                file.write("\\npasses_for = lambda *_: True\\n")
            mascara_causal = lambda n: torch.ones(n, n).tril().bool()  # gained
        except OSError:
            pass
""",
    "changes what Python imports": """
import pathlib, sys, torch as t
for path in [pathlib.Path(t.__file__), *(pathlib.Path(p) for p in sys.path if p[:1] == "/")]:
    try:
        with open(path / "sitecustomize.py" if path.is_dir() else path, "a") as file:
            file.write("\\n")
        mascara_causal = lambda n: torch.ones(n, n).tril().bool()  # gained
    except OSError:
        pass
""",
    "leaves children in sessions of their own": """
import os, time
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
""",
    "runs the cells of other notebooks": """
import json, os
for folder, _, files in os.walk("/"):
    for name in files:
        if name.endswith(".ipynb") and "site-packages" not in folder:
            for cell in json.load(open(os.path.join(folder, name)))["cells"]:
                try:
                    exec("".join(cell["source"]), globals())
                except BaseException:
                    pass
""",
    "takes the published solutions": """
import importlib
for n in range(1, 6):
    try:
        globals().update(vars(importlib.import_module(f"lib.exercises.solutions.chapter_{n:02}")))
    except ImportError:
        pass
""",
    "takes the functions of the course": """
import lib.attention as a
mascara_causal, softmax_estavel, mascara_do_lote = a.causal_mask, a.softmax, a.padding_mask
atencao = a.attention
""",
    "takes the expected numbers": """
import inspect, lib.exercises.chapter_01 as c
for name in ("check_changed_outputs", "check_weight_by_hand"):
    try:
        saidas_que_mudam = meu_peso = inspect.getclosurevars(getattr(c, name).examine).nonlocals["expected"]
    except Exception:
        pass
""",
    "reads solutions on the disk": """
import os, re
for folder, _, files in os.walk("/"):
    for name in files:
        path = os.path.join(folder, name)
        if ("/lib/exercises" in path or "/book/" in path) and name.endswith(("py", "pyc", "toml", "ipynb")):
            text = open(path, "rb").read()
            if b"10 - 4 + 1" in text:
                saidas_que_mudam = 7  # gained
            if b"def mascara_causal" in text:
                mascara_causal = lambda n: torch.ones(n, n).tril().bool()  # gained
""",
    "replaces what answers are called by": """
import json, lib.exercises.calling as c, lib.exercises.isolation as i, lib.exercises.values as v
class Anything:
    def __eq__(self, other): return True
    __hash__ = None
v.plain = v.restored = c.plain = lambda *_: True
c.Answer.what = lambda self: {"function": True, "value": 7.5}
c.Answer.call = lambda self, *inputs: {"value": True, "printed": False, "inputs": [None] * len(inputs)}
torch.allclose = torch.equal = lambda *_, **__: True
""",
    "answers with what is not data": """
import pickle, lib.exercises.isolation as i
class Gain:
    def __reduce__(self):
        return (exec, ("import lib.exercises.values as v; v.passes_for = lambda *_: True",))
i._reply = lambda *_: pickle.dumps(Gain()) + b'\\n'
""",
    "answers with a nest": "import lib.exercises.isolation as i\ni._reply = lambda *_: b'[' * 10**6 + b'\\n'",
    "answers with a flood": "import lib.exercises.isolation as i\ni._reply = lambda *_: b'0' * 2**25",
    "answers with empty objects": (
        "import lib.exercises.isolation as i\ni._reply = lambda *_: b'[' + b'{},' * 5000000 + b'{}]\\n'"
    ),
    "begins a reply and does not end it": "import lib.exercises.isolation as i\ni._reply = lambda *_: b'['",
    "sends open files back": """
import os, socket, lib.exercises.isolation as i
class End:
    def __init__(self, end): self.end = end
    def sendall(self, reply): socket.send_fds(self.end, [reply], [os.open("/dev/zero", os.O_RDONLY)] * 9)
made = socket.socket
i.socket.socket = lambda *_, fileno=None, **__: End(made(fileno=fileno))
i.socket.recv_fds = lambda end, *rest, received=socket.recv_fds: received(end.end, *rest)
End.recv = lambda self, *rest: self.end.recv(*rest)
""",
    "mounts and remounts": """
import ctypes
libc = ctypes.CDLL(None)
libc.unshare(0x10000000 | 0x00020000)
done = [libc.umount2(b"/proc", 2), libc.mount(None, b"/", None, 4096 | 32, None),
        libc.mount(None, b"/usr", None, 4096 | 32, None), libc.mount(None, b"/curso", None, 4096 | 32, None)]
if 0 in done:
    saidas_que_mudam = 7  # gained
""",
    "takes rights in a space of its own": """
import ctypes, os
libc = ctypes.CDLL(None)
told, tells = os.pipe()
if os.fork() == 0:
    libc.unshare(0x10000000 | 0x00020000)  # all rights, over nothing but this
    done = [libc.umount2(b"/proc", 2), libc.sethostname(b"x", 1)]
    done += [libc.mount(None, path, None, 4096 | 32, None) for path in (b"/", b"/usr", b"/curso")]
    for path in ("/usr/mark", "/curso/lib/mark", "/mark"):
        try:
            open(path, "w").close()
            done.append(0)
        except OSError:
            pass
    os.write(tells, b"gained" if 0 in done else b"nothing")
    while True:  # and stays
        pass
if os.read(told, 9) == b"gained":
    pares_permitidos = 5050
""",
    "looks for the grader in the environment and in open files": """
import fcntl, os, socket
known = {"PATH", "LANG", "LC_CTYPE", "MPLBACKEND", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "HOME", "TMPDIR"}
known |= {"PWD"} | {f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL")}
more = {name for name in os.environ if name not in known and not name.startswith(("KMP", "TORCH"))}
files = 0
for n in range(3, 1024):
    try:
        fcntl.fcntl(n, fcntl.F_GETFD)
        files += 1
    except OSError:
        pass
if more or files > 2:  # its own socket, and what torch keeps open
    pares_permitidos = 5050  # gained
""",
    "tells numbers that no reader expects": """
import lib.exercises.isolation as i
told = iter([b"NaN", b"Infinity", b"-Infinity", b"1e400", b"9" * 5000, b'{"value": 1e400}', b'{"value": NaN}',
             b'{"value": 5050, "value": true}', b'{"value": 5050, "stub": 1, "stub": {"base64": "!"}}'] * 99)
i._reply = lambda *_: next(told) + b'\\n'
""",
    "tells texts without end": """
import json, lib.exercises.isolation as i
def reply(target, method, _):
    raised = {"raised": "\\ud800<script>" * 500000, "memory": False}
    told = {"has": lambda: True, "run": str, "what": lambda: {"function": True}, "call": lambda: raised}
    return json.dumps(told.get(method, str)()).encode() + b"\\n"
i._reply = reply
""",
    "answers with a nest of nine hundred": """
import lib.exercises.isolation as i
i._reply = lambda *_: b"[" * 900 + b"]" * 900 + b"\\n"
""",
    "becomes another user": """
import os
for change in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.chroot("/pasta")):
    try:
        change()
        saidas_que_mudam = 7  # gained
    except OSError:
        pass
""",
    "starts too many processes": """
import os, time
started = 0
try:
    while started < 500:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        started += 1
except OSError:
    pass
if started > 100:
    saidas_que_mudam = 7  # gained
""",
    "takes too much memory": """
try:
    hoard = bytearray(3 * 2**30)
    saidas_que_mudam = 7  # gained
except MemoryError:
    pass
""",
    "fills the disk": """
import os
written = 0
for folder in ("/pasta", "/tmp", "/", "/dev/shm", "/dev", "/curso", "/etc"):
    try:
        for i in range(50):
            with open(os.path.join(folder, f"fill{i}"), "wb") as file:
                file.write(b"0" * 2**22)
                written += 2**22
    except OSError:
        pass
if written > 100 * 2**20:
    saidas_que_mudam = 7  # gained
""",
    "opens sockets that no network space holds": """
import socket
for kind in range(2, 50):
    for type in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(kind, type)
            saidas_que_mudam = 7  # gained
        except OSError:
            pass
""",
    "gives back tensors of rows without end": EVERY_ANSWER.format(
        answer="lambda *_: torch.empty(2**40, 0)", number="torch.empty(2**40, 0)"
    ),
    "tells tensors of rows without end": """
import json, lib.exercises.isolation as i
value = {"value": {"dtype": "float32", "shape": [2**40, 0], "bytes": ""}, "inputs": [None] * 3}
told = {"has": True, "run": "", "what": {"function": True}, "call": value}
i._reply = lambda target, method, _: json.dumps(told.get(method)).encode() + b'\\n'
""",
    "never ends": "while True:\n    pass",
    "catches everything": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "ends its process": "import os\nos._exit(0)",
    "says that everything is equal": """
class Anything:
    def __eq__(self, other): return True
    def __call__(self, *_): return self
    __hash__ = None
"""
    + EVERY_ANSWER.format(answer="Anything()", number="Anything()"),
    "gives back nan": EVERY_ANSWER.format(answer="lambda *_: float('nan')", number="float('nan')"),
}


@pytest.fixture(scope="module")
def sandbox():
    with warm_process() as warm:
        yield warm


def right(notebook, sandbox, seconds=60.0):
    """How many of its answers are right."""
    found = []
    try:
        for mark in grade_cells(cells_of(nbformat.writes(notebook).encode()), sandbox, seconds):
            found.append(mark.status)
    except NoReply:
        pass
    return found.count(RIGHT)


def left_over():
    """The processes of the sandbox, beside itself and its warm one."""
    walls = [p for p in psutil.Process().children() if p.name() == "bwrap"]  # a worker has other children too
    inside = [p for wall in walls for p in wall.children(recursive=True)]
    return [p for p in inside if p.status() != psutil.STATUS_ZOMBIE and p.name() != "bwrap"][1:]


def fingerprint(*folders):
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    kept = [path for path in files if "__pycache__" not in path.parts]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gains_nothing_and_the_next_student_is_unaffected(name, sandbox, monkeypatch):
    before = fingerprint(ROOT / "lib" / "exercises")
    started = time.monotonic()
    with monkeypatch.context() as impatient:
        impatient.setattr(answers, "CELL_SECONDS", 2.0)
        impatient.setattr("lib.exercises.student.SECONDS", 2.0)
        assert right(blank(f"ROOT = {str(ROOT)!r}\n{ATTACKS[name]}"), sandbox) == 0
    assert time.monotonic() - started < 120
    deadline = time.monotonic() + 20
    while left_over():
        assert time.monotonic() < deadline, left_over()
        time.sleep(0.05)
    assert right(blank(), sandbox) == 0 and right(filled(), sandbox) == 8
    assert fingerprint(ROOT / "lib" / "exercises") == before


def test_what_an_answer_says_of_itself_is_cut(sandbox):
    notebook = blank(ATTACKS["tells texts without end"])
    marks = [*grade_cells(cells_of(nbformat.writes(notebook).encode()), sandbox, 60.0)]
    assert max(len(mark.detail) for mark in marks) == answers.LONGEST


REMEMBER = """
import lib.exercises.calling as c
def define(self, source):
    with open("/pasta/told.py", "a") as file:
        file.write(source + "\\n\\n")
c.Answer.define = define
class Told:
    def __init__(self, name): self.name = name
    def __call__(self, *inputs):
        made = {{"__name__": "curso"}}
        exec(open("/pasta/told.py").read(), made)
        self.value = made[self.name]
        return c.Answer._applied(self, *inputs)
for name in {names!r}:
    globals()[name] = Told(name)
"""


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_steps_told_to_one_answer_are_no_use_to_the_next(chapter, sandbox):
    """An answer that builds on others is given the course's, and its process may keep them."""
    names = [e.answer for e in exercises(chapter) if e.kind == CODE]
    attack = REMEMBER.format(names=names) + "".join(f"{name} = {name}\n" for name in names)
    assert right(new_notebook(cells=[*cells(chapter), new_code_cell(attack)]), sandbox) == 0


def test_nothing_can_be_reached_over_the_network(sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        attack = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\nsaidas_que_mudam = 7"
        assert right(blank(attack), sandbox) == 0
        with pytest.raises(TimeoutError):
            server.accept()


def test_two_notebooks_at_the_same_time_do_not_see_each_other(sandbox):
    listen = "import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0conluio')\ns.listen()"
    call = "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0conluio')"
    with sandbox.fork() as one, sandbox.fork() as other:
        assert one.ask("run", listen + "\nopen('/pasta/x', 'w').write('x')", True, seconds=10) == ""
        assert "ConnectionRefused" in other.ask("run", call, True, seconds=10)
        assert "FileNotFoundError" in other.ask("run", "open('/pasta/x')", True, seconds=10)


def test_a_class_with_an_attacker_is_graded_as_without(tmp_path):
    """Other students' notebooks, links to them and the table itself are out of reach."""
    class_ = tmp_path / "turma"
    write(filled(), class_ / "ana" / "01_masking.ipynb")
    table = class_ / "correcao" / "notas.csv"
    attack = f"""
import os, time
for path in ({str(table)!r}, {str(class_ / "ana" / "01_masking.ipynb")!r}, {str(tmp_path / "novo")!r}):
    try:
        open(path, "a").write("forjado")
        saidas_que_mudam = 7
    except OSError:
        pass
if os.fork() == 0:
    os.setsid()
    while True:
        time.sleep(0.1)
        try:
            open({str(table)!r}, "a").write("forjado")
        except OSError:
            pass
"""
    write(blank(attack, ATTACKS["runs the cells of other notebooks"]), class_ / "bia" / "01_masking.ipynb")
    (class_ / "caio").mkdir()
    (class_ / "caio" / "01_masking.ipynb").symlink_to(class_ / "ana" / "01_masking.ipynb")
    write(blank(), class_ / "davi" / "01_masking.ipynb")
    before = fingerprint(class_)
    assert main(["grade", str(class_), "--jobs=2"]) == 0
    assert fingerprint(*(p for p in class_.iterdir() if p.name != "correcao")) == before
    assert not (tmp_path / "novo").exists()
    rows = csv.DictReader(io.StringIO(table.read_text(encoding="utf-8-sig")), delimiter=";")
    found = {row["estudante"]: row for row in rows}
    assert {name: row["Total"] for name, row in found.items()} == {
        "ana": "8",
        "bia": "0",
        "caio": "0",
        "davi": "0",
    }
    assert "atalho" in found["caio"]["Observações"]
    time.sleep(0.5)
    assert "forjado" not in table.read_text(encoding="utf-8-sig")


def test_when_the_grader_ends_all_ends(tmp_path):
    before = {*psutil.Process().children()}
    with warm_process() as warm, warm.fork() as notebook:
        assert (
            notebook.ask("run", ATTACKS["leaves children in sessions of their own"], True, seconds=10) == ""
        )
        (bwrap,) = {*psutil.Process().children()} - before
        inside = bwrap.children(recursive=True)
        assert len(inside) > 5
        bwrap.kill()
        _, alive = psutil.wait_procs(inside, timeout=20)
        assert not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]
