"""Where answers go wrong: in which group of items, one class for which other, and how sure they were."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torch import Tensor

FREQUENCIES = {"nunca": 0, "1 ou 2 vezes": 2, "3 a 9 vezes": 9, "10 ou mais": None}
Limits = dict[str, int | None]  # the name of each group, and the most that belongs to it; None: all the rest


class Group(NamedTuple):
    name: str
    share: float  # of right answers
    count: int


class Bin(NamedTuple):
    confidence: float
    share: float  # of right answers
    count: int


def by_group(values: Iterable[int], right: Sequence[bool] | Tensor, limits: Limits) -> list[Group]:
    """The share of right answers among items with a value up to the first limit, up to the second, ..."""
    of_group: dict[str, list[bool]] = {name: [] for name in limits}
    for value, is_right in zip(values, map(bool, right), strict=True):
        name = next(name for name, most in limits.items() if most is None or value <= most)
        of_group[name].append(is_right)
    return [Group(name, sum(found) / len(found), len(found)) for name, found in of_group.items() if found]


def thirds(values: Sequence[int], named: str) -> Limits:
    """Limits that part the values in three groups of about one size, the first two `named` "até {}", say."""
    ordered = sorted(values)
    first, second = (ordered[len(ordered) * k // 3] for k in (1, 2))
    return {named.format(first): first, named.format(second): second, f"mais de {second}": None}


def confusions(truth: Sequence[str], guess: Sequence[str], top: int) -> list[tuple[str, str, int]]:
    """The commonest mistakes: (true, given, how often)."""
    wrong = Counter((t, g) for t, g in zip(truth, guess, strict=True) if t != g)
    return [(*pair, count) for pair, count in sorted(wrong.items(), key=lambda x: (-x[1], x[0]))[:top]]


def reliability(confidence: Tensor, right: Sequence[bool] | Tensor, bins: int = 10) -> list[Bin]:
    """Answers in bins of one size, from the least sure to the surest: how sure, and how often right."""
    answers = sorted(zip(confidence.tolist(), map(float, right), strict=True))
    size = -(-len(answers) // bins)
    parts = [answers[i : i + size] for i in range(0, len(answers), size)]
    means = [[sum(column) / len(part) for column in zip(*part, strict=True)] for part in parts]
    return [Bin(sure, share, len(part)) for (sure, share), part in zip(means, parts, strict=True)]


def calibration_error(found: Sequence[Bin]) -> float:
    """The mean distance between how sure and how often right, each bin weighed by its answers."""
    return sum(b.count * abs(b.confidence - b.share) for b in found) / sum(b.count for b in found)
