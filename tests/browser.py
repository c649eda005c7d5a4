"""A real Chromium for the tests, cut off from the network, that remembers what went wrong on a page."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tools import find_browser
from tools.console import ROOT

# Only loopback resolves: a page that needs anything external fails as it would for a reader without network.
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"
FLAGS = [
    OFFLINE,
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
AXE = ROOT / "tests" / "_vendor" / "axe-core" / "axe.min.js"
LOAD_TIMEOUT_MS = 60_000
# The page's own script mends names and focus this long after the last change (see course.js).
SETTLE_MS = 200


@contextmanager
def offline_chromium() -> Iterator[Browser]:
    """Start Chromium without name resolution; a missing browser is an error that says what to install."""
    path = find_browser.find()
    if path is None:
        raise RuntimeError(f"no browser was found: {find_browser.INSTALL}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Problems:
    """What went wrong on a page: console errors, uncaught exceptions, failed or external requests."""

    console: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    external: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("console", lambda message: message.type == "error" and self.console.append(message.text))
        page.on("pageerror", lambda problem: self.console.append(str(problem)))
        page.on("requestfailed", lambda request: self.failed.append(f"{request.url} {request.failure}"))
        page.on("response", lambda response: response.status >= 400 and self.failed.append(response.url))
        page.on("request", lambda request: is_external(request.url) and self.external.append(request.url))

    def __bool__(self) -> bool:
        return bool(self.console or self.failed or self.external)

    def clear(self) -> None:
        for found in (self.console, self.failed, self.external):
            found.clear()


def is_external(url: str) -> bool:
    """True for anything that is not this machine's loopback, a local file or data inside the page."""
    local = ("http://127.0.0.1:", "ws://127.0.0.1:", "http://localhost:", "ws://localhost:")
    return not url.startswith((*local, "file:", "data:", "blob:", "about:"))


@contextmanager
def open_page(browser: Browser, *, viewport: dict = DESKTOP, dark: bool = False, **options) -> Iterator[Page]:
    """A page in a context of its own; `page.problems` collects what goes wrong on it."""
    scheme = "dark" if dark else "light"
    context = browser.new_context(
        viewport=viewport, color_scheme=scheme, reduced_motion="reduce", locale="pt-BR", **options
    )
    page = context.new_page()
    page.set_default_timeout(LOAD_TIMEOUT_MS)
    page.problems = Problems()
    page.problems.watch(page)
    try:
        yield page
    finally:
        context.close()


def change_look(page: Page, viewport: dict, dark: bool) -> None:
    """Resize an open page and switch the system's colours, as a reader's device would."""
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    wanted = "dark" if dark else "light"
    page.wait_for_function(f"() => document.documentElement.dataset.theme === '{wanted}'")
    settle(page)


def settle(page: Page) -> None:
    """Wait until formulas, diagrams and widgets of the page have been drawn."""
    page.wait_for_load_state("networkidle")
    page.evaluate("() => window.MathJax?.startup?.promise")
    page.wait_for_function(
        "() => [...document.querySelectorAll('pre.mermaid')].every(e => e.querySelector('svg'))"
    )
    page.wait_for_function(
        "() => document.querySelectorAll('script[type=\"application/vnd.jupyter.widget-view+json\"]').length"
        " <= document.querySelectorAll('.jupyter-widgets').length"
    )
    page.wait_for_timeout(SETTLE_MS)


def axe_violations(page: Page) -> list[str]:
    """What axe-core finds wrong with the page as it stands: rule, element, reason."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    # Without `preload`, which only an experimental rule uses and which a page opened from the disk cannot do.
    options = {"resultTypes": ["violations"], "preload": False}
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    return [
        f"{rule['id']} ({rule['impact']}): {json.dumps(node['target'])} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


def page_overflow(page: Page) -> int:
    """By how many pixels the page scrolls sideways."""
    return page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")


def screenshot(page: Page, path: Path) -> None:
    """The whole page, for a person to look at."""
    page.screenshot(path=path, full_page=True)
