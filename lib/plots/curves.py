"""Curves over training steps or sizes."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from lib.plots.style import INK, LINES, tidy


def curves(
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    xlabel: str,
    ylabel: str,
    x: Sequence[float] | None = None,
    floor: tuple[str, float] | None = None,
) -> Figure:
    """Up to four named lines over `x` (steps, if not given); `floor` is a named horizontal line."""
    if len(series) > len(LINES):
        raise ValueError(f"series must hold at most {len(LINES)} lines to stay readable, got {len(series)}")
    fig, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for (label, values), (colour, dash) in zip(series, LINES, strict=False):
        ax.plot(range(len(values)) if x is None else x, values, dash, color=colour, lw=1.8, label=label)
    if floor:
        ax.axhline(floor[1], color=INK, lw=1, ls=(0, (1, 2)))
        right_edge = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "ha": "right"}
        ax.annotate(floor[0], (0.99, floor[1]), (0, 4), color=INK, fontsize=9, **right_edge)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    tidy(ax)
    ax.legend(frameon=False)
    return fig
