"""What is true of every widget: it shows what `lib` computes, to everybody, and leaves nothing behind.

What each of them needs to be tested so is in `cases`; what only one of them does is tested in its own module.
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from lib.widgets import base
from lib.widgets.base import fingerprint
from tests.browser.chromium import PHONE, page_overflow
from tests.lib.widgets.cases import CASES
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.pages.base import WidgetPage
from tests.lib.widgets.shared import (
    ROOTS,
    after_the_end,
    assert_accessible_in_every_look,
    assert_focus_is_visible,
    broken,
    growth,
    move_focus,
    own,
    stored,
    tab_stops,
)

every_widget = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def live_texts(page: Page) -> list[str]:
    """What the page tells a screen reader without being asked."""
    return page.locator(f":is({ROOTS}) :is([role=status], [aria-live])").all_inner_texts()


def test_no_widget_is_left_out():
    modules = {path.stem for path in Path(base.__file__).parent.glob("[!_]*.py")} - {"base"}
    assert {case.name for case in CASES} == modules


# --- in Python ----------------------------------------------------------------------------------------------

REFUSALS = [(case.name, *refusal) for case in CASES for refusal in case.refusals]


@pytest.mark.parametrize(("name", "call", "message"), REFUSALS, ids=[f"{r[0]}: {r[2]}" for r in REFUSALS])
def test_wrong_arguments_are_named(name, call, message):
    with pytest.raises((TypeError, ValueError)) as refused:
        call()
    named = message if re.match(r"(TypeError|Refused): ", message) else f"ValueError: {message}"
    assert re.match(named, f"{type(refused.value).__name__}: {refused.value}")


@every_widget
def test_text_of_a_widget_is_its_fingerprint(case):
    made = case.make()
    name = case.page.widget.__name__
    assert re.fullmatch(rf"{name}\(dados sha256=[0-9a-f]{{16}}\)", repr(made))
    assert repr(own(made)) == repr(made)
    for shown in (made._repr_mimebundle_(), own(made)._repr_mimebundle_()):
        bundle = shown[0] if isinstance(shown, tuple) else shown
        assert bundle["text/plain"] == repr(made)


@every_widget
def test_state_survives_json_and_the_fingerprint_sees_every_key_of_it(case):
    made, again = case.make(), case.make()
    state = stored(made)
    before = fingerprint(state)
    assert made.model_id != again.model_id and repr(made) == repr(again)
    assert before in repr(made)
    declared = case.page.widget.class_own_traits(sync=True)
    assert repr(case.page.widget(**{name: state[name] for name in declared})) == repr(made)
    for key in ("_esm", "_css", *declared):
        changed = [*state[key], 7] if isinstance(state[key], list) else f"{state[key]} "
        assert fingerprint({**state, key: changed}) != before, key


# --- the page is what `lib` computes ------------------------------------------------------------------------


@every_widget
def test_page_starts_in_the_state_it_was_given(case, page, show):
    made, states = zip(*case.starts(), strict=True)
    for state, shown in zip(states, show(*made), strict=True):
        assert shown.state == state
        shown.begin()
        assert shown.differences() == [], state
    assert page_overflow(page) == 0


@every_widget
def test_page_shows_what_lib_computes_in_many_states(case, page, show):
    [shown] = show(case.make())
    shown.begin()
    assert shown.differences() == []
    moves = list(case.moves())
    for move in moves:
        shown.go(move)
        assert shown.differences() == [], (move, shown.state)
    assert len(moves) >= 9 and not page.problems


@every_widget
def test_a_mistake_in_the_javascript_is_caught(case, show):
    mutants = [broken(case.make(**case.mutant), old, new) for old, new in case.mutations.values()]
    intact, *others = show(case.make(**case.mutant), *mutants)
    intact.begin()
    for move in case.telling:
        intact.go(move)
        assert intact.differences() == [], move
    found = {name: caught(mutant, case) for name, mutant in zip(case.mutations, others, strict=True)}
    assert [name for name, seen in found.items() if not seen] == []


def caught(mutant: WidgetPage, case: Case) -> bool:
    """A mistake is there for ever: to look for it needs no waiting."""
    mutant.begin()
    for move in case.telling:
        mutant.go(move)
        if mutant.wrong():
            return True
    return False


# --- for everybody ------------------------------------------------------------------------------------------


@every_widget
def test_everything_works_by_keyboard_alone(case, page, show):
    [shown] = show(case.make())
    assert tab_stops(page, len(case.stops)) == list(case.stops)
    for key, state in case.keys:
        if " " in key:
            page.keyboard.type(key)
        elif key.endswith("Tab"):
            move_focus(page, key)
        else:
            page.keyboard.press(key)
        if state is not None:
            shown.state = state
            assert shown.differences() == [], key
            if page.locator(".cw :focus").count():
                assert_focus_is_visible(page)


@every_widget
def test_no_accessibility_violation_before_and_after_use(case, page, show):
    neighbours = show(*case.pair())
    assert_accessible_in_every_look(page)
    for shown, move in zip(neighbours, case.used, strict=True):
        shown.begin()
        shown.go(move)
        assert shown.differences() == []
    page.locator("details:not([open]) > summary").evaluate_all("all => all.forEach(fold => fold.click())")
    assert_accessible_in_every_look(page)
    assert not page.problems


@every_widget
def test_a_screen_reader_hears_of_a_change(case, page, show):
    [shown] = show(case.make())
    shown.begin()
    before = live_texts(page)
    shown.go(case.heard)
    assert shown.differences() == []
    assert live_texts(page) != before


@pytest.mark.parametrize("case", [case for case in CASES if case.hostile], ids=lambda case: case.name)
def test_text_is_text_never_markup(case, new_page, show):
    page, hostile = new_page(viewport=PHONE), case.hostile()
    [shown] = show(hostile.widget, on=page)
    shown.begin()
    for move in (*hostile.moves, hostile.harmless):
        shown.go(move)
        assert shown.differences() == [], move
        assert shown.panel.locator("img, script, b").count() == 0
        assert page_overflow(page) == 0, move
    assert page.evaluate("window.attacked") is None
    assert not page.problems


@every_widget
def test_two_widgets_do_not_interfere(case, show):
    left, right = show(*case.pair())
    left.begin()
    right.begin()
    before = right.read()
    left.go(case.used[0])
    assert left.differences() == right.differences() == []
    assert right.read() == before
    right.go(case.used[1])
    assert left.differences() == right.differences() == []


# --- nothing is left behind ---------------------------------------------------------------------------------


@every_widget
def test_many_changes_leave_no_nodes_and_no_listeners(case, new_page, show):
    page = new_page(fresh=True)
    [shown] = show(case.make(), on=page)
    shown.begin()
    before = shown.read()
    nodes, listeners = growth(page, shown.panel, case.change, case.times)
    assert shown.read() != before, "the changes must be seen"
    assert listeners <= 0 and nodes <= case.leaves


@every_widget
def test_listeners_and_observers_end_with_the_view(case, page):
    result = after_the_end(page, stored(case.make()), case.poke or case.change)
    assert result["alive"] == {"listeners": case.listeners, "observers": 1}
    assert result["left"] == {"listeners": 0, "observers": 0}
    assert result["pokeWorks"] == case.has_controls
    assert not result["stillWorks"], "a control must change nothing after the end of its view"
