"""Figures that may differ in their last digits between machines, and how far.

A training adds up rounding errors, and processors round in different orders. Such a figure is printed as what
it is, a mean over seeds with its spread: `0.69 ± 0.04`. The cell that prints it declares in its metadata how
far another machine's figure may lie, and why:

    "tolerance": {"within": 0.05, "reason": "fine-tuning three networks, in single precision"}

In such a cell, and in no other, the two numbers of `a ± b` are compared as numbers, each within the distance,
in the unit in which they are printed. Everything else in the output is compared character by character.
"""

import re
from collections.abc import Iterable
from copy import deepcopy
from decimal import Decimal, InvalidOperation

from trust.notebooks import text_places

KEY = "tolerance"
# A distance much larger than the spread over seeds would let a wrong figure pass.
MOST_SPREADS = 4
NUMBER = r"[-−]?\d+(?:\.\d+)?"
FIGURE = re.compile(rf"(?<![\w.,])({NUMBER})(%?) ± ({NUMBER})(%?)(?![\w%])")


def declared(cell: dict) -> Decimal | None:
    """The distance that a cell's metadata declares, if it does."""
    entry = cell["metadata"].get(KEY)
    try:
        within = Decimal(str(entry["within"]))
    except (TypeError, KeyError, InvalidOperation):
        return None  # there is none, or `problems` names it
    return within if within.is_finite() else None


def figures(text: str) -> list[tuple[Decimal, Decimal]]:
    """Every mean and spread in a text, as printed."""
    return [(_number(m[1]), _number(m[3])) for m in FIGURE.finditer(text)]


def _number(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


def settled(fresh: str, stored: str, within: Decimal) -> str:
    """The fresh text, with the stored figure in the place of each fresh one that lies within the distance.

    What differs from the stored text afterwards differs by more than the cell declares.
    """
    pairs = list(zip(FIGURE.finditer(fresh), FIGURE.finditer(stored), strict=False))
    for new, old in reversed(pairs):
        near = all(abs(_number(new[k]) - _number(old[k])) <= within for k in (1, 3))
        if near and (new[2], new[4]) == (old[2], old[4]):
            fresh = fresh[: new.start()] + old[0] + fresh[new.end() :]
    return fresh


def settled_outputs(fresh: list, stored: list, within: Decimal | None) -> list:
    """The same for the outputs of a cell, one beside the other."""
    if within is None:
        return fresh
    result = deepcopy(fresh)
    for new, old in zip(result, stored, strict=False):
        for (holder, key), (reference, _) in zip(text_places(new), text_places(old), strict=False):
            holder[key] = settled(holder[key], reference[key], within)
    return result


def shown(cell: dict) -> list[tuple[Decimal, Decimal]]:
    """The tolerant figures that a cell has stored."""
    texts = [holder[key] for output in cell.get("outputs", []) for holder, key in text_places(output)]
    return [pair for text in texts for pair in figures(text)]


def problems(name: str, cells: Iterable[dict]) -> list[str]:
    """Declarations that say nothing, say too much, or have nothing to say it of."""
    found = []
    for cell in cells:
        entry = cell["metadata"].get(KEY)
        if entry is None:
            continue
        place = f"{name}, {cell['id']}"
        within, keys = declared(cell), set(entry) if isinstance(entry, dict) else set()
        if within is None or keys != {"within", "reason"} or not str(entry["reason"]).strip():
            found.append(f"{place}: a tolerance needs `within` and a `reason`, and nothing else: got {entry}")
            continue
        spreads = [spread for _, spread in shown(cell)]
        if not spreads:
            found.append(f"{place}: declares a tolerance and prints no figure of the form 0.69 ± 0.04")
        elif not 0 < within <= MOST_SPREADS * max(spreads):
            found.append(
                f"{place}: within {entry['within']} is not more than 0 and at most {MOST_SPREADS} times the "
                f"largest spread that it prints, {max(spreads)}"
            )
    return found
