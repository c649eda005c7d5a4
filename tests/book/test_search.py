"""The search: in the texts of every section, with and without accents, over http and from the disk."""

import json

import pytest
from playwright.sync_api import expect

from tests.book.test_built_book import BUILT, PAGES, anchors
from tests.browser.chromium import assert_becomes, axe_violations, load, page_overflow
from tests.lib.widgets.shared import HOSTILE
from tools.console import ROOT

PLACES = ["http", "disk"]
STATUS = "#search-results [role=status]"


@pytest.fixture
def sections(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    import course_search

    return lambda html: list(course_search.sections(html))[::-1]


@pytest.fixture(params=PLACES)
def search(request, page, book_url, book_dir):
    """Opens the search with a query, and returns the pages that are found with what they show."""
    base = book_url if request.param == "http" else book_dir.as_uri()

    def find(query: str) -> list[tuple[str, str]]:
        load(page, f"{base}/search.html")
        page.locator(".bd-search-container input").fill(query)
        items = page.locator("ul.search > li")
        return [
            (item.get_by_role("link").first.get_attribute("href"), item.inner_text()) for item in items.all()
        ]

    find.page = page
    return find


def test_a_section_has_its_own_text_alone(sections):
    html = """<article><section id="a"><h1>Um<a class="headerlink">#</a></h1><p>do <b>todo</b></p>
      <section id="b"><h2>Dois</h2><p>a parte <math><mi>x</mi><mo>+</mo><mi>y</mi></math></p></section>
      <script>silêncio</script></section></article>"""
    assert sections(html) == [("a", "Um", "do todo"), ("b", "Dois", "a parte x+y")]


def test_letters_with_accents_are_single_characters(sections):
    [(_, title, _)] = sections("<article><section id='a'><h1>a\u0303</h1></section></article>")
    assert title == "ã"


@pytest.mark.book
def test_the_texts_are_those_of_the_pages():
    texts = json.loads(
        (BUILT / "searchtexts.js").read_text(encoding="utf-8").partition(" = ")[2].rstrip(";\n")
    )
    assert {page for page, _ in texts} == {page for page in PAGES if page.startswith("book/")}
    for page, found in texts:
        assert found and found[0][1], f"{page} has no title"
        assert {identifier for identifier, _, _ in found} <= anchors(page)


SAME = [
    ("atencao", "atenção", "ATENÇÃO", "atenções"),
    ("mascara", "máscara", "máscaras"),
    ("codificador", "codificadores"),
    ("matriz", "matrizes"),
    ("viés", "vies"),
]


@pytest.mark.book
@pytest.mark.browser
@pytest.mark.parametrize("words", SAME, ids=lambda words: words[0])
def test_accents_capitals_and_number_make_no_difference(words, search):
    first, *others = [search(word) for word in words]
    assert first and all(other == first for other in others)
    assert not search.page.problems, search.page.problems


@pytest.mark.book
@pytest.mark.browser
def test_what_is_found_is_shown_where_it_stands(search):
    found = search("ordem das palavras")
    assert len(found) > 1 and all("…" in text or "palavra" in text.lower() for _, text in found)
    page = search.page
    marks = [mark.lower() for mark in page.locator("ul.search mark").all_inner_texts()]
    assert {"ordem", "das"} <= {*marks} and page_overflow(page) == 0
    assert axe_violations(page) == []
    expect(page.locator("ul.search h2").first).to_be_visible()
    page.locator("ul.search ul a").first.click()
    page.wait_for_url("**/book/*.html*")
    assert not page.problems, page.problems


@pytest.mark.book
@pytest.mark.browser
def test_words_in_quotes_are_one(search):
    apart, together = len(search("futuro passado")), len(search('"do futuro ao passado"'))
    assert apart > together


@pytest.mark.book
@pytest.mark.browser
@pytest.mark.parametrize("text", ["zzzz", *HOSTILE, "(", "\\", "[a-z]*", '"'])
def test_any_text_may_be_searched_for(text, search):
    search(text)
    page = search.page
    assert_becomes(page, lambda: bool(page.locator(STATUS).inner_text()), True)
    assert not page.evaluate("window.attacked ?? false") and not page.problems


@pytest.mark.book
@pytest.mark.browser
def test_the_address_holds_the_query(page, book_url):
    load(page, f"{book_url}/search.html?q=mascaramento")
    page.locator("#search-results li a[href*='01_masking']").first.wait_for()
    expect(page.locator(STATUS)).to_contain_text(" seções de ")
