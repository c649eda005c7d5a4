"""Figures of the project: bars to beat, shares by group, and how sure answers are beside how often right."""

from collections.abc import Mapping, Sequence

import torch

from lib.plots.palette import ACCENT, INK, QUIET, WARM, WARNING
from lib.plots.style import (
    DOTTED,
    LEGIBLE,
    LINES,
    PHONE,
    Panels,
    bare,
    cells,
    folded,
    legend,
    panels,
    picture,
    tidy,
)
from lib.plots.vector import Picture

Bins = Sequence[tuple[float, float, int]]  # how sure, how often right, how many


def bars(values: Mapping[str, Sequence[float]], *, xlabel: str) -> Picture:
    """A row for each name: a bar to the mean, and a mark for each of the values if there are several."""
    fig, ax = picture(PHONE, 60 + 44 * len(values))
    for row, found in enumerate(values.values()):
        several = len(found) > 1
        ax.barh(row, sum(found) / len(found), color=ACCENT if several else QUIET, height=0.62)
        if several:
            ax.plot(found, [row] * len(found), "o", color=INK, ms=5)
    ax.set_yticks(range(len(values)), [folded(name, 18) for name in values])
    ax.invert_yaxis()
    ax.set(xlabel=xlabel)
    tidy(ax, "x")
    return fig


def groups(shown: Sequence[tuple[str, Sequence[tuple[str, float, int]]]], *, ylabel: str) -> Panels:
    """Panels (title, groups), a group being (name, share, how many); the number stands under the name."""
    fig, axes = panels(len(shown), PHONE, 230)
    for ax, (title, found) in zip(axes, shown, strict=True):
        ax.bar(range(len(found)), [share for _, share, _ in found], color=ACCENT, width=0.66)
        ax.set(title=title, ylim=(0, 1), ylabel=ylabel)
        tidy(ax)
        ax.set_xticks(range(len(found)), [f"{name}\n({count})" for name, _, count in found])
    return fig


def guesses(gaps: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> Panels:
    """One panel for each gap (sentence, likeliest words): a bar for each word, the likeliest on top."""
    fig, axes = panels(len(gaps), PHONE, 200)
    for ax, (sentence, found) in zip(axes, gaps, strict=True):
        ax.barh(range(len(found)), [p for _, p in found], color=ACCENT, height=0.66)
        ax.set_yticks(range(len(found)), [word for word, _ in found])
        ax.invert_yaxis()
        ax.set(title=sentence, xlabel="probabilidade")
        tidy(ax, "x")
    return fig


def marked(words: Sequence[str], truth: Sequence[str], guess: Sequence[str]) -> Picture:
    """Words in lines, each with what was right below it; a mistake has a frame and says what was given."""
    placed: list[tuple[float, int]] = []  # the middle of each, and its line
    x, line, shown = 0.0, 0, []
    for word, t, g in zip(words, truth, guess, strict=True):
        shown.append((word, f"{g}, e não {t}" if t != g else t))
        width = 8 * max(map(len, shown[-1])) + 14
        if placed and x + width > PHONE:
            x, line = 0.0, line + 1
        placed.append((x + width / 2, line))
        x += width
    fig, ax = picture(PHONE, 50 * (line + 1))
    for (middle, row), (word, below), t, g in zip(placed, shown, truth, guess, strict=True):
        frame = {"fc": WARM, "ec": WARNING, "pad": 2.5} if t != g else None
        ax.text(middle, row, word, ha="center", va="center", weight="bold")
        ax.text(middle, row + 0.42, below, ha="center", va="center", fontsize=LEGIBLE, bbox=frame)
    ax.set(xlim=(0, PHONE), ylim=(line + 0.7, -0.3))
    ax.set_axis_off()
    return fig


def calibration(shown: Sequence[tuple[str, Bins]]) -> Picture:
    """Named curves of how often right over how sure; on the diagonal, one is as sure as one is right."""
    fig, ax = picture(PHONE, 330)
    ax.plot([0, 1], [0, 1], color=QUIET, lw=1.4, ls=DOTTED, label="tão segura quanto certa")
    for (name, bins), (colour, dash), marker in zip(shown, LINES, "os^", strict=False):
        x, y = [b[0] for b in bins], [b[1] for b in bins]
        ax.plot(x, y, dash, marker=marker, color=colour, ms=5, label=name)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confiança média", ylabel="fração de acertos")
    tidy(ax)
    legend(ax)
    return fig


def confusion(truth: Sequence[str], guess: Sequence[str], classes: Sequence[str]) -> Picture:
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
    fig, ax = picture(PHONE, 100 + 24 * n)
    inks = cells(ax, shares)
    for i in range(n):
        for j in range(n):
            if (percent := round(100 * float(shares[i, j]))) > 0:
                text = {"ha": "center", "va": "center", "fontsize": LEGIBLE, "color": inks[i][j]}
                ax.text(j, i, str(percent), **text)
    ax.set_xticks(range(n), classes, rotation=90)
    ax.set_yticks(range(n), classes)
    ax.set(xlabel="classe dada", ylabel="classe certa")
    bare(ax)
    return fig
