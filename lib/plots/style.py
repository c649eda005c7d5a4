"""What every figure shares: colours, the decimal comma, axes without clutter, panels in a row."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lib.numbers import pt

INK, QUIET, ACCENT, WARNING = "#1b2a41", "#8a94a3", "#1f6fb2", "#c2571a"
CMAP = "Blues"
# Lines are told apart by dash as well as by colour, for grey print and colour-blind readers.
LINES = ((ACCENT, "-"), (WARNING, "--"), (INK, "-."), (QUIET, ":"))


def panels_in_a_row(count: int, width: float, height: float, **options) -> tuple[Figure, list[Axes]]:
    """A figure of `width` and `height` inches, and its axes from left to right."""
    size = (width, height)
    fig, axes = plt.subplots(1, count, figsize=size, layout="constrained", squeeze=False, **options)
    return fig, list(axes[0])


def number(ax: Axes, x: float, y: float, text: str, *, dark: bool, size: int) -> None:
    """A figure in a cell of a matrix, to be read on a `dark` ground too."""
    ax.text(x, y, text, ha="center", va="center", fontsize=size, color="white" if dark else INK)


def bare(ax: Axes) -> None:
    """Neither ticks nor a box, as around a matrix."""
    ax.title.set_fontsize(11)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def tidy(ax: Axes) -> None:
    """Remove the box and write the axis numbers with a decimal comma."""
    ax.spines[["top", "right"]].set_visible(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda x, _: pt(x))
