"""The first state of a widget stands in its page: whole without scripts, just where the live one comes."""

import pytest
from playwright.sync_api import Page, expect

from lib.widgets.page_model import PageModel
from tests.book.test_widgets import stored_states
from tests.browser.chromium import (
    DESKTOP,
    LOOKS,
    PHONE,
    assert_becomes,
    axe_violations,
    next_frame,
    page_overflow,
    wait_until,
)
from tests.lib.widgets.cases.page_model import ModelPage, State

FIRST = "book/intro.html"
PAGES = ["intro", "00_before", "02_mlm"]
NAMES = ["desktop-light", "desktop-dark", "phone-light", "phone-dark"]
STILL, LIVE = ".cw-still", ".widget-subarea .cw-page-model"
WORDS = ".cw-sentence button"
# All that is seen below an element: what it is, where, what it says and how long its bar is.
SEEN = """root => [...root.querySelectorAll("*")].filter(e => !e.matches("style") && e.checkVisibility()
    && e.getBoundingClientRect().height).map(e => {
  const { x, y, width, height } = e.getBoundingClientRect();
  const texts = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim());
  const own = texts.filter(Boolean).join(" ");
  const { color, backgroundColor, fontSize } = getComputedStyle(e);
  const box = [x, y + scrollY, width, height].map(side => Math.round(side * 10) / 10);
  const said = [e.ariaLabel, e.ariaPressed, own, e.value, Number(e.style.getPropertyValue("--cw-weight"))];
  return JSON.stringify([e.tagName, ...box, ...said, color, backgroundColor, fontSize]);
})"""


def open_unused(page: Page, url: str, name: str = FIRST) -> list[str]:
    """Open a page whose widgets nobody has touched; what it asks for from now on."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2].partition("?")[0]))
    page.goto(f"{url}/{name}")
    page.wait_for_function("document.readyState === 'complete' && document.documentElement.dataset.mended")
    page.wait_for_function("[...document.styleSheets].some(({ href }) => href?.includes('fonts.css'))")
    next_frame(page)  # which asks for the fonts
    page.wait_for_function("document.fonts.status === 'loaded'")
    next_frame(page)
    return asked


def live(page: Page, name: str = "intro") -> ModelPage:
    """The widget that has taken the place of its first state."""
    [state, *_] = stored_states(name, PageModel)
    expect(page.locator(STILL)).to_have_count(0)
    return ModelPage(page.locator(LIVE).first, state)


@pytest.mark.parametrize(("viewport", "dark"), LOOKS, ids=NAMES)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves_when_the_live_widget_comes(name, viewport, dark, new_page, book_url):
    page, held = new_page(viewport=viewport, dark=dark, fresh=True), []
    page.route("**/bundles/widgets.js", lambda route: held.append(route))  # another widget may ask for it
    open_unused(page, book_url, f"book/{name}.html")
    page.locator(STILL).first.scroll_into_view_if_needed()
    seen = page.locator(f"{STILL} > .cw").first.evaluate(SEEN)
    page.locator(STILL).first.dispatch_event("pointerover")
    assert wait_until(page, lambda: bool(held))
    held[0].continue_()
    shown = live(page, name)
    assert shown.panel.evaluate(SEEN) == seen and len(seen) > 60
    shown.begin()
    assert shown.differences() == [] and not page.problems


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_without_scripts_the_first_page_shows_sentence_bars_and_exact_answer(viewport, browser, book_url):
    context = browser.new_context(java_script_enabled=False, viewport=viewport)
    page = context.new_page()
    page.goto(f"{book_url}/{FIRST}")
    [state] = stored_states("intro", PageModel)
    wanted = ModelPage(page.locator(STILL), state).wanted()
    sentence = " ".join(page.locator(WORDS).all_inner_texts())
    assert sentence == state["text"].replace("[MASK]", "____")
    rows = [
        row.locator("th, td:not(.cw-bars)").all_inner_texts() for row in page.locator("[data-word]").all()
    ]
    assert rows == [row[1:] for row in wanted["rows"]]
    expect(page.locator(".cw-said")).to_be_visible()
    assert page.locator(".cw-said").inner_text() == wanted["said"]
    for row in page.locator("[data-word]").all():
        model, exact = (bar.bounding_box()["width"] for bar in row.locator(".cw-bar").all())
        told = [float(cell.replace(",", ".")) for cell in row.locator("td:not(.cw-bars)").all_inner_texts()]
        assert (model > exact) == (told[0] > told[1]) or abs(told[0] - told[1]) < 0.2
    assert (
        max(bar.bounding_box()["width"] for bar in page.locator("td .cw-bar").all()) > viewport["width"] / 4
    )
    expect(page.get_by_role("link", name="Começar", exact=True)).to_be_visible()
    for hidden in (".cw-instruction", ".cw-write"):
        expect(page.locator(hidden)).to_be_hidden()  # nothing that asks for what cannot be done
    context.close()


@pytest.mark.parametrize(("viewport", "dark"), LOOKS, ids=NAMES)
def test_the_first_state_is_accessible(viewport, dark, new_page, book_url):
    page = new_page(viewport=viewport, dark=dark)
    open_unused(page, book_url)
    expect(page.locator(STILL)).to_be_visible()
    assert axe_violations(page, within=STILL) == [] and page_overflow(page) == 0


def test_no_code_and_no_model_before_the_first_touch(new_page, book_url):
    page = new_page(fresh=True)
    asked = open_unused(page, book_url)
    assert not {"widgets.js", "intro.widgets.js", "course_model.js"} & {*asked}
    page.locator(f"{STILL} {WORDS}").nth(1).hover()
    live(page)
    assert "widgets.js" in asked and "course_model.js" not in asked
    assert not page.problems


def test_the_first_click_counts(new_page, book_url):
    page = new_page(viewport=PHONE, fresh=True)
    open_unused(page, book_url)
    page.locator(f"{STILL} {WORDS}").nth(1).click()
    shown = live(page)
    shown.state = State("o [MASK] perdeu a [MASK] ontem")
    assert shown.differences() == []
    shown.panel.locator("[data-word]").get_by_role("button", name="jogador", exact=True).click()
    shown.state = State("o jogador perdeu a [MASK] ontem")
    assert shown.differences() == [] and not page.problems


def test_a_word_is_changed_by_keyboard_from_the_first_state_on(new_page, book_url):
    page = new_page(fresh=True)
    open_unused(page, book_url)
    page.locator(f"{STILL} {WORDS}").first.focus()
    shown = live(page)
    expect(shown.panel.locator(WORDS).first).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    shown.state = State("o [MASK] perdeu a [MASK] ontem")
    assert shown.differences() == []
    expect(shown.panel.locator(WORDS).nth(1)).to_be_focused()
    for _ in range(5):
        page.keyboard.press("Tab")
    chosen = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Space")
    shown.state = State(f"o {chosen} perdeu a [MASK] ontem")
    assert shown.differences() == []
    expect(shown.panel.locator(WORDS).nth(1)).to_be_focused()
    assert not page.problems


def test_what_is_written_before_the_code_comes_is_kept(new_page, book_url):
    page = new_page(fresh=True)
    open_unused(page, book_url)
    box = page.locator(f"{STILL} input")
    box.evaluate(
        """box => {
          box.value = "a [MASK] perdeu a rede";
          box.dispatchEvent(new Event("input", { bubbles: true }));
          box.focus();
        }"""
    )
    shown = live(page)
    shown.state = State("a [MASK] perdeu a rede")
    assert shown.differences() == []
    expect(shown.panel.locator("input")).to_be_focused()


def test_who_comes_back_finds_what_she_left_without_a_touch(new_page, book_url):
    page = new_page(fresh=True)
    open_unused(page, book_url)
    page.locator(f"{STILL} {WORDS}").nth(1).click()
    shown = live(page)
    shown.state = State("o [MASK] perdeu a [MASK] ontem")
    assert shown.differences() == []
    page.reload()
    shown = live(page)
    shown.state = State("o [MASK] perdeu a [MASK] ontem")
    assert_becomes(page, shown.wrong, [])
