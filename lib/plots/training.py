"""Training seen against what is known exactly: a curve and its floor, a prediction and its posterior."""

from collections.abc import Mapping, Sequence

from lib.plots.palette import ACCENT, GROUND, INK, WARNING
from lib.plots.style import DOTTED, PHONE, Panels, legend, panels, share_height, tidy

Shares = Mapping[str, float]  # of each word


def against_floor(runs: Sequence[tuple[str, Sequence[int], Sequence[float], float]]) -> Panels:
    """One panel per run (title, steps, losses, floor): the curve, and the line below which no model goes."""
    fig, axes = panels(len(runs), PHONE, 240)
    for ax, (title, steps, losses, floor) in zip(axes, runs, strict=True):
        ax.plot(steps, losses, color=ACCENT, label="modelo")
        ax.axhline(floor, color=INK, lw=1.4, ls=DOTTED, label="piso exato")
        ax.set(title=title, xlabel="passo de treino", ylabel="perda na avaliação (nats)")
        tidy(ax)
        legend(ax)
    share_height(axes)
    return fig


def against_exact(gaps: Sequence[tuple[str, Shares, Shares]], most: int = 6) -> Panels:
    """One panel per gap (title, exact, model): the likeliest words, two bars each, told apart by hatching."""
    fig, axes = panels(len(gaps), PHONE, 250)
    for ax, (title, exact, model) in zip(axes, gaps, strict=True):
        words = sorted(exact, key=lambda word: -max(exact[word], model.get(word, 0.0)))[:most]
        places = range(len(words))
        ax.bar([i - 0.2 for i in places], [exact[w] for w in words], 0.38, color=INK, label="exata")
        shown = [model.get(w, 0.0) for w in words]
        ax.bar(
            [i + 0.2 for i in places],
            shown,
            0.38,
            color=WARNING,
            hatch="//",
            hatchcolor=GROUND,
            label="modelo",
        )
        ax.set(title=title, ylabel="probabilidade")
        tidy(ax)
        ax.set_xticks(list(places), words, rotation=90 * (len(words) * max(map(len, words)) > 42))
        legend(ax)
    share_height(axes)
    return fig
