"""Cross-entropy by hand: drag the bars of a distribution over a small vocabulary and watch the loss.

`cross_entropy_bars` makes the widget. `shown` is its twin: `lib.losses` and autograd compute there what the
JavaScript computes in the reader's browser. `with_probability` is what dragging one bar does to the logits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import traitlets
from ipywidgets import Dropdown, SelectionSlider
from torch import Tensor

from lib.attention import softmax
from lib.losses import cross_entropy_of, entropy, kl, perplexity, to_bits
from lib.numbers import pt
from lib.widgets.base import CourseWidget, Panel, check_words, one_of, picker, script_and_style

MODES = {"probabilidades": "Probabilidades", "logits": "Logits"}
SMOOTHINGS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
MAX_WORDS = 8
LOGIT_LIMIT = 10.0
LEAST, MOST = 0.001, 0.999  # how far a bar of probability goes
FLOOR = 1e-4  # what the other bars keep: log(1e-4) is still within LOGIT_LIMIT


@dataclass(frozen=True)
class Shown:
    """What the widget shows, in float64 and nats."""

    q: Tensor  # (V,) what the model expects
    p: Tensor  # (V,) what is true: one-hot, or smoothed
    gradient: Tensor  # (V,) of the loss on the logits
    loss: float
    entropy_q: float
    entropy_p: float
    kl: float

    @property
    def perplexity(self) -> float:
        return perplexity(self.loss)

    @property
    def bits(self) -> float:
        return to_bits(self.loss)


def shown(logits: Sequence[float], target: int, smoothing: float = 0.0) -> Shown:
    """The loss of `logits` (V,) when the word `target` is true, and its gradient by autograd."""
    z = torch.tensor(_checked_logits(logits), dtype=torch.float64, requires_grad=True)
    p = truth(len(z), target, smoothing)
    q = softmax(z)
    loss = cross_entropy_of(p, q)
    (gradient,) = torch.autograd.grad(loss, z)
    q = q.detach()
    parts = (loss, entropy(q), entropy(p), kl(p, q))
    return Shown(q, p, gradient, *(part.item() for part in parts))


def truth(n: int, target: int, smoothing: float) -> Tensor:
    """The true distribution: all on `target`, but for `smoothing`, spread evenly over the n words."""
    if not (isinstance(target, int) and 0 <= target < n):
        raise ValueError(f"target must be an index in 0..{n - 1}, got {target!r}")
    if not (isinstance(smoothing, int | float) and 0 <= smoothing < 1):
        raise ValueError(f"smoothing must be a number at least 0 and below 1, got {smoothing!r}")
    p = torch.full((n,), smoothing / n, dtype=torch.float64)
    p[target] += 1 - smoothing
    return p


def with_probability(logits: Sequence[float], k: int, probability: float) -> list[float]:
    """The logits once the bar of word k was dragged: the others shrink or grow together to fill the rest."""
    q = softmax(torch.tensor(_checked_logits(logits), dtype=torch.float64))
    wanted = min(max(probability, LEAST), MOST)
    moved = (q * (1 - wanted) / (1 - q[k])).clamp(min=FLOOR)
    moved[k] = wanted
    return (moved / moved.sum()).log().tolist()


class CrossEntropyBars(CourseWidget):
    """The view: `logits` is all there is to drag; the probabilities follow from them."""

    TITLE = "Arraste a aposta"
    INSTRUCTION = "Arraste as barras e veja a perda, o gradiente e as entropias mudarem."
    _esm, _css = script_and_style("cross_entropy_bars", "fields")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    logits = traitlets.List(traitlets.Float()).tag(sync=True)
    target_index = traitlets.Int(0).tag(sync=True)
    modes = traitlets.List(traitlets.Unicode(), list(MODES)).tag(sync=True)
    mode_index = traitlets.Int(0).tag(sync=True)
    smoothings = traitlets.List(traitlets.Float(), list(SMOOTHINGS)).tag(sync=True)
    smoothing_index = traitlets.Int(0).tag(sync=True)


def cross_entropy_bars(
    words: Sequence[str] = ("ladra", "dorme", "come", "mia", "voa"),
    logits: Sequence[float] = (2.0, 1.0, 0.5, -0.5, -1.5),
    *,
    target: str | None = None,
    mode: str = "probabilidades",
) -> Panel:
    """The widget for a vocabulary of 2 to 8 words; `target` is the true word, the first unless told."""
    check_words("words", words)
    words, logits = list(words), _checked_logits(logits)
    if not 2 <= len(words) <= MAX_WORDS or len(set(words)) < len(words):
        raise ValueError(f"words must hold 2 to {MAX_WORDS} different words, got {words}")
    if len(logits) != len(words):
        raise ValueError(f"logits must hold one number per word, {len(words)}, got {len(logits)}")
    widget = CrossEntropyBars(
        words=words,
        logits=logits,
        target_index=0 if target is None else one_of("target", target, words),
        mode_index=one_of("mode", mode, MODES),
    )
    controls = [
        picker(Dropdown, widget, "target_index", "Palavra certa", words),
        picker(Dropdown, widget, "mode_index", "Arrastar", MODES.values()),
        picker(SelectionSlider, widget, "smoothing_index", "Suavização ε", map(pt, widget.smoothings)),
    ]
    return Panel(widget, controls)


def _checked_logits(logits: Sequence[float]) -> list[float]:
    numbers = [float(z) for z in logits]
    if not all(math.isfinite(z) and abs(z) <= LOGIT_LIMIT for z in numbers):
        raise ValueError(f"logits must lie between -{LOGIT_LIMIT:g} and {LOGIT_LIMIT:g}, got {numbers}")
    return numbers
