"""The films: their page object, and what all widgets are tested with."""

from collections.abc import Mapping
from typing import Any

import pytest

from lib.widgets.base import Panel
from lib.widgets.film import Film, FilmWidget, Frame, Item, film
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import WidgetPage
from tests.lib.widgets.shared import HOSTILE

SET_STEP = "(input, step) => { input.value = step; input.dispatchEvent(new Event('input')); }"


class FilmPage(WidgetPage):
    """Items on a stage, and what is said of them. The state is the number of the frame, and so is a move."""

    widget, selector = FilmWidget, ".cw-panel:has(.cw.cw-film)"
    READ = """{
      says: text(".cw-says"),
      place: panel.querySelector("input[type=range]").ariaValueText,
      title: text(".cw-title"),
      stage: Number(panel.querySelector(".cw-stage").style.getPropertyValue("--cw-rows")),
      items: Object.fromEntries(all("[data-item]:not([hidden])", spot => [spot.dataset.item, {
        text: spot.textContent,
        look: spot.className,
        left: parseFloat(spot.style.left),
        width: parseFloat(spot.style.width),
        ...Object.fromEntries(["y", "height", "weight"].map(
          name => [name, Number(spot.style.getPropertyValue(`--cw-${name}`))])),
      }])),
    }"""

    def first(self, stored: Mapping[str, Any]) -> int:
        return stored["step"]

    def go(self, move: int) -> None:
        self.panel.locator("input[type=range]").evaluate(SET_STEP, move)
        self.state = move

    def film(self) -> Film:
        """The film, from what the page carries of it."""
        frames = [
            Frame(frame["says"], {name: Item(**item) for name, item in frame["items"].items()})
            for frame in self.stored["frames"]
        ]
        return Film(self.stored["title"], "", self.stored["columns"], self.stored["rows"], frames)

    def wanted(self) -> dict[str, Any]:
        shown, last = self.film(), len(self.stored["frames"]) - 1
        items = {name: self.placed(item, shown.columns) for name, item in shown.at(self.state).items()}
        return {
            "says": shown.frames[self.state].says,
            "place": f"passo {self.state} de {last}",
            "title": shown.title,
            "stage": shown.rows,
            "items": Exactly(items),
        }

    def placed(self, item: Item, columns: float) -> dict[str, Any]:
        share = {"left": 100 * item.x / columns, "width": 100 * item.width / columns}
        return {
            "text": item.text,
            "look": f"cw-item cw-{item.look}",
            **{name: pytest.approx(value, abs=1e-3) for name, value in share.items()},
            **{"y": item.y, "height": item.height, "weight": item.weight},
        }


class Exactly:
    """These items and no others."""

    def __init__(self, items: dict[str, Any]) -> None:
        self.items = items

    def __repr__(self) -> str:
        return repr(self.items)

    def __eq__(self, other: object) -> bool:
        return other == self.items


def small(*texts: str) -> Film:
    """Three frames: one item that stays, one that moves, one that comes late."""
    first, second, third = (*texts, "a", "b", "c")[:3]
    frames = [
        Frame(
            f"Primeiro: {first}",
            {"stays": Item(0, 0, 2, first, "head"), "moves": Item(0.5, 1, 1, "1,000", "cell")},
        ),
        Frame(f"Depois: {second}", {"moves": Item(2.25, 1, 1.5, second, "mask", 1.0, 0.25)}),
        Frame(
            f"Por fim: {third}",
            {"late": Item(3, 2, 1, third, "token", 2.0), "moves": Item(3, 0, 1, "2", "cell", 1, 1)},
        ),
    ]
    return Film("Três quadros", "Antes de tocar: o que se move?", 5, 4, frames)


def made(*texts: str, step: int = 0) -> Panel:
    panel = film(small(*texts))
    panel.widget.step = step
    return panel


def moves() -> list[int]:
    return [1, 2, 0, 2, 1, 0, 1, 2, 0]


def hostile() -> tuple[Panel, list[int]]:
    texts = [text for text in HOSTILE if text.strip()]
    return made(texts[0], texts[1], texts[5]), [1, 2, 0]


CASE = Case(
    page=FilmPage,
    make=made,
    starts=lambda: [(made(), 0), (made("x", step=2), 2)],
    moves=moves,
    tour=lambda stored: [1, len(stored["frames"]) - 1, 2],
    pair=lambda: (made(), made("outro", step=1)),
    used=(2, 2),
    stops=["Ritmo", "Passo anterior", "▶ Tocar", "Próximo passo", "Passo"],
    keys=[
        ("End", 2),
        ("Home", 0),
        ("ArrowRight", 1),
        ("Shift+Tab", None),
        ("Enter", 2),
        ("Shift+Tab", None),
        ("ArrowLeft", 1),
        ("Shift+Tab", None),
        ("Space", 0),
    ],
    change=f"(panel, k) => ({SET_STEP})(panel.querySelector('input[type=range]'), k % 3)",
    leaves=20,
    listeners=2,
    refusals=[
        (lambda: film(Film("um", "", 1, 1, [Frame("só")])), "a film must have at least two frames, got 1"),
        (lambda: Item(0, 0, look="neon"), "look must be one of plain, .* got 'neon'"),
        (lambda: small().at(3), r"step must lie in 0\.\.2, got 3"),
        (lambda: small().at(-1), r"step must lie in 0\.\.2, got -1"),
    ],
    hostile=hostile,
    mutations={
        "forget the frames before": ("frames.slice(0, step + 1)", "frames.slice(step, step + 1)"),
        "the frame before": ("frames.slice(0, step + 1)", "frames.slice(0, step)"),
        "say the first frame": ("frames[step].says", "frames[0].says"),
        "columns as rows": ('(100 * x) / this.model.get("columns")', '(100 * x) / this.model.get("rows")'),
        "swap left and width": ("spot.style.left = share(item.x)", "spot.style.left = share(item.width)"),
        "forget the height": ('"--cw-height", item.height', '"--cw-height", 1'),
        "forget the weight": ('"--cw-weight", item.weight', '"--cw-weight", 0'),
        "show what is not there yet": ("spot.hidden = !item;", ""),
        "keep the first look": (
            "spot.className = `cw-item cw-${item.look}`",
            "spot.className ||= `cw-item cw-${item.look}`",
        ),
        "count from one": ("`passo ${step} de ${last}`", "`passo ${step + 1} de ${last}`"),
    },
    telling=[1, 2],
)
