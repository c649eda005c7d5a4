"""Figures of encoders: where the parameters are, what heads look at, what happens as d_k grows."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from lib.numbers import pt
from lib.plots.palette import ACCENT, GROUND, INK, LIGHT, QUIET, WARNING
from lib.plots.style import LEGIBLE, LINES, PHONE, Panels, bare, cells, folded, legend, panels, picture, tidy
from lib.plots.vector import Picture

SHADES = (ACCENT, LIGHT["half"], WARNING, LIGHT["half-second"], QUIET, LIGHT["line"])
HATCHES = ("", "//", "", "\\\\", "", "xx")


def stacked(models: Mapping[str, Mapping[str, float]], *, xlabel: str) -> Picture:
    """One horizontal bar per model, cut into named parts told apart by hatch as well as by colour."""
    parts = list(dict.fromkeys(part for model in models.values() for part in model))
    if len(parts) > len(SHADES):
        raise ValueError(f"models must have at most {len(SHADES)} parts to stay readable, got {len(parts)}")
    fig, ax = picture(PHONE, 100 + 34 * len(models))
    left = [0.0] * len(models)
    for part, shade, hatch in zip(parts, SHADES, HATCHES, strict=False):
        width = [model.get(part, 0) for model in models.values()]
        look: dict[str, Any] = {"fc": shade, "hatch": hatch, "ec": GROUND, "hatchcolor": INK}
        ax.barh(list(models), width, left=left, label=part, **look)
        left = [a + b for a, b in zip(left, width, strict=True)]
    ax.invert_yaxis()
    ax.set(xlabel=xlabel)
    tidy(ax, "x")
    legend(ax)
    return fig


def head_grid(shown: Sequence[tuple[str, Tensor]]) -> Panels:
    """For each (title, shares), one cell per layer (row) and head (column), in per cent."""
    fig, axes = panels(len(shown), PHONE, 80 + 24 * max(len(values) for _, values in shown))
    for ax, (title, values) in zip(axes, shown, strict=True):
        layers, heads = values.shape
        inks = cells(ax, values.float())
        for i in range(layers):
            for j in range(heads):
                share = f"{100 * float(values[i, j]):.0f}"
                ax.text(j, i, share, ha="center", va="center", fontsize=LEGIBLE, color=inks[i][j])
        ax.set_xticks(range(heads), [str(j + 1) for j in range(heads)])
        ax.set_yticks(range(layers), [str(i + 1) for i in range(layers)])
        ax.set(title=folded(title), xlabel="cabeça", ylabel="camada")
        bare(ax)
    return fig


def head_maps(shown: Sequence[tuple[str, Tensor]], tokens: Sequence[str]) -> Panels:
    """Weights of whole heads on one sentence, too many tokens for numbers: darker is more."""
    n = len(tokens)
    for title, weights in shown:
        if weights.shape != (n, n):
            raise ValueError(f"{title}: weights must be ({n}, {n}), got {tuple(weights.shape)}")
    names = 30 + 7 * max(map(len, tokens))
    fig, axes = panels(len(shown), min(PHONE, names + 18 * n), 30 + names + 16 * n)
    for ax, (title, weights) in zip(axes, shown, strict=True):
        cells(ax, weights.float(), gap=0)
        ax.set_xticks(range(n), tokens, rotation=90)
        ax.set_yticks(range(n), tokens)
        ax.set(title=title, xlabel="quem é olhado", ylabel="quem olha")
        ax.spines[:].set(visible=True, color=QUIET)
    return fig


def by_d_k(shown: Sequence[tuple[str, Sequence[tuple[str, Sequence[float]]]]], d_k: Sequence[int]) -> Panels:
    """Panels (title, series), each series named, over key sizes on a logarithmic axis."""
    fig, axes = panels(len(shown), PHONE, 240)
    for ax, (title, series) in zip(axes, shown, strict=True):
        for (label, values), (colour, dash) in zip(series, LINES, strict=False):
            ax.plot(d_k, values, dash, marker="o", ms=5, color=colour, label=label)
        ax.set_xscale("log", base=2)
        ax.set(title=title, xlabel="dimensão da chave (d_k)", ylim=(0, None))
        tidy(ax)
        ax.yaxis.set_major_formatter(lambda y, _: pt(y, 2))
        ax.set_xticks(d_k, [str(d) for d in d_k])
        ax.minorticks_off()
        legend(ax)
    return fig
