"""What each page makes a reader download, compressed: printed for every page, bounded where widgets are."""

import gzip
import random
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from playwright.sync_api import Page

from tests.browser import open_page, settle
from tests.test_built_book import PAGES, soup
from tools.serve import serving

LIMIT = 2_000_000  # bytes: what a page with widgets may weigh in all
VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_CODE = ("bundles/widgets.js", "bundles/widgets.css")


def weigh(page: Page, base: str, folder: Path, name: str) -> dict[str, int]:
    """Bytes of each file that opening the page asks for, as a server that compresses would send them."""
    asked = {}  # a dict keeps the order of the requests
    page.on("response", lambda response: asked.setdefault(unquote(urlparse(response.url).path).lstrip("/")))
    page.goto(f"{base}/{name}")
    settle(page)
    return {path: compressed(folder / path) for path in asked if (folder / path).is_file()}


@cache
def compressed(path: Path) -> int:
    body = path.read_bytes()
    return min(len(body), len(gzip.compress(body, 9)))  # fonts and images do not shrink


def widget_code(paths) -> list[str]:
    return [path for path in paths if path.endswith(WIDGET_CODE)]


def views(name: str) -> int:
    return len(soup(name).find_all("script", type=VIEW))


@pytest.fixture(scope="module")
def weights(browser, book_url, book_dir) -> dict[str, dict[str, int]]:
    """The files of every page, and their sizes; index.html only redirects."""
    found = {}
    for name in (name for name in PAGES if name != "index.html"):
        with open_page(browser) as page:
            found[name] = weigh(page, book_url, book_dir, name)
    return found


def test_the_weight_of_every_page(weights, record_property):
    for name, sizes in weights.items():
        total, own = (size / 1000 for size in (sum(sizes.values()), sizes[name]))
        record_property(
            "summary",
            f"{name}: {total:.0f} kB compressed, {own:.0f} kB of it the page itself, widgets: {views(name)}",
        )
    assert all(sizes[name] > 0 for name, sizes in weights.items())


def test_widget_code_is_loaded_where_there_are_widgets_and_nowhere_else(weights):
    assert {name for name, sizes in weights.items() if widget_code(sizes)} == set(filter(views, weights))


def test_a_page_with_widgets_stays_under_the_limit(weights):
    totals = {name: sum(sizes.values()) for name, sizes in weights.items() if views(name)}
    assert {name: total for name, total in totals.items() if total > LIMIT} == {}


def test_every_icon_comes_from_the_small_font(weights):
    """An icon that is not there still appears, from the theme's whole font, 40 times as heavy."""
    fonts = {path for sizes in weights.values() for path in sizes if "icons/" in path or "awesome" in path}
    assert fonts == {"_static/vendor/icons/solid.woff"}


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
