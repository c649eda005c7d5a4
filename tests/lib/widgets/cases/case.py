"""What `test_every_widget` must know of a widget to test it as all others are tested."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lib.widgets.base import CourseWidget, Panel
from tests.lib.widgets.cases.page import WidgetPage

Made = Panel | CourseWidget


@dataclass(frozen=True)
class Case:
    """One widget. States and moves are those of its page object."""

    page: type[WidgetPage]
    make: Callable[..., Made]
    starts: Callable[[], Iterable[tuple[Made, Any]]]  # widgets made with options, and where each must stand
    moves: Callable[[], Iterable[Any]]  # through states that differ in as much as they can
    tour: Callable[[Mapping[str, Any]], Iterable[Any]]  # a few moves from a stored state
    pair: Callable[[], tuple[Made, Made]]  # two neighbours on a page
    used: tuple[Any, Any]  # a move of each; of the second one a screen reader hears
    stops: Sequence[str]  # the names of what Tab reaches, from the top of the page
    keys: Sequence[tuple[str, Any]]  # from the last stop: keys to press or a text, and the state after
    change: str  # JavaScript: (panel, k) => the k-th of many changes
    leaves: int  # how many nodes more a page may have after them
    listeners: int  # how many callbacks listen to the model while the view lives
    refusals: Sequence[tuple[Callable[[], Any], str]]  # a call; its ValueError, or "TypeError: ..."
    poke: str = ""  # where `change` needs what is above the view: (view, k) => a change by its own controls
    # A widget with texts to fear, or moves that type them, a harmless one last. None: nobody gives it a text.
    hostile: Callable[[], tuple[Made, Sequence[Any]]] | None = None
    mutations: dict[str, tuple[str, str]] = field(default_factory=dict)  # a mistake: right code, wrong code
    telling: Sequence[Any] = ()  # moves that bring every one of these mistakes to light
    mutant: dict[str, Any] = field(default_factory=dict)  # how the copies with a mistake are made
    has_controls: bool = True  # of its own, beside those of ipywidgets above it

    @property
    def name(self) -> str:
        return self.page.widget.__module__.rpartition(".")[2]
