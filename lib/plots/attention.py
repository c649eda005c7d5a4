"""Figures of attention: matrices of scores and weights, and who sees whom."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import FancyArrowPatch, Rectangle
from torch import Tensor

from lib.numbers import pt
from lib.plots.style import ACCENT, CMAP, INK, QUIET, bare, number, panels_in_a_row


def matrix(
    values: Tensor,
    tokens: Sequence[str],
    *,
    hidden: Tensor | None = None,
    title: str = "",
    digits: int = 2,
    top: float | None = None,
    ax: Axes | None = None,
) -> Figure | SubFigure:
    """A square matrix, one row per query and one column per key; `hidden` cells are hatched, not coloured.

    `top` is the value drawn darkest: the largest one, unless panels that are compared must share a scale.
    """
    n = len(tokens)
    if values.shape != (n, n):
        raise ValueError(f"values must be ({n}, {n}), one row per token, got {tuple(values.shape)}")
    hidden = torch.zeros(n, n, dtype=torch.bool) if hidden is None else hidden
    ax = ax or plt.subplots(figsize=(1.2 + 0.75 * n, 0.9 + 0.62 * n), layout="constrained")[1]
    shown = values.masked_fill(hidden, 0).float()
    top = max(float(shown.max()), 1e-9) if top is None else top
    ax.imshow(shown.numpy(), cmap=CMAP, vmin=min(float(shown.min()), 0.0), vmax=top)
    for i in range(n):
        for j in range(n):
            if hidden[i, j]:
                ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="////", ec=QUIET, lw=0))
            else:
                dark = float(shown[i, j]) > 0.6 * top
                number(ax, j, i, pt(float(values[i, j]), digits), dark=dark, size=10)
    ax.set_xticks(range(n), tokens)
    ax.set_yticks(range(n), tokens)
    ax.set(title=title, xlabel="chave (quem é olhado)", ylabel="consulta (quem olha)")
    bare(ax)
    return ax.figure


def matrices(panels: Sequence[tuple], tokens: Sequence[str], *, columns: int = 2, digits: int = 2) -> Figure:
    """Several matrices side by side; a panel is (title, values) or (title, values, hidden)."""
    rows, n = -(-len(panels) // columns), len(tokens)
    size = (columns * (1.1 + 0.62 * n), rows * (1.0 + 0.55 * n))
    fig, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    top = max(float(values.max()) for _, values, *_ in panels)
    for ax, (title, values, *hidden) in zip(axes.flat, panels, strict=False):
        shade = hidden[0] if hidden else None
        matrix(values, tokens, hidden=shade, title=title, digits=digits, top=top, ax=ax)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    return fig


def who_sees_whom(masks: Sequence[tuple[str, Tensor]], tokens: Sequence[str]) -> Figure:
    """For each (title, mask), an arrow from query to key: solid where allowed, dotted where hidden."""
    fig, axes = panels_in_a_row(len(masks), 3.6 * len(masks), 3.4)
    for ax, (title, mask) in zip(axes, masks, strict=True):
        for i, query in enumerate(tokens):
            _node(ax, 0, i, query)
            _node(ax, 1, i, tokens[i])
            for j in range(len(tokens)):
                _arrow(ax, i, j, allowed=bool(mask[i, j]))
        ax.set(xlim=(-0.25, 1.25), ylim=(len(tokens) - 0.4, -0.95), title=title)
        ax.text(0, -0.7, "quem olha", ha="center", color=INK, fontsize=9)
        ax.text(1, -0.7, "quem é olhado", ha="center", color=INK, fontsize=9)
        ax.set_axis_off()
    return fig


def _node(ax: Axes, x: float, y: float, text: str) -> None:
    style = {"boxstyle": "round,pad=0.3", "fc": "#e8f0f8", "ec": ACCENT}
    ax.text(x, y, text, ha="center", va="center", color=INK, bbox=style, zorder=3)


def _arrow(ax: Axes, i: int, j: int, *, allowed: bool) -> None:
    style = {"color": ACCENT, "lw": 1.4} if allowed else {"color": QUIET, "lw": 1.0, "ls": ":"}
    ax.add_patch(FancyArrowPatch((0.12, i), (0.88, j), arrowstyle="->", mutation_scale=10, **style))
