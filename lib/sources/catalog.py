"""Loads what the documents print: the 18 numerical examples, from the TOML files in `data/`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lib.sources.printed import Printed, parse_all

DATA = Path(__file__).parent / "data"
# numpy prints eight decimals and drops trailing zeros: its "1." is 1.00000000.
DECIMALS = {"numpy": 8}


def shape_of(nested: Any) -> tuple[int, ...]:
    """The shape of nested lists; () for a scalar. Raises ValueError where rows differ in length."""
    if not isinstance(nested, list):
        return ()
    shapes = {shape_of(row) for row in nested}
    if len(shapes) > 1:
        raise ValueError(f"rows of different shapes: {sorted(shapes)}")
    return (len(nested), *(shapes.pop() if shapes else ()))


def flatten(nested: Any) -> list:
    """The leaves of nested lists, in order."""
    return [leaf for row in nested for leaf in flatten(row)] if isinstance(nested, list) else [nested]


@dataclass(frozen=True)
class PrintedValue:
    """One figure that a document prints: a number, a vector, a matrix or a list of tokens."""

    name: str
    label: str
    content: Any  # a string or nested lists of strings, as printed
    numeric: bool
    decimals: int | None = None  # that the format stands for, where it dropped trailing zeros
    right_shape: tuple[int, ...] | None = None  # only where the document's own shape is wrong
    note: str = ""  # why the figure is wrong, for the errata

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the printed numbers."""
        return shape_of(self.content)

    @property
    def entries(self) -> list[Printed]:
        """The printed numbers, row by row."""
        return parse_all(flatten(self.content), self.decimals)


@dataclass(frozen=True)
class Example:
    """A numerical example of a document: what it starts from and what it prints."""

    id: str
    title: str
    where: str
    inputs: Mapping[str, Any]
    figures: Mapping[str, PrintedValue]


def _figure(name: str, entry: dict) -> PrintedValue:
    kind = {"printed", "tokens"} & entry.keys()
    unknown = entry.keys() - {"label", "printed", "tokens", "format", "shape", "note"}
    if len(kind) != 1 or unknown:
        raise ValueError(f"figure {name!r}: needs either printed or tokens; unknown keys: {sorted(unknown)}")
    figure = PrintedValue(
        name=name,
        label=entry["label"],
        content=entry[kind.pop()],
        numeric="printed" in entry,
        decimals=DECIMALS[entry["format"]] if "format" in entry else None,
        right_shape=tuple(entry["shape"]) if "shape" in entry else None,
        note=entry.get("note", ""),
    )
    if figure.numeric:
        _ = figure.entries, figure.shape  # a malformed number or a ragged matrix must fail at loading
    return figure


def load_examples(folder: Path = DATA) -> dict[str, Example]:
    """Reads every example of `folder`, in the order of the documents; TOML refuses an id used twice."""
    found: dict[str, Example] = {}
    for path in sorted(folder.glob("0[1-5]_*.toml")):
        for id, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if not id.startswith(f"{path.name[:2]}."):
                raise ValueError(f"{path.name}: {id} is not of document {path.name[:2]}")
            figures = {name: _figure(name, figure) for name, figure in entry["figures"].items()}
            inputs = MappingProxyType(entry.get("inputs", {}))
            found[id] = Example(id, entry["title"], entry["where"], inputs, MappingProxyType(figures))
    return found


@cache
def _examples() -> dict[str, Example]:
    return load_examples()


def example_ids() -> tuple[str, ...]:
    """The ids of all examples, "01.1" to "04.2"."""
    return tuple(_examples())


def example(id: str) -> Example:
    """The example `id` ("01.3": the third of the first document): its inputs and the figures printed."""
    try:
        return _examples()[id]
    except (KeyError, TypeError):
        raise ValueError(f"id must be one of {', '.join(example_ids())}, got {id!r}") from None
