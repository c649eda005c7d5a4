"""Figures of encoders: where the parameters are, what heads look at, what happens as d_k grows."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from lib.numbers import pt
from lib.plots.style import CMAP, LINES, QUIET, bare, number, panels_in_a_row, tidy

SHADES = ("#1f6fb2", "#9cc4e4", "#c2571a", "#f0c9a8", "#8a94a3", "#d5dae1")
HATCHES = ("", "//", "", "..", "", "xx")


def stacked(models: Mapping[str, Mapping[str, float]], *, xlabel: str) -> Figure:
    """One horizontal bar per model, cut into named parts told apart by hatch as well as by colour."""
    parts = list(dict.fromkeys(part for model in models.values() for part in model))
    if len(parts) > len(SHADES):
        raise ValueError(f"models must have at most {len(SHADES)} parts to stay readable, got {len(parts)}")
    fig, ax = plt.subplots(figsize=(7.2, 1.3 + 0.5 * len(models)), layout="constrained")
    left = [0.0] * len(models)
    for part, shade, hatch in zip(parts, SHADES, HATCHES, strict=False):
        width = [model.get(part, 0) for model in models.values()]
        ax.barh(list(models), width, left=left, color=shade, hatch=hatch, ec="white", label=part)
        left = [a + b for a, b in zip(left, width, strict=True)]
    ax.invert_yaxis()
    ax.set(xlabel=xlabel)
    tidy_x(ax)
    ax.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9)
    return fig


def tidy_x(ax: Axes) -> None:
    """Like `tidy`, where the vertical axis holds names."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(lambda x, _: pt(x))


def head_grid(panels: Sequence[tuple[str, Tensor]]) -> Figure:
    """For each (title, shares), one cell per layer (row) and head (column), in per cent."""
    size = (6.8, 0.4 + 2.7 * len(panels))
    fig, axes = plt.subplots(len(panels), 1, figsize=size, layout="constrained", squeeze=False)
    for ax, (title, values) in zip(axes[:, 0], panels, strict=True):
        layers, heads = values.shape
        ax.imshow(values.float().numpy(), cmap=CMAP, vmin=0, vmax=1, aspect="auto")
        for i in range(layers):
            for j in range(heads):
                share = float(values[i, j])
                number(ax, j, i, f"{100 * share:.0f}", dark=share > 0.6, size=9)
        ax.set_xticks(range(heads), [str(j + 1) for j in range(heads)])
        ax.set_yticks(range(layers), [str(i + 1) for i in range(layers)])
        ax.set(title=title, ylabel="camada")
        bare(ax)
    axes[-1, 0].set_xlabel("cabeça")
    return fig


def head_maps(panels: Sequence[tuple[str, Tensor]], tokens: Sequence[str]) -> Figure:
    """Weights of whole heads on one sentence, too many tokens for numbers: darker is more."""
    n = len(tokens)
    for title, weights in panels:
        if weights.shape != (n, n):
            raise ValueError(f"{title}: weights must be ({n}, {n}), got {tuple(weights.shape)}")
    fig, axes = panels_in_a_row(len(panels), 0.9 + 2.35 * len(panels), 3.4, sharey=True)
    for ax, (title, weights) in zip(axes, panels, strict=True):
        ax.imshow(weights.float().numpy(), cmap=CMAP, vmin=0, vmax=1)
        ax.set_xticks(range(n), tokens, rotation=90, fontsize=8)
        ax.set_yticks(range(n), tokens, fontsize=8)
        ax.set(title=title, xlabel="quem é olhado")
        ax.title.set_fontsize(10)
        ax.tick_params(length=0)
        ax.spines[:].set_color(QUIET)
    axes[0].set_ylabel("quem olha")
    return fig


def by_d_k(panels: Sequence[tuple[str, Sequence[tuple[str, Sequence[float]]]]], d_k: Sequence[int]) -> Figure:
    """Panels (title, series), each series named, over key sizes on a logarithmic axis."""
    fig, axes = panels_in_a_row(len(panels), 3.9 * len(panels), 3.2)
    for ax, (title, series) in zip(axes, panels, strict=True):
        for (label, values), (colour, dash) in zip(series, LINES, strict=False):
            ax.plot(d_k, values, dash, marker="o", ms=4, color=colour, lw=1.8, label=label)
        ax.set_xscale("log", base=2)
        ax.set(title=title, xlabel="$d_k$", ylim=(0, None))
        ax.title.set_fontsize(11)
        tidy(ax)
        ax.yaxis.set_major_formatter(lambda y, _: pt(y, 2))
        ax.set_xticks(d_k, [str(d) for d in d_k])
        ax.minorticks_off()
    axes[0].legend(frameon=False, fontsize=9)
    return fig
