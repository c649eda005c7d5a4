"""What an answer does while it runs, however it was written: the ready softmax it calls, its loops.

A name in the code proves nothing (a helper of one's own may be called softmax), and neither does its absence
(`functools.partial`, an object with `__call__`, a cache around a function): only running it does.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from torch.overrides import TorchFunctionMode

LIBRARIES = (str(Path(__file__).resolve().parents[1]), "site-packages", str(Path(sys.base_prefix, "lib")))
IN_PYTHON = ("softmax", "log_softmax")  # of this course or of scipy


class _Softmaxes(TorchFunctionMode):
    """Notes the operations of torch that are a softmax, or hold one inside."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        name = getattr(func, "__name__", "").split(".")[0].strip("_")
        if any(part in name for part in ("softmax", "softmin", "scaled_dot_product")):
            self.found.add(name)
        return func(*args, **(kwargs or {}))


def traced(function: Callable, *inputs: Any) -> dict:
    """Run it once: the ready softmaxes that it called, and whether its code, or a helper's, went round."""
    softmaxes, steps, loops = _Softmaxes(), set(), []

    def watch(frame: FrameType, event: str, _: Any) -> Callable | None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen") or any(place in code.co_filename for place in LIBRARIES):
            if code.co_name in IN_PYTHON:
                softmaxes.found.add(code.co_name)
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            step = (frame, frame.f_lasti)  # the frame is kept, so that no other takes its place in memory
            if step in steps:
                loops.append(frame.f_lineno)
            steps.add(step)
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        with softmaxes:
            function(*inputs)
    finally:
        sys.settrace(before)
    return {"softmaxes": sorted(softmaxes.found), "loop": bool(loops)}
