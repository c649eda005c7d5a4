"""What every figure shares: colours, the decimal comma, axes without clutter."""

from matplotlib.axes import Axes

from lib.numbers import pt

INK, QUIET, ACCENT, WARNING = "#1b2a41", "#8a94a3", "#1f6fb2", "#c2571a"
CMAP = "Blues"
# Lines are told apart by dash as well as by colour, for grey print and colour-blind readers.
LINES = ((ACCENT, "-"), (WARNING, "--"), (INK, "-."), (QUIET, ":"))


def tidy(ax: Axes) -> None:
    """Remove the box and write the axis numbers with a decimal comma."""
    ax.spines[["top", "right"]].set_visible(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda x, _: pt(x))
