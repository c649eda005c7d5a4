"""Fixtures shared by the tests of the widgets."""

import pytest
from playwright.sync_api import Page

from tests.lib.widgets.cases import CASES
from tests.lib.widgets.cases.case import Made
from tests.lib.widgets.cases.page import WidgetPage
from tests.lib.widgets.shared import open_widgets, own, stored


@pytest.fixture
def show(page, tmp_path):
    """Opens widgets together, on the test's page unless told, and gives the page object of each."""

    def opened(*made: Made, on: Page = page, **look) -> list[WidgetPage]:
        roots = open_widgets(on, tmp_path, made, **look)
        return [page_of(widget)(root, stored(widget)) for root, widget in zip(roots, made, strict=True)]

    return opened


def page_of(widget: Made) -> type[WidgetPage]:
    return next(case.page for case in CASES if isinstance(own(widget), case.page.widget))
