"""Print the built book into one PDF: cover, contents with page numbers, bookmarks, every page in its order.

Usage: .venv/bin/python -m tools.pdf [--into FILE]. Chromium prints each page as a reader's browser would; a
widget is printed in its first state. Then the sheets are put together and numbered.
"""

import argparse
import html
import io
import os
import tomllib
from pathlib import Path

import yaml
from playwright.sync_api import Page, ViewportSize, sync_playwright
from pypdf import PdfReader, PdfWriter

from tools import find_browser
from tools.console import ROOT, step
from tools.serve import serving

BUILT = ROOT / "_build" / "html"
PDF = ROOT / "_build" / "do-mascaramento-ao-bert.pdf"
AUTHORS, LICENCE = "the authors of Do mascaramento ao BERT", "Texto e figuras: CC BY 4.0. Código: MIT."
WAIT_MS = 120_000
PAPER = {
    "format": "A4",
    "print_background": True,
    "margin": {"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"},
}
# All of a page is in sight: what waits to be looked at is drawn.
TALL: ViewportSize = {"width": 1000, "height": 30_000}
STYLE = """
.bd-header, .bd-header-article, .bd-sidebar, .bd-sidebar-primary, .bd-sidebar-secondary, .bd-footer,
.skip-link, .pst-skip-link, .pst-async-banner-revealer, .prev-next-footer, .bd-footer-content,
#pst-back-to-top, .copybtn, .headerlink { display: none !important }
.bd-main, .bd-content, .bd-article-container, .bd-article, .bd-container, .bd-container__inner
  { display: block !important; max-width: none !important; padding: 0 !important; margin: 0 !important }
figure, table, pre, .cell_output, .admonition, .proof, .widget-subarea, .cw-still, svg, img
  { break-inside: avoid }
h1, h2, h3, h4, summary { break-after: avoid }
pre { white-space: pre-wrap !important; overflow-wrap: anywhere }
:is(.widget-subarea, .cw-still)::after
  { content: "Figura interativa na página do livro"; display: block; font-size: .7rem }
"""
DRAWN = """() => document.readyState === "complete" && document.fonts.status === "loaded" &&
  !Number(document.documentElement.dataset.drawings) &&
  [...document.querySelectorAll("pre.mermaid")].every(diagram => diagram.querySelector("svg")) &&
  [...document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]')].every(
    place => place.previousElementSibling?.matches(".cw-still") ||
      place.previousElementSibling?.querySelector(".lm-Widget")?.childElementCount)"""
# Hints and solutions are opened: nobody can open them on paper. A link to another page would lead to this
# machine.
ON_PAPER = """() => {
  const all = selector => document.querySelectorAll(selector);
  for (const box of all("details.admonition:not(.hide), details.sd-dropdown")) box.open = true;
  for (const box of all(".admonition.toggle-hidden")) box.classList.remove("toggle-hidden");
  for (const link of all("a[href]")) {
    const here = link.origin === location.origin;
    if (here && (link.pathname !== location.pathname || !link.hash)) link.removeAttribute("href");
  }
}"""
SHEET = """<!DOCTYPE html><html lang="pt-BR"><meta charset="utf-8"><style>
body {{ font: 11pt/1.5 "Source Serif 4", Georgia, serif; margin: 0 }}
.cover {{ padding-top: 70mm; text-align: center }} h1 {{ font-size: 30pt; line-height: 1.2 }}
ol {{ list-style: none; padding: 0 }} li {{ display: flex }} .part {{ font-weight: bold; margin-top: 1.2em }}
li i {{ flex: 1; border-bottom: 1px dotted; margin: 0 .5em .35em }} .section {{ padding-left: 1.5em }}
.number {{ break-after: page; height: 296mm; position: relative }}
.number span {{ position: absolute; bottom: 10mm; width: 100%; text-align: center; font-size: 9pt }}
</style><body>{}</body></html>"""

Entry = tuple[str, str, int]  # the part that begins here, or none; the page's name; how deep it stands


def entries() -> list[Entry]:
    """The pages of the book in their order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found: list[Entry] = [("", toc["root"], 0)]
    for part in toc["parts"]:
        for i, chapter in enumerate(part["chapters"]):
            found.append(("" if i else part["caption"], chapter["file"], 0))
            found += [("", section["file"], 1) for section in chapter.get("sections", ())]
    return found


def printed(page: Page, address: str) -> tuple[str, bytes]:
    """A page's title, and its sheets."""
    page.goto(address)
    page.wait_for_function(DRAWN)
    page.add_style_tag(content=STYLE)
    page.evaluate(ON_PAPER)
    title = page.evaluate("() => document.querySelector('h1').innerText.replace(/#$/, '').trim()")
    return title, page.pdf(**PAPER, outline=True, tagged=True)


def sheet(page: Page, body: str, **paper: object) -> bytes:
    page.set_content(SHEET.format(body))
    return page.pdf(**(PAPER | paper))  # pyright: ignore


def cover(version: str) -> str:
    return (
        f"<div class='cover'><h1>Do mascaramento ao BERT</h1><p>Um curso executável, versão {version}</p>"
        f"<p>Cada número foi calculado pelo código ao lado.</p>"
        f"<p><small>{AUTHORS}<br>{LICENCE}</small></p></div>"
    )


def contents(rows: list[tuple[str, str, int, int]]) -> str:
    lines = ""
    for part, title, depth, number in rows:
        lines += f"<li class='part'>{html.escape(part)}</li>" if part else ""
        kind = " class='section'" if depth else ""
        lines += f"<li{kind}>{html.escape(title)}<i></i>{number}</li>"
    return f"<h1>Sumário</h1><ol>{lines}</ol>"


def write(into: Path) -> int:
    """Print the book; returns how many sheets it has."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    with sync_playwright() as playwright, serving(BUILT) as base:
        # Chromium's own sandbox root cannot have.
        sandbox = [] if os.name == "nt" or os.geteuid() else ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=find_browser.ensure(), args=sandbox)
        page = browser.new_page(viewport=TALL, color_scheme="light", reduced_motion="reduce", locale="pt-BR")
        page.set_default_timeout(WAIT_MS)
        parts = [(part, depth, *printed(page, f"{base}/{name}.html")) for part, name, depth in entries()]
        sheets = [PdfReader(io.BytesIO(body)) for *_, body in parts]

        def front(first: int) -> PdfReader:
            rows = []
            for (part, depth, title, _), body in zip(parts, sheets, strict=True):
                rows.append((part, title, depth, first))
                first += len(body.pages)
            return PdfReader(io.BytesIO(sheet(page, contents(rows))))

        before = 1 + len(front(1).pages)  # the cover, and the contents, as long with any numbers
        book = PdfWriter()
        book.append(io.BytesIO(sheet(page, cover(version))), outline_item="Do mascaramento ao BERT")
        book.append(front(before + 1), outline_item="Sumário", import_outline=False)
        for (_, _, title, _), body in zip(parts, sheets, strict=True):
            book.append(body, outline_item=title)
        bare = {"margin": dict.fromkeys(("top", "bottom", "left", "right"), "0"), "print_background": False}
        spans = "".join(f"<div class='number'><span>{n}</span></div>" for n in range(2, len(book.pages) + 1))
        numbers = PdfReader(io.BytesIO(sheet(page, spans, **bare)))
        for one, number in zip(book.pages[1:], numbers.pages, strict=False):
            one.merge_page(number)
        browser.close()
    book.add_metadata({"/Title": "Do mascaramento ao BERT: um curso executável", "/Author": AUTHORS})
    into.parent.mkdir(parents=True, exist_ok=True)
    book.write(into)
    return len(book.pages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=PDF)
    into = parser.parse_args().into
    step("printing the book")
    print(f"{into}: {write(into)} pages")


if __name__ == "__main__":
    main()
