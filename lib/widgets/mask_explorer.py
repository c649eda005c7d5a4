"""The mask explorer: what a mask, right or wrong, does to the attention weights of a sentence.

`mask_explorer` makes the widget. `shown` is its twin: it computes with `lib` what the JavaScript computes in
the reader's browser, and the browser tests compare the two.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import traitlets
from ipywidgets import Dropdown, SelectionSlider, jslink
from torch import Tensor

from lib.attention import causal_mask, padding_mask, softmax
from lib.experiments.wrong_masks import MISTAKES, mistaken_weights
from lib.numbers import pt
from lib.widgets.base import CourseWidget, Panel, check_words, one_of, picker, script_and_style, slider

KINDS = {
    "causal": "Causal",
    "bidirecional": "Bidirecional (sem máscara)",
    "padding": "Preenchimento ([PAD])",
    "causal_padding": "Causal com preenchimento ([PAD])",
    "diagonal": "Erro: diagonal escondida",
    "invertida": "Erro: booleano invertido",
    "depois": "Erro: depois da softmax",
    "esquecida": "Erro: esquecida",
    "zerada": "Erro: zero no lugar de −∞",
}
PADDED = ("padding", "causal_padding")
TEMPERATURES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
D_K_CHOICES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
MAX_TOKENS = 16


@dataclass(frozen=True)
class Shown:
    """What the explorer shows, in float64: the scores that enter the softmax and the weights, both (N, N)."""

    entering: Tensor
    weights: Tensor
    underflow: bool = False  # a wrong mask lets futures in, and exp rounds them all to zero

    @property
    def empty_rows(self) -> list[int]:
        """Queries with nothing to attend to, shown as "—"."""
        return [i for i, row in enumerate(self.entering) if (row == -math.inf).all()]

    @property
    def largest_future_weight(self) -> float:
        return self.weights.triu(1).max().item()

    @property
    def row_sums(self) -> Tensor:
        return self.weights.sum(-1)  # (N,)


def shown(
    scores: Tensor | Sequence[Sequence[float]],
    kind: str,
    d_k: int,
    temperature: float = 1.0,
    real_tokens: int | None = None,
) -> Shown:
    """Compute with `lib` what the explorer shows for one state of its controls."""
    _check_controls(kind, d_k, temperature)
    scores = _checked_scores(scores, len(scores))
    entering = _entering(scores, kind, len(scores) if real_tokens is None else real_tokens)
    if kind in MISTAKES:
        weights = mistaken_weights(kind, scores / temperature, d_k)
        futures = entering[torch.ones_like(weights, dtype=torch.bool).triu(1)]
        lost = kind != "depois" and bool(futures.isfinite().any()) and not weights.triu(1).any()
        return Shown(entering, weights, lost)
    return Shown(entering, softmax(entering / (math.sqrt(d_k) * temperature)))


def _entering(scores: Tensor, kind: str, real_tokens: int) -> Tensor:
    """The scores as they stand when the softmax reads them."""
    n = len(scores)
    everything = torch.ones(n, n, dtype=torch.bool)
    real = padding_mask([real_tokens], n)[0].expand(n, n)
    allowed = {
        "causal": causal_mask(n),
        "padding": real,
        "causal_padding": causal_mask(n) & real,
        "diagonal": causal_mask(n).tril(-1),
        "invertida": ~causal_mask(n),
        "zerada": causal_mask(n),
    }.get(kind, everything)
    return scores.masked_fill(~allowed, 0.0 if kind == "zerada" else -math.inf)


class MaskExplorer(CourseWidget):
    """The view: all arithmetic is in `mask_explorer.js`; each control sets one index here."""

    TITLE = "O que a máscara esconde"
    INSTRUCTION = "Troque a máscara e escolha uma célula: a conta dela aparece embaixo."
    _esm, _css = script_and_style("mask_explorer")

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    scores = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    kinds = traitlets.List(traitlets.Unicode(), list(KINDS)).tag(sync=True)
    kind_index = traitlets.Int(0).tag(sync=True)
    d_k_choices = traitlets.List(traitlets.Int()).tag(sync=True)
    d_k_index = traitlets.Int(0).tag(sync=True)
    temperatures = traitlets.List(traitlets.Float()).tag(sync=True)
    temperature_index = traitlets.Int(0).tag(sync=True)
    real_tokens = traitlets.Int(1).tag(sync=True)
    padding_unused = traitlets.Bool(True).tag(sync=True)
    cell = traitlets.List(traitlets.Int(), [0, 0]).tag(sync=True)


def mask_explorer(
    tokens: Sequence[str],
    scores: Tensor | Sequence[Sequence[float]],
    d_k: int = 1,
    *,
    kind: str = "causal",
    temperature: float = 1.0,
) -> Panel:
    """The explorer for one sentence: `scores` is Q K^T, one row per query, not yet divided by sqrt(d_k)."""
    check_words("tokens", tokens)
    if not 1 <= len(tokens) <= MAX_TOKENS:
        raise ValueError(
            f"tokens must hold 1 to {MAX_TOKENS} strings (what a table can show), got {len(tokens)}"
        )
    scores = _checked_scores(scores, len(tokens))
    _check_controls(kind, d_k, temperature)
    d_k_choices = sorted({*D_K_CHOICES, d_k})
    temperatures = sorted({*TEMPERATURES, float(temperature)})
    widget = MaskExplorer(
        tokens=list(tokens),
        scores=scores.tolist(),
        kind_index=list(KINDS).index(kind),
        d_k_choices=d_k_choices,
        d_k_index=d_k_choices.index(d_k),
        temperatures=temperatures,
        temperature_index=temperatures.index(temperature),
        real_tokens=max(1, len(tokens) - 1),
        padding_unused=kind not in PADDED,
        cell=[len(tokens) - 1, 0],
    )
    controls = [
        picker(Dropdown, widget, "kind_index", "Máscara", KINDS.values()),
        picker(SelectionSlider, widget, "temperature_index", "Temperatura T", map(pt, temperatures)),
        picker(SelectionSlider, widget, "d_k_index", "Dimensão dₖ", d_k_choices),
        real := slider(widget, "real_tokens", "Tokens reais", 1, len(tokens)),
    ]
    real.disabled = widget.padding_unused
    jslink((widget, "padding_unused"), (real, "disabled"))
    return Panel(widget, controls)


def _check_controls(kind: str, d_k: int, temperature: float) -> None:
    one_of("kind", kind, KINDS)
    if isinstance(d_k, bool) or not isinstance(d_k, int) or d_k < 1:
        raise ValueError(f"d_k must be an integer >= 1, got {d_k!r}")
    if not (isinstance(temperature, int | float) and 0 < temperature < math.inf):
        raise ValueError(f"temperature must be a finite number > 0, got {temperature!r}")


def _checked_scores(scores: Tensor | Sequence[Sequence[float]], n: int) -> Tensor:
    scores = torch.as_tensor(scores, dtype=torch.float64).detach()
    if scores.shape != (n, n):
        raise ValueError(f"scores must have shape ({n}, {n}), one row per token, got {tuple(scores.shape)}")
    if not scores.isfinite().all():
        raise ValueError("scores must be finite: give the scores before the mask, which the explorer applies")
    return scores
