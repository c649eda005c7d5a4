"""Find Chromium, or install it where that can be done without asking: as root on Debian.

Usage: .venv/bin/python -m tools.find_browser prints the path of the browser.
"""

import os
import shutil
import subprocess

from tools.console import fail, step

NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL = "install Chromium (on Debian: apt-get install chromium) and run make again."


def find() -> str | None:
    """The path of a Chromium, from $CHROMIUM or from PATH."""
    chosen = os.environ.get("CHROMIUM")
    if chosen:
        return shutil.which(chosen)
    return next((path for path in map(shutil.which, NAMES) if path), None)


def apt_install(apt: str, package: str = "chromium") -> None:
    """Install a package of Debian's; what apt says is shown only if it fails."""
    step(f"installing {package} with apt-get")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", package]):
        done = subprocess.run([apt, *arguments], env=environment, text=True, capture_output=True)
        if done.returncode and "install" in arguments:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            fail(f"apt-get could not install {package} ({reason}): install it and run make again.")


def ensure() -> str:
    """A browser's path; where none can be had, one sentence that says what to install."""
    apt = shutil.which("apt-get")
    if find() is None and "CHROMIUM" not in os.environ and apt and os.geteuid() == 0:
        apt_install(apt)
    browser = find()
    if browser is None:
        fail(f"no browser was found, and the tests of the built book need a real one: {INSTALL}")
    return browser


if __name__ == "__main__":
    print(ensure())
