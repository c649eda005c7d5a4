"""Accuracies side by side: one row per task, one mark per training, and the simplest guess to beat."""

from collections.abc import Mapping, Sequence

from lib.plots.palette import ACCENT, INK, QUIET, WARNING
from lib.plots.style import PHONE, folded, legend, picture, tidy
from lib.plots.vector import Picture

MARKS = (("s", QUIET), ("^", WARNING), ("o", ACCENT))  # told apart by shape as well as by colour


def accuracies(guesses: Mapping[str, float], trained: Mapping[str, Mapping[str, Sequence[float]]]) -> Picture:
    """The guess of each task, as a bar across its row; the values of each kind of training, task by task."""
    if len(trained) > len(MARKS):
        raise ValueError(f"trained must be at most {len(MARKS)} kinds to stay readable, got {len(trained)}")
    fig, ax = picture(PHONE, 50 * len(guesses) + 110)
    rows = {task: -row for row, task in enumerate(guesses)}
    ax.plot(list(guesses.values()), list(rows.values()), "|", color=INK, ms=22, mew=2, label="a vencer")
    for (kind, values), (marker, colour), lift in zip(trained.items(), MARKS, (-0.18, 0, 0.18), strict=False):
        x = [value for task in values for value in values[task]]
        y = [rows[task] + lift for task in values for _ in values[task]]
        ax.plot(x, y, marker, color=colour, ms=6, alpha=0.75, label=kind)
    tidy(ax, "x")
    ax.set(xlim=(-0.02, 1.02), xlabel="acurácia no teste")
    ax.set_yticks(list(rows.values()), [folded(task, 16) for task in rows])
    legend(ax)
    return fig
