"""Each numerical example of the documents is computed in cells of its own chapter, tagged `source:01.3`.

Together, such cells print every figure of the example as `lib.sources.recompute` gives it, to the digits of
the document but no finer than a thousandth. They compute it in the open: a figure typed into its own cell
does not count, and the comparison with the documents is the errata's.
"""

import ast
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from lib.sources import example, example_ids, recompute
from lib.sources.catalog import PrintedValue, flatten
from tests.trust.statements import plain_python
from trust.notebooks import printed_text, tags
from trust.pages import Page

TAG = "source:"
COMPARING = {"compare", "judge", "recompute"}
NUMBER = re.compile(r"(?<![\w.])(-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf))(%?)(?!\w)")
BETWEEN = r"[\s,;'\"\[\]|·→]*"  # what a list of tokens may print between two of them
FINEST = Decimal("0.001")


def problems(chapters: list[Page]) -> list[str]:
    """What is wrong between the examples of the documents and the tagged cells of the chapters."""
    cells, found = defaultdict(list), []
    for page in chapters:
        for cell in page.code_cells():
            for id in (tag.removeprefix(TAG) for tag in tags(cell) if tag.startswith(TAG)):
                cells[id].append(cell)
                if id not in example_ids() or id[:2] != page.name[:2]:
                    found.append(f"{page.name}, {cell['id']}: {TAG}{id} is no example of this chapter")
            if named := COMPARING & names(cell["source"]):
                found.append(f"{page.name}, {cell['id']}: {sorted(named)} belong in the errata")
    return found + [problem for id in example_ids() for problem in _lacking(id, cells[id])]


def _lacking(id: str, cells: list[dict]) -> Iterator[str]:
    if not cells:
        yield f"no cell is tagged {TAG}{id}"
        return
    values = {name: _plain(value) for name, value in recompute(id).items()}
    everything = "\n".join(map(printed_text, cells))
    for name, figure in example(id).figures.items():
        if not prints(figure, values[name], everything):
            yield f"no cell tagged {TAG}{id} prints {name}: {values[name]}"
        elif typed(values[name], flatten(_plain(list(example(id).inputs.values()))), cells):
            yield f"a cell tagged {TAG}{id} has {name} typed in it: {values[name]}"
    for cell in cells:
        if not any(prints(f, values[f.name], printed_text(cell)) for f in example(id).figures.values()):
            yield f"{cell['id']}: tagged {TAG}{id} and prints no figure of it"


def prints(figure: PrintedValue, computed: Any, text: str) -> bool:
    """True where the rows of a figure stand in a printed text, one after the other."""
    nested = isinstance(computed, list) and computed and isinstance(computed[0], list)
    start = 0
    for row in computed if nested else [computed]:
        leaves = flatten(row)
        end = (
            _numbers_end(figure, leaves, text, start) if figure.numeric else _tokens_end(leaves, text, start)
        )
        if end is None:
            return False
        start = end
    return True


def typed(computed: Any, inputs: list, cells: list[dict]) -> bool:
    """True where all of a figure's fractions are literals of the cells, and not the example's inputs."""
    literals = [float(n) for cell in cells for n, _ in NUMBER.findall(cell["source"]) if "." in n]
    fractions = [x for x in flatten(computed) if isinstance(x, float) and x % 1 and x not in inputs]
    return bool(fractions) and all(any(abs(x - y) <= float(FINEST) / 2 for y in literals) for x in fractions)


def names(source: str) -> set[str]:
    """The names that some code reads or imports."""
    nodes = list(ast.walk(ast.parse(plain_python(source))))
    imported = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    return imported | {node.id for node in nodes if isinstance(node, ast.Name)}


def _numbers_end(figure: PrintedValue, wanted: list, text: str, start: int) -> int | None:
    found = list(NUMBER.finditer(text, start))
    unit = figure.entries[0].unit
    for first in range(len(found) - len(wanted) + 1):
        run = found[first : first + len(wanted)]
        if all(_agrees(match, x, unit) for match, x in zip(run, wanted, strict=True)):
            return run[-1].end()
    return None


def _agrees(match: re.Match, computed: float, unit: Decimal) -> bool:
    """True where a printed number is the computed one, to as many digits as it must show."""
    number, percent = match.groups()
    if "inf" in number or math.isinf(computed):
        return float(number) == computed
    shown = Decimal(number).scaleb(-2) if percent else Decimal(number)
    step = Decimal(1).scaleb(int(shown.as_tuple().exponent))
    away, coarsest = abs(float(shown) - computed), max(unit, FINEST)
    if away < 1e-9 or unit == 0:
        return away < 1e-9
    finer = step <= coarsest and away <= float(step) / 2 + 1e-9
    return finer or shown == Decimal(computed).quantize(coarsest)  # 0.120 may be printed as 0.12


def _tokens_end(wanted: list, text: str, start: int) -> int | None:
    pattern = r"(?<!\w)" + BETWEEN.join(map(re.escape, wanted)) + r"(?!\w)"
    match = re.compile(pattern).search(text, start)
    return match.end() if match else None


def _plain(value: Any) -> Any:
    """Tensors as nested lists."""
    if isinstance(value, list | tuple):
        return [_plain(row) for row in value]
    return value.tolist() if hasattr(value, "tolist") else value
