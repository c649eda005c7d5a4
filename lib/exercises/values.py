"""Values that students return: made plain, compared, shown in one line, and watched for changes."""

import copy
import math
import numbers
from typing import Any

import torch
from torch import Tensor


def clean(value: Any, depth: int = 0) -> Any:
    """The value in plain types, so that no method of the student's own decides a comparison."""
    if isinstance(value, Tensor):
        plain = torch.Tensor.as_subclass(torch.Tensor.detach(value), torch.Tensor)
        return plain.clone()
    if type(value) in (bool, int, float, str) or value is None:
        return value
    if isinstance(value, numbers.Number) and type(value).__module__ == "numpy":
        return value.item()
    if type(value) in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        if depth > 3 or len(value) > 100_000:
            raise TypeError("uma sequência grande demais")
        return [clean(item, depth + 1) for item in value]
    raise TypeError(f"um objeto do tipo {type(value).__name__}")


def same(a: Any, b: Any) -> bool:
    """Equal values of one kind; reals within rounding, nan equal to nan, lists and tuples alike."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.shape != b.shape or _kind(a) != _kind(b):
            return False
        # A tenth of a thousandth leaves room for float32 and is far below any mistake.
        return torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
    a, b = (x.tolist() if isinstance(x, Tensor) and x.dim() == 1 else x for x in (a, b))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if _is_number(a) and _is_number(b):
        a, b = (x.item() if isinstance(x, Tensor) else x for x in (a, b))
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5)
    return type(a) is type(b) and not isinstance(a, Tensor) and a == b


def show(value: Any, room: int = 220) -> str:
    """A value on one line, short."""
    if isinstance(value, Tensor):
        if value.numel() > 30:
            return f"um tensor de forma {tuple(value.shape)}"
        text = str(_short(value.detach().tolist()))
    elif isinstance(value, torch.Generator):
        text = f"gerador com a semente {value.initial_seed()}"
    elif isinstance(value, set):
        text = "{" + ", ".join(map(repr, sorted(value))) + "}"
    elif callable(value):
        text = getattr(value, "__name__", "uma função")
    else:
        text = str(_short(value)) if isinstance(value, list | tuple | float) else repr(value)
    return text if len(text) <= room else text[: room - 1] + "…"


def _short(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_short, value)) if type(value) in (list, tuple) else [*map(_short, value)]
    return float(f"{value:.5g}") + 0.0 if isinstance(value, float) else value


def _kind(x: Tensor) -> str:
    return "bool" if x.dtype == torch.bool else "real" if x.is_floating_point() else "int"


def _is_number(x: Any) -> bool:
    return (isinstance(x, int | float) and not isinstance(x, bool)) or (
        isinstance(x, Tensor) and x.dim() == 0 and x.dtype != torch.bool and not x.is_complex()
    )


def kind_of_difference(got: Any, expected: Any) -> str:
    """The general hint for a result that no known mistake explains."""
    if isinstance(expected, Tensor) and isinstance(got, Tensor):
        if got.shape != expected.shape:
            return "forma"
        if _kind(got) != _kind(expected):
            return "dtype"
        return "nan" if got.is_floating_point() and got.isnan().any() else "valor"
    if _is_number(got) and _is_number(expected):
        return "nan" if got != got else "valor"
    if isinstance(got, list) and isinstance(expected, list | tuple):
        if len(got) != len(expected):
            return "forma"
        pairs = zip(got, expected, strict=True)
        return next(kind_of_difference(g, e) for g, e in pairs if not same(g, e))
    return "valor" if type(got) is type(expected) else "tipo"


def first_difference(expected: Tensor, got: Tensor) -> dict[str, str]:
    if expected.shape != got.shape:
        return {}
    differs = (expected.double() - got.double()).abs().nan_to_num(1.0) > 1e-5
    if not differs.any():
        return {}
    where = tuple(differs.nonzero()[0].tolist())
    return {"Posição": f"{list(where)}: esperado {show(expected[where])}, recebido {show(got[where])}"}


def snapshot(value: Any) -> Any:
    return value if isinstance(value, torch.Generator) or callable(value) else copy.deepcopy(value)


def changed_since(value: Any, before: Any) -> bool:
    if isinstance(value, torch.Generator) or callable(value):
        return False
    if isinstance(value, Tensor):
        return (
            value.dtype != before.dtype
            or value.requires_grad != before.requires_grad
            or not same(value, before)
        )
    return value != before
