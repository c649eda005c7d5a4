"""The encoder as a drawing: the whole of it, from the tokens up, and the inside of a block."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from lib.encoder import Config
from lib.plots.palette import ACCENT, INK, PALE, QUIET, WARM, WARNING
from lib.plots.style import LEGIBLE, PHONE, Panels, panels, picture, picture_of
from lib.plots.vector import Picture

LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def encoder(tokens: Sequence[str], config: Config) -> Picture:
    """Tokens at the bottom, one vector each at the top; in every block an arrow from each token to each."""
    n, rows = len(tokens), config.layers + 2  # embeddings, the output of each block, and the tokens below
    fig, ax = picture(PHONE, 60 + 72 * rows)
    tables = "token +\nposição" + (" +\nsegmento" if config.segments else "")
    for i, token in enumerate(tokens):
        _box(ax, i, 0, token, PALE)
        _box(ax, i, 1, "", WARM, small=True)
        _arrow(ax, (i, 0.22), (i, 0.82), QUIET)
        for block in range(config.layers):
            _box(
                ax,
                i,
                block + 2,
                f"h{i + 1}".translate(LOWERED) if block == config.layers - 1 else "",
                PALE,
                small=True,
            )
            for j in range(n):
                _arrow(ax, (j, block + 1.18), (i, block + 1.82), ACCENT if i != j else INK)
    ax.text(n - 0.45, 0.5, f"embeddings:\n{tables}", va="center")
    for block in range(config.layers):
        ax.text(n - 0.45, block + 1.5, f"bloco {block + 1}", va="center")
    ax.text(n - 0.45, config.layers + 1, "um vetor\npor token", va="center")
    ax.set(xlim=(-0.55, n + 1.35), ylim=(-0.4, rows - 0.6))
    ax.set_axis_off()
    return fig


def block(pre_norm: bool, ax: Axes | None = None) -> Picture:
    """The parts of one block, bottom to top, with the two residual connections around them."""
    parts = ["norma", "atenção", "+", "norma", "feed-forward", "+"]
    if not pre_norm:
        parts = ["atenção", "+", "norma", "feed-forward", "+", "norma"]
    ax = ax or picture(PHONE / 2 - 8, 400)[1]
    ax.text(0, -0.75, "x (N × d)", ha="center", va="center")
    below, start = -0.55, -0.42
    for y, part in enumerate(parts):
        _box(ax, 0, y, part, WARM if part == "norma" else PALE, wide=part != "+")
        _arrow(ax, (0, below), (0, y - 0.24), INK)
        if part == "+":
            ax.plot([0, 1.15, 1.15, 0.9], [start, start, y, y], "--", color=WARNING, lw=1.6)
            _arrow(ax, (0.92, y), (0.19, y), WARNING)
            start = y + 0.4 if pre_norm else y + 1.4  # where the next residual leaves: after the norm, if any
        below = y + 0.24
    _arrow(ax, (0, below), (0, len(parts) - 0.35), INK)
    ax.text(0, len(parts) - 0.15, "saída (N × d)", ha="center", va="center")
    ax.set(xlim=(-0.85, 1.25), ylim=(-1.0, len(parts) + 0.1))
    ax.set_title("pre-norm" if pre_norm else "post-norm (BERT)")
    ax.set_axis_off()
    return picture_of(ax)


def blocks() -> Panels:
    """The block of BERT beside the one that normalises before each part."""
    fig, axes = panels(2, PHONE / 2 - 8, 400)
    for ax, pre_norm in zip(axes, (False, True), strict=True):
        block(pre_norm, ax)
    return fig


def _box(
    ax: Axes, x: float, y: float, text: str, colour: str, *, wide: bool = False, small: bool = False
) -> None:
    w, h = (1.5, 0.44) if wide else (0.34, 0.34) if small or text == "+" else (0.94, 0.4)
    style = FancyBboxPatch((x - w / 2, y - h / 2), w, h, boxstyle="round,pad=0.02", fc=colour, ec=INK, lw=0.9)
    ax.add_patch(style)
    ax.text(x, y, text, ha="center", va="center", fontsize=LEGIBLE)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle="->", mutation_scale=8, color=colour, lw=0.9))
