"""What a page makes a reader download, compressed. Every page of the book is weighed when it is opened."""

import gzip
import random
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlparse

from playwright.sync_api import Page, Response

from tests.book.test_built_book import soup
from tests.browser.chromium import settle
from tools.serve import serving

LIMIT = 2_000_000  # bytes: what a page with widgets may weigh in all
VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_CODE = ("bundles/widgets.js", "bundles/widgets.css")


def weigh(page: Page, base: str, folder: Path, name: str) -> dict[str, int]:
    """Bytes of each file that opening the page asks for, as a server that compresses would send them."""
    asked = {}  # a dict keeps the order of the requests

    def note(response: Response) -> None:
        asked.setdefault(unquote(urlparse(response.url).path).lstrip("/"))

    page.on("response", note)
    page.goto(f"{base}/{name}")
    settle(page)
    page.remove_listener("response", note)
    return {path: compressed(folder / path) for path in asked if (folder / path).is_file()}


@cache
def compressed(path: Path) -> int:
    body = path.read_bytes()
    return min(len(body), len(gzip.compress(body, 9)))  # fonts and images do not shrink


def widget_code(paths) -> list[str]:
    return [path for path in paths if path.endswith(WIDGET_CODE)]


def views(name: str) -> int:
    return len(soup(name).find_all("script", type=VIEW))


def test_the_scale_sees_what_is_too_heavy_and_code_that_nobody_needs(page, tmp_path):
    (tmp_path / "noise.bin").write_bytes(random.Random(0).randbytes(LIMIT + 1))
    (tmp_path / "zeros.txt").write_bytes(bytes(LIMIT))
    (tmp_path / "bundles").mkdir()
    (tmp_path / "bundles" / "widgets.js").write_text("")
    (tmp_path / "unused.js").write_text("")
    (tmp_path / "page.html").write_text(
        "<script src=bundles/widgets.js></script><script>fetch('noise.bin'); fetch('zeros.txt')</script>"
    )
    with serving(tmp_path) as url:
        sizes = weigh(page, url, tmp_path, "page.html")
    assert sizes["noise.bin"] == LIMIT + 1, "what does not compress is sent as it is"
    assert sizes["zeros.txt"] < 10_000, "what compresses is weighed compressed"
    assert set(sizes) == {"page.html", "bundles/widgets.js", "noise.bin", "zeros.txt"}
    assert widget_code(sizes) == ["bundles/widgets.js"]
