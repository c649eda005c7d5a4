"""Every page of the built book in a real Chromium that cannot reach the network."""

import pytest
from playwright.sync_api import expect

from tests.book.test_built_book import PAGES, soup
from tests.book.test_page_weight import LIMIT, views, weigh, widget_code
from tests.browser.chromium import (
    DESKTOP,
    LOOKS,
    axe_violations,
    change_look,
    open_page,
    page_overflow,
    settle,
    wait_until,
)

CHAPTER = "book/01_masking.html"
NAMES = ["desktop-light", "desktop-dark", "phone-light", "phone-dark"]


@pytest.fixture(scope="module", params=[page for page in PAGES if page != "index.html"])
def opened(request, browser, book_url, book_dir):
    """One page, opened once for all the tests that look at it, with its name and the weight of its files."""
    with open_page(browser) as tab:
        tab.weights = weigh(tab, book_url, book_dir, request.param)
        yield tab, request.param


def test_a_page_opens_without_trouble(opened):
    tab, _ = opened
    assert not tab.problems, tab.problems


def test_a_page_with_widgets_stays_under_the_limit(opened, record_property):
    tab, name = opened
    total, own = sum(tab.weights.values()), tab.weights[name]
    said = f"{name}: {total / 1000:.0f} kB compressed, {own / 1000:.0f} kB of it the page itself"
    record_property("summary", f"{said}, widgets: {views(name)}")
    assert 0 < own < total
    assert total <= LIMIT or not views(name)


def test_widget_code_is_loaded_where_there_are_widgets_and_nowhere_else(opened):
    tab, name = opened
    assert bool(widget_code(tab.weights)) == bool(views(name))


def test_every_icon_comes_from_the_small_font(opened):
    """An icon that is not there still appears, from the theme's whole font, 40 times as heavy."""
    tab, _ = opened
    fonts = {path for path in tab.weights if "icons/" in path or "awesome" in path}
    assert fonts == {"_static/vendor/icons/solid.woff"}


def test_formulas_are_typeset(opened):
    tab, name = opened
    written = len(soup(name).select(".math"))
    expect(tab.locator(".math mjx-container")).to_have_count(written)
    expect(tab.locator("mjx-assistive-mml"), "formulas with text for screen readers").to_have_count(written)
    assert tab.locator("mjx-merror").count() == 0, "MathJax did not understand a formula"


def test_no_widget_is_marked_for_having_no_kernel(opened):
    tab, _ = opened
    mark = "widgets => widgets.map(w => getComputedStyle(w, '::before').content).filter(c => c !== 'none')"
    assert tab.locator(".jupyter-widgets").evaluate_all(mark) == []


@pytest.mark.parametrize(("viewport", "dark"), LOOKS, ids=NAMES)
def test_a_page_is_accessible_and_does_not_scroll_sideways(opened, viewport, dark):
    tab, _ = opened
    change_look(tab, viewport, dark)
    assert page_overflow(tab) == 0
    assert axe_violations(tab) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_from_its_folder(name, book_dir, page):
    page.goto(f"{book_dir.as_uri()}/{name}")
    settle(page)
    assert not page.problems, page.problems


def test_the_root_leads_to_the_introduction(book_url, page):
    page.goto(f"{book_url}/index.html")
    page.wait_for_url("**/book/intro.html")
    assert not page.problems, page.problems


def test_the_search_finds_the_chapter(book_url, page):
    page.goto(f"{book_url}/search.html?q=mascaramento")
    page.locator("#search-results li a[href*='01_masking']").first.wait_for()
    settle(page)
    assert not page.problems, page.problems


def test_the_theme_switch_works_by_keyboard(book_url, page):
    page.goto(f"{book_url}/book/intro.html")
    settle(page)
    mode = "document.documentElement.dataset.mode"
    seen = [page.evaluate(mode)]
    page.focus(".theme-switch-button")
    for _ in range(3):
        page.keyboard.press("Enter")
        page.wait_for_function(f"before => {mode} !== before", arg=seen[-1])
        seen.append(page.evaluate(mode))
    assert sorted(seen[1:]) == ["auto", "dark", "light"]


def test_diagrams_follow_the_theme(book_url, page):
    def colours(dark):
        change_look(page, DESKTOP, dark)
        return page.locator("pre.mermaid svg style").first.text_content()

    page.goto(f"{book_url}/book/intro.html")
    settle(page)
    assert colours(dark=False) != colours(dark=True)
    drawing = page.locator("pre.mermaid > svg").first
    assert drawing.evaluate("svg => getComputedStyle(svg).filter") == "none", "the dark colours are inverted"


def test_a_reference_is_reached_from_its_citation(book_url, page):
    page.goto(f"{book_url}/{CHAPTER}")
    settle(page)
    page.locator("a[href*='references.html#']").first.click()
    page.wait_for_url("**/references.html#*")
    target = page.url.split("#")[1]
    expect(page.locator(f"[id='{target}']")).to_be_visible()


def test_the_watch_on_a_page_sees_trouble(book_url, page):
    """The collector itself: a console error, a missing file and an external address are all noticed."""
    page.goto(f"{book_url}/book/intro.html")
    page.evaluate("console.error('de propósito')")
    page.evaluate("fetch('nada-aqui.json')")
    page.evaluate("fetch('https://example.org/').catch(() => 0)")
    for found, text in ((page.problems.console, "de propósito"), (page.problems.failed, "nada-aqui.json")):
        assert wait_until(page, lambda found=found, text=text: any(text in line for line in found)), text
    assert page.problems.external == ["https://example.org/"]


READABLE, PALE = "<span>sim</span> ", '<span style="color: #ccc">não</span> '


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (READABLE * 9, 0),
        (READABLE * 9 + PALE, 1),
        (f'</pre>{READABLE * 9}<p>Isto <em style="color: #ccc">não</em> se lê.</p><pre>', 1),
        (PALE * 9, 3),
        (PALE.replace("#ccc", "#ccc; display: none") * 9 + PALE, 1),
        (f'<b style="position: absolute; clip: rect(1px, 1px, 1px, 1px)">{PALE * 9}</b>{PALE}', 1),
        (PALE.replace("não", "=") * 9 + PALE, 1),
        (READABLE * 9 + f'<b style="background: #222">{READABLE}</b>', 1),
    ],
    ids=["none", "one", "in a sentence", "all", "after hidden", "after cut off", "after short", "on black"],
)
def test_code_that_is_hard_to_read_is_found(code, found, page):
    """The saving itself: words that look alike are judged once for all, and no other word goes unjudged."""
    page.set_content(
        '<!doctype html><html lang="pt-BR"><head><title>Código</title></head>'
        f"<body><main><h1>Código</h1><pre>{code}</pre></main></body></html>"
    )
    violations = axe_violations(page)
    assert len(violations) == found and all("color-contrast" in text for text in violations), violations
