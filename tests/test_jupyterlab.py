"""The notebooks in a real JupyterLab: MyST directives are rendered there too, offline."""

import pytest

from tests.browser import open_page


@pytest.fixture(scope="module")
def chapter(jupyterlab, browser):
    """Chapter 1 as JupyterLab shows it."""
    with open_page(browser) as page:
        page.goto(jupyterlab.url("01_masking.ipynb"))
        page.wait_for_selector(".jp-Notebook .myst aside")
        yield page


def test_directives_are_rendered(chapter):
    first = chapter.locator(".jp-Notebook .jp-MarkdownCell").first
    boxes = first.locator("aside").all_inner_texts()
    assert any("O que você vai aprender" in text for text in boxes)
    shown = first.locator(".myst").first.inner_text()
    assert "```" not in shown and ":class:" not in shown


def test_formulas_are_typeset(chapter):
    assert chapter.locator(".jp-Notebook .myst .katex").count() > 0


def test_nothing_external_is_asked_for(chapter):
    assert chapter.problems.external == []
    assert chapter.problems.failed == []
