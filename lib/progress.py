"""A bar for what takes a while: in a notebook it is there while the cell runs, and leaves no trace after it.

A stored output that says how long something took would differ from run to run. So the bar of a notebook is
cleared at its end, with all that the cell has printed so far: print after the work, not before it.
"""

import html
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from tqdm import tqdm

REDRAW_SECONDS = 0.25
Item = TypeVar("Item")


def track(items: Sequence[Item], label: str, *, shown: bool = True) -> Iterator[Item]:
    """The items, one after the other, with a bar that says how many are done."""
    with bar(len(items), label, shown=shown) as drawn:
        for item in items:
            yield item
            drawn.step()


def bar(total: int, label: str, *, done: int = 0, shown: bool = True) -> "Bar":
    """A bar of `total` steps, of which some are `done`: drawn by the notebook, or on the terminal."""
    if not shown:
        return Bar(total, done)
    return NotebookBar(total, done, label) if in_notebook() else TerminalBar(total, done, label)


def in_notebook() -> bool:
    """True under a Jupyter kernel, whoever talks to it."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


class Bar:
    """Counts steps and shows nothing."""

    def __init__(self, total: int, done: int = 0):
        self.total, self.done = total, done

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def step(self, note: str = "") -> None:
        """One step more; `note` tells how it goes."""
        self.done += 1

    def close(self) -> None:
        """Nothing is left."""


class TerminalBar(Bar):
    """tqdm's bar, on the error stream."""

    def __init__(self, total: int, done: int, label: str):
        super().__init__(total, done)
        self.drawn = tqdm(total=total, initial=done, desc=label, unit="passo")

    def step(self, note: str = "") -> None:
        super().step(note)
        self.drawn.set_postfix_str(note, refresh=False)
        self.drawn.update()

    def close(self) -> None:
        self.drawn.close()


class NotebookBar(Bar):
    """The browser's own <progress>, under the cell."""

    def __init__(self, total: int, done: int, label: str):
        super().__init__(total, done)
        from IPython.display import HTML, clear_output, display

        self.html, self.clear = HTML, clear_output
        self.label, self.start, self.first, self.last = label, time.monotonic(), done, 0.0
        self.place = display(self.picture(), display_id=True)

    def picture(self):
        label, made, rest = html.escape(self.label), self.done - self.first, ""
        if made:  # how long it will take from here, judging by the steps so far
            seconds = (time.monotonic() - self.start) / made * (self.total - self.done)
            rest = f", cerca de {seconds:.0f} s"
        return self.html(
            f'<progress max="{self.total}" value="{self.done}" aria-label="{label}"></progress> '
            f"<span>{label}: {self.done} de {self.total}{rest}</span>"
        )

    def step(self, note: str = "") -> None:
        super().step(note)
        now = time.monotonic()
        if self.place is not None and now - self.last >= REDRAW_SECONDS:
            self.last = now
            self.place.update(self.picture())

    def close(self) -> None:
        self.clear()
