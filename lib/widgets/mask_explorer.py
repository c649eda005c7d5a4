"""The mask explorer: what a mask, right or wrong, does to the attention weights of a sentence.

`mask_explorer` makes the widget. `shown` is its twin: it computes with `lib` what the JavaScript computes in
the reader's browser, and the browser tests compare the two.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import traitlets
from ipywidgets import Dropdown, IntSlider, SelectionSlider, jslink
from torch import Tensor

from lib.attention import causal_mask, padding_mask, softmax
from lib.experiments.wrong_masks import MISTAKES, mistaken_weights
from lib.numbers import pt
from lib.widgets.base import CourseWidget, Panel, script_and_style

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
        return Shown(entering, mistaken_weights(kind, scores / temperature, d_k))
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

    def shown(self) -> Shown:
        """What the view shows right now."""
        return shown(
            self.scores,
            self.kinds[self.kind_index],
            self.d_k_choices[self.d_k_index],
            self.temperatures[self.temperature_index],
            self.real_tokens,
        )


def mask_explorer(
    tokens: Sequence[str],
    scores: Tensor | Sequence[Sequence[float]],
    d_k: int = 1,
    *,
    kind: str = "causal",
    temperature: float = 1.0,
) -> Panel:
    """The explorer for one sentence: `scores` is Q K^T, one row per query, not yet divided by sqrt(d_k)."""
    tokens, scores = _checked_tokens(tokens), _checked_scores(scores, len(tokens))
    _check_controls(kind, d_k, temperature)
    d_k_choices = sorted({*D_K_CHOICES, d_k})
    temperatures = sorted({*TEMPERATURES, float(temperature)})
    widget = MaskExplorer(
        tokens=tokens,
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
    return Panel(widget, _controls(widget))


def _controls(widget: MaskExplorer) -> list[Dropdown | IntSlider | SelectionSlider]:
    mask = Dropdown(options=list(KINDS.values()), index=widget.kind_index, description="Máscara")
    temperature = SelectionSlider(
        options=[(pt(t), t) for t in widget.temperatures],
        index=widget.temperature_index,
        description="Temperatura T",
    )
    d_k = SelectionSlider(
        options=[(str(d), d) for d in widget.d_k_choices], index=widget.d_k_index, description="Dimensão dₖ"
    )
    real_tokens = IntSlider(
        value=widget.real_tokens,
        min=1,
        max=len(widget.tokens),
        disabled=widget.padding_unused,
        description="Tokens reais",
    )
    # In the page there is no Python to listen: the links live in the browser, on indices, never on labels.
    jslink((mask, "index"), (widget, "kind_index"))
    jslink((temperature, "index"), (widget, "temperature_index"))
    jslink((d_k, "index"), (widget, "d_k_index"))
    jslink((real_tokens, "value"), (widget, "real_tokens"))
    jslink((widget, "padding_unused"), (real_tokens, "disabled"))
    return [mask, temperature, d_k, real_tokens]


def _check_controls(kind: str, d_k: int, temperature: float) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if isinstance(d_k, bool) or not isinstance(d_k, int) or d_k < 1:
        raise ValueError(f"d_k must be an integer >= 1, got {d_k!r}")
    if not (isinstance(temperature, int | float) and 0 < temperature < math.inf):
        raise ValueError(f"temperature must be a finite number > 0, got {temperature!r}")


def _checked_tokens(tokens: Sequence[str]) -> list[str]:
    if isinstance(tokens, str) or not all(isinstance(token, str) and token for token in tokens):
        raise TypeError(f"tokens must be a sequence of non-empty strings, got {tokens!r}")
    if not 1 <= len(tokens) <= MAX_TOKENS:
        raise ValueError(
            f"tokens must hold 1 to {MAX_TOKENS} strings (what a table can show), got {len(tokens)}"
        )
    return list(tokens)


def _checked_scores(scores: Tensor | Sequence[Sequence[float]], n: int) -> Tensor:
    scores = torch.as_tensor(scores, dtype=torch.float64).detach()
    if scores.shape != (n, n):
        raise ValueError(f"scores must have shape ({n}, {n}), one row per token, got {tuple(scores.shape)}")
    if not scores.isfinite().all():
        raise ValueError("scores must be finite: give the scores before the mask, which the explorer applies")
    return scores
