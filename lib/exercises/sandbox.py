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
        self.control, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as errors:
            around = [self.bwrap, *self._walls(outline)] if self.bwrap else []
            confined = [FOLDER] if self.bwrap else []
            self.process = subprocess.Popen(
                [*around, sys.executable, "-m", "lib.exercises.worker", str(theirs.fileno()), *confined],
                cwd=outline,
                env=self._environment(COURSE if self.bwrap else str(outline)),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
            theirs.close()
            self.control.settimeout(START_SECONDS)
            if not self._works():
                self.__exit__()
                errors.seek(0)
                why = errors.read().decode(errors="replace").strip().splitlines() or ["sem mensagem"]
                raise NoSandbox(
                    f"a caixa de areia (bubblewrap) não pôde ser montada ({why[-1][:200]}): {ADVICE}"
                )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # and with it all that is inside
        self.process.wait()
        self.control.close()
        self.folder.cleanup()

    def _works(self) -> bool:
        """Whether the warm process answers, and so does one for a notebook: not every system allows both."""
        try:
            if self.control.recv(1) != b".":
                return False
            with self.notebook() as first:
                first.ask("names", seconds=END_SECONDS)
        except (OSError, NoReply):
            return False
        return True

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

    def _walls(self, outline: Path) -> list[str]:
        prefixes = [
            path for path in dict.fromkeys((sys.base_prefix, sys.prefix)) if not path.startswith("/usr/")
        ]
        visible = [path for path in SYSTEM if os.path.exists(path)]
        walls = ["--unshare-all", "--die-with-parent", "--new-session", "--hostname", "correcao"]
        if os.geteuid() == 0:  # real namespaces, so that the worker can become nobody
            walls = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", *walls[1:]]
            walls += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        for path in visible:
            walls += ["--ro-bind", path, path]
        for path in (str(path.resolve()) for path in self.hidden):
            walls += ["--tmpfs", path] if path.startswith("/usr/") else []
        for how, path in [("--ro-bind", path) for path in prefixes] + [
            ("--dev-bind", path) for path in DEVICES
        ]:
            for parent in reversed(Path(path).parents[:-1]):
                walls += ["--dir", str(parent)]  # or only root could go through
            walls += [how, path, path]
        walls += ["--proc", "/proc", "--dir", FOLDER, "--ro-bind", str(outline), COURSE, "--chdir", COURSE]
        return [*walls, "--remount-ro", "/"]

    def _environment(self, course: str) -> dict[str, str]:
        """What Python and torch need, and nothing of what else the grader's environment may hold."""
        home = FOLDER if self.bwrap else self.folder.name
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        fixed = {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "Agg",
        }
        return fixed | threads | {"PYTHONPATH": course, "HOME": home, "TMPDIR": home}
