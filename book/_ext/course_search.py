"""A search that ignores accents, and works from the disk: the text of every section, in a script of its own.

Sphinx's own search takes "atencao" and "atenção" for two words, and fetches pages for its excerpts, which a
page on the disk may not do. `search.js` looks through the texts that are written here.
"""

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

SILENT = "script, style, .headerlink, details.hide > summary"
# After these a new word begins.
BLOCKS = "p, li, dt, dd, td, th, div, pre, summary, figcaption, section, small, br"
UNSEEN = dict.fromkeys(map(ord, "\u2060\u2061\u2062\u2063\u2064\u200b"))


def replace_search(app: Sphinx) -> None:
    """Neither Sphinx's index nor its page."""
    app.builder.search = False


def add_page(app: Sphinx) -> Iterator[tuple[str, dict, str]]:
    yield "search", {}, "search.html"


def plain(element: Tag) -> str:
    """The text of an element as one line, each accented letter as one character."""
    return unicodedata.normalize("NFC", " ".join(element.get_text().translate(UNSEEN).split()))


def sections(html: str) -> Iterator[tuple[str, str, str]]:
    """Address within the page, title and text of each section, without that of the sections inside it."""
    article = BeautifulSoup(html, "html.parser").find("article")
    for element in article.select(SILENT):
        element.decompose()
    for block in article.select(BLOCKS):
        block.append(" ")
    for section in reversed(article.find_all("section")):  # the inner ones first
        heading = section.find(["h1", "h2", "h3", "h4", "h5", "h6"], recursive=False)
        if heading is None:
            continue
        section.extract()
        title = plain(heading.extract())
        yield section["id"], title, plain(section)


def write_texts(app: Sphinx, problem: Exception | None) -> None:
    """What `search.js` looks through: for each page its address and, in their order, its sections."""
    if problem is not None or app.builder.format != "html":
        return
    output = Path(app.outdir)
    texts = [
        [f"{page}.html", list(sections((output / f"{page}.html").read_text(encoding="utf-8")))[::-1]]
        for page in sorted(app.env.found_docs)
    ]
    data = json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
    (output / "searchtexts.js").write_text(f"globalThis.searchTexts = {data};\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", replace_search)
    app.connect("html-collect-pages", add_page)
    app.connect("build-finished", write_texts)
