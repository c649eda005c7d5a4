"""Training seen against what is known exactly: a curve and its floor, a prediction and its posterior."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from lib.plots.style import ACCENT, INK, WARNING, panels_in_a_row, tidy

Shares = Mapping[str, float]  # of each word


def against_floor(runs: Sequence[tuple[str, Sequence[int], Sequence[float], float]]) -> Figure:
    """One panel per run (title, steps, losses, floor): the curve, and the line below which no model goes."""
    fig, axes = panels_in_a_row(len(runs), 4.2 * len(runs), 3.2, sharey=True)
    for ax, (title, steps, losses, floor) in zip(axes, runs, strict=True):
        ax.plot(steps, losses, color=ACCENT, lw=1.8, label="modelo")
        ax.axhline(floor, color=INK, lw=1.2, ls=(0, (1, 2)), label="piso exato")
        ax.set(title=title, xlabel="passo de treino")
        tidy(ax)
    axes[0].set_ylabel("perda na avaliação (nats)")
    axes[0].legend(frameon=False)
    return fig


def against_exact(gaps: Sequence[tuple[str, Shares, Shares]], most: int = 6) -> Figure:
    """One panel per gap (title, exact, model): the likeliest words, two bars each, told apart by hatching."""
    fig, axes = panels_in_a_row(len(gaps), 4.2 * len(gaps), 3.2, sharey=True)
    for ax, (title, exact, model) in zip(axes, gaps, strict=True):
        words = sorted(exact, key=lambda word: -max(exact[word], model.get(word, 0.0)))[:most]
        places = range(len(words))
        ax.bar([i - 0.2 for i in places], [exact[w] for w in words], 0.38, color=INK, label="exata")
        shown = [model.get(w, 0.0) for w in words]
        ax.bar([i + 0.2 for i in places], shown, 0.38, color=WARNING, hatch="//", label="modelo")
        ax.set(title=title)
        tidy(ax)
        ax.set_xticks(list(places), words, rotation=25, ha="right")
    axes[0].set_ylabel("probabilidade")
    axes[0].legend(frameon=False)
    return fig
