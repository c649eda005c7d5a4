"""What the page objects share: moving, reading and comparing, and numbers as the pages write them."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from playwright.sync_api import Locator
from torch import Tensor

from lib.widgets.base import CourseWidget
from tests.browser.chromium import wait_until


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

    def expected(self) -> Any:
        """What `lib` computes for the state that the controls are in."""
        raise NotImplementedError

    def read(self) -> dict[str, Any]:
        """Everything that the widget says, as text."""
        return self.panel.evaluate(f"panel => {{ {READING} return {self.READ}; }}")

    def wrong(self) -> list[str]:
        """Where the page, right now, does not say what `lib` computes, to the precision that it shows."""
        raise NotImplementedError

    def differences(self) -> list[str]:
        """[] as soon as nothing is wrong, or what still is at the limit of all waiting."""
        found: list[str] = []

        def agreed() -> bool:
            found[:] = self.wrong()
            return not found

        wait_until(self.panel.page, agreed)
        return found

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
  const share = element => Number(element.style.getPropertyValue("--cw-weight"));
  const square = selector => {
    const rows = [];
    for (const cell of panel.querySelectorAll(selector)) {
      (rows[cell.dataset.i] ??= [])[cell.dataset.j] = cell.textContent;
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
    text = text.translate(str.maketrans("−,⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "-.0123456789-")).replace("∞", "inf")
    mantissa, _, exponent = text.partition("·10")
    return float(mantissa) * 10 ** int(exponent or 0)


def half_unit(text: str) -> float:
    """Half a unit of the last digit that `text` shows: how far the true value may be from it."""
    decimals = re.match(r"[^·]*?(?:,(\d+))?(?:·|$)", text).group(1) or ""
    exponent = re.search(r"·10(.*)", text)
    scale = round(math.log10(abs(read_number("1·10" + exponent.group(1))))) if exponent else 0
    return 0.5 * 10.0 ** (scale - len(decimals))


def agrees(text: str, value: float | None) -> bool:
    """True if `text` is `value` rounded as shown; None stands for a row with nothing to attend to."""
    if value is None:
        return text == "—"
    try:
        number = read_number(text)
    except ValueError:
        return False
    if math.isinf(value) or math.isinf(number):
        return number == value
    return abs(number - value) <= half_unit(text) * (1 + 1e-9)


def disagreeing(pairs: Sequence[tuple[str, str, float | None]]) -> list[str]:
    """Of triples (where, what the page says, what `lib` computes), those that do not agree."""
    return [f"{where}: page {text}, lib {value}" for where, text, value in pairs if not agrees(text, value)]


# --- tables of attention weights ----------------------------------------------------------------------------

SHADES = """panel => [...panel.querySelectorAll("td[data-i]")].flatMap(cell =>
  cell.style.getPropertyValue("--cw-weight") === "" ? [] :
    [[Number(cell.dataset.i), Number(cell.dataset.j), Number(cell.style.getPropertyValue("--cw-weight"))]])"""


def wrong_shades(panel: Locator, weights: Tensor) -> list[str]:
    """The cells of a table of weights whose colour is not that of the weight, to a thousandth."""
    shades = panel.evaluate(SHADES)
    if len(shades) != weights.numel():
        return [f"{len(shades)} cells are coloured, of {weights.numel()}"]
    return [
        f"shade {i},{j}: page {shade}, lib {weights[i, j]}"
        for i, j, shade in shades
        if not abs(shade - weights[i, j].item()) <= 1e-3
    ]
