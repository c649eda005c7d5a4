"""The notebooks in a real JupyterLab: MyST directives are rendered there too, offline."""

from playwright.sync_api import expect


def test_a_chapter_is_rendered_and_asks_for_nothing_external(jupyterlab, new_page):
    page = new_page(fresh=True)
    page.goto(jupyterlab.url("01_masking.ipynb"))
    page.wait_for_selector(".jp-Notebook .myst aside")
    first = page.locator(".jp-Notebook .jp-MarkdownCell").first
    expect(first.locator("aside", has_text="O que você vai aprender")).not_to_have_count(0)
    for raw in ("```", ":class:"):
        expect(first.locator(".myst").first).not_to_contain_text(raw)
    expect(page.locator(".jp-Notebook .myst .katex"), "formulas are typeset").not_to_have_count(0)
    assert page.problems.external == page.problems.failed == []
