"""The notebooks in a real JupyterLab: MyST directives are rendered there too, offline."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import open_page


@pytest.fixture(scope="module")
def chapter(jupyterlab, browser):
    """Chapter 1 as JupyterLab shows it."""
    with open_page(browser, fresh=True) as page:
        page.goto(jupyterlab.url("01_masking.ipynb"))
        page.wait_for_selector(".jp-Notebook .myst aside")
        yield page


def test_directives_are_rendered(chapter):
    first = chapter.locator(".jp-Notebook .jp-MarkdownCell").first
    expect(first.locator("aside", has_text="O que você vai aprender")).not_to_have_count(0)
    shown = first.locator(".myst").first
    for raw in ("```", ":class:"):
        expect(shown).not_to_contain_text(raw)


def test_formulas_are_typeset(chapter):
    expect(chapter.locator(".jp-Notebook .myst .katex")).not_to_have_count(0)


def test_nothing_external_is_asked_for(chapter):
    assert chapter.problems.external == []
    assert chapter.problems.failed == []
