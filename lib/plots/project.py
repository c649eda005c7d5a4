"""Figures of the project: bars to beat, shares by group, and how sure answers are beside how often right."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure

from lib.plots.encoders import tidy_x
from lib.plots.style import ACCENT, CMAP, INK, LINES, QUIET, WARNING, bare, number, panels_in_a_row, tidy

Bins = Sequence[tuple[float, float, int]]  # how sure, how often right, how many


def bars(values: Mapping[str, Sequence[float]], *, xlabel: str) -> Figure:
    """A row for each name: a bar to the mean, and a mark for each of the values if there are several."""
    fig, ax = plt.subplots(figsize=(6.4, 0.8 + 0.42 * len(values)), layout="constrained")
    for row, found in enumerate(values.values()):
        several = len(found) > 1
        ax.barh(row, sum(found) / len(found), color=ACCENT if several else QUIET, height=0.62)
        if several:
            ax.plot(found, [row] * len(found), "o", color=INK, ms=4)
    ax.set_yticks(range(len(values)), list(values))
    ax.invert_yaxis()
    ax.set(xlabel=xlabel)
    tidy_x(ax)
    return fig


def groups(panels: Sequence[tuple[str, Sequence[tuple[str, float, int]]]], *, ylabel: str) -> Figure:
    """Panels (title, groups), a group being (name, share, how many); the number stands under the name."""
    fig, axes = panels_in_a_row(len(panels), 3.7 * len(panels), 3.0, sharey=True)
    for ax, (title, found) in zip(axes, panels, strict=True):
        ax.bar(range(len(found)), [share for _, share, _ in found], color=ACCENT, width=0.66)
        tidy(ax)
        ax.set_xticks(range(len(found)), [f"{name}\n({count})" for name, _, count in found], fontsize=9)
        ax.set(title=title, ylim=(0, 1))
        ax.title.set_fontsize(11)
    axes[0].set_ylabel(ylabel)
    return fig


def guesses(gaps: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> Figure:
    """One panel for each gap (sentence, likeliest words): a bar for each word, the likeliest on top."""
    fig, axes = plt.subplots(
        len(gaps), 1, figsize=(6.4, 1.75 * len(gaps)), layout="constrained", squeeze=False
    )
    for ax, (sentence, found) in zip(axes[:, 0], gaps, strict=True):
        ax.barh(range(len(found)), [p for _, p in found], color=ACCENT, height=0.66)
        ax.set_yticks(range(len(found)), [word for word, _ in found])
        ax.invert_yaxis()
        ax.set_title(sentence, loc="left", fontsize=10)
        tidy_x(ax)
    axes[-1, 0].set_xlabel("probabilidade")
    return fig


def marked(words: Sequence[str], truth: Sequence[str], guess: Sequence[str], columns: int = 7) -> Figure:
    """The words of a sentence in columns, with what was right and what was given; a mistake has a frame."""
    rows = -(-len(words) // columns)
    fig, ax = plt.subplots(figsize=(7.2, 0.3 + 0.72 * rows), layout="constrained")
    for i, (word, t, g) in enumerate(zip(words, truth, guess, strict=True)):
        y, x = divmod(i, columns)
        wrong = {"fc": "#fbeee4", "ec": WARNING, "pad": 2.0} if t != g else None
        ax.text(x, y, word, ha="center", va="center", color=INK, fontsize=10)
        shown = f"{g}, e não {t}" if t != g else t
        ax.text(x, y + 0.36, shown, ha="center", va="center", color=INK, fontsize=7, bbox=wrong)
    ax.set(xlim=(-0.6, columns - 0.4), ylim=(rows - 0.35, -0.45))
    ax.set_axis_off()
    return fig


def calibration(panels: Sequence[tuple[str, Bins]]) -> Figure:
    """Named curves of how often right over how sure; on the diagonal, one is as sure as one is right."""
    fig, ax = plt.subplots(figsize=(4.6, 4.0), layout="constrained")
    ax.plot([0, 1], [0, 1], color=QUIET, lw=1, ls=(0, (1, 2)), label="tão segura quanto certa")
    for (name, bins), (colour, dash), marker in zip(panels, LINES, "os^", strict=False):
        x, y = [b[0] for b in bins], [b[1] for b in bins]
        ax.plot(x, y, dash, marker=marker, color=colour, lw=1.6, ms=5, label=name)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confiança média", ylabel="fração de acertos")
    tidy(ax)
    ax.legend(frameon=False, fontsize=9)
    return fig


def confusion(truth: Sequence[str], guess: Sequence[str], classes: Sequence[str]) -> Figure:
    """Of each true class (row), the share that was given each class (column), in per cent."""
    place = {name: i for i, name in enumerate(classes)}
    counts = torch.zeros(len(classes), len(classes), dtype=torch.double)
    totals = torch.zeros(len(classes), dtype=torch.double)
    for t, g in zip(truth, guess, strict=True):
        if t in place:
            totals[place[t]] += 1
            if g in place:
                counts[place[t], place[g]] += 1
    shares = counts / totals.clamp(min=1)[:, None]
    n = len(classes)
    fig, ax = plt.subplots(figsize=(1.6 + 0.5 * n, 1.2 + 0.42 * n), layout="constrained")
    ax.imshow(shares.numpy(), cmap=CMAP, vmin=0, vmax=1)
    for i in range(n):
        for j in range(n):
            if (percent := round(100 * float(shares[i, j]))) > 0:
                number(ax, j, i, str(percent), dark=percent > 60, size=8)
    ax.set_xticks(range(n), classes, rotation=60, ha="right", fontsize=8)
    ax.set_yticks(range(n), classes, fontsize=8)
    ax.set(xlabel="classe dada", ylabel="classe certa")
    bare(ax)
    return fig
