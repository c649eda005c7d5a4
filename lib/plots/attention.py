"""Figures of attention: matrices of scores and weights, and who sees whom."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle
from torch import Tensor

from lib.numbers import pt
from lib.plots.palette import ACCENT, PALE, QUIET
from lib.plots.style import PHONE, Panels, bare, cells, folded, panels, picture, picture_of
from lib.plots.vector import Picture


def matrix(
    values: Tensor,
    tokens: Sequence[str],
    *,
    hidden: Tensor | None = None,
    title: str = "",
    digits: int = 2,
    top: float | None = None,
    ax: Axes | None = None,
) -> Picture:
    """A square matrix, one row per query and one column per key; `hidden` cells are hatched, not coloured.

    `top` is the value drawn darkest: the largest one, unless panels that are compared must share a scale.
    """
    n = len(tokens)
    if values.shape != (n, n):
        raise ValueError(f"values must be ({n}, {n}), one row per token, got {tuple(values.shape)}")
    hidden = torch.zeros(n, n, dtype=torch.bool) if hidden is None else hidden
    ax = ax or picture(*_size(tokens))[1]
    shown = values.masked_fill(hidden, 0).float()
    top = max(float(shown.max()), 1e-9) if top is None else top
    inks = cells(ax, shown, low=min(float(shown.min()), 0.0), high=top)
    for i in range(n):
        for j in range(n):
            if hidden[i, j]:
                ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", ec=QUIET, lw=0))
            else:
                text = pt(float(values[i, j]), digits)
                ax.text(j, i, text, ha="center", va="center", fontsize=11.5, color=inks[i][j])
    ax.set_xticks(range(n), tokens)
    ax.set_yticks(range(n), tokens)
    ax.set(title=folded(title, 28), xlabel="chave (quem é olhado)", ylabel="consulta (quem olha)")
    bare(ax)
    return picture_of(ax)


def _size(tokens: Sequence[str]) -> tuple[float, float]:
    """The pixels of a matrix of these tokens: as large as a phone allows, and no larger than it needs."""
    n = len(tokens)
    names = 40 + 7.5 * max(map(len, tokens))
    return min(PHONE, max(240, names + 54 * n)), 90 + 38 * n


def matrices(shown: Sequence[tuple], tokens: Sequence[str], *, digits: int = 2) -> Panels:
    """Several matrices with one scale of colours; a panel is (title, values) or (title, values, hidden)."""
    fig, axes = panels(len(shown), *_size(tokens))
    top = max(float(values.max()) for _, values, *_ in shown)
    for ax, (title, values, *hidden) in zip(axes, shown, strict=True):
        shade = hidden[0] if hidden else None
        matrix(values, tokens, hidden=shade, title=title, digits=digits, top=top, ax=ax)
    return fig


def who_sees_whom(masks: Sequence[tuple[str, Tensor]], tokens: Sequence[str]) -> Panels:
    """For each (title, mask), an arrow from query to key: solid where allowed, dotted where hidden."""
    fig, axes = panels(len(masks), PHONE, 70 + 46 * len(tokens))
    for ax, (title, mask) in zip(axes, masks, strict=True):
        for i, query in enumerate(tokens):
            _node(ax, 0, i, query)
            _node(ax, 1, i, tokens[i])
            for j in range(len(tokens)):
                _arrow(ax, i, j, allowed=bool(mask[i, j]))
        ax.set(xlim=(-0.25, 1.25), ylim=(len(tokens) - 0.4, -0.95), title=title)
        ax.text(0, -0.7, "quem olha", ha="center")
        ax.text(1, -0.7, "quem é olhado", ha="center")
        ax.set_axis_off()
    return fig


def _node(ax: Axes, x: float, y: float, text: str) -> None:
    style = {"boxstyle": "round,pad=0.3", "fc": PALE, "ec": ACCENT}
    ax.text(x, y, text, ha="center", va="center", bbox=style, zorder=3)


def _arrow(ax: Axes, i: int, j: int, *, allowed: bool) -> None:
    style = {"color": ACCENT, "lw": 1.6} if allowed else {"color": QUIET, "lw": 1.0, "ls": ":"}
    ax.add_patch(FancyArrowPatch((0.12, i), (0.88, j), arrowstyle="->", mutation_scale=10, **style))
