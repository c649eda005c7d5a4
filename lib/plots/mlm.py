"""Figures of masked language modelling: what a draw did, and how far a visible word is to be believed."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from torch import Tensor

from lib import checks
from lib.numbers import pt
from lib.plots.style import ACCENT, INK, QUIET, WARNING

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
