"""What a function may ask of an argument, and the sentence that says so when it does not get it.

Each of these gives back the value it was asked about, or raises an error that names the argument, says what
was expected and shows what came.
"""

import math
from numbers import Real
from typing import TypeVar

import torch
from torch import Tensor

Kind = TypeVar("Kind")


def tensor(name: str, value: Tensor) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(value).__name__}: use torch.tensor()")
    return value


def instance(name: str, value: object, kind: type[Kind], hint: str = "") -> Kind:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be of type {kind.__name__}, got {value!r}" + (hint and f": {hint}"))
    return value


def flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return value


def integer(name: str, value: int, least: float = -math.inf) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        bound = "" if least == -math.inf else f" of at least {least}"
        raise ValueError(f"{name} must be an integer{bound}, got {value!r}")
    return value


def number(name: str, value: float, least: float = -math.inf) -> float:
    """A finite number; neither NaN nor a truth value is one."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or value < least:
        bound = "" if least == -math.inf else f" of at least {least}"
        raise ValueError(f"{name} must be a finite number{bound}, got {value!r}")
    return value


def probability(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a probability between 0 and 1, got {value!r}")
    return value


def generator(value: torch.Generator | None) -> torch.Generator:
    if not isinstance(value, torch.Generator):
        raise TypeError(
            f"generator must be a torch.Generator, so that a seed decides every draw, got {value!r}"
        )
    return value


class NotFinite(ValueError, FloatingPointError):
    """A NaN or an infinity where none may leave: a wrong input, or a training that diverged."""


def all_finite(x: Tensor) -> bool:
    """No NaN and no infinity. One sum almost always tells, at a tenth of the cost of a look at each number;
    only where it overflows must all be looked at."""
    x = x.detach()
    return bool(x.sum().isfinite()) or bool(x.isfinite().all())
