"""What a visit remembers of a widget: where the reader left it, without a kernel, and nothing hostile."""

import json

import pytest
from playwright.sync_api import Page

from tests.lib.widgets.cases import CASES
from tests.lib.widgets.cases.case import Made
from tests.lib.widgets.shared import DRAW_ALONE, drawn_widgets, own

KEYS = "() => Object.keys(sessionStorage)"
SET = "([key, text]) => sessionStorage.setItem(key, text)"
HOSTILE = ["nonsense", "null", "7", "[]", '"text"', '{"__proto__": {"step": 1}}', "{" * 4000]
VALUES = [None, -1, 0.5, 10**9, True, "1", "x" * 20_000, [], [1], [[1, 2], [3]], {}, {"a": [1]}, [None] * 8]


def reopen(page: Page, made: Made) -> None:
    page.reload()
    drawn_widgets(page, [len(getattr(made, "controls", ()))])


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def left(request, show):
    """A widget as a reader leaves it: as it was made, and on its page."""
    made, _ = request.param.pair()  # with which the moves `used` begin
    [shown] = show(made)
    shown.begin()
    shown.go(request.param.used[0])
    return made, shown


def test_a_reader_who_comes_back_finds_what_she_left(left, page):
    made, shown = left
    assert shown.differences() == []
    assert len(page.evaluate(KEYS)) == 1
    reopen(page, made)
    assert shown.differences() == []
    assert not page.problems


def test_a_memory_that_was_tampered_with_breaks_nothing(left, page):
    made, shown = left
    first, [key] = shown.first(shown.stored), page.evaluate(KEYS)
    names = json.loads(page.evaluate("key => sessionStorage.getItem(key)", key))
    assert set(names) <= set(own(made).trait_names())
    for text in [*HOSTILE, *(json.dumps(dict.fromkeys(names, value)) for value in VALUES)]:
        page.evaluate(SET, [key, text])
        reopen(page, made)
        assert not page.problems, text
    page.evaluate(SET, [key, HOSTILE[0]])
    reopen(page, made)
    shown.state = first
    assert shown.differences() == []


def test_where_there_is_a_kernel_nothing_is_kept(page):
    case = CASES[0]
    state = own(case.make()).get_state()
    page.goto("about:blank")
    script = f"""async ([esm, state]) => {{{DRAW_ALONE}
      const kept = [];
      Storage.prototype.setItem = (key) => kept.push(key);
      Storage.prototype.getItem = (key) => kept.push(key);
      module.default.render({{ model, el }});
      model.set("kind_index", 1);
      return kept;
    }}"""
    assert page.evaluate(script, [state["_esm"], json.loads(json.dumps(state, default=str))]) == []
