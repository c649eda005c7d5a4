"""What the code of an answer shows without running it: loops and names, in its helpers too."""

import contextlib
import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

LOOPS = ("FOR_ITER", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")


def has_loop(function: Any) -> bool:
    return any(
        instruction.opname.startswith(LOOPS)
        for code, _ in _codes(function)
        for instruction in dis.get_instructions(code)
    )


def names_used(function: Any) -> set[str]:
    """The names in the code, and the true names of what they stand for (`from torch import softmax as s`)."""
    found: set[str] = set()
    for code, known in _codes(function):
        names = {*code.co_names, *code.co_freevars}
        found |= {text for text in code.co_consts if isinstance(text, str)}  # getattr(torch, "softmax")
        found |= names | {getattr(known[n], "__name__", n) for n in names & known.keys()}
    return {name for name in found if isinstance(name, str)}


def _codes(function: Any) -> Iterator[tuple[CodeType, dict]]:
    """The code of a function, of the functions inside it and of the helpers that it names, with their names.

    Helpers are followed where the function itself was written: a library's own code is not the answer's.
    """
    seen: list[FunctionType] = []  # the first is the function itself
    ahead = [getattr(function, "__func__", function)]
    while ahead:
        one = ahead.pop()
        if not isinstance(one, FunctionType) or one in seen:
            continue
        seen.append(one)
        known = {**one.__globals__, **_closure(one)}
        for code in _nested(one.__code__):
            yield code, known
            named = [known[n] for n in (*code.co_names, *code.co_freevars) if n in known]
            helpers = [helper for helper in named if isinstance(helper, FunctionType)]
            ahead += [helper for helper in helpers if helper.__globals__ is seen[0].__globals__]


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _closure(function: FunctionType) -> dict:
    known = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # a name that is not bound yet
            known[name] = cell.cell_contents
    return known
