"""Figures of the loss: the price of a guess, and what the loss looks like over two weights."""

from collections.abc import Callable, Sequence

import torch
from matplotlib.colors import to_rgb
from torch import Tensor

from lib.numbers import pt
from lib.plots.palette import ACCENT, INK, QUIET, WARNING
from lib.plots.style import PHONE, Panels, panels, picture, tidy
from lib.plots.vector import Picture


def surprise(points: Sequence[tuple[str, float]]) -> Picture:
    """The curve -ln p, with named probabilities marked on it."""
    p = torch.linspace(0.01, 1, 200)
    fig, ax = picture(PHONE, 230)
    ax.plot(p.numpy(), -p.log().numpy(), color=ACCENT)
    for name, q in points:
        loss = -torch.tensor(q).log().item()
        ax.plot(q, loss, "o", color=WARNING, ms=6)
        ax.annotate(name, (q, loss), (7, 5), textcoords="offset points")
    ax.set(xlabel="probabilidade dada à palavra certa", ylabel="perda (nats)", xlim=(0, 1.02), ylim=(0, None))
    tidy(ax)
    return fig


def landscape(
    loss: Callable[[Tensor, Tensor], Tensor],
    paths: Sequence[Tensor],
    *,
    extent: float,
    names: tuple[str, str],
) -> Panels:
    """`loss(u, v)` from above, with descent `paths` (steps, 2), and cut along the diagonal u = v."""
    t = torch.linspace(-extent, extent, 161)
    u, v = torch.meshgrid(t, t, indexing="xy")
    fig, (above, cut) = panels(2, PHONE, 300)
    strengths = [(*to_rgb(ACCENT), k / 10) for k in range(10)]
    u, v = u[::4, ::4], v[::4, ::4]
    seen = loss(u, v).numpy()
    edges = (torch.linspace(0, 1, 11) ** 2 * float(seen.max())).numpy()  # finer in the valleys
    bands = above.contourf(u.numpy(), v.numpy(), seen, levels=edges, colors=strengths)
    bar = above.figure.colorbar(bands, ax=above, label="perda (nats)", drawedges=False)
    bar.ax.yaxis.set_major_formatter(lambda x, _: pt(x, 1))
    for path, colour in zip(paths, (WARNING, INK), strict=False):
        above.plot(*path.T.numpy(), ".-", color=colour, lw=1.2, ms=4)
        above.plot(*path[-1].numpy(), "*", color=colour, ms=12)
    above.plot([-extent, extent], [-extent, extent], ":", color=QUIET, lw=1)
    above.set(xlabel=names[0], ylabel=names[1], title="vista de cima", aspect="equal")
    cut.plot(t.numpy(), loss(t, t).numpy(), color=ACCENT)
    cut.set(xlabel=f"{names[0]} = {names[1]}", ylabel="perda (nats)", title="corte pela diagonal")
    for ax in (above, cut):
        tidy(ax)
    above.grid(False)
    return fig
