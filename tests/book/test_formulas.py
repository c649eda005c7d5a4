"""The formulas of the book: in its pages as MathML, whole, numbered, in a font that has all they show."""

import re
import subprocess
import sys
import textwrap

import pytest
from fontTools.ttLib import TTFont
from playwright.sync_api import expect

from tests.book.test_built_book import PAGES, soup
from tests.browser.chromium import PHONE, load
from tools import fetch_vendor
from tools.console import ROOT

CONFIGURATION = f"""
import sys
sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
extensions = ["myst_parser", "course_formulas"]
myst_enable_extensions = ["dollarmath", "amsmath"]
html_math_renderer, math_numfig, numfig = "mathml", True, True
"""
INVISIBLE = {"\u2061", "\u2062", "\u2063", "\u2064", "\u200b", "\u2060"}  # said, not shown


def build(folder, text: str) -> subprocess.CompletedProcess:
    """A book of one page, built as ours is: warnings are errors."""
    (folder / "conf.py").write_text(CONFIGURATION)
    (folder / "index.md").write_text(f"# Página\n\n{textwrap.dedent(text)}\n", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", folder, folder / "html"]
    return subprocess.run(command, text=True, capture_output=True)


@pytest.mark.book
@pytest.mark.parametrize("page", PAGES)
def test_every_formula_is_typeset(page):
    for place in soup(page).select(".math"):
        [formula] = place.find_all("math")
        assert formula.get("display") == ("block" if place.name == "div" else None)
        assert formula.get_text(strip=True) and not formula.find(
            ("merror", "mi", "mtext"), string=re.compile(r"[\\$]")
        )
    assert not soup(page).find("mjx-container")


@pytest.mark.book
@pytest.mark.parametrize("page", PAGES)
def test_the_font_has_every_character_of_the_formulas(page):
    font = TTFont(ROOT / fetch_vendor.VENDOR / "fonts" / "math" / "math.woff")
    shown = {letter for formula in soup(page).find_all("math") for letter in formula.get_text()}
    known = {chr(code) for code in font.getBestCmap()}
    assert "MATH" in font and sorted(shown - known - INVISIBLE - {"\n"}) == []


def test_a_formula_that_is_not_tex_fails_the_build(tmp_path):
    done = build(tmp_path, r"A soma $\frac{a}{b$ não fecha.")
    assert done.returncode
    assert r"index.md: WARNING: this formula is not TeX: \frac{a}{b (" in done.stderr


def test_a_page_of_formulas(tmp_path):
    """In a sentence, with its comma; on a line of its own, numbered and referred to; in several lines."""
    text = r"""
    Seja $x_1$, que é < 2.

    $$a = p[w] \ln b$$ (eq-a)

    A fórmula {eq}`eq-a` vale.

    $$a &= b \\ c &= d$$
    """
    done = build(tmp_path, text)
    assert not done.returncode, done.stderr
    page = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert "</math></span>\u2060, que é &lt; 2." in page, "no line may begin with the comma"
    assert "</mrow><mspace" in page and "<mi>ln</mi>" in page, "a thin space before the name of a function"
    assert re.search(
        r'id="equation-eq-a".*?</math></div><span class="eqno">\(1\)<a class="headerlink"', page, re.DOTALL
    )
    assert re.search(r'href="#equation-eq-a">\(1\)</a>', page)
    assert page.count("<mtr>") == 2


def test_formulas_that_cannot_be_typeset_stop_the_build(tmp_path, monkeypatch):
    """Without the typesetter there is no book, not a book without formulas."""
    broken = CONFIGURATION + "import course_formulas\ncourse_formulas.TYPESETTER = 'nowhere.mjs'\n"
    monkeypatch.setattr(sys.modules[__name__], "CONFIGURATION", broken)
    done = build(tmp_path, "$x$")
    assert done.returncode and "the formulas were not typeset" in done.stderr


def test_a_wide_formula_scrolls_in_its_own_box_by_keyboard(new_page, book_url):
    page = new_page(viewport=PHONE)
    load(page, f"{book_url}/book/04_cross_entropy.html")
    wide = page.locator("#equation-eq-ce-kl .formula")
    assert wide.evaluate("box => box.scrollWidth > box.clientWidth")
    expect(wide).to_have_attribute("tabindex", "0")
    ground = wide.evaluate("box => getComputedStyle(box).backgroundImage")
    assert ground.count("gradient") == 4, "a shade at the edge"
    assert wide.evaluate("box => document.fonts.check('16px \"Course Math\"')")
    wide.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("box => box.scrollLeft > 0", arg=wide.element_handle())
    number, box = page.locator("#equation-eq-ce-kl .eqno").bounding_box(), wide.bounding_box()
    assert number["x"] >= box["x"] + box["width"], "the number stays in view, to the right"
