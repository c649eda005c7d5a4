"""Runs students' notebooks under bubblewrap: the system's own sandbox, the one of Flatpak.

One warm process, in which Python and torch are loaded, forks one for each notebook (see `worker`). They see
the system's programs and libraries, Python with its packages, and an outline of `lib`, all read-only; no
network, no process but its own, no other file.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lib.exercises.isolation import NoReply, Remote
from lib.exercises.outline import LIB, write_outline

START_SECONDS = 120.0
END_SECONDS = 20.0
COURSE, FOLDER = "/curso", "/pasta"  # what is read there, and the only place to write
SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "MPLBACKEND": "Agg"} | THREADS
SPACES = [f"--unshare-{space}" for space in ("pid", "net", "ipc", "uts", "cgroup-try")]
LIMITS = ["prlimit", f"--fsize={2**26}", "--nofile=64", "--core=0"]
# A limit on processes does not hold for root, who becomes nobody before Python begins.
RIGHTS = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
ADVICE = (
    "no Debian e no Ubuntu, instale com apt-get install bubblewrap; fora do Linux, use uma máquina virtual. "
    "Se está instalada, o sistema talvez a proíba a usuários comuns: o Ubuntu a libera, até a máquina ser "
    "ligada de novo, com sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0. "
    "Sem ela, o código dos estudantes roda com as suas permissões: pode ler e apagar os seus arquivos, usar "
    "a rede e forjar notas. Se é isso mesmo que você quer, peça com --unsafe."
)


class NoSandbox(Exception):
    """There is no sandbox here: why, and what to do, for the teacher."""


class Sandbox:
    """Processes for notebooks, until the `with` ends. `unsafe` leaves the sandbox out."""

    def __init__(self, unsafe: bool = False, hidden: tuple[Path, ...] = ()) -> None:
        self.bwrap = None if unsafe else shutil.which("bwrap")
        if not unsafe and self.bwrap is None:
            raise NoSandbox(f"a caixa de areia (bubblewrap) não está instalada: {ADVICE}")
        self.hidden = (LIB.parent, *hidden)

    def __enter__(self) -> "Sandbox":
        self.folder = tempfile.TemporaryDirectory(prefix="correcao-")
        outline = Path(self.folder.name)
        write_outline(outline)
        for path in (outline, *outline.rglob("*")):
            path.chmod(0o755)  # whatever the umask: nobody must read it
        around, course, folder = [], self.folder.name, ""
        if self.bwrap:
            around, course, folder = [self.bwrap, *self._walls()], COURSE, FOLDER
        home = folder or course
        self.control, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as errors:
            self.process = subprocess.Popen(
                [*around, sys.executable, "-m", "lib.exercises.worker", str(theirs.fileno()), folder],
                cwd=outline,
                # What Python and torch need, and nothing of what else the grader's environment may hold.
                env=ENVIRONMENT | {"PYTHONPATH": course, "HOME": home, "TMPDIR": home},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
            theirs.close()
            try:  # the warm process, and one for a notebook: not every system allows both
                with self.notebook() as first:
                    first.ask("names", seconds=START_SECONDS)
            except (OSError, NoReply):
                self.__exit__()
                errors.seek(0)
                why = errors.read().decode(errors="replace").strip().splitlines() or ["sem mensagem"]
                raise NoSandbox(
                    f"a caixa de areia (bubblewrap) não pôde ser montada ({why[-1][:200]}): {ADVICE}"
                ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # and with it all that is inside
        self.process.wait()
        self.control.close()
        self.folder.cleanup()

    @contextlib.contextmanager
    def notebook(self) -> Iterator[Remote]:
        """A new process for one notebook. When the `with` ends, it and all that it started have ended."""
        (asked, theirs), (life, keeper) = socket.socketpair(), socket.socketpair()
        with theirs, keeper:
            socket.send_fds(self.control, [b"."], [theirs.fileno(), keeper.fileno()])
        with life, Remote(asked) as remote:
            try:
                yield remote
            finally:
                life.shutdown(socket.SHUT_WR)
                life.settimeout(END_SECONDS)
                life.recv(1)  # comes when the keeper has ended

    def _walls(self) -> list[str]:
        """bubblewrap's options, then the programs that set limits and leave root's rights for Python."""
        read = (*SYSTEM, sys.base_prefix, sys.prefix)
        hidden = [path for path in map(str, map(Path.resolve, self.hidden)) if path.startswith("/usr/")]
        # Each folder above is made first, or only root could go through.
        above = {str(p): ["--dir", str(p)] for path in (*read, *DEVICES) for p in Path(path).parents[:-1]}
        places = above | {path: ["--ro-bind-try", path, path] for path in read}
        places |= {path: ["--dev-bind", path, path] for path in DEVICES} | {p: ["--tmpfs", p] for p in hidden}
        places |= {COURSE: ["--ro-bind", self.folder.name, COURSE], FOLDER: ["--dir", FOLDER]}
        walls = [*SPACES, "--die-with-parent", "--hostname", "correcao", "--proc", "/proc", "--chdir", COURSE]
        for path in sorted(places):  # what lies in another place after it
            walls += places[path]
        walls += ["--remount-ro", "/"]
        return [*walls, *RIGHTS, *LIMITS, *AS_NOBODY] if os.geteuid() == 0 else [*walls, *LIMITS]
