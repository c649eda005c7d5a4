# All that basedpyright shall know of transformers: its 2,700 modules took half of the time of a check.
from typing import Any

def __getattr__(name: str) -> Any: ...
