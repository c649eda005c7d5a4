"""What the page objects share: moving, reading and comparing, and numbers as the pages write them."""

import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from playwright.sync_api import Locator
from torch import Tensor

from lib.widgets.base import CourseWidget
from tests.browser.chromium import wait_for


class WidgetPage:
    """One widget on a page: what to do with it, what it shows, and where that is not what `lib` computes.

    `stored` is the state that the page carries for the widget; it says what the widget is about, and where
    its controls stand at first. `state` is where they stand now.
    """

    widget: ClassVar[type[CourseWidget]]
    selector: ClassVar[str]
    READ: ClassVar[str]  # JavaScript: all that the panel says, by means of READING

    def __init__(self, panel: Locator, stored: Mapping[str, Any]) -> None:
        self.panel, self.stored = panel, stored
        self.state = self.first(stored)

    def first(self, stored: Mapping[str, Any]) -> Any:
        """Where the controls stand in a stored state."""
        raise NotImplementedError

    def begin(self) -> None:
        """What a reader must do before the widget shows anything."""

    def go(self, move: Any) -> None:
        """Move the controls as a person does."""
        raise NotImplementedError

    def read(self) -> dict[str, Any]:
        """Everything that the widget says, as text."""
        return self.panel.evaluate(f"panel => {{ {READING} return {self.READ}; }}")

    def wanted(self) -> dict[str, Any]:
        """What `read` must give in this state, as `lib` computes it; `Said` where there are numbers."""
        raise NotImplementedError

    def wrong(self) -> list[str]:
        """Where the page, right now, does not say what `lib` computes, to the precision that it shows."""
        return unlike("", self.read(), self.wanted())

    def differences(self) -> list[str]:
        """[] as soon as nothing is wrong, or what still is at the limit of all waiting."""
        wanted = self.wanted()
        return wait_for(self.panel.page, lambda: unlike("", self.read(), wanted), [])

    def choose(self, name: str, **option: Any) -> None:
        """Choose from a list by its label."""
        self.panel.get_by_label(name, exact=True).select_option(**option)

    def slide(self, name: str, text: str) -> None:
        """Move a slider with the arrow keys until it says `text`."""
        slider = self.panel.get_by_role("slider", name=name, exact=True)
        assert slider.evaluate(SET_SLIDER, text), f"{name} never says {text}"

    def type(self, name: str, text: str) -> str:
        """Write into a box; what it then holds, which is `text` without what a box cannot hold."""
        box = self.panel.get_by_label(name, exact=True)
        box.fill(text)
        return box.input_value()


READING = """
  const texts = selector => all(selector, element => element.textContent);
  const text = selector => panel.querySelector(selector).textContent;
  const all = (selector, read, root = panel) => [...root.querySelectorAll(selector)].map(read);
  const byName = (name, read = element => element.textContent, root = panel) =>
    Object.fromEntries(all(`[data-${name}]`, element => [element.dataset[name], read(element)], root));
  const share = element => parseFloat(element.style.getPropertyValue("--cw-weight"));
  const square = (selector, read = cell => cell.textContent) => {
    const rows = [];
    for (const cell of panel.querySelectorAll(selector)) {
      (rows[cell.dataset.i] ??= [])[cell.dataset.j] = read(cell);
    }
    return rows;
  };
"""
SET_SLIDER = """async (handle, text) => {
  const press = key => handle.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
  const says = async () => { await null; return handle.getAttribute("aria-valuetext"); };
  if (await says() === text) return true;
  press("Home");
  for (let k = 0; k < 64 && await says() !== text; k++) press("ArrowRight");
  return await says() === text;
}"""


# --- numbers as the page writes them ------------------------------------------------------------------------


def read_number(text: str) -> float:
    """A number as the page writes it: "0,330", "−∞", "1,0·10⁶"."""
    mantissa, exponent = _split(text)
    return float(mantissa) * 10**exponent


def half_unit(text: str) -> float:
    """Half a unit of the last digit that `text` shows: how far the true value may be from it."""
    mantissa, exponent = _split(text)
    return 0.5 * 10.0 ** (exponent - len(mantissa.partition(".")[2]))


def _split(text: str) -> tuple[str, int]:
    text = text.translate(str.maketrans("−,⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "-.0123456789-")).replace("∞", "inf")
    mantissa, _, exponent = text.partition("·10")
    return mantissa, int(exponent or 0)


class Said:
    """A text made of strings as they are and of numbers rounded as shown, up to `within`; None is a dash."""

    def __init__(self, *parts: str | float | None, within: float = 0.0) -> None:
        self.parts, self.within = parts, within

    def __repr__(self) -> str:
        return "".join(map(str, self.parts))

    def __eq__(self, text: object) -> bool:
        pattern = "".join(re.escape(part) if isinstance(part, str) else r"(\S+?)" for part in self.parts)
        numbers = [part for part in self.parts if not isinstance(part, str)]
        found = re.fullmatch(pattern, str(text))
        return found is not None and all(map(self._agrees, found.groups(), numbers))

    def _agrees(self, text: str, value: float | None) -> bool:
        if value is None:
            return text == "—"
        try:
            number = read_number(text)
        except ValueError:
            return False
        if math.isinf(value) or math.isinf(number):
            return number == value
        return abs(number - value) <= half_unit(text) * (1 + 1e-9) + self.within


def said(values: Any, **options: float) -> Any:
    """A `Said` for each number of a tensor or a list of lists."""
    values = values.tolist() if isinstance(values, Tensor) else values
    return (
        [said(value, **options) for value in values] if isinstance(values, list) else Said(values, **options)
    )


def unlike(where: str, page: Any, lib: Any) -> list[str]:
    """Where what the page says is not what `lib` does; what `lib` does not name is not compared."""
    if isinstance(lib, dict):
        parts = [(name, page[name], value) for name, value in lib.items()]
    elif isinstance(lib, list) and len(lib) == len(page):
        parts = [(k, *pair) for k, pair in enumerate(zip(page, lib, strict=True))]
    else:
        return [] if page == lib else [f"{where.strip()}: page {page!r}, lib {lib!r}"]
    return [line for name, *pair in parts for line in unlike(f"{where} {name}", *pair)]
