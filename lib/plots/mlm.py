"""Figures of masked language modelling: what a draw did, and how far a visible word is to be believed."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.patches import Patch, Rectangle
from torch import Tensor

from lib import checks
from lib.plots.palette import ACCENT, GROUND, INK, LIGHT, QUIET, WARNING
from lib.plots.style import PHONE, legend, picture, tidy
from lib.plots.vector import Picture

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# What can happen to a token: fill, hatch, ink. Hatches and words tell them apart without colour.
FATES: dict[str, tuple[str, str, str]] = {
    "intacto": (GROUND, "", QUIET),
    "[MASK]": (ACCENT, "", LIGHT["on-high"]),
    "aleatória": (LIGHT["warm"], "//", INK),
    "mantida": (LIGHT["pale"], "\\\\", INK),
}


def draws(rows: Sequence[Sequence[tuple[str, str]]]) -> Picture:
    """One row per draw, one cell per token: (what the model reads, its fate among FATES)."""
    n = len(rows[0])
    if any(len(row) != n for row in rows):
        raise ValueError(f"rows must have one cell per token, got lengths {sorted({len(r) for r in rows})}")
    edges = [0.0]  # a column is as wide as its longest word
    for words in zip(*rows, strict=True):
        edges.append(edges[-1] + 1.5 + max(len(word) for word, _ in words))
    fig, ax = picture(PHONE, 70 + 27 * len(rows))
    for y, row in enumerate(rows):
        for x, (word, fate) in enumerate(row):
            fill, hatch, ink = FATES[checks.one_of("fate", fate, FATES)]
            middle = (edges[x] + edges[x + 1]) / 2
            ax.add_patch(Rectangle((edges[x], y), edges[x + 1] - edges[x], 1, **_look(fate)))
            box = {"fc": fill, "ec": "none", "pad": 1.2} if hatch else None
            ax.text(middle, y + 0.5, word, ha="center", va="center", fontsize=11, color=ink, bbox=box)
    ax.set(xlim=(-0.1, edges[-1] + 0.1), ylim=(len(rows) + 0.05, -0.05))
    ax.set_axis_off()
    legend(ax, [Patch(**_look(fate), label=fate) for fate in FATES])
    return fig


def _look(fate: str) -> dict[str, Any]:
    fill, hatch, _ = FATES[fate]
    return {"fc": fill, "hatch": hatch, "ec": QUIET, "hatchcolor": QUIET, "lw": 0.6}


def copy_or_doubt(context: Tensor, believed: Tensor, *, threshold: float) -> Picture:
    """How far a visible word is believed, over the probability that its context gives it (log axis)."""
    fig, ax = picture(PHONE, 240)
    ax.plot(context.numpy(), believed.numpy(), color=ACCENT, label="crença")
    ax.axvline(threshold, color=WARNING, lw=1.6, ls="--", label="chance de um sorteio")
    ax.set_xscale("log")
    ax.set(xlabel="probabilidade que o contexto dá à palavra lida", ylabel="crença de que é a original")
    ax.set(ylim=(0, 1.02))
    tidy(ax)
    powers = range(round(math.log10(float(context.min()))), 1, 2)
    ax.set_xticks([10.0**n for n in powers], [f"10{str(n).translate(RAISED)}" for n in powers])
    ax.minorticks_off()
    legend(ax)
    return fig
