"""Chapter 1: the mask slides over the scores, and the softmax closes over what is left."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from lib.attention import causal_mask, softmax
from lib.numbers import pt
from lib.widgets.film import Film, Frame, Item

NAMES, GAP = 1.9, 0.15  # the width of the tokens at the left, and what separates the column of sums


def masking_film(tokens: Sequence[str], scores: Tensor | Sequence[Sequence[float]], d_k: int = 1) -> Film:
    """Scores (N, N), not yet divided by sqrt(d_k); the mask over the future; row by row, the softmax."""
    s = torch.as_tensor(scores, dtype=torch.float64) / math.sqrt(d_k)
    n = len(tokens)
    if s.shape != (n, n):
        raise ValueError(f"scores must have shape ({n}, {n}), one row per token, got {tuple(s.shape)}")
    masked = s.masked_fill(~causal_mask(n), -math.inf)
    exps, weights = masked.exp(), softmax(masked)  # (N, N)
    covered = n * (n - 1) // 2
    root = f"√{d_k} = {pt(math.sqrt(d_k))}"
    frames = [
        Frame(
            f"As pontuações, já divididas por {root}. A linha é quem olha; a coluna, quem é olhado.",
            _names(tokens) | _cells(s, 2) | _mask(n, parked=True),
        ),
        Frame(f"A máscara desliza sobre o futuro: {covered} pontuações viram −∞.", _mask(n)),
        Frame(
            "Cada pontuação s vira eˢ, e −∞ vira zero: o futuro já não conta.",
            _cells(exps, 3) | _mask(n, "0"),
        ),
        Frame("Cada linha soma só o que ficou à vista.", _sums(exps.sum(-1), n)),
    ]
    for i, token in enumerate(tokens):
        total = pt(exps[i].sum().item(), 3)
        seen = zip(exps[i, : i + 1].tolist(), weights[i, : i + 1].tolist(), strict=True)
        parts = [f"{pt(e, 3)} / {total} = {pt(weight, 3)}" for e, weight in seen]
        rest = "" if i + 1 < n else " Em cada linha, os pesos somam 1."
        frames.append(
            Frame(
                f"A linha de “{token}” se fecha: {'; '.join(parts)}.{rest}",
                {k: item for k, item in _cells(weights, 3, weights).items() if k.startswith(f"cell {i} ")}
                | {f"sum {i}": _sum(i, n, weights[i].sum().item())},
            )
        )
    return Film(
        "A máscara desliza, a softmax se fecha",
        "Antes de tocar: a primeira linha vê uma palavra só. Que peso ela recebe?",
        *(NAMES + n + GAP + 1.1, n + 1.0),
        frames,
    )


def _names(tokens: Sequence[str]) -> dict[str, Item]:
    rows = {f"row {i}": Item(0, i + 1, NAMES - 0.1, token, "head") for i, token in enumerate(tokens)}
    return rows | {f"column {j}": Item(NAMES + j, 0, 1, token, "head") for j, token in enumerate(tokens)}


def _cells(values: Tensor, digits: int, shades: Tensor | None = None) -> dict[str, Item]:
    """The cells that the mask leaves in sight, and those it covers."""
    shades = torch.zeros_like(values) if shades is None else shades
    n = len(values)
    return {
        f"cell {i} {j}": Item(
            *(NAMES + j, i + 1, 0.96, pt(values[i, j].item(), digits), "cell"), weight=shades[i, j].item()
        )
        for i in range(n)
        for j in range(n)
    }


def _mask(n: int, text: str = "−∞", *, parked: bool = False) -> dict[str, Item]:
    """The triangle that covers the future; parked, it waits beyond the right edge of the stage."""
    away = n + GAP + 1.5 if parked else 0
    return {
        f"mask {i} {j}": Item(NAMES + j + away, i + 1, 0.96, text, "mask")
        for i in range(n)
        for j in range(i + 1, n)
    }


def _sums(totals: Tensor, n: int) -> dict[str, Item]:
    head = {"sums": Item(NAMES + n + GAP, 0, 1.1, "soma", "sum")}
    return head | {f"sum {i}": _sum(i, n, total) for i, total in enumerate(totals.tolist())}


def _sum(i: int, n: int, total: float) -> Item:
    return Item(NAMES + n + GAP, i + 1, 1.1, pt(total, 3), "sum")
