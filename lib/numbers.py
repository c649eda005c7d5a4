"""How figures are written: rounded, so that every machine prints the same, and with a decimal comma."""

import statistics
from collections.abc import Iterable
from typing import Any


class Repeated:
    """One figure measured again with each seed: prints as its mean and its standard deviation.

    >>> print(f"{Repeated([0.68, 0.65, 0.79]):.2f}")
    0.71 ± 0.07
    """

    def __init__(self, values: Iterable[float]):
        self.values = tuple(map(float, values))
        if len(self.values) < 3:
            raise ValueError(f"values must be at least 3, one for each seed, got {self.values}")
        self.mean, self.deviation = statistics.mean(self.values), statistics.stdev(self.values)
        self.low, self.high = min(self.values), max(self.values)

    def __format__(self, spec: str) -> str:
        return f"{self.mean:{spec}} ± {self.deviation:{spec}}"


def rounded(values: Any, digits: int = 4) -> Any:
    """A number, tensor or nested list with every entry rounded; -0.0 comes out as 0.0."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, list | tuple):
        return [rounded(v, digits) for v in values]
    return round(values, digits) + 0.0 if isinstance(values, float) else values


def pt(x: Any, digits: int | None = None) -> str:
    """A number as Brazilian readers write it, with `digits` decimals or as many as it has: "−0,67"."""
    text = f"{x:g}" if digits is None else f"{x:.{digits}f}"
    if not text.strip("-0."):
        text = text.lstrip("-")
    return text.replace("-", "−").replace(".", ",")
