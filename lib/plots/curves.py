"""Curves over training steps or sizes."""

from collections.abc import Sequence

from lib.plots.palette import INK
from lib.plots.style import DOTTED, LINES, PHONE, legend, picture, tidy
from lib.plots.vector import Picture


def curves(
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    xlabel: str,
    ylabel: str,
    x: Sequence[float] | None = None,
    floor: tuple[str, float] | None = None,
) -> Picture:
    """Up to four named lines over `x` (steps, if not given); `floor` is a named horizontal line."""
    if len(series) > len(LINES):
        raise ValueError(f"series must hold at most {len(LINES)} lines to stay readable, got {len(series)}")
    fig, ax = picture(PHONE, 240)
    for (label, values), (colour, dash) in zip(series, LINES, strict=False):
        ax.plot(range(len(values)) if x is None else x, values, dash, color=colour, label=label)
    if floor:
        ax.axhline(floor[1], color=INK, lw=1.4, ls=DOTTED, label=floor[0])
    ax.set(xlabel=xlabel, ylabel=ylabel)
    tidy(ax)
    legend(ax)
    return fig
