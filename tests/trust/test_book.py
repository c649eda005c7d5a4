"""This book keeps its promise: each value in its prose was printed, and a changed digit is noticed.

The digits of stored outputs and of widgets are changed by `trust.plugin`, after each notebook's execution.
`pytest --tamper-seed N` repeats a run; `--tamper all` tries every digit.
"""

import json
import re

import pytest

from lib.widgets.base import fingerprint
from tests.trust.pages import THE_BOOK, notebooks, pages, read_page
from tests.trust.sources import source_candidates, stored_errata
from trust.comparison import widget_state
from trust.ledger import problems
from trust.notebooks import load
from trust.plugin import tampered
from trust.tamper import prose_candidates

every_page = pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)


@every_page
def test_every_value_in_the_prose_was_printed(path):
    page = read_page(path)
    found = problems(page, THE_BOOK.origins(page))
    assert not found, "\n".join(found)


@every_page
def test_changed_digits_in_the_prose_are_noticed(path, request):
    page = read_page(path)
    tampered(list(prose_candidates(page, THE_BOOK.origins(page))), "prose", request.node)


def test_changed_digits_in_the_data_on_the_sources_are_noticed(request):
    tampered(list(source_candidates(stored_errata())), "source figures", request.node)


def test_an_errata_page_that_shows_something_else_is_not_tampered_with():
    with pytest.raises(ValueError, match="errata"):
        list(source_candidates("nothing"))


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.name)
def test_each_fingerprint_in_an_output_is_that_of_a_stored_widget(path):
    stored = load(path)
    shown = set(re.findall(r"dados sha256=([0-9a-f]{16})", json.dumps(stored["cells"])))
    assert shown <= {fingerprint(model["state"]) for model in widget_state(stored).values()}
