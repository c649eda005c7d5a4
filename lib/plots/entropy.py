"""Figures of the loss: the price of a guess, and what the loss looks like over two weights."""

from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lib.numbers import pt
from lib.plots.style import ACCENT, CMAP, INK, QUIET, WARNING, tidy


def surprise(points: Sequence[tuple[str, float]]) -> Figure:
    """The curve -ln p, with named probabilities marked on it."""
    p = torch.linspace(0.01, 1, 200)
    fig, ax = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
    ax.plot(p.numpy(), -p.log().numpy(), color=ACCENT, lw=1.8)
    for name, q in points:
        loss = -torch.tensor(q).log().item()
        ax.plot(q, loss, "o", color=WARNING, ms=6)
        ax.annotate(name, (q, loss), (7, 5), textcoords="offset points", color=INK, fontsize=9)
    ax.set(xlabel="probabilidade dada à palavra certa", ylabel="perda (nats)", xlim=(0, 1.02), ylim=(0, None))
    tidy(ax)
    return fig


def landscape(
    loss: Callable[[Tensor, Tensor], Tensor],
    paths: Sequence[Tensor],
    *,
    extent: float,
    names: tuple[str, str],
) -> Figure:
    """`loss(u, v)` from above, with descent `paths` (steps, 2), and cut along the diagonal u = v."""
    t = torch.linspace(-extent, extent, 161)
    u, v = torch.meshgrid(t, t, indexing="xy")
    fig, (above, cut) = plt.subplots(1, 2, figsize=(8.2, 3.6), layout="constrained")
    levels = above.contourf(u.numpy(), v.numpy(), loss(u, v).numpy(), levels=14, cmap=CMAP)
    bar = fig.colorbar(levels, ax=above, label="perda (nats)")
    bar.ax.yaxis.set_major_formatter(lambda x, _: pt(x, 1))
    for path, colour in zip(paths, (WARNING, INK), strict=False):
        above.plot(*path.T.numpy(), ".-", color=colour, lw=1.2, ms=4)
        above.plot(*path[-1].numpy(), "*", color=colour, ms=12)
    above.plot([-extent, extent], [-extent, extent], ":", color=QUIET, lw=1)
    above.set(xlabel=names[0], ylabel=names[1], title="vista de cima", aspect="equal")
    cut.plot(t.numpy(), loss(t, t).numpy(), color=ACCENT, lw=1.8)
    cut.set(xlabel=f"{names[0]} = {names[1]}", ylabel="perda (nats)", title="corte pela diagonal")
    for ax in (above, cut):
        tidy(ax)
    return fig
