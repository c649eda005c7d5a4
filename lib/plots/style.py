"""What every plot shares: sizes that a phone can read, panels that stack, axes without clutter.

A plot is drawn in pixels of the page and is no wider than the column of a phone, so that its letters are
never smaller than they are drawn. Panels are pictures of their own: the page sets them side by side where
there is room. How they are stored is in `vector.py`.
"""

import textwrap
from collections.abc import Sequence
from typing import Literal

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from torch import Tensor

from lib.numbers import pt
from lib.plots.palette import ACCENT, GROUND, INK, QUIET, RULE, WARNING, ink
from lib.plots.vector import Picture

PHONE = 334  # the width of the widest plot: a phone holds one, the column of a desktop two
LEGIBLE = 11  # the size of the smallest letters
# Lines are told apart by dash as well as by colour, for grey print and colour-blind readers.
LINES = ((ACCENT, "-"), (WARNING, "--"), (INK, "-."), (QUIET, ":"))
DOTTED = (0, (1, 2))

plt.rcParams.update(
    {
        "figure.constrained_layout.use": True,
        "figure.facecolor": GROUND,
        "axes.facecolor": "none",
        "axes.edgecolor": QUIET,
        "axes.labelcolor": INK,
        "axes.labelpad": 6,
        "axes.titlecolor": INK,
        "axes.titlelocation": "left",
        "axes.titlesize": 12.5,
        "axes.titleweight": "bold",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "font.size": 12,
        "grid.color": RULE,
        "grid.linewidth": 0.8,
        "hatch.linewidth": 0.8,
        "legend.borderaxespad": 0,
        "legend.columnspacing": 1.2,
        "legend.fontsize": 11.5,
        "legend.frameon": False,
        "legend.handlelength": 2.4,
        "lines.linewidth": 2,
        "text.color": INK,
        "xtick.color": QUIET,
        "ytick.color": QUIET,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "xtick.labelsize": LEGIBLE,
        "ytick.labelsize": LEGIBLE,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
    }
)


class Panels(tuple[Picture, ...]):
    """Pictures that are one plot: side by side where there is room, one below the other on a phone."""

    @property
    def axes(self) -> list[Axes]:
        """What each panel shows; a scale of colours beside it is not counted."""
        return [panel.axes[0] for panel in self]


def picture(width: float, height: float) -> tuple[Picture, Axes]:
    """A picture of so many pixels, and its axes."""
    _, ax = plt.subplots(figsize=(width / 72, height / 72), FigureClass=Picture)
    return picture_of(ax), ax


def picture_of(ax: Axes) -> Picture:
    """The picture that these axes are part of."""
    fig = ax.figure
    assert isinstance(fig, Picture)
    return fig


def panels(count: int, width: float, height: float) -> tuple[Panels, list[Axes]]:
    """`count` pictures of `width` and `height` pixels each, and their axes."""
    each = [picture(width, height) for _ in range(count)]
    return Panels(fig for fig, _ in each), [ax for _, ax in each]


def folded(text: str, letters: int = 40) -> str:
    """A text in as many lines as a plot of the phone's width needs."""
    return "\n".join(textwrap.fill(line, letters, break_long_words=False) for line in text.split("\n"))


def legend(ax: Axes, handles: Sequence | None = None) -> None:
    """The names of the series above the plot, where they cover nothing."""
    shown = list(handles) if handles else ax.get_legend_handles_labels()[0]
    widest = max(len(str(handle.get_label())) for handle in shown) * 7.2 + 46
    fig = picture_of(ax)
    columns = max(1, min(len(shown), int(fig.get_figwidth() * 72 / widest)))
    fig.legend(handles=shown, loc="outside upper left", ncols=columns)


def cells(ax: Axes, values: Tensor, *, low: float = 0, high: float = 1, gap: float = 0.03) -> list[list[str]]:
    """A matrix of coloured cells, the strongest colour for `high`; returns the colour of a figure on each."""
    image = Cells(ax, values, gap)
    image.set_clim(low, high)
    rows, columns = values.shape
    image.set_extent((-0.5, columns - 0.5, rows - 0.5, -0.5))
    ax.add_image(image)
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    return [[ink(share) for share in row] for row in image.shares().tolist()]


class Cells(AxesImage):
    """An image that is drawn as a few outlines, one for each strength of the colour."""

    def __init__(self, ax: Axes, values: Tensor, gap: float):
        super().__init__(ax)
        self.set_data(values.numpy())
        self.values, self.gap = values.numpy(), gap

    def shares(self):
        """How much of the strong colour is in each cell, in hundredths."""
        low, high = self.get_clim()
        return ((self.values - low) / (high - low)).clip(0, 1).round(2)

    def draw(self, renderer) -> None:
        a, b = self.gap, 1 - self.gap
        shares = self.shares()
        for share in sorted({*shares.flatten().tolist()} - {0.0}):
            corners = [
                [(j - 0.5 + x, i - 0.5 + y) for x, y in ((a, a), (b, a), (b, b), (a, b), (a, a))]
                for i, j in zip(*(shares == share).nonzero(), strict=True)
            ]
            outline = Outline.make_compound_path(*(Outline(each, closed=True) for each in corners))
            patch = PathPatch(outline, fc=ACCENT, ec="none", alpha=share, transform=self.axes.transData)
            patch.set_figure(self.axes.figure)
            patch.draw(renderer)


def bare(ax: Axes) -> None:
    """Neither ticks nor a box, as around a matrix."""
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def tidy(ax: Axes, across: Literal["x", "y"] = "y") -> None:
    """Rules across the plot, numbers of the axes with a decimal comma, labels that fit."""
    ax.grid(axis=across)
    ax.spines["left" if across == "y" else "bottom"].set_visible(False)
    for axis in (ax.xaxis, ax.yaxis) if across == "y" else (ax.xaxis,):
        axis.set_major_formatter(lambda x, _: pt(x))
    ax.set_xlabel(folded(ax.get_xlabel()))
    ax.set_ylabel(folded(ax.get_ylabel(), 24))
    ax.set_title(folded(ax.get_title(loc="left")), loc="left")


def share_height(axes: Sequence[Axes]) -> None:
    """One vertical scale for panels that are compared."""
    low, high = min(ax.get_ylim()[0] for ax in axes), max(ax.get_ylim()[1] for ax in axes)
    for ax in axes:
        ax.set_ylim(low, high)
