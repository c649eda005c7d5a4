"""A real JupyterLab on loopback, working in a student's folder of its own, as `make lab` makes it."""

import json
import re
import secrets
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook
from playwright.sync_api import Locator, Page

from tests.browser.chromium import wait_until
from tools.lab import server
from tools.lab.__main__ import prepare
from tools.lab.folder import Folder

START_SECONDS = 180  # for a machine that does other things; a server that is up ends the wait at once
STOP_SECONDS = 60
ANSWER_SECONDS = 10  # an answer that takes longer is asked for again
ASK_AGAIN_SECONDS = 0.1
LEAKS = ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "JUPYTER_CONFIG_PATH")
PORT_LOST = "no available port could be found"  # what the server says then
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


@dataclass(frozen=True)
class Lab:
    """Where the server listens, what opens it, and the folder of notebooks that it shows."""

    base_url: str
    token: str
    folder: Path

    def url(self, notebook: str) -> str:
        """The address that opens one notebook in the full interface."""
        return f"{self.base_url}/lab/tree/{notebook}?token={self.token}&reset"


# --- the server ---------------------------------------------------------------------------------------------


def launch(scratch: Path, folder: Folder, token: str) -> subprocess.Popen:
    """Start the server on a port that it chooses itself; it writes the address into its runtime folder."""
    command = [
        *server.command(folder),
        "--no-browser",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",
        f"--IdentityProvider.token={token}",
    ]
    # Settings of the person who runs the tests must not leak in, nor the tests' settings out.
    private = {"JUPYTER_RUNTIME_DIR": str(scratch / "runtime"), "IPYTHONDIR": str(scratch / "ipython")}
    told = {name: value for name, value in server.environment(folder).items() if name not in LEAKS}
    with open(scratch / "jupyterlab.log", "ab") as output:
        return subprocess.Popen(
            command, cwd=folder.path, env=told | private, stdout=output, stderr=subprocess.STDOUT
        )


def address(process: subprocess.Popen, scratch: Path, token: str) -> str | None:
    """Where the server answers to its token; None while it does not."""
    try:
        said = json.loads((scratch / "runtime" / f"jpserver-{process.pid}.json").read_text(encoding="utf-8"))
        base_url = f"http://127.0.0.1:{said['port']}"
        urllib.request.urlopen(f"{base_url}/api/status?token={token}", timeout=ANSWER_SECONDS).close()
        return base_url
    except (ValueError, OSError):  # no file yet, half a file, no answer yet
        return None


def stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def start(scratch: Path, folder: Folder, token: str) -> tuple[subprocess.Popen, str]:
    """The server and its address; it is started again if another process took the port that it had chosen."""
    process, deadline = launch(scratch, folder, token), time.monotonic() + START_SECONDS
    try:
        while time.monotonic() < deadline:
            if base_url := address(process, scratch, token):
                return process, base_url
            time.sleep(ASK_AGAIN_SECONDS)
            if process.poll() is not None:  # it has ended
                if PORT_LOST not in read_log(scratch):
                    break
                process = launch(scratch, folder, token)
        tail = re.sub(token, "***", read_log(scratch))[-2000:]
        raise RuntimeError(f"JupyterLab did not start within {START_SECONDS} s:\n{tail}")
    except BaseException:
        stop(process)
        raise


def read_log(scratch: Path) -> str:
    return (scratch / "jupyterlab.log").read_text(encoding="utf-8")


@contextmanager
def running_lab(scratch: Path) -> Iterator[Lab]:
    """Start JupyterLab in a student's folder under the scratch folder, and stop it at the end."""
    folder, token = prepare(scratch / "caderno"), secrets.token_hex(16)
    process, base_url = start(scratch, folder, token)
    try:
        yield Lab(base_url, token, folder.path)
    finally:
        stop(process)


# --- what a person does in it -------------------------------------------------------------------------------


def open_notebook(page: Page, lab: Lab, name: str, cells: Sequence) -> None:
    """Write a notebook and open it, with its kernel up: before that, "run" would ask for a kernel."""
    nbformat.write(new_notebook(cells=list(cells), metadata={"kernelspec": KERNEL}), lab.folder / name)
    page.goto(lab.url(name))
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()


def run_all(page: Page) -> None:
    """Run every cell, and wait until the last one has ended; of an earlier run nothing is left to be seen."""
    for menu, command in (
        ("Editar", "Clear Outputs of All Cells"),
        ("Executar", "Executar todas as células"),
    ):
        page.get_by_role("menuitem", name=menu, exact=True).click()
        page.get_by_role("menuitem", name=command, exact=True).click()
    wait_for_run(page.locator(".jp-CodeCell").last, after=0)


def run_number(cell: Locator) -> int:
    """The number of the cell's last run; 0 while it runs, and before it ever has."""
    # Where the code is folded, only the result has it.
    prompts = cell.locator(".jp-InputPrompt, .jp-OutputPrompt").all_inner_texts()
    found = re.search(r"\d+", " ".join(prompts))
    return int(found.group()) if found else 0


def wait_for_run(cell: Locator, after: int) -> None:
    """Wait until a run later than number `after` has ended: by then Python has said all it had to say."""
    assert wait_until(cell.page, lambda: run_number(cell) > after), "the cell's run does not end"


def run(cell: Locator) -> Locator:
    """Run a cell by keyboard and wait for the end of this very run; what the cell printed."""
    before = run_number(cell)
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("Control+Enter")
    wait_for_run(cell, before)
    return cell.locator(".jp-OutputArea-output pre")
