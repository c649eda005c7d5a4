"""A real JupyterLab on loopback, working on a copy of the book so that no test can change the notebooks."""

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.console import ROOT

START_SECONDS = 60


@dataclass(frozen=True)
class Lab:
    """Where the server listens, what opens it, and the folder of notebooks that it shows."""

    base_url: str
    token: str
    folder: Path

    def url(self, notebook: str) -> str:
        """The address that opens one notebook in the full interface."""
        return f"{self.base_url}/lab/tree/{notebook}?token={self.token}&reset"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_up(lab: Lab, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{lab.base_url}/api/status?token={lab.token}", timeout=2).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    tail = re.sub(lab.token, "***", log.read_text(encoding="utf-8"))[-2000:]
    raise RuntimeError(f"JupyterLab did not start within {START_SECONDS} s:\n{tail}")


def silence_announcements(settings: Path) -> None:
    """Answer beforehand the question about news, which would otherwise lie over the notebook."""
    file = settings / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    file.parent.mkdir(parents=True)
    file.write_text('{"fetchNews": "false", "checkForUpdates": false}', encoding="utf-8")


@contextmanager
def running_lab(scratch: Path) -> Iterator[Lab]:
    """Start JupyterLab on a copy of book/ under the scratch folder, and stop it at the end."""
    folder = scratch / "book"
    shutil.copytree(ROOT / "book", folder, ignore=shutil.ignore_patterns("_static", "_ext", ".*"))
    lab = Lab(f"http://127.0.0.1:{free_port()}", secrets.token_hex(16), folder)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        f"--ServerApp.root_dir={folder}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={lab.base_url.rsplit(':', 1)[1]}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={lab.token}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    silence_announcements(scratch / "settings")
    # Settings of the person who runs the tests must not leak in, nor the tests' settings out.
    private = {
        "JUPYTER_CONFIG_DIR": str(scratch / "config"),
        "JUPYTER_RUNTIME_DIR": str(scratch / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(scratch / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(scratch / "workspaces"),
        "IPYTHONDIR": str(scratch / "ipython"),
    }
    log = scratch / "jupyterlab.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **private}, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until_up(lab, process, log)
        yield lab
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
