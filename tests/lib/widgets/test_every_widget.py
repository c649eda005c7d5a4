"""What is true of every widget: it shows what `lib` computes, to everybody, and leaves nothing behind.

What each of them needs to be tested so is in `cases`; what only one of them does is tested in its own module.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from lib.widgets import base
from lib.widgets.base import fingerprint
from tests.browser.chromium import LOOKS, PHONE, axe_violations, next_frame, page_overflow
from tests.lib.widgets.cases import CASES
from tests.lib.widgets.cases.case import Case, Made
from tests.lib.widgets.cases.page import WidgetPage, unlike
from tests.lib.widgets.cases.quiz import QuizPage
from tests.lib.widgets.shared import ROOTS, own, set_theme, stored

NAME = "e => e.ariaLabel || e.labels?.[0]?.textContent || e.textContent"  # as a screen reader says it
CHANGES = 201  # not back where they began, in any widget
every_widget = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


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
def test_text_of_a_widget_is_the_fingerprint_of_every_key_of_its_state(case):
    made, again, widget = case.make(), case.make(), case.page.widget
    state = stored(made)  # through JSON and back
    before = fingerprint(state)
    assert re.fullmatch("[0-9a-f]{16}", before) and repr(made) == f"{widget.__name__}(dados sha256={before})"
    assert made.model_id != again.model_id and repr(made) == repr(again) == repr(own(made))
    for shown in (made._repr_mimebundle_(), own(made)._repr_mimebundle_()):
        bundle = shown[0] if isinstance(shown, tuple) else shown
        assert bundle["text/plain"] == repr(made)
    declared = widget.class_own_traits(sync=True)
    assert repr(widget(**{name: state[name] for name in declared})) == repr(made)
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
def test_the_frame_names_the_widget_and_says_what_to_do(case, show):
    [shown] = show(case.make())
    if isinstance(shown, QuizPage):
        expect(shown.panel.get_by_text("Escolha uma resposta e confira")).to_be_visible()
        return
    title, line = own(case.make()).TITLE, own(case.make()).INSTRUCTION
    assert title and line.count(".") + line.count("?") + line.count(":") >= 1
    expect(shown.panel.locator(".cw-title")).to_have_text(title)
    expect(shown.panel.locator(".cw-instruction")).to_have_text(line)
    expect(shown.panel).to_have_role("group")
    expect(shown.panel).to_have_accessible_name(title)
    expect(shown.panel).to_have_css("border-top-width", "1px")


def broken(widget: Made, old: str, new: str) -> Made:
    """The same widget with one thing changed in its JavaScript, however that is broken into lines."""
    pattern = r"\s*".join(re.escape(part) for part in old.split())
    own(widget)._esm, count = re.subn(pattern, lambda _: new, own(widget)._esm)
    assert count == 1, f"{old!r} must occur once in the JavaScript, not {count} times"
    return widget


@every_widget
def test_a_mistake_in_the_javascript_is_caught(case, show):
    mutants = [broken(case.make(**case.mutant), old, new) for old, new in case.mutations.values()]
    intact, *others = show(case.make(**case.mutant), *mutants)
    put_alone(intact)
    intact.begin()
    wanted = []  # after each move, in a widget without a mistake
    for move in case.telling:
        intact.go(move)
        assert intact.differences() == [], move
        wanted.append(intact.wanted())
    found = {name: caught(mutant, case, wanted) for name, mutant in zip(case.mutations, others, strict=True)}
    assert [name for name, seen in found.items() if not seen] == []


def caught(mutant: WidgetPage, case: Case, wanted: Sequence[dict[str, Any]]) -> bool:
    """A mistake is there for ever: to look for it needs no waiting."""
    put_alone(mutant)
    mutant.begin()
    for move, lib in zip(case.telling, wanted, strict=True):
        mutant.go(move)
        if unlike("", mutant.read(), lib):
            return True
    return False


def put_alone(shown: WidgetPage) -> None:
    """Take the neighbours of a widget out of the layout: a page of twenty takes long to lay out again."""
    shown.panel.evaluate(
        """(panel, roots) => document.querySelectorAll(roots).forEach(root => {
          root.style.display = root === panel ? "" : "none";
        })""",
        ROOTS,
    )


# --- for everybody ------------------------------------------------------------------------------------------


def move_focus(page: Page, key: str = "Tab") -> None:
    """Press a key that moves the focus, and wait until it has moved."""
    page.evaluate("() => { globalThis.focusedBefore = document.activeElement }")
    page.keyboard.press(key)
    page.wait_for_function("() => document.activeElement !== globalThis.focusedBefore")


@every_widget
def test_everything_works_by_keyboard_alone(case, page, show):
    [shown] = show(case.make())
    for stop in case.stops:
        move_focus(page)
        assert page.locator(":focus").evaluate(NAME) == stop
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
                expect(page.locator(":focus")).to_have_css("outline-width", "3px")


def assert_accessible_in_every_look(page: Page) -> None:
    """On a large screen and on a phone, light and dark: no violation, and nothing to scroll to sideways."""
    for viewport, dark in LOOKS:
        page.set_viewport_size(viewport)
        set_theme(page, dark)
        page.wait_for_function("width => innerWidth === width", arg=viewport["width"])
        next_frame(page)
        assert axe_violations(page) == [], (viewport, dark)
        assert page_overflow(page) == 0, (viewport, dark)


@every_widget
def test_neighbours_do_not_interfere_and_are_accessible_before_and_after_use(case, page, show):
    neighbours = show(*case.pair())
    assert_accessible_in_every_look(page)
    for shown in neighbours:
        shown.begin()
    for shown, other, move in zip(neighbours, reversed(neighbours), case.used, strict=True):
        live = shown.panel.locator("[role=status], [aria-live]")
        heard, before = live.all_inner_texts(), other.read()
        shown.go(move)
        assert shown.differences() == other.differences() == []
        assert other.read() == before
    assert live.all_inner_texts() != heard, "a screen reader must hear of the last change"
    page.locator("details:not([open]) > summary").evaluate_all("all => all.forEach(fold => fold.click())")
    assert_accessible_in_every_look(page)
    assert not page.problems


@pytest.mark.parametrize("case", [case for case in CASES if case.hostile], ids=lambda case: case.name)
def test_text_is_text_never_markup(case, new_page, show):
    page, (widget, moves) = new_page(viewport=PHONE), case.hostile()
    [shown] = show(widget, on=page)
    shown.begin()
    for move in moves:
        shown.go(move)
        assert shown.differences() == [], move
        assert shown.panel.locator("img, script, b").count() == 0
        assert page_overflow(page) == 0, move
    assert page.evaluate("window.attacked") is None
    assert not page.problems


# --- nothing is left behind ---------------------------------------------------------------------------------


def growth(page: Page, panel: Locator, change: str, times: int) -> tuple[int, int]:
    """How many DOM nodes and listeners `times` changes leave behind; `change` is (panel, k) => void."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def count_after(changes: int) -> tuple[int, int]:
        panel.evaluate(f"(panel, n) => {{ for (let k = 0; k < n; k++) ({change})(panel, k); }}", changes)
        next_frame(page)  # what a change put off until the next frame is done
        session.send("HeapProfiler.collectGarbage")
        metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        return int(metrics["Nodes"]), int(metrics["JSEventListeners"])

    nodes, listeners = count_after(32)  # whatever is made once, on first use, is made now
    nodes_after, listeners_after = count_after(times)
    session.detach()
    return nodes_after - nodes, listeners_after - listeners


@every_widget
def test_many_changes_leave_no_nodes_and_no_listeners(case, new_page, show):
    page = new_page(fresh=True)
    [shown] = show(case.make(), on=page)
    shown.begin()
    before = shown.read()
    nodes, listeners = growth(page, shown.panel, case.change, CHANGES)
    assert shown.read() != before, "the changes must be seen"
    assert listeners <= 0 and nodes <= case.leaves


# Draw the view on a model of ours, poke it, end it, poke again; what is left and what still answers.
LIFECYCLE = """async ([esm, state, poke]) => {
  const active = new Set();
  for (const Observer of [ResizeObserver, MutationObserver]) {
    const { observe, disconnect } = Observer.prototype;
    Observer.prototype.observe = function (...a) { active.add(this); return observe.apply(this, a); };
    Observer.prototype.disconnect = function () { active.delete(this); return disconnect.apply(this); };
  }
  const listeners = new Map();  // what listens: to which events
  const model = {
    get: name => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => {},
    on: (event, f) => listeners.set(f, new Set([...listeners.get(f) ?? [], event])),
    off: (event, f) => {
      listeners.get(f)?.delete(event);
      if (listeners.get(f)?.size === 0) listeners.delete(f);
    },
  };
  const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  const el = document.body.appendChild(document.createElement("div"));
  const end = module.default.render({ model, el });
  const before = JSON.stringify(state);
  const poked = eval(poke);
  poked(el, 1);
  const moved = JSON.stringify(state);
  const alive = { listeners: listeners.size, observers: active.size };
  end();
  poked(el, 2);
  return { alive, left: { listeners: listeners.size, observers: active.size },
           pokeWorks: before !== moved, stillWorks: JSON.stringify(state) !== moved };
}"""


@every_widget
def test_listeners_and_observers_end_with_the_view(case, page):
    state = stored(case.make())
    page.goto("about:blank")
    result = page.evaluate(LIFECYCLE, [state["_esm"], state, case.poke or case.change])
    assert result["alive"] == {"listeners": case.listeners, "observers": 1}
    assert result["left"] == {"listeners": 0, "observers": 0}
    assert result["pokeWorks"] == case.has_controls
    assert not result["stillWorks"], "a control must change nothing after the end of its view"
