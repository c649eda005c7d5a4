"""The files of the built book: links, anchors, text alternatives, language, and nothing from elsewhere."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest
from bs4 import BeautifulSoup, NavigableString, Tag

from tests.lib.widgets.shared import VIEW
from tools.console import ROOT
from tools.insert_exercises import PAGES as PAGES_OF
from tools.notices import PAGE as NOTICES

pytestmark = pytest.mark.book
BUILT = ROOT / "_build" / "html"
# Collected when the tests are; an empty book is reported by test_the_book_has_its_pages.
PAGES = sorted(str(path.relative_to(BUILT)) for path in BUILT.rglob("*.html") if "_static" not in path.parts)
WHOLE = ("index.html", "404.html", NOTICES)  # pages that ask for no other file
SOURCES = dict.fromkeys(("script", "iframe", "audio", "embed"), ("src",))
PICTURES = dict.fromkeys(("img", "source"), ("src", "srcset"))
RESOURCES = SOURCES | PICTURES | {"link": ("href",), "object": ("data",), "video": ("src", "poster")}
REMOTE = re.compile(r"^(?:[a-z]+:)?//", re.IGNORECASE)
LABELS = ("title", "aria-label", "alt", "placeholder", "data-bs-title", "data-tooltip", "data-prompt")
# What a reader should never see: TeX outside a formula, MyST outside code.
RAW_MARKUP = re.compile(
    r"\\(?:begin|end|frac|text|mathrm|sqrt|le|ge|infty)\b"  # a TeX command
    r"|(?<![\w$])\$[^$\s][^$\n]*\$"  # $...$
    r"|\{(?:prf:|cite|term|doc|ref|numref|eq|math)[^}]*\}`"  # a role
    r"|^\s*(?:```|:::)|^\s*:(?:label|class|name|width):"  # a directive
    r"|\]\(|\*\*\w|^\s*#{1,6}\s",  # a link, bold, a heading
    re.MULTILINE,
)
# Words of English and of no Portuguese text: grammar, and what the packages around the book are known to say.
ENGLISH_WORDS = """
    the of and with from this that is are was to by on or not you your all an it in at be
    search show hide toggle click copy copied download next previous page skip main content contents
    back top home print edit light dark settings mode open close expand collapse navigation sidebar
    proof theorem lemma corollary proposition observation remark exercise solution definition
    warning tip important figure table chapter section source output cell hidden launch
    version announcement built theme copyright last updated failed error loading results matching
"""
ENGLISH = frozenset(ENGLISH_WORDS.split())


@cache
def soup(page: str) -> BeautifulSoup:
    return BeautifulSoup((BUILT / page).read_text(encoding="utf-8"), "html.parser")


@cache
def anchors(page: str) -> frozenset[str]:
    return frozenset(tag["id"] for tag in soup(page).find_all(id=True))


def is_prose(text: NavigableString) -> bool:
    """Text that a person reads as language: neither code nor formula nor data (a word alone in a plot)."""
    is_token = text.parent.name == "text" and " " not in text.strip()
    return (
        type(text) is NavigableString
        and not is_token
        and not any(
            parent.name in {"script", "style", "code", "pre", "kbd", "noscript"}
            or "math" in parent.get("class", [])
            for parent in text.parents
        )
    )


def is_marked_foreign(element: Tag | NavigableString) -> bool:
    """Words of another language are in italics, have their language declared, or quote a cited work."""
    chain = [*([element] if isinstance(element, Tag) else []), *element.parents]
    return any(
        tag.name in {"em", "i"} or tag.get("lang") == "en" or "references.html#" in tag.get("href", "")
        for tag in chain
    )


def test_the_book_has_its_pages(book_dir):
    sources = {path.stem for path in (ROOT / "book").iterdir() if path.suffix in {".md", ".ipynb"}}
    built = {Path(page).stem for page in PAGES if page.startswith("book/")}
    assert built == sources
    assert {*WHOLE, "search.html"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    broken = []
    for link in soup(page).find_all("a", href=True):
        address, fragment = urldefrag(link["href"])
        if urlparse(address).scheme in {"http", "https", "mailto"}:
            continue
        target = (BUILT / page).parent / unquote(address) if address else BUILT / page
        if not target.is_file():
            broken.append(f"{link['href']}: no such file")
        elif fragment and target.suffix == ".html":
            known = anchors(str(target.resolve().relative_to(BUILT)))
            if unquote(fragment) not in known:
                broken.append(f"{link['href']}: no such anchor")
    assert broken == []


@pytest.mark.parametrize("page", PAGES)
def test_ids_are_unique(page):
    ids = [tag["id"] for tag in soup(page).find_all(id=True)]
    assert sorted({identifier for identifier in ids if ids.count(identifier) > 1}) == []


@pytest.mark.parametrize("page", PAGES)
def test_images_have_a_text_alternative(page):
    images = soup(page).find_all("img")
    assert [image.get("src", "")[:80] for image in images if not image.get("alt", "").strip()] == []
    plots = soup(page).select(".plot")
    assert [plot for plot in plots if plot["role"] != "img" or not plot["aria-label"].strip()] == []
    assert len(soup(page).select(".plot > svg")) == len(soup(page).select(".cell_output svg"))


@pytest.mark.parametrize("page", PAGES)
def test_diagrams_are_flowcharts_with_a_title_and_a_description(page):
    """The pages carry what draws flowcharts (tools/bundles/build.mjs); another kind would stay as text."""
    for diagram in soup(page).select("pre.mermaid"):
        assert diagram.text.split()[0] in {"flowchart", "graph"}
        for required in ("accTitle:", "accDescr:"):
            assert required in diagram.text, f"a diagram has no {required} line:\n{diagram.text}"


@pytest.mark.parametrize("page", PAGES)
def test_no_resource_comes_from_elsewhere(page):
    remote = [
        f"<{tag.name} {attribute}={tag[attribute]}>"
        for name, attributes in RESOURCES.items()
        for tag in soup(page).find_all(name)
        for attribute in attributes
        if REMOTE.match(tag.get(attribute, ""))
    ]
    addresses = re.findall(r"url\(\s*['\"]?([^'\")]+)", str(soup(page).head))
    inline = [address for address in addresses if REMOTE.match(address)]
    assert remote + inline == []


def test_no_style_sheet_imports_from_elsewhere(book_dir):
    address = re.compile(r"(?:url\(\s*|@import\s+)['\"]?([^'\")\s]+)")
    remote = [
        f"{sheet.relative_to(book_dir)}: {found}"
        for sheet in book_dir.rglob("*.css")
        for found in address.findall(sheet.read_text(encoding="utf-8"))
        if REMOTE.match(found)
    ]
    assert remote == []


@pytest.mark.parametrize("page", [page for page in PAGES if page not in WHOLE])
def test_nothing_but_one_style_sheet_stands_before_the_text(page):
    """Scripts wait; what only some reader needs is not asked for, and is named where it may be wanted."""
    scripts = soup(page).find_all("script", src=True)
    assert [tag["src"] for tag in scripts if not tag.has_attr("defer")] == []
    loaded = " ".join(tag["src"] for tag in scripts)
    assert not re.search(r"bundles/|bootstrap|fontawesome|mathjax|searchindex", loaded)
    sheets = soup(page).select("head > link[rel=stylesheet]")
    assert [link["href"].split("?")[0][-8:] for link in sheets] == ["book.css"]
    later = soup(page).select_one("script[src*='course.js']")
    assert later.has_attr("data-diagrams") == bool(soup(page).select("pre.mermaid"))
    assert later.has_attr("data-widgets") == bool(soup(page).find("script", type=VIEW))
    assert not soup(page).find("script", type=re.compile("widget-state"))


@pytest.mark.parametrize("page", PAGES)
def test_a_picture_waits_and_keeps_its_place(page):
    for image in soup(page).select("article img"):
        assert image["loading"] == "lazy" and int(image["width"]) > 0 < int(image["height"])
    for plot in soup(page).select(".plot > svg"):  # in the page itself: there is nothing to wait for
        _, _, width, height = map(int, plot["viewbox"].split())
        assert width > 0 < height and int(plot["width"]) > 0 < int(plot["height"])


@pytest.mark.parametrize("page", PAGES)
def test_no_markup_is_left_in_the_text(page):
    article = soup(page).find("article") or soup(page)
    raw = [str(text).strip() for text in article.find_all(string=is_prose) if RAW_MARKUP.search(str(text))]
    assert raw == []


@pytest.mark.parametrize("page", PAGES)
def test_every_label_is_portuguese(page):
    """No English in what is seen or read aloud, apart from words set in italics or declared to be English."""
    found = []
    texts = [text for text in soup(page).find_all(string=is_prose) if not is_marked_foreign(text)]
    labels = [
        NavigableString(tag[name])
        for tag in soup(page).find_all(True)
        for name in LABELS
        if tag.has_attr(name) and not is_marked_foreign(tag)
    ]
    for text in texts + labels:
        words = re.findall(r"[^\W\d_]+", str(text).lower())
        if english := sorted(ENGLISH.intersection(words)):
            found.append(f"{english} in {str(text).strip()[:100]!r}")
    assert found == []


@pytest.mark.parametrize("page", PAGES)
def test_the_page_declares_its_language(page):
    assert soup(page).html["lang"] == "pt-BR"


@pytest.mark.parametrize(("chapter", "pages"), PAGES_OF.items())
def test_statements_are_numbered_by_chapter(chapter, pages):
    """Through all the pages of a chapter: no number comes twice, and none is left out."""
    titles = [
        " ".join(title.get_text().split())
        for path in pages
        for title in soup(f"book/{path.stem}.html").select("div.admonition.proof[id] > .admonition-title")
    ]
    assert titles, f"chapter {chapter} has no statements"
    kinds = "Teorema|Lema|Corolário|Proposição|Observação|Definição"
    found = [re.fullmatch(rf"({kinds}) {chapter}\.(\d+)(?: \(.+\))?", title) for title in titles]
    assert all(found), [title for title, named in zip(titles, found, strict=True) if not named]
    for kind in {named[1] for named in found}:
        numbers = [int(named[2]) for named in found if named[1] == kind]
        assert numbers == [*range(1, len(numbers) + 1)], f"{kind} {chapter}.x: {numbers}"


def test_the_copy_button_speaks_portuguese(book_dir):
    script = (book_dir / "_static" / "copybutton.js").read_text(encoding="utf-8")
    default = re.search(r"'en': \{(.*?)\}", script, re.DOTALL)[1]
    words = ["Copiar", "Copiar para a área de transferência", "Copiado!", "Não foi possível copiar"]
    assert re.findall(r": '([^']*)'", default) == words


RAW = ("a soma $a+b$ dá", r"temos \frac{a}{b}", "veja {prf:ref}`teo`", "```{note}", ":label: teo")
RAW += ("[texto](pagina.md)", "**negrito**")
CLEAN = ("custa R$ 5 ou R$ 6", "o conjunto {a, b} e a lista [a, b]", "às 10:30, nota: sim")


@pytest.mark.parametrize("text", RAW + CLEAN)
def test_the_rule_for_raw_markup(text):
    assert bool(RAW_MARKUP.search(text)) == (text in RAW)
