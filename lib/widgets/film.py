"""A moving picture: items on a stage that move from frame to frame, with a sentence that says what happens.

`film` shows a `Film`, which a module of `lib.widgets.films` makes with the functions of `lib`. The page only
moves what it is given: each number that it shows stands in a frame; `Film.at` is what a frame has to show.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import traitlets
from ipywidgets import Dropdown

from lib.widgets.base import CourseWidget, Panel, picker, script_and_style

PACES = {"devagar": 2600, "normal": 1500, "depressa": 700}  # milliseconds of each frame
LOOKS = (
    *("plain", "cell", "mask", "sum", "token", "selected", "masked", "swapped", "same", "bin", "head"),
    *("bar", "truth", "pull", "push", "plane", "dot", "gone"),
)
DECIMALS = 4  # of a place on the stage, in columns and rows


@dataclass(frozen=True)
class Item:
    """Where something stands, in columns and rows of the stage, what is written on it, and how dark it is."""

    x: float
    y: float
    width: float = 1.0
    text: str = ""
    look: str = "plain"
    height: float = 1.0
    weight: float = 0.0

    def __post_init__(self) -> None:
        if self.look not in LOOKS:
            raise ValueError(f"look must be one of {', '.join(LOOKS)}, got {self.look!r}")


@dataclass(frozen=True)
class Frame:
    """What is said, and the items by their names: those that are not named stay as they were."""

    says: str
    items: Mapping[str, Item] = field(default_factory=dict)


@dataclass(frozen=True)
class Film:
    """A title, what to predict before it is played, the size of the stage, and the frames."""

    title: str
    instruction: str
    columns: float
    rows: float
    frames: Sequence[Frame]

    def at(self, step: int) -> dict[str, Item]:
        """All that is on the stage in frame `step`, from 0."""
        if not 0 <= step < len(self.frames):
            raise ValueError(f"step must lie in 0..{len(self.frames) - 1}, got {step}")
        items: dict[str, Item] = {}
        for frame in self.frames[: step + 1]:
            items |= frame.items
        return items


class FilmWidget(CourseWidget):
    """The view: it draws the frame number `step`, and plays on when asked."""

    _esm, _css = script_and_style("film", "fields")

    title = traitlets.Unicode().tag(sync=True)
    columns = traitlets.Float().tag(sync=True)
    rows = traitlets.Float().tag(sync=True)
    frames = traitlets.List(traitlets.Dict()).tag(sync=True)
    paces = traitlets.List(traitlets.Int(), list(PACES.values())).tag(sync=True)
    pace_index = traitlets.Int(1).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)


def film(shown: Film) -> Panel:
    """A film with its player, standing at its first frame."""
    if len(shown.frames) < 2:
        raise ValueError(f"a film must have at least two frames, got {len(shown.frames)}")
    widget = FilmWidget(
        title=shown.title,
        columns=float(shown.columns),
        rows=float(shown.rows),
        frames=[
            {"says": frame.says, "items": {name: _carried(item) for name, item in frame.items.items()}}
            for frame in shown.frames
        ],
    )
    widget.TITLE, widget.INSTRUCTION = shown.title, shown.instruction
    return Panel(widget, [picker(Dropdown, widget, "pace_index", "Ritmo", PACES)])


def _carried(item: Item) -> dict:
    return {
        name: round(value, DECIMALS) if isinstance(value, float) else value
        for name, value in asdict(item).items()
    }
