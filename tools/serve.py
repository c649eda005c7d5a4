"""Serve a folder on loopback only, for the reader (`make serve`) and for the browser tests.

Usage: .venv/bin/python -m tools.serve [--port 8000] [--folder _build/html]
"""

import argparse
import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools.console import ROOT, fail

HOST = "127.0.0.1"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        """Say nothing for each request."""


def make_server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server bound to loopback; port 0 takes any free one."""
    return ThreadingHTTPServer((HOST, port), functools.partial(QuietHandler, directory=str(folder)))


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The base URL of the folder for as long as the block lasts."""
    with make_server(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://{HOST}:{server.server_port}"
        finally:
            server.shutdown()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--folder", type=Path, default=ROOT / "_build" / "html")
    options = parser.parse_args(arguments)
    if not (options.folder / "index.html").exists():
        fail(f"{options.folder} holds no book: run `make book` first.")
    try:
        server = make_server(options.folder, options.port)
    except OSError as problem:
        fail(f"port {options.port} cannot be used ({problem.strerror}): run `make serve PORT=8001`.")
    with server:
        print(f"The book is at http://{HOST}:{server.server_port}/ (Ctrl+C stops it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
