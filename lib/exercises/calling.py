"""An answer where it runs: in a process of its own, it is called and what happened is told in plain data."""

import contextlib
import io
import os
import random
import traceback
from types import FunctionType
from typing import Any

import numpy
import torch

from lib.exercises.tracing import traced
from lib.exercises.values import NotAnAnswer, fingerprint_of_input, plain


class Answer:
    """A student's function or number. Its methods are asked for from another process (see `isolation`)."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def what(self) -> dict:
        """What it is: the stub, a function, or a value."""
        return {"function": True} if callable(self.value) else _told(self.value)

    def define(self, source: str) -> None:
        """Put functions of the course where the answer looks names up: the steps that it builds on."""
        made: dict[str, Any] = {"__name__": "curso"}
        exec(source, made)
        own = {name: x for name, x in made.items() if getattr(x, "__module__", "") == "curso"}
        functions = vars(self.value).values() if isinstance(self.value, type) else [self.value]
        for function in (f for f in functions if isinstance(f, FunctionType)):
            names = function.__globals__
            names.update(own if hasattr(os, "fork") else {n: x for n, x in own.items() if n not in names})

    def trace(self, *inputs: Any) -> dict:
        """What it does while it runs (see `tracing`)."""
        with contextlib.redirect_stdout(_Sink()), contextlib.redirect_stderr(io.StringIO()):
            return traced(self.value, *inputs)

    def call(self, *inputs: Any) -> dict:
        """Call it: what it returned, whether it printed, and what became of its inputs."""
        _shuffle_global_generators()
        printed = _Sink()
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                result = self._applied(*inputs)
        except NotImplementedError:
            return {"stub": True}
        except BaseException as error:
            if "ellipsis" in str(error):  # a blank of a half-written program
                return {"stub": True}
            memory = isinstance(error, MemoryError) or "allocate memory" in str(error)
            return {"raised": _named(error), "memory": memory}
        return _told(result) | {"printed": printed.used, "inputs": [*map(_seen, inputs)]}

    def _applied(self, *inputs: Any) -> Any:
        """A module's class is built from what comes before its weights, loaded, and called with the rest."""
        weights = [i for i, x in enumerate(inputs) if isinstance(x, dict) and isinstance(self.value, type)]
        if not weights:
            return self.value(*inputs)
        module = self.value(*inputs[: weights[0]])
        module.load_state_dict(inputs[weights[0]])
        return module(*inputs[weights[0] + 1 :])


def _told(value: Any) -> dict:
    try:
        return {"value": plain(value)}
    except NotAnAnswer as problem:
        if "ellipsis" in str(problem):  # the stub, or a blank of a half-written program
            return {"stub": True}
        return {"unfit": str(problem), "large": problem.large}


def _seen(value: Any) -> Any:
    try:
        return fingerprint_of_input(value)
    except Exception:  # whatever it has become, it is not what it was
        return "irreconhecível"


class _Sink(io.TextIOBase):
    """Keeps of all that is printed only whether it was anything."""

    used = False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.used = self.used or bool(text.strip())
        return len(text)


def _shuffle_global_generators() -> None:
    """No answer that draws from them gets the same twice: only the generator that was passed is a seed."""
    seed = int.from_bytes(os.urandom(4), "big")
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


def _named(error: BaseException) -> str:
    """The error on one line, with the line of the answer's own cell where it happened."""
    try:
        text = str(error).splitlines()[0][:160]
    except Exception:  # an exception of the student's own may have no text, or a trap for one
        text = ""
    calls = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__))
    line = next((line for file, line in calls if "ipykernel" in file or file == "<celula>"), None)
    return f"{type(error).__name__}: {text}" + (f" (linha {line} da célula)" if line else "")
