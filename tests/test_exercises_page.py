"""The exercises in the built page: hints and solutions are folded, and unfold by keyboard, on a phone too."""

import pytest
from playwright.sync_api import expect

from lib.exercises.catalogue import CHAPTERS, exercises
from tests.browser import DESKTOP, PHONE, open_page, page_overflow
from tools.insert_exercises import FILES


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_hint_and_solution_is_folded_and_named(chapter, browser, book_url):
    with open_page(browser) as page:
        page.goto(f"{book_url}/book/{FILES[chapter]}.html")
        found = exercises(chapter)
        for name in ("Primeira dica", "Segunda dica"):
            expect(page.get_by_role("button", name=name, exact=True, expanded=False)).to_have_count(
                len(found)
            )
        for exercise in found:
            solution = page.locator(f"#sol-{exercise.label}")
            expect(solution.get_by_role("button", expanded=False)).to_have_accessible_name(
                f"Solução para Exercício {chapter}.{exercise.number} ({exercise.title})"
            )
            expect(solution.locator(":scope > *").nth(1)).to_be_hidden()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_keyboard_unfolds_and_folds(viewport, browser, book_url):
    with open_page(browser, viewport=viewport) as page:
        page.goto(f"{book_url}/book/{FILES[1]}.html")
        label = exercises(1)[1].label
        box = page.locator(f"#sol-{label}")
        button, code = box.get_by_role("button", name="Solução"), box.locator("pre").first
        expect(code).to_be_hidden()
        button.focus()
        for key, shown in (("Enter", True), ("Space", False), ("Enter", True)):
            page.keyboard.press(key)
            expect(button).to_have_attribute("aria-expanded", str(shown).lower())
            expect(code).to_be_visible(visible=shown)
        expect(code).to_contain_text("def minha_softmax(s):")
        assert page_overflow(page) == 0 and not page.problems
