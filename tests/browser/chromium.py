"""A real Chromium for the tests, cut off from the network, that remembers what went wrong on a page."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from playwright.sync_api import Browser, Error, Page, Request, expect, sync_playwright

from tools import find_browser
from tools.console import ROOT

# Only loopback resolves: a page that needs anything external fails as it would for a reader without network.
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"
DISABLED = ("gpu", "quic", "background-networking", "component-update", "sync")
FLAGS = [OFFLINE, "--no-sandbox", "--no-first-run", *(f"--disable-{feature}" for feature in DISABLED)]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
LOOKS = [(DESKTOP, False), (DESKTOP, True), (PHONE, False), (PHONE, True)]  # viewport, dark
Read = TypeVar("Read")
AXE = ROOT / "tests" / "_vendor" / "axe-core" / "axe.min.js"
# The limit of every wait for a condition. A condition that is met ends the wait at once, so a generous limit
# costs nothing; a busy machine must never reach it.
WAIT_MS = 120_000
expect.set_options(timeout=WAIT_MS)


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
    under_way: set[Request] = field(default_factory=set)  # asked for and not yet answered: no problem so far

    def __bool__(self) -> bool:
        return bool(self.console or self.failed or self.external)


def watch(page: Page) -> None:
    """Note what happens on the page in the `page.problems` of that moment."""

    def asked(request: Request) -> None:
        page.problems.under_way.add(request)
        if is_external(request.url):
            page.problems.external.append(request.url)

    def failed(request: Request) -> None:
        page.problems.under_way.discard(request)
        page.problems.failed.append(f"{request.url} {request.failure}")

    page.on("console", lambda message: message.type == "error" and page.problems.console.append(message.text))
    page.on("pageerror", lambda problem: page.problems.console.append(str(problem)))
    page.on("response", lambda response: response.status >= 400 and page.problems.failed.append(response.url))
    page.on("request", asked)
    page.on("requestfailed", failed)
    page.on("requestfinished", lambda request: page.problems.under_way.discard(request))


def is_external(url: str) -> bool:
    """True for anything that is not this machine's loopback, a local file or data inside the page."""
    local = ("http://127.0.0.1:", "ws://127.0.0.1:", "http://localhost:", "ws://localhost:")
    return not url.startswith((*local, "file:", "data:", "blob:", "about:"))


@contextmanager
def open_page(
    browser: Browser, *, viewport: dict = DESKTOP, dark: bool = False, fresh: bool = False
) -> Iterator[Page]:
    """An empty page with nothing in its memory; `page.problems` collects what goes wrong on it.

    To start a page costs more than most tests do on it, so a page is used again, by one test after the other.
    A test that counts what is left behind, or changes the page for good, asks for a `fresh` one of its own.
    """
    page = new_page(browser) if fresh or not idle_pages(browser) else idle_pages(browser).pop()
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    page.problems = Problems()
    try:
        yield page
        if not fresh:
            forget(page)
            idle_pages(browser).append(page)
    finally:
        if page not in idle_pages(browser):
            page.context.close()


def new_page(browser: Browser) -> Page:
    page = browser.new_context(locale="pt-BR").new_page()
    page.set_default_timeout(WAIT_MS)
    watch(page)
    return page


def idle_pages(browser: Browser) -> list[Page]:
    """The pages that wait for the next test."""
    browser.__dict__.setdefault("idle_pages", [])
    return browser.idle_pages


def forget(page: Page) -> None:
    """Leave what the page shows, and all that it keeps for the next visit."""
    # A request that is broken off would be a problem of the next test.
    wait_until(page, lambda: not page.problems.under_way)
    if page.url.startswith(("http:", "file:")):
        # On a busy machine a widget may still be about to keep what was done last.
        page.evaluate("() => { Storage.prototype.setItem = () => {}; }")
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.context.clear_cookies()
    page.goto("about:blank")


def on_page(page: Page, script: str) -> object:
    """What a script gives; nothing if the page leads on to another meanwhile."""
    try:
        return page.evaluate(script)
    except Error as problem:
        if "context was destroyed" not in problem.message:
            raise


def next_frame(page: Page) -> None:
    """Wait until the page has laid out and drawn what has happened to it so far."""
    on_page(page, "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


def wait_for(page: Page, read: Callable[[], Read], wanted: object) -> Read:
    """What is read off a page as soon as it is `wanted`, or what it still is at the limit."""
    deadline = time.monotonic() + WAIT_MS / 1000
    while (found := read()) != wanted and time.monotonic() < deadline:
        next_frame(page)  # and Playwright hands over the page's events meanwhile
    return found


def wait_until(page: Page, condition: Callable[[], bool]) -> bool:
    """Wait for a condition that only Python can see; False if it is still not met at the limit."""
    return wait_for(page, condition, True)


def assert_becomes(page: Page, read: Callable[[], object], wanted: object) -> None:
    """What is read off a page is `wanted`, at the latest at the limit."""
    assert (found := wait_for(page, read, wanted)) == wanted, f"{found!r} does not become {wanted!r}"


def change_look(page: Page, viewport: dict, dark: bool) -> None:
    """Resize an open page and switch the system's colours, as a reader's device would."""
    wanted = "dark" if dark else "light"
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=wanted, reduced_motion="reduce")
    page.wait_for_function(
        "([theme, width]) => document.documentElement.dataset.theme === theme && innerWidth === width",
        arg=[wanted, viewport["width"]],
    )
    next_frame(page)  # a page hears of its new size just before it draws the next frame
    settle(page)


# Everything that a page of the book does by itself after it was loaded, changed, resized or recoloured.
SETTLED = """() => {
  const root = document.documentElement;
  const all = (selector, condition) => [...document.querySelectorAll(selector)].every(condition);
  const full = element => element?.childElementCount > 0;
  const fonts = [...document.styleSheets].some(({ href }) => href?.includes("fonts.css"));
  return document.readyState === "complete" &&
    (fonts || !document.querySelector("script[src*='fonts.js']")) && document.fonts.status === "loaded" &&
    !Number(root.dataset.drawings) && all("pre.mermaid", diagram => diagram.querySelector("svg")) &&
    all('script[type="application/vnd.jupyter.widget-view+json"]', place =>
      place.previousElementSibling?.matches(".cw-still") ||
      full(place.previousElementSibling?.querySelector(".lm-Widget"))) &&
    all(".cw-panel:not(.cw)", panel =>
      full(panel.querySelector(".cw")) && full(panel.querySelector(".cw-controls"))) &&
    all(".cw-panel [role=slider]", handle => handle.ariaLabel) &&
    root.dataset.mended !== "soon";
}"""


def settle(page: Page) -> None:
    """Wait until nothing is on its way to the page, and diagrams and widgets have been drawn."""

    def quiet() -> bool:
        next_frame(page)  # what was written is laid out, and has asked for its fonts
        return bool(on_page(page, SETTLED)) and not page.problems.under_way

    assert wait_until(page, quiet), f"the page does not come to rest; on its way: {page.problems.under_way}"


# Widgets and diagrams are drawn when they come near, or are touched: so the page is read to its end.
READ = """async () => {
  const isDrawn = place => place.matches("pre") ? place.querySelector("svg")
    : place.previousElementSibling?.querySelector(".lm-Widget");
  const places = 'pre.mermaid, script[type="application/vnd.jupyter.widget-view+json"]';
  const [next] = [...document.querySelectorAll(places)].filter(place => !isDrawn(place));
  for (let fold = next; fold; fold = fold.parentElement) if (fold.matches("details")) fold.open = true;
  (next?.closest(".cell") ?? next)?.scrollIntoView({ behavior: "instant" });
  next?.parentElement.querySelector(".cw-still")?.dispatchEvent(new Event("pointerover"));
  return !next;
}"""


def load(page: Page, address: str) -> None:
    """Go to a page of the book, have all of it drawn, and wait until it has come to rest."""
    page.goto(address)
    page.wait_for_load_state()
    wait_until(page, lambda: bool(on_page(page, READ)))
    on_page(page, "() => scrollTo({ top: 0, behavior: 'instant' })")
    settle(page)


# Contrast is most of what axe computes, and most of that is repetition: a chapter has thousands of words of
# code in some ten colours. What looks exactly like three elements before it, on the same ground, has the same
# contrast and is marked; axe judges those three. One that is hidden or cut off, or a single character, stands
# for none: axe passes over it. In widgets and drawings, where things may lie behind a text, all is judged.
MARK_SAME_LOOK = """() => {
  const known = new Map();
  const ground = element => {
    if (!element) return "";
    if (!known.has(element)) {
      const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode } = getComputedStyle(element);
      const own = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode].join();
      known.set(element, `${own} on ${ground(element.parentElement)}`);
    }
    return known.get(element);
  };
  const look = word => {
    const { color, fontSize, fontWeight, textShadow, webkitTextStroke } = getComputedStyle(word);
    return [color, fontSize, fontWeight, textShadow, webkitTextStroke, ground(word)].join();
  };
  const holds = (outer, inner) => outer.left <= inner.left && inner.right <= outer.right &&
    outer.top <= inner.top && inner.bottom <= outer.bottom;
  const isCutOff = (element, box) => {
    if (!element) return box.left < 0;
    const { overflow, clip, clipPath } = getComputedStyle(element);
    const cuts = overflow !== "visible" || clip !== "auto" || clipPath !== "none";
    return cuts && !holds(element.getBoundingClientRect(), box) || isCutOff(element.parentElement, box);
  };
  const isJudged = word => {
    const box = word.getBoundingClientRect();
    return word.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      word.textContent.trim().length > 1 && box.width > 4 && box.height > 4 && !isCutOff(word, box);
  };
  const hasText = element => [...element.childNodes].some(({ data }) => data?.trim());
  const judged = new Map();
  for (const word of document.querySelectorAll("body *:not(.cw-panel *, .cw-quiz *, svg *)")) {
    if (!hasText(word)) continue;
    const its = look(word), count = judged.get(its) ?? 0;
    word.toggleAttribute("data-same-look", count >= 3);
    if (count < 3 && isJudged(word)) judged.set(its, count + 1);
  }
}"""
# Only an experimental rule uses `preload`, which a page opened from the disk cannot do. The report leaves the
# sources of elements out: they cost a tenth of the run, and it names each element anyway.
RUN_AXE = """async within => {
  axe.configure({ noHtml: true, rules: [{ id: "color-contrast", selector: ":not([data-same-look])" }] });
  const { violations } = await axe.run(within ?? document, { resultTypes: ["violations"], preload: false });
  return violations;
}"""


def axe_violations(page: Page, within: str | None = None) -> list[str]:
    """What axe-core finds wrong with the page as it stands, or `within` a part: rule, element, reason."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    page.evaluate(MARK_SAME_LOOK)
    found = page.evaluate(RUN_AXE, within)
    return [
        f"{rule['id']} ({rule['impact']}): {json.dumps(node['target'])} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


def page_overflow(page: Page) -> int:
    """By how many pixels the page scrolls sideways."""
    return page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
