"""Figures of masked language modelling: what a draw did, where gradients arrive, senses told apart or not."""

from collections.abc import Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from torch import Tensor

from lib import checks
from lib.numbers import pt
from lib.plots.style import ACCENT, CMAP, INK, QUIET, WARNING, bare, number, panels_in_a_row, tidy

# What can happen to a token: fill, hatch, ink. Hatches and words tell them apart without colour.
FATES = {
    "intacto": ("white", "", QUIET),
    "[MASK]": (ACCENT, "", "white"),
    "aleatória": ("#f0c9a8", "//", INK),
    "mantida": ("#d5dae1", "..", INK),
}


def draws(rows: Sequence[Sequence[tuple[str, str]]]) -> Figure:
    """One row per draw, one cell per token: (what the model reads, its fate among FATES)."""
    n = len(rows[0])
    if any(len(row) != n for row in rows):
        raise ValueError(f"rows must have one cell per token, got lengths {sorted({len(r) for r in rows})}")
    fig, ax = plt.subplots(figsize=(0.4 + 1.15 * n, 0.9 + 0.36 * len(rows)), layout="constrained")
    for y, row in enumerate(rows):
        for x, (word, fate) in enumerate(row):
            fill, hatch, ink = FATES[checks.one_of("fate", fate, FATES)]
            ax.add_patch(Rectangle((x, y), 1, 1, fc=fill, hatch=hatch, ec="#b8c0cb", lw=0.6))
            box = {"fc": fill, "ec": "none", "pad": 1.2} if hatch else None
            ax.text(x + 0.5, y + 0.5, word, ha="center", va="center", fontsize=9, color=ink, bbox=box)
    ax.set(xlim=(-0.02, n + 0.02), ylim=(len(rows) + 0.05, -0.05))
    ax.set_axis_off()
    looks = ((fate, fill, hatch) for fate, (fill, hatch, _) in FATES.items())
    legend = [Patch(fc=fill, hatch=hatch, ec="#b8c0cb", label=fate) for fate, fill, hatch in looks]
    fig.legend(handles=legend, loc="outside upper center", ncols=len(FATES), frameon=False, fontsize=9)
    return fig


def per_token(panels: Sequence[tuple[str, Sequence[float]]], labels: Sequence[str]) -> Figure:
    """For each (title, values), one bar per token; a bar of exactly zero is marked with 0."""
    fig, axes = panels_in_a_row(len(panels), 3.7 * len(panels), 0.9 + 0.33 * len(labels), sharey=True)
    for ax, (title, values), colour in zip(axes, panels, (ACCENT, WARNING), strict=True):
        values = [float(v) for v in values]
        ax.barh(range(len(labels)), values, color=colour)
        for y, value in enumerate(values):
            if value == 0:
                ax.text(0.01 * max(values), y, "0", va="center", fontsize=9, color=INK)
        ax.set(title=title)
        ax.title.set_fontsize(11)
        tidy(ax)
        ax.set_yticks(range(len(labels)), labels)
        ax.tick_params(axis="y", length=0)
    axes[0].invert_yaxis()
    return fig


def copy_or_doubt(context: Tensor, believed: Tensor, *, threshold: float) -> Figure:
    """How far a visible word is believed, over the probability that its context gives it (log axis)."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    ax.plot(context.numpy(), believed.numpy(), color=ACCENT, lw=1.8)
    ax.axvline(threshold, color=WARNING, lw=1.2, ls="--")
    ax.annotate("chance de um sorteio", (threshold, 0.06), (6, 0), textcoords="offset points", color=WARNING)
    ax.set_xscale("log")
    ax.set(xlabel="probabilidade que o contexto dá à palavra lida", ylabel="crença de que é a original")
    ax.set(ylim=(0, 1.02))
    ax.spines[["top", "right"]].set_visible(False)
    ax.yaxis.set_major_formatter(lambda y, _: pt(y, 1))
    return fig


def cosines(panels: Sequence[tuple[str, Tensor]], groups: Sequence[tuple[str, int]]) -> Figure:
    """Cosines between occurrences of a word, in order of sense; a frame goes round each sense."""
    n = sum(size for _, size in groups)
    low = min(float(values.min()) for _, values in panels)
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.6, 4.3 * len(panels)), layout="constrained")
    for ax, (title, values) in zip(axes, panels, strict=True):
        if values.shape != (n, n):
            raise ValueError(f"{title}: values must be ({n}, {n}), got {tuple(values.shape)}")
        ax.imshow(values.float().numpy(), cmap=CMAP, vmin=low - 0.05, vmax=1)
        for i in range(n):
            for j in range(n):
                value = float(values[i, j])
                number(ax, j, i, pt(value, 2), dark=value > low + 0.6 * (1 - low), size=8)
        _frames(ax, groups)
        ax.set_title(title)
        bare(ax)
    return fig


def _frames(ax: Axes, groups: Sequence[tuple[str, int]]) -> None:
    edges = torch.tensor([0, *(size for _, size in groups)]).cumsum(0).tolist()
    for start, stop in pairwise(edges):
        side = stop - start
        corner = (start - 0.5, start - 0.5)
        ax.add_patch(Rectangle(corner, side, side, fill=False, ec=WARNING, lw=2, clip_on=False))
    centres = [(a + b - 1) / 2 for a, b in pairwise(edges)]
    names = [name for name, _ in groups]
    ax.set_xticks(centres, names)
    ax.set_yticks(centres, names, rotation=90, va="center")
