"""Figures of representations: senses as clouds of points, bars by layer."""

from collections.abc import Sequence

from torch import Tensor

from lib.plots.style import LINES, PHONE, Panels, legend, panels, picture, tidy
from lib.plots.vector import Picture

MARKERS = ("o", "^", "s", "D")


def clouds(shown: Sequence[tuple[str, Tensor, Sequence[str]]]) -> Panels:
    """For each (title, points (M, 2), senses), the points, told apart by shape as well as by colour."""
    fig, axes = panels(len(shown), PHONE, 290)
    for ax, (title, points, senses) in zip(axes, shown, strict=True):
        names = sorted(set(senses))
        if len(names) > len(MARKERS):
            raise ValueError(f"senses must be at most {len(MARKERS)} to stay readable, got {len(names)}")
        for name, marker, (colour, _) in zip(names, MARKERS, LINES, strict=False):
            at = [i for i, sense in enumerate(senses) if sense == name]
            ax.scatter(*points[at].T.numpy(), marker=marker, color=colour, s=22, alpha=0.75, label=name)
        ax.set(title=title, xlabel="primeiro eixo", ylabel="segundo eixo")
        tidy(ax)
        legend(ax)
    return fig


def by_layer(series: Sequence[tuple[str, Sequence[float]]], *, ylabel: str) -> Picture:
    """Named lines with one point per layer; 0 is the embeddings."""
    fig, ax = picture(PHONE, 240)
    for (label, values), (colour, dash), marker in zip(series, LINES, MARKERS, strict=False):
        ax.plot(range(len(values)), values, dash, marker=marker, ms=5, color=colour, label=label)
    ax.set(xlabel="camada (0: embeddings)", ylabel=ylabel)
    tidy(ax)
    legend(ax)
    return fig
