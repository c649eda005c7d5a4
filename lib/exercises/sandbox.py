"""Runs students' notebooks under bubblewrap: the system's own sandbox, the one of Flatpak.

One warm process, in which Python and torch are loaded, forks one for each notebook (see `worker`). They see
the system's programs and libraries, Python with its packages, and an outline of `lib`, all read-only; no
network, no process but its own, no other file.
"""

import contextlib
import errno
import os
import platform
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lib.exercises.isolation import NoReply, Remote
from lib.exercises.outline import LIB, write_outline

START_SECONDS = 120.0
COURSE, FOLDER = "/curso", "/pasta"  # what is read there, and the only place to write
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "MPLBACKEND": "Agg"}
ENVIRONMENT |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SPACES = [f"--unshare-{space}" for space in ("pid", "net", "ipc", "uts", "cgroup-try")]
LIMITS = ["prlimit", f"--fsize={2**26}", "--nofile=64", "--core=0"]
# A limit on processes does not hold for root, who becomes nobody, without any rights, before Python begins.
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"]
# For the kernel: an architecture, and the number there of the call that opens a socket.
SOCKET_CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
ADVICE = (
    "no Debian e no Ubuntu, instale com apt-get install bubblewrap; fora do Linux, use uma máquina virtual. "
    "Se está instalada, o sistema talvez a proíba a usuários comuns: o Ubuntu a libera, até a máquina ser "
    "ligada de novo, com sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0. "
    "Sem ela, o código dos estudantes roda com as suas permissões: pode ler e apagar os seus arquivos, usar "
    "a rede e forjar notas. Se é isso mesmo que você quer, peça com --unsafe."
)


class NoSandbox(Exception):
    """There is no sandbox here: why, and what to do, for the teacher."""


@contextlib.contextmanager
def warm_process(unsafe: bool = False, hidden: tuple[Path, ...] = ()) -> Iterator[Remote]:
    """The process whose forks hold notebooks, until the `with` ends. `unsafe` leaves the sandbox out."""
    bwrap = None if unsafe else shutil.which("bwrap")
    if not unsafe and bwrap is None:
        raise NoSandbox(f"a caixa de areia (bubblewrap) não está instalada: {ADVICE}")
    control, theirs = socket.socketpair()
    with (
        tempfile.TemporaryDirectory(prefix="correcao-") as course,
        tempfile.TemporaryFile() as errors,
        control,
    ):
        write_outline(Path(course))
        around, sees, folder, files = [], course, "", [theirs.fileno()]
        if bwrap:
            files.append(_only_local_sockets())
            around, sees, folder = _walls(bwrap, course, hidden, files[1]), COURSE, FOLDER
        with theirs:
            process = subprocess.Popen(
                [*around, sys.executable, "-m", "lib.exercises.worker", str(theirs.fileno()), folder],
                cwd=course,
                # What Python and torch need, and nothing of what else the grader's environment may hold.
                env=ENVIRONMENT | {"PYTHONPATH": sees, "HOME": folder or course, "TMPDIR": folder or course},
                pass_fds=files,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        for file in files[1:]:
            os.close(file)
        try:
            warm = Remote(control)
            try:  # the warm process, and one for a notebook: not every system allows both
                with warm.fork() as first:
                    first.ask("has", "", seconds=START_SECONDS)
            except NoReply:
                errors.seek(0)
                why = errors.read().decode(errors="replace").strip().splitlines() or ["sem mensagem"]
                raise NoSandbox(
                    f"a caixa de areia (bubblewrap) não pôde ser montada ({why[-1][:200]}): {ADVICE}"
                ) from None
            yield warm
        finally:
            process.kill()  # and with it all that is inside
            process.wait()


def _only_local_sockets() -> int:
    """A filter of system calls, in an open file: no socket but between processes.

    A network space of one's own does not hold every kind; those of a virtual machine reach its host.
    """
    if platform.machine() not in SOCKET_CALLS:
        raise NoSandbox(f"a caixa de areia não conhece o processador {platform.machine()}: {ADVICE}")
    architecture, call = SOCKET_CALLS[platform.machine()]
    load, equal, at_least, end = 0x20, 0x15, 0x35, 0x06
    steps = [
        (load, 0, 0, 4),  # the architecture: a process may also call as one of 32 bits
        (equal, 0, 7, architecture),
        (load, 0, 0, 0),  # the call
        (at_least, 5, 0, 0x40000000),  # as one of 32 bits, in another way
        (equal, 4, 0, 425),  # io_uring_setup, whose calls no filter sees
        (equal, 0, 2, call),
        (load, 0, 0, 16),  # the kind of socket
        (equal, 0, 1, socket.AF_UNIX),
        (end, 0, 0, 0x7FFF0000),  # allowed
        (end, 0, 0, 0x00050000 | errno.EAFNOSUPPORT),
    ]
    file = os.memfd_create("seccomp")
    os.write(file, b"".join(struct.pack("HBBI", *step) for step in steps))
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _walls(bwrap: str, course: str, hidden: tuple[Path, ...], calls: int) -> list[str]:
    """bubblewrap with its options, then the programs that set limits and leave root's rights for Python."""
    mounts = {path: ["--ro-bind-try", path] for path in (*SYSTEM, sys.base_prefix, sys.prefix)}
    mounts |= {path: ["--dev-bind", path] for path in DEVICES}
    empty = [str(path.resolve()) for path in (LIB.parent, *hidden)]
    mounts |= {path: ["--tmpfs"] for path in empty}
    mounts |= {COURSE: ["--ro-bind", course], FOLDER: ["--dir"]}
    # Each folder above is made first, or only root could go through.
    above = {str(folder): ["--dir"] for path in mounts for folder in Path(path).parents[:-1]}
    walls = [
        bwrap,
        *SPACES,
        "--die-with-parent",
        "--hostname",
        "correcao",
        "--proc",
        "/proc",
        "--seccomp",
        str(calls),
    ]
    for path, how in sorted((above | mounts).items()):  # what lies in another place after it
        walls += [*how, path]
    for path in ("/", *empty):
        walls += ["--remount-ro", path]
    walls += ["--chdir", COURSE, *LIMITS]
    return [*walls, *AS_NOBODY] if os.geteuid() == 0 else walls
