"""Every page of the built book in a real Chromium that cannot reach the network."""

import gzip
import json
import random
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from playwright.sync_api import Page, Response, expect

from lib.exercises.catalogue import exercises
from lib.plots import palette
from tests.book.test_built_book import PAGES, WHOLE, soup
from tests.book.test_widgets import CHAPTERS
from tests.browser.chromium import (
    DESKTOP,
    LOOKS,
    PHONE,
    assert_becomes,
    axe_violations,
    change_look,
    load,
    next_frame,
    open_page,
    page_overflow,
    wait_until,
)
from tools.serve import serving

CHAPTER = "book/01_masking.html"
LIMIT = 2_000_000  # bytes: what a page with widgets may weigh in all
NAMES = ["desktop-light", "desktop-dark", "phone-light", "phone-dark"]


def weigh(page: Page, base: str, folder: Path, name: str) -> dict[str, int]:
    """Bytes of each file that opening the page asks for, as a server that compresses would send them."""
    asked = {}  # a dict keeps the order of the requests

    def note(response: Response) -> None:
        asked.setdefault(unquote(urlparse(response.url).path).lstrip("/"))

    page.on("response", note)
    load(page, f"{base}/{name}")
    page.remove_listener("response", note)
    return {path: compressed(folder / path) for path in asked if (folder / path).is_file()}


@cache
def compressed(path: Path) -> int:
    body = path.read_bytes()
    return min(len(body), len(gzip.compress(body, 9)))  # fonts and images do not shrink


@pytest.fixture(scope="module", params=[page for page in PAGES if page not in WHOLE])
def opened(request, browser, book_url, book_dir):
    """One page, opened once for all the tests that look at it, with its name and the weight of its files."""
    with open_page(browser) as tab:
        tab.weights = weigh(tab, book_url, book_dir, request.param)
        yield tab, request.param


def test_a_page_opens_without_trouble(opened):
    tab, _ = opened
    assert not tab.problems, tab.problems


def test_a_page_with_widgets_stays_under_the_limit_and_only_such_a_page_loads_their_code(
    opened, record_property
):
    tab, name = opened
    views = len(soup(name).find_all("script", type="application/vnd.jupyter.widget-view+json"))
    total, own = sum(tab.weights.values()), tab.weights[name]
    said = f"{name}: {total / 1000:.0f} kB compressed, {own / 1000:.0f} kB of it the page itself"
    record_property("summary", f"{said}, widgets: {views}")
    assert 0 < own < total
    assert total <= LIMIT or not views
    assert any("bundles/widgets." in path for path in tab.weights) == bool(views)


def test_every_icon_comes_from_the_small_font(opened):
    """An icon that is not there still appears, from the theme's whole font, 40 times as heavy."""
    tab, _ = opened
    fonts = {path for path in tab.weights if "icons/" in path or "awesome" in path}
    assert fonts == {"_static/vendor/icons/solid.woff"}


WIDER_THAN_ITS_LINE = """all => all.filter(formula => {
  const line = formula.closest("p, li, dt, dd, td, th, h1, h2, h3, div").getBoundingClientRect();
  const { left, right } = formula.getBoundingClientRect();
  return left < line.left - 1 || right > line.right + 1;
}).map(formula => formula.textContent)"""


def test_no_widget_is_marked_for_having_no_kernel(opened):
    tab, _ = opened
    mark = "widgets => widgets.map(w => getComputedStyle(w, '::before').content).filter(c => c !== 'none')"
    assert tab.locator(".jupyter-widgets").evaluate_all(mark) == []


@pytest.mark.parametrize(("viewport", "dark"), LOOKS, ids=NAMES)
def test_a_page_is_accessible_and_does_not_scroll_sideways(opened, viewport, dark):
    tab, _ = opened
    change_look(tab, viewport, dark)
    assert page_overflow(tab) == 0
    assert tab.locator("span.math").evaluate_all(WIDER_THAN_ITS_LINE) == [], "set it on a line of its own"
    assert axe_violations(tab) == []


# A chapter is opened so, and its widgets are used, in tests/book/test_widgets.py.
@pytest.mark.parametrize("name", [page for page in PAGES if Path(page).stem not in CHAPTERS])
def test_a_page_opens_from_its_folder(name, book_dir, page):
    load(page, f"{book_dir.as_uri()}/{name}")
    assert not page.problems, page.problems


def test_the_root_leads_to_the_introduction(book_url, page):
    page.goto(f"{book_url}/index.html")
    page.wait_for_url("**/book/intro.html")
    assert not page.problems, page.problems


def test_the_theme_switch_works_by_keyboard(book_url, page):
    load(page, f"{book_url}/book/intro.html")
    mode = "document.documentElement.dataset.mode"
    seen = [page.evaluate(mode)]
    page.focus(".theme-switch-button")
    for _ in range(3):
        page.keyboard.press("Enter")
        page.wait_for_function(f"before => {mode} !== before", arg=seen[-1])
        seen.append(page.evaluate(mode))
    assert sorted(seen[1:]) == ["auto", "dark", "light"]


def test_the_code_of_widgets_is_fetched_when_one_comes_near(new_page, book_url):
    """Not before: most of a chapter is read without it. Nor twice."""
    page, asked = new_page(viewport={"width": 390, "height": 200}), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{book_url}/{CHAPTER}")
    page.wait_for_function("document.readyState === 'complete' && document.documentElement.dataset.mended")
    next_frame(page)
    assert not any("bundles/" in url or "widgets.js" in url for url in asked)
    for widget in page.locator(".cell_output:has(> script[type*=widget-view])").all():
        widget.scroll_into_view_if_needed()
        expect(widget.locator(".cw").first).to_be_visible()
    assert [url.rpartition("/")[2].partition("?")[0] for url in asked].count("widgets.js") == 1
    assert not page.problems


WIDTH_BESIDE_MEANWHILE = """family => {
  const [first, ...others] = getComputedStyle(document.documentElement).getPropertyValue(family).split(",");
  const line = document.body.appendChild(document.createElement("span"));
  line.style.cssText = "position: absolute; white-space: nowrap; font-size: 100px";
  line.textContent = "Ana comeu a manga madura que o vizinho trouxe ontem da feira; depois sentou no banco.";
  const width = names => (line.style.fontFamily = names.join(), line.getBoundingClientRect().width);
  return width([first]) / width(others);
}"""


@pytest.mark.parametrize("family", ["--course-serif", "--pst-font-family-base"])
def test_a_line_is_as_long_before_its_font_has_come(family, page, book_url):
    """In a font of this machine's; otherwise lines would break elsewhere then, and all below would move."""
    load(page, f"{book_url}/{CHAPTER}")
    assert abs(page.evaluate(WIDTH_BESIDE_MEANWHILE, family) - 1) < 0.03


def test_the_text_is_there_without_scripts(browser, book_url):
    context = browser.new_context(java_script_enabled=False, viewport=PHONE)
    page = context.new_page()
    page.goto(f"{book_url}/{CHAPTER}")
    for part in ("h1", "article p", "article math", "article pre", "nav.bd-docs-nav"):
        assert page.locator(part).first.text_content().strip()
    expect(page.locator(".theme-switch-button")).to_be_hidden()
    context.close()


def test_the_menus_of_a_page_open_at_the_first_click_and_by_keyboard(page, book_url):
    """One, or three where the book's repository is known."""
    load(page, f"{book_url}/{CHAPTER}")
    buttons = page.locator("[data-bs-toggle=dropdown]")
    expect(buttons.first).to_have_attribute("aria-expanded", "false")
    for button in buttons.all():
        button.evaluate("button => button.click()")
        expect(button).to_have_attribute("aria-expanded", "true")
        button.focus()
        page.keyboard.press("Escape")
        expect(button).to_have_attribute("aria-expanded", "false")
        page.keyboard.press("Enter")
        expect(button).to_have_attribute("aria-expanded", "true")
    assert not page.problems


def test_the_search_icon_covers_no_letter(page, book_url):
    load(page, f"{book_url}/search.html")
    form = page.locator(".bd-search-container form")
    icon, field = form.locator("i").bounding_box(), form.locator("input")
    padding = field.evaluate("input => parseFloat(getComputedStyle(input).paddingLeft)")
    assert field.bounding_box()["x"] + padding >= icon["x"] + icon["width"]


@pytest.mark.parametrize("kept", [True, False], ids=["accepted", "refused"])
def test_the_place_of_a_reader_is_offered_and_never_forced(kept, new_page, book_url):
    page = new_page(viewport=PHONE)
    load(page, f"{book_url}/{CHAPTER}")
    offer = page.get_by_role("complementary", name="Onde você parou")
    expect(offer).to_have_count(0)
    section = page.locator("article section section").nth(4)
    section.locator("h2, h3").first.evaluate("heading => heading.scrollIntoView()")
    assert page.evaluate("scrollY") > PHONE["height"]
    page.goto(f"{book_url}/book/intro.html")
    page.goto(f"{book_url}/{CHAPTER}")
    expect(offer).to_be_visible()
    assert page.evaluate("scrollY") == 0 and axe_violations(page) == [] and page_overflow(page) == 0
    page.get_by_role("button", name="Continuar" if kept else "Fechar", exact=True).press("Enter")
    expect(offer).to_have_count(0)
    if kept:
        # The same words, wherever they are now: widgets above may not have been drawn yet.
        read = section.locator("h2, h3").first
        assert_becomes(page, lambda: abs(read.bounding_box()["y"]) < PHONE["height"] / 2, True)
        assert page.evaluate("document.activeElement.tagName") in {"H2", "H3"}
    else:
        assert page.evaluate("scrollY") == 0


def test_a_link_to_a_section_is_stronger_than_the_place(new_page, book_url):
    page = new_page(viewport=PHONE)
    load(page, f"{book_url}/book/intro.html")
    stored = json.dumps({"section": "exercicios", "below": 9})
    page.evaluate("stored => localStorage.setItem('place:/book/01_masking.html', stored)", stored)
    page.goto(f"{book_url}/{CHAPTER}#para-levar")
    next_frame(page)
    expect(page.get_by_role("complementary", name="Onde você parou")).to_have_count(0)
    assert not page.problems


LETTERING = """() => [...document.querySelectorAll(".plot > svg")].flatMap(svg => {
  const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width;
  const texts = [...svg.querySelectorAll("text")].map(text => {
    const size = parseFloat(getComputedStyle(text).fontSize) * scale;
    return { said: text.textContent, box: text.getBoundingClientRect(), size };
  });
  const share = (a, b, size) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.25 * size &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.25 * size;  // a line is higher than its letters
  return texts.flatMap(({ said, box, size }, i) => [
    ...(size < 11 ? [`${said}: ${size} px`] : []),
    ...(box.left < frame.left - 1 || box.right > frame.right + 1 ? [`${said}: cut`] : []),
    ...texts.slice(0, i).flatMap(other => share(box, other.box, size) ? [`${said} on ${other.said}`] : []),
  ]);
})"""


@pytest.mark.parametrize(("viewport", "dark"), LOOKS, ids=NAMES)
def test_the_letters_of_a_plot_can_be_read_and_follow_the_theme(opened, viewport, dark):
    tab, _ = opened
    change_look(tab, viewport, dark)
    assert tab.evaluate(LETTERING) == []
    wanted = {rgb(palette.PALETTE["text"][dark])}
    ink = f".plot text[fill='{palette.LIGHT['text']}']"
    assert set(tab.eval_on_selector_all(ink, "all => all.map(each => getComputedStyle(each).fill)")) <= wanted


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(part) for part in bytes.fromhex(colour[1:]))})"


@pytest.mark.parametrize("address", ["nada.html", "book/nada.html", "book/_static/nada.png"])
def test_what_is_not_there_is_answered_with_a_page_that_leads_on(address, page, book_url):
    answer = page.goto(f"{book_url}/{address}")
    assert answer.status == 404
    expect(page.get_by_role("heading")).to_have_text("Esta página não existe")
    assert axe_violations(page) == [] and page_overflow(page) == 0
    page.get_by_role("link", name="A busca").click()
    page.wait_for_url(f"{book_url}/search.html")


def test_diagrams_follow_the_theme(book_url, page):
    def colours(dark):
        change_look(page, DESKTOP, dark)
        return page.locator("pre.mermaid svg style").first.text_content()

    load(page, f"{book_url}/book/intro.html")
    assert colours(dark=False) != colours(dark=True)
    drawing = page.locator("pre.mermaid > svg").first
    assert drawing.evaluate("svg => getComputedStyle(svg).filter") == "none", "the dark colours are inverted"


def test_a_reference_is_reached_from_its_citation(book_url, page):
    load(page, f"{book_url}/{CHAPTER}")
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


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_keyboard_unfolds_and_folds_a_solution(viewport, new_page, book_url):
    """That every hint and solution is folded and named, tests/book/test_widgets.py sees."""
    page = new_page(viewport=viewport)
    page.goto(f"{book_url}/{CHAPTER}")
    box = page.locator(f"#sol-{exercises(1)[1].label}")
    button, code = box.get_by_role("button", name="Solução"), box.locator("pre").first
    expect(code).to_be_hidden()
    button.focus()
    for key, shown in (("Enter", True), ("Space", False), ("Enter", True)):
        page.keyboard.press(key)
        expect(button).to_have_attribute("aria-expanded", str(shown).lower())
        expect(code).to_be_visible(visible=shown)
    expect(code).to_contain_text("def softmax_estavel(s):")
    assert page_overflow(page) == 0 and not page.problems


def test_the_scale_sees_what_is_too_heavy_and_code_that_nobody_needs(page, tmp_path):
    (tmp_path / "noise.bin").write_bytes(random.Random(0).randbytes(LIMIT + 1))
    (tmp_path / "zeros.txt").write_bytes(bytes(LIMIT))
    for name in ("needed.js", "unused.js"):
        (tmp_path / name).write_text("")
    (tmp_path / "page.html").write_text(
        "<script src=needed.js></script><script>fetch('noise.bin'); fetch('zeros.txt')</script>"
    )
    with serving(tmp_path) as url:
        sizes = weigh(page, url, tmp_path, "page.html")
    assert sizes["noise.bin"] == LIMIT + 1, "what does not compress is sent as it is"
    assert sizes["zeros.txt"] < 10_000, "what compresses is weighed compressed"
    assert set(sizes) == {"page.html", "needed.js", "noise.bin", "zeros.txt"}


READABLE, PALE = "<span>sim</span> ", '<span style="color: #ccc">não</span> '
HARD = {  # code that is hard to read, and how many words of it are found
    "none": (READABLE * 9, 0),
    "one": (READABLE * 9 + PALE, 1),
    "in a sentence": (f'</pre>{READABLE * 9}<p>Isto <em style="color: #ccc">não</em> se lê.</p><pre>', 1),
    "all": (PALE * 9, 3),
    "hidden": (PALE.replace("#ccc", "#ccc; display: none") * 9 + PALE, 1),
    "cut off": (f'<b style="position: absolute; clip: rect(1px, 1px, 1px, 1px)">{PALE * 9}</b>{PALE}', 1),
    "after short": (PALE.replace("não", "=") * 9 + PALE, 1),
    "on black": (READABLE * 9 + f'<b style="background: #222">{READABLE}</b>', 1),
}


@pytest.mark.parametrize(("code", "found"), HARD.values(), ids=HARD)
def test_code_that_is_hard_to_read_is_found(code, found, page):
    """The saving itself: words that look alike are judged once for all, and no other word goes unjudged."""
    page.set_content(
        '<!doctype html><html lang="pt-BR"><head><title>Código</title></head>'
        f"<body><main><h1>Código</h1><pre>{code}</pre></main></body></html>"
    )
    violations = axe_violations(page)
    assert len(violations) == found and all("color-contrast" in text for text in violations), violations
