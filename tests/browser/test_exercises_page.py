"""The exercises in the built page: what is folded unfolds by keyboard, on a phone too.

That every hint and solution is folded and named, tests/book/test_widgets.py sees, with each chapter open.
"""

import pytest
from playwright.sync_api import expect

from lib.exercises.catalogue import exercises
from tests.browser.chromium import DESKTOP, PHONE, open_page, page_overflow
from tools.insert_exercises import FILES


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_keyboard_unfolds_and_folds(viewport, browser, book_url):
    with open_page(browser, viewport=viewport) as page:
        page.goto(f"{book_url}/book/{FILES[1].stem}.html")
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
