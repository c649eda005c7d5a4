"""Chapter 4: the gradient as an arrow on each bar, and what a few steps against it do to them."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lib.attention import softmax
from lib.losses import cross_entropy
from lib.numbers import pt
from lib.widgets.film import Film, Frame, Item

NAMES, BARS = 2.0, 5.4  # columns for the words, and for a bar of probability 1
COLUMNS = NAMES + BARS + 1.3 + 1.5


def gradient_film(
    words: Sequence[str], probabilities: Sequence[float], target: str, *, rate: float = 1.0, steps: int = 6
) -> Film:
    """What the model expects of `words`, the true one, and `steps` of gradient descent on the logits."""
    if target not in words:
        raise ValueError(f"target must be one of {', '.join(words)}, got {target!r}")
    if len(probabilities) != len(words):
        raise ValueError(f"probabilities must be one for each word, {len(words)}, got {len(probabilities)}")
    true = list(words).index(target)
    logits = torch.tensor(probabilities, dtype=torch.float64).log()  # (V,)
    q, slope, loss = _state(logits, true)
    seen = f"A perda é −ln {pt(q[true].item(), 3)} = {pt(loss, 3)}."
    frames = [
        Frame(f"O que o modelo espera: uma barra para cada palavra. {seen}", _names(words) | _bars(q)),
        Frame(f"A verdade: só “{target}”, com probabilidade 1.", _truth(true)),
        Frame(
            "Cada seta vai contra o gradiente q − p: do previsto ao observado. As setas somam zero.",
            _arrows(q, true) | _slopes(slope),
        ),
    ]
    for k in range(1, steps + 1):
        before = loss
        logits = logits - rate * slope
        q, slope, loss = _state(logits, true)
        frames.append(
            Frame(
                f"Passo {k}, de tamanho {pt(rate)}: a perda cai de {pt(before, 3)} para {pt(loss, 3)}, "
                "e as setas encolhem.",
                _bars(q) | _arrows(q, true) | _slopes(slope),
            )
        )
    return Film(
        "Setas sobre as barras",
        "Antes de tocar: que barra tem a seta mais longa, e para que lado vão as outras?",
        *(COLUMNS, len(words) + 1.0),
        frames,
    )


def _state(logits: Tensor, true: int) -> tuple[Tensor, Tensor, float]:
    """The probabilities (V,), the gradient of the loss on the logits (V,), by autograd, and the loss."""
    z = logits.clone().requires_grad_()
    loss = cross_entropy(z[None], torch.tensor([true]))
    (slope,) = torch.autograd.grad(loss, z)
    return softmax(logits), slope, loss.item()


def _names(words: Sequence[str]) -> dict[str, Item]:
    names = {f"word {k}": Item(0, k + 1, NAMES - 0.1, word, "head") for k, word in enumerate(words)}
    return names | {"q": Item(NAMES + BARS + 0.1, 0, 1.2, "q", "head")}


def _bars(q: Tensor) -> dict[str, Item]:
    bars = {f"bar {k}": Item(NAMES, k + 1.1, BARS * x, "", "bar", 0.45) for k, x in enumerate(q.tolist())}
    return bars | {
        f"q {k}": Item(NAMES + BARS + 0.1, k + 1, 1.2, pt(x, 3), "head") for k, x in enumerate(q.tolist())
    }


def _truth(true: int) -> dict[str, Item]:
    return {"truth": Item(NAMES, true + 1.05, BARS, "", "truth", 0.55)}


def _arrows(q: Tensor, true: int) -> dict[str, Item]:
    """From each bar's end to where the truth is: right for the true word, left for the others."""
    arrows = {}
    for k, x in enumerate(q.tolist()):
        look, start, length = ("pull", x, 1 - x) if k == true else ("push", 0.0, x)
        arrows[f"arrow {k}"] = Item(NAMES + BARS * start, k + 1.72, BARS * length, "", look, 0.2)
    return arrows


def _slopes(slope: Tensor) -> dict[str, Item]:
    """The gradient in figures; one that falls is written with its minus, one that climbs with a plus."""
    x = NAMES + BARS + 1.4
    signed = [("+" if value > 0 else "") + pt(value, 3) for value in slope.tolist()]
    return {"slope": Item(x, 0, 1.4, "q − p", "sum")} | {
        f"slope {k}": Item(x, k + 1, 1.4, text, "sum") for k, text in enumerate(signed)
    }
