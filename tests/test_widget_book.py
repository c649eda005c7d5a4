"""The mask explorer in the built book: the page that a reader opens, over http and from the disk."""

import json

import pytest

from lib.widgets.base import fingerprint
from lib.widgets.mask_explorer import MaskExplorer
from tests.browser import DESKTOP, PHONE, page_overflow, settle
from tests.widgets_page import STATE, State, differences, explorers

PAGE = "book/01_masking.html"
NAME = f"{MaskExplorer.__module__}.{MaskExplorer.__name__}"
STATES = [State("causal", 0.5, 4, 2), State("padding", 2.0, 8, 2), State("invertida", 1.0, 1, 1)]
STATES += [State("depois", 0.05, 64, 1), State("esquecida", 10.0, 2, 1), State("diagonal", 1.0, 2, 1)]


def stored_explorers(page) -> list[dict]:
    """The saved state of the explorers that the page carries."""
    models = json.loads(page.locator(f"script[type='{STATE}']").text_content())["state"].values()
    return [model["state"] for model in models if model["state"].get("_anywidget_id") == NAME]


@pytest.mark.parametrize("scheme", ["http", "file"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_explorer_of_chapter_1_shows_what_lib_computes(scheme, viewport, new_page, book_url, book_dir):
    page = new_page(viewport=viewport)
    page.goto(f"{book_url}/{PAGE}" if scheme == "http" else (book_dir / PAGE).as_uri())
    settle(page)
    stored = stored_explorers(page)
    assert stored, f"{PAGE} must carry at least one mask explorer"
    for model, panel in zip(stored, explorers(page, len(stored)), strict=True):
        for state in STATES:
            state.apply(panel)
            assert differences(panel, state.shown(model["scores"])) == [], state
    assert page_overflow(page) == 0
    assert not page.problems


def test_book_carries_the_widget_of_today(page, book_url):
    page.goto(f"{book_url}/{PAGE}")
    for model in stored_explorers(page):
        fresh = MaskExplorer(**{name: model[name] for name in MaskExplorer.class_own_traits(sync=True)})
        assert fingerprint(model) == fingerprint(fresh.get_state()), "run `make notebooks`, then `make book`"
