"""What a visit remembers of a widget: where the reader left it, without a kernel, and nothing hostile."""

import json

import pytest
from playwright.sync_api import Page

from tests.lib.widgets.cases import CASES
from tests.lib.widgets.shared import drawn_widgets, own

every_widget = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
KEYS = "() => Object.keys(sessionStorage)"
SET = "([key, text]) => sessionStorage.setItem(key, text)"
HOSTILE = ["nonsense", "null", "7", "[]", '"text"', '{"__proto__": {"step": 1}}', "{" * 4000]
VALUES = [None, -1, 0.5, 10**9, True, "1", "x" * 20_000, [], [1], [[1, 2], [3]], {}, {"a": [1]}, [None] * 8]


def reopen(page: Page, controls: int) -> None:
    page.reload()
    drawn_widgets(page, [controls])


@every_widget
def test_a_reader_who_comes_back_finds_what_she_left(case, page, show):
    made, _ = case.pair()  # with which the moves `used` begin
    [shown] = show(made)
    shown.begin()
    shown.go(case.used[0])
    assert shown.differences() == []
    assert len(page.evaluate(KEYS)) == 1
    reopen(page, len(getattr(made, "controls", ())))
    assert shown.differences() == []
    assert not page.problems


@every_widget
def test_a_memory_that_was_tampered_with_breaks_nothing(case, page, show):
    made, _ = case.pair()  # with which the moves `used` begin
    [shown] = show(made)
    shown.begin()
    shown.go(case.used[0])
    first, [key] = shown.first(shown.stored), page.evaluate(KEYS)
    names = json.loads(page.evaluate("key => sessionStorage.getItem(key)", key))
    assert set(names) <= set(own(made).trait_names())
    for text in [*HOSTILE, *(json.dumps(dict.fromkeys(names, value)) for value in VALUES)]:
        page.evaluate(SET, [key, text])
        reopen(page, len(getattr(made, "controls", ())))
        assert not page.problems, text
    page.evaluate(SET, [key, HOSTILE[0]])
    reopen(page, len(getattr(made, "controls", ())))
    shown.state = first
    assert shown.differences() == []


def test_where_there_is_a_kernel_nothing_is_kept(page):
    case = CASES[0]
    state = own(case.make()).get_state()
    page.goto("about:blank")
    script = """async ([esm, state]) => {
      const kept = [];
      Storage.prototype.setItem = (key) => kept.push(key);
      Storage.prototype.getItem = (key) => kept.push(key);
      const heard = {};
      const model = {
        get: name => state[name],
        set: (name, value) => { state[name] = value; heard[`change:${name}`]?.(); },
        save_changes: () => {}, on: (event, f) => { heard[event] = f; }, off: () => {},
      };
      const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
      const el = document.body.appendChild(document.createElement("div"));
      module.default.render({ model, el });
      model.set("kind_index", 1);
      return kept;
    }"""
    assert page.evaluate(script, [state["_esm"], json.loads(json.dumps(state, default=str))]) == []
