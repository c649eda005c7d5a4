"""Values that students return: as plain data, compared, shown in one line, and watched for changes."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import torch
from torch import Tensor

MOST = 1_000_000  # entries of a tensor or of a list, beyond any right answer
ROOM = 220  # for a value that is shown

KINDS = {"bool": "booleanos", "int": "inteiros", "real": "reais"}


class NotAnAnswer(Exception):
    """A value that is no answer to any exercise: of another type, or far too large."""

    def __init__(self, what: str, large: bool = False) -> None:
        super().__init__(what)
        self.large = large


def plain(value: Any, depth: int = 0) -> Any:
    """The value as numbers, texts, lists and bytes: no method of the student's own decides anything."""
    if isinstance(value, Tensor):
        return _plain_tensor(value)
    if type(value) in (bool, int, float, str) or value is None:
        return value
    if isinstance(value, numpy.bool | numpy.integer | numpy.floating):
        return value.item()
    if type(value) in (Fraction, Decimal):
        return float(value)
    if type(value) in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        if depth > 3 or len(value) > MOST:
            raise NotAnAnswer("uma sequência grande demais", large=True)
        return [plain(item, depth + 1) for item in value]
    raise NotAnAnswer(f"um objeto do tipo {type(value).__name__}")


def _plain_tensor(value: Tensor) -> dict:
    try:
        tensor = torch.Tensor.as_subclass(torch.Tensor.detach(value), torch.Tensor)
    except NotImplementedError:  # a sparse one
        raise NotAnAnswer("um tensor que não é denso") from None
    if tensor.numel() > MOST:
        raise NotAnAnswer(f"um tensor de forma {tuple(tensor.shape)}", large=True)
    if tensor.device.type != "cpu":
        raise NotAnAnswer("um tensor que não está na CPU")
    flat = tensor.resolve_conj().resolve_neg().reshape(-1).contiguous()
    return {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "derives": bool(value.requires_grad),
        "bytes": flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b"",
    }


def restored(data: Any) -> Any:
    """The value that `plain` told; an error if it told something else."""
    if isinstance(data, list):
        return [restored(item) for item in data]
    if isinstance(data, dict):
        dtype = getattr(torch, data["dtype"])
        if not isinstance(dtype, torch.dtype):
            raise NotAnAnswer(f"um tensor do tipo {data['dtype']}")
        entries = torch.frombuffer(bytearray(data["bytes"]), dtype=dtype) if data["bytes"] else []
        tensor = torch.as_tensor(entries, dtype=dtype).reshape(data["shape"])
        return tensor.requires_grad_(data["derives"] is True and tensor.is_floating_point())
    if data is None or type(data) in (bool, int, float, str):
        return data
    raise NotAnAnswer(f"um objeto do tipo {type(data).__name__}")


def fingerprint_of_input(value: Any) -> Any:
    """What must be the same after a call as before it; of a generator, its state; of a function, nothing."""
    if isinstance(value, torch.Generator):
        return value.get_state().numpy().tobytes()
    if isinstance(value, Tensor):
        return [plain(value)]
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, dict):
        return [[name, plain(entry)] for name, entry in value.items()]
    return None if callable(value) else plain(value)


def passes_for(a: Any, b: Any) -> bool:
    """Whether `a` passes for `b`: of one kind; reals within rounding, nan for nan, lists and tuples alike."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.shape != b.shape or _kind(a) != _kind(b):
            return False
        # A tenth of a thousandth leaves room for float32 and is far below any mistake.
        return torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
    a, b = (x.tolist() if isinstance(x, Tensor) and x.dim() == 1 else x for x in (a, b))
    if isinstance(b, bool) and isinstance(a, Tensor) and a.dim() == 0 and a.dtype == torch.bool:
        a = bool(a)
    if isinstance(a, Tensor) and isinstance(b, list):  # a table may stand for a list of rows, not the reverse
        a = [*a] if a.dim() else a
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(passes_for, a, b))
    if _is_number(a) and _is_number(b):
        a, b = (x.item() if isinstance(x, Tensor) else x for x in (a, b))
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5)
    return type(a) is type(b) and not isinstance(a, Tensor) and a == b


def kind_in_words(value: Any) -> str:
    """What kind of value it is, in words: equal numbers in another kind of object look the same."""
    if isinstance(value, Tensor):
        return f"tensor de {KINDS[_kind(value)]}"
    if isinstance(value, list | tuple):
        return f"sequência com {kind_in_words(value[0])}" if len(value) else "sequência vazia"
    return {bool: "booleano", int: "inteiro", float: "real", str: "texto"}.get(type(value), "outro objeto")


def show(value: Any) -> str:
    """A value on one line, short."""
    if isinstance(value, Tensor) and value.numel() > 30:
        return f"um tensor de forma {tuple(value.shape)}"
    if isinstance(value, torch.Generator):
        text = f"gerador com a semente {value.initial_seed()}"
    elif isinstance(value, set):
        text = "{" + ", ".join(map(repr, sorted(value))) + "}"
    elif isinstance(value, dict) and all(isinstance(entry, Tensor) for entry in value.values()):
        text = f"pesos ({len(value)} tensores)"
    elif callable(value):
        text = getattr(value, "__name__", "uma função")
    else:
        text = repr(_short(value))
    return text if len(text) <= ROOM else text[: ROOM - 1] + "…"


def _short(value: Any) -> Any:
    if isinstance(value, Tensor):
        return _short(value.tolist())
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
        return next(kind_of_difference(g, e) for g, e in pairs if not passes_for(g, e))
    return "valor" if type(got) is type(expected) else "tipo"


def first_difference(expected: Tensor, got: Tensor) -> dict[str, str]:
    if expected.shape != got.shape:
        return {}
    differs = (expected.double() - got.double()).abs().nan_to_num(1.0) > 1e-5
    if not differs.any():
        return {}
    where = tuple(differs.nonzero()[0].tolist())
    return {"Posição": f"{list(where)}: esperado {show(expected[where])}, recebido {show(got[where])}"}
