"""Each failure of the set-up, provoked in a real process, ends in one sentence that names its real cause.

Only the index and the proxy of pip are elsewhere: at a port of this machine where nothing listens, or where a
server of the test does.
"""

import ctypes
import os
import re
import shutil
import ssl
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.tools.test_setup import assert_one_sentence
from tools import setup_venv
from tools.console import ROOT
from tools.serve import QuietHandler

pytestmark = pytest.mark.slow
CLEAN = {"PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1"}
NOWHERE = "127.0.0.1:9"
TORCH = "torch-2.13.0-py3-none-any.whl"
OUTSIDE = re.compile(r"(?i)PIP_.*|(https?|all|no)_proxy|(REQUESTS|CURL)_CA_BUNDLE|SSL_CERT_\w+|TMPDIR")


def clean_environment(**settings: str) -> dict[str, str]:
    """The environment without what this machine tells pip."""
    kept = {name: value for name, value in os.environ.items() if not OUTSIDE.fullmatch(name)}
    return {**kept, **CLEAN, **settings}


def set_up(folder: Path, *before: str, first=None, **settings: str) -> subprocess.CompletedProcess:
    """Run the set-up in that folder with nothing but these settings of pip."""
    command = [*before, sys.executable, "-m", "tools.setup_venv", "--venv", str(folder)]
    environment = clean_environment(**settings)
    return subprocess.run(
        command, cwd=ROOT, env=environment, text=True, capture_output=True, timeout=120, preexec_fn=first
    )


@pytest.fixture(scope="module")
def from_nothing(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess]:
    """The folder and the words of a set-up without a network."""
    folder = tmp_path_factory.mktemp("prepared") / "environment"
    return folder, set_up(folder, PIP_INDEX_URL=f"http://{NOWHERE}/")


@pytest.fixture
def prepared(from_nothing) -> Path:
    """An environment with pip and nothing else: making one takes longer than most of the failures."""
    return from_nothing[0]


def wheel(folder: Path, file_name: str = TORCH, metadata: str = "", content: bytes = b"") -> dict[str, str]:
    """Settings with which pip finds nothing but a wheel with this metadata and one file."""
    name, version = file_name.split("-")[:2]
    with zipfile.ZipFile(folder / file_name, "w", zipfile.ZIP_DEFLATED) as archive:
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", metadata]
        archive.writestr(f"{name}-{version}.dist-info/METADATA", "\n".join(lines) + "\n")
        archive.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        archive.writestr(f"{name}-{version}.dist-info/RECORD", "")
        archive.writestr(f"{name}.bin", content)
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}


@contextmanager
def serving(status: int = 404, page: str = "", context: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server on loopback that answers every request with that page; its address without the scheme."""

    class Handler(QuietHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page.encode())))
            self.end_headers()
            self.wfile.write(page.encode())

        do_CONNECT = do_GET

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def assert_not_the_network(done: subprocess.CompletedProcess, *words: str) -> None:
    assert_one_sentence(done, "torch==2.13.0 was not installed, because ", *words)
    assert "connect to the network" not in done.stderr, done.stderr


THIS = ".".join(str(part) for part in sys.version_info[:3])
OTHER_PYTHON = "make PYTHON="
NO_TLS = ("the secure connection to the package index failed", "PIP_CERT")
NO_PROXY = ("the proxy does not let pip through", "correct https_proxy")
NEEDS_99 = f"needs Python >=99.5 and this is {THIS}"
NO_WHEEL = f"torch 2.13.0 has no wheel for Python {THIS} on"
NOT_THERE = "torch 2.13.0 is not on the package index, which"
OLDER = '<a href="torch-2.12.0-py3-none-any.whl" data-requires-python="&gt;=3.9">torch-2.12.0</a>'
# An index says it beside the link, and pip then acts as if the version did not exist.
FOR_OTHERS = '<a href="torch-2.13.0-py3-none-any.whl" data-requires-python="&gt;=99.5">torch-2.13.0</a>'
INDEX, SECURE = {"PIP_INDEX_URL": "http://{}/simple"}, {"PIP_INDEX_URL": "https://{}/simple"}
UNSEEN = {"PIP_INDEX_URL": "https://index.invalid/simple"}


@pytest.mark.parametrize(
    ("file_name", "metadata", "words"),
    [
        (TORCH, "Requires-Python: >=99.5", (f"torch {NEEDS_99}", OTHER_PYTHON)),
        ("torch-2.13.0-cp399-cp399-win_amd64.whl", "", (NO_WHEEL, OTHER_PYTHON)),
        ("other-1.0-py3-none-any.whl", "", ("told to use no package index", "PIP_NO_INDEX")),
    ],
)
def test_a_folder_without_the_wheel_gets_a_sentence(prepared, tmp_path, file_name, metadata, words):
    assert_not_the_network(set_up(prepared, **wheel(tmp_path, file_name, metadata)), *words)


@pytest.mark.parametrize(
    ("answer", "settings", "words"),
    [
        ((200, OLDER + FOR_OTHERS), INDEX, (f"torch 2.13.0 {NEEDS_99}", OTHER_PYTHON)),
        ((200, OLDER), INDEX, (f"{NOT_THERE} has it only up to 2.12.0",)),
        ((404,), INDEX, (f"{NOT_THERE} does not have the package",)),
        ((403,), INDEX, ("the package index refused (403 Client Error", "pip's settings")),
        ((407,), {**UNSEEN, "https_proxy": "http://{}"}, NO_PROXY),
        ((), {**UNSEEN, "PIP_PROXY": f"http://{NOWHERE}"}, NO_PROXY),
        ((), SECURE, NO_TLS),  # what stands between us and the index answers, and not as a secure server does
        ((), {**SECURE, "PIP_CERT": "/nowhere/missing.pem"}, NO_TLS),
    ],
)
def test_what_a_server_answers_gets_a_sentence(prepared, answer, settings, words):
    with serving(*answer) as address:
        done = set_up(prepared, **{name: value.format(address) for name, value in settings.items()})
    assert_not_the_network(done, *words)


NO_NETWORK = ("torch==2.13.0 was not", "index was not reached", "connect to the network")


def test_no_network_leaves_nothing_that_looks_finished(from_nothing):
    """As a reader would begin: the environment is there afterwards, and make's stamp is not."""
    folder, done = from_nothing
    assert_one_sentence(done, *NO_NETWORK)
    assert (folder / "bin" / "python").exists() and not (folder / ".installed").exists()


def test_no_network_after_retries_gets_a_sentence(prepared):
    """pip's retries are visible, and its last try, as above, is only in its log: both are read."""
    done = set_up(prepared, PIP_INDEX_URL=f"http://{NOWHERE}/", PIP_RETRIES="1")
    assert_one_sentence(done, *NO_NETWORK)


def test_an_unknown_certificate_gets_a_sentence(prepared, tmp_path):
    """As in a network that opens every secure connection: its certificate is unknown to pip."""
    openssl = shutil.which("openssl")
    assert openssl, "openssl makes the certificate of this test: install it (apt install openssl)"
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    curve = "ec -pkeyopt ec_paramgen_curve:prime256v1"  # a key of this kind is made at once
    request = f"req -x509 -newkey {curve} -nodes -subj /CN=localhost -keyout {key} -out {certificate}"
    subprocess.run([openssl, *request.split()], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(context=context) as address:
        done = set_up(prepared, PIP_INDEX_URL=f"https://{address}/simple")
    assert_not_the_network(done, *NO_TLS)


def give_up_privileges():
    """Let file permissions hold for root too, in this child only: root ignores them by two capabilities."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


def test_a_folder_that_belongs_to_others_gets_a_sentence(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o555)
    done = set_up(theirs / "environment", first=give_up_privileges)
    assert_one_sentence(done, "permission was denied", "run make as the owner", "clone where you may write")


@pytest.fixture
def read_only(prepared) -> Iterator[Path]:
    """The environment, for as long as a test lasts, as one that somebody else made."""
    (packages,) = prepared.glob("lib/python*/site-packages")
    packages.chmod(0o555)
    yield prepared
    packages.chmod(0o755)


def test_an_environment_that_belongs_to_others_gets_a_sentence(read_only, tmp_path):
    """Made by root with sudo, say, and used by oneself: pip says it, in the middle of an installation."""
    done = set_up(read_only, first=give_up_privileges, **wheel(tmp_path))
    assert_one_sentence(done, "torch==2.13.0 was not", "permission was denied", "run make as the owner")


def test_a_file_in_the_way_gets_a_sentence(tmp_path):
    (tmp_path / "environment").write_text("not a folder")
    done = set_up(tmp_path / "environment")
    assert_one_sentence(done, "the environment could not be created", "correct that")


def small_disk(folder: Path, megabytes: int, then: str = "true") -> list[str]:
    """What to put before a command so that, for it alone, the folder is a disk of that size."""
    folder.mkdir()
    script = f'mount -t tmpfs -o size={megabytes}m none "{folder}" && {then} && exec "$@"'
    enter = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount"]
    before = [*enter, "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*before, "true"], capture_output=True).returncode:
        pytest.skip("nobody may mount a small disk here; test_pins.py tests the words of one that is full")
    return before


def test_a_full_disk_gets_a_sentence(tmp_path):
    """It is full before the environment is made."""
    done = set_up(tmp_path / "disk" / "environment", *small_disk(tmp_path / "disk", 1))
    assert_one_sentence(done, "could not be created", "no space left on the device", "free at least 4 GB")


def test_a_disk_that_fills_up_gets_a_sentence(prepared, tmp_path):
    """There is room for the environment, and not for what pip puts there."""
    folder = tmp_path / "disk" / "environment"
    before = small_disk(tmp_path / "disk", 40, then=f'cp -a "{prepared}" "{folder}"')
    done = set_up(folder, *before, **wheel(tmp_path, content=bytes(40_000_000)))
    assert_one_sentence(done, "torch==2.13.0 was not", "no space left on the device", "free at least 4 GB")


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_that_cannot_make_environments_gets_a_sentence(tmp_path, missing):
    """As Debian's without python3-venv: a module that is None in sys.modules is one that is not installed."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{missing!r}] = None\n")
    done = set_up(tmp_path / "environment", PYTHONPATH=str(tmp_path))
    assert_one_sentence(done, "cannot make virtual environments", "apt install python3-venv")
    assert not (tmp_path / "environment").exists()


def test_a_changed_data_file_gets_a_sentence(prepared, tmp_path):
    """The hash of a data package is not that of the file that pip got."""
    wanted = tmp_path / "wanted.txt"
    wanted.write_text(f"data==1.0 --hash=sha256:{'0' * 64}\n")
    settings = clean_environment(**wheel(tmp_path, "data-1.0-py3-none-any.whl"))
    told = r"error: wanted\.txt was not installed, because data==1\.0 is not the"
    with patch.dict(os.environ, settings, clear=True), pytest.raises(SystemExit, match=told):
        setup_venv.install(prepared / "bin" / "python", ("wanted.txt", ["-r", str(wanted)]))
