"""Figures of representations: senses as clouds of points, bars by layer."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from lib.plots.style import ACCENT, INK, LINES, QUIET, WARNING, panels_in_a_row, tidy

MARKERS = ("o", "^", "s", "D")
COLOURS = (ACCENT, WARNING, INK, QUIET)


def clouds(panels: Sequence[tuple[str, Tensor, Sequence[str]]]) -> Figure:
    """For each (title, points (M, 2), senses), the points, told apart by shape as well as by colour."""
    fig, axes = panels_in_a_row(len(panels), 4.2 * len(panels), 3.6)
    for ax, (title, points, senses) in zip(axes, panels, strict=True):
        names = sorted(set(senses))
        if len(names) > len(MARKERS):
            raise ValueError(f"senses must be at most {len(MARKERS)} to stay readable, got {len(names)}")
        for name, marker, colour in zip(names, MARKERS, COLOURS, strict=False):
            at = [i for i, sense in enumerate(senses) if sense == name]
            ax.scatter(*points[at].T.numpy(), marker=marker, color=colour, s=22, alpha=0.75, label=name)
        ax.set(title=title, xlabel="primeiro eixo", ylabel="segundo eixo")
        ax.title.set_fontsize(11)
        tidy(ax)
        ax.legend(frameon=False, fontsize=9)
    return fig


def by_layer(series: Sequence[tuple[str, Sequence[float]]], *, ylabel: str) -> Figure:
    """Named lines with one point per layer; 0 is the embeddings."""
    fig, ax = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
    for (label, values), (colour, dash), marker in zip(series, LINES, MARKERS, strict=False):
        ax.plot(range(len(values)), values, dash, marker=marker, ms=5, color=colour, lw=1.6, label=label)
    ax.set(xlabel="camada (0: embeddings)", ylabel=ylabel)
    tidy(ax)
    ax.legend(frameon=False, fontsize=9)
    return fig
