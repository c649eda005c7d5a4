"""Numbers as the notebooks print them: rounded, so that every machine prints the same text."""

from typing import Any


def rounded(values: Any, digits: int = 4) -> Any:
    """A number, tensor or nested list with every entry rounded; -0.0 comes out as 0.0."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, list | tuple):
        return [rounded(v, digits) for v in values]
    return round(values, digits) + 0.0 if isinstance(values, float) else values
