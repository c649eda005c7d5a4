"""Serve a folder on loopback only, for the reader (`make serve`) and for the browser tests.

Usage: .venv/bin/python -m tools.serve [--port 8000] [--folder _build/html]
"""

import argparse
import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools.console import ROOT, fail

HOST = "127.0.0.1"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        """Say nothing for each request."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is not there is answered with the folder's own page for it, if there is one."""
        page = Path(self.directory, "404.html")
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            return super().send_error(code, message, explain)
        body = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def make_server(
    folder: Path, port: int = 0, handler: type[QuietHandler] = QuietHandler
) -> ThreadingHTTPServer:
    """A server bound to loopback; port 0 takes any free one."""
    return ThreadingHTTPServer((HOST, port), functools.partial(handler, directory=str(folder)))


@contextmanager
def serving(folder: Path, handler: type[QuietHandler] = QuietHandler) -> Iterator[str]:
    """The base URL of the folder for as long as the block lasts."""
    with make_server(folder, handler=handler) as server:
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
