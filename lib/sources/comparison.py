"""Compares what a document prints with what is computed: "confere" or "corrigido", never typed by hand."""

import math
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.sources.catalog import PrintedValue, example, flatten, shape_of

AGREES, CORRECTED = "confere", "corrigido"
PAGE_WIDTH = 76  # characters that fit into a code box of the book
# Decimal digits that survive a computation in each type (float64 is enough for all that the documents print).
DIGITS = {"float32": 6, "float16": 3, "bfloat16": 2}


@dataclass(frozen=True)
class Verdict:
    """One figure: the document's entries, the computed ones in the same format, and which of them differ."""

    figure: PrintedValue
    computed: Any  # nested lists of strings, like `figure.content`
    differs: tuple[bool, ...] | None  # entry by entry; None where the shapes themselves differ

    @property
    def verdict(self) -> str:
        """ "confere" where every entry agrees at the printed precision, "corrigido" otherwise."""
        return CORRECTED if self.differs is None or any(self.differs) else AGREES

    def lines(self) -> list[str]:
        """The verdict in a line, then, where there is more than one value, the rows of both sides."""
        f = self.figure
        if f.numeric and f.shape == () and self.differs is not None:
            return [f"  {f.label}: documento {f.content}, calculado {self.computed}: {self.verdict}"]
        head = f"  {f.label}: {self._summary()}"
        if self.verdict == AGREES:
            return [head, *_block("documento e cálculo", self.computed, None)]
        document = _block("documento", f.content, None)
        return [head, *document, *_block("calculado", self.computed, self.differs)]

    def __str__(self) -> str:
        head, *rows = self.lines()
        return "\n".join([_folded(head), *rows])

    def _summary(self) -> str:
        if self.differs is None:
            sides = (self.figure.content, self.computed)
            document, computed = (" × ".join(map(str, _lengths(side))) for side in sides)
            noun = "valor" if document == "1" else "valores"
            return f"{document} {noun} no documento, {computed} no cálculo: {CORRECTED}"
        if not any(self.differs):
            return AGREES
        verb = "difere" if sum(self.differs) == 1 else "diferem"
        return f"{sum(self.differs)} de {len(self.differs)} valores {verb} (*): {CORRECTED}"


@dataclass(frozen=True)
class Comparison:
    """The verdicts on an example's figures; `print` it to see document and computation side by side."""

    id: str
    verdicts: tuple[Verdict, ...]

    @property
    def verdict(self) -> str:
        """ "confere" where every figure compared agrees, "corrigido" otherwise."""
        return AGREES if all(v.verdict == AGREES for v in self.verdicts) else CORRECTED

    def __getitem__(self, name: str) -> Verdict:
        return {verdict.figure.name: verdict for verdict in self.verdicts}[name]

    def __str__(self) -> str:
        head = f"Exemplo {self.id}, {example(self.id).title}: {self.verdict}"
        return "\n".join([_folded(head), *map(str, self.verdicts)])

    __repr__ = __str__


def compare(id: str, /, **computed: Any) -> Comparison:
    """Compares computed figures with those that example `id` prints, at the printed precision.

    Each keyword names a figure of the example; its value is a number, a tensor, an array or nested lists
    (strings for lists of tokens). Figures come out in the document's order, whatever the order given.
    """
    figures = example(id).figures
    if unknown := computed.keys() - figures.keys():
        raise ValueError(f"{id} prints no figure {sorted(unknown)}; expected names among {sorted(figures)}")
    if not computed:
        raise ValueError(f"{id}: nothing to compare; pass at least one of {sorted(figures)}")
    return Comparison(id, tuple(_judge(f, computed[name]) for name, f in figures.items() if name in computed))


def _judge(figure: PrintedValue, computed: Any) -> Verdict:
    values = _plain(figure, computed)
    return _judge_numbers(figure, values) if figure.numeric else _judge_tokens(figure, values)


def _judge_tokens(figure: PrintedValue, values: Any) -> Verdict:
    if not all(isinstance(leaf, str) for leaf in flatten(values)) or not isinstance(values, list):
        raise TypeError(f"{figure.name} must be a list of strings (tokens), got {values!r}")
    if _lengths(values) != _lengths(figure.content):
        return Verdict(figure, values, None)
    pairs = zip(flatten(figure.content), flatten(values), strict=True)
    return Verdict(figure, values, tuple(a != b for a, b in pairs))


def _judge_numbers(figure: PrintedValue, values: Any) -> Verdict:
    for leaf in flatten(values):
        if isinstance(leaf, bool) or not isinstance(leaf, int | float):
            raise TypeError(f"{figure.name} must hold numbers, got {leaf!r} ({type(leaf).__name__})")
        if math.isnan(leaf):
            raise ValueError(f"{figure.name}: a computed value is NaN")
    try:
        shape = shape_of(values)
    except ValueError as ragged:
        raise ValueError(f"{figure.name}: {ragged}") from None
    if shape != (expected := figure.right_shape or figure.shape):
        raise ValueError(f"{figure.name} must have shape {expected}, got {shape}")
    entries, numbers = figure.entries, flatten(values)
    if alike := shape == figure.shape:
        pairs = list(zip(entries, numbers, strict=True))
    else:
        pairs = [(entries[0], number) for number in numbers]
    shown = np.array([printed.show(x) for printed, x in pairs], dtype=object).reshape(shape).tolist()
    return Verdict(figure, shown, tuple(not printed.agrees(x) for printed, x in pairs) if alike else None)


def _plain(figure: PrintedValue, computed: Any) -> Any:
    """Tensors and arrays as nested lists, once their type is known to carry the printed digits."""
    if isinstance(computed, list | tuple):
        return [_plain(figure, row) for row in computed]
    if not hasattr(computed, "tolist"):
        return computed
    dtype = str(computed.dtype).removeprefix("torch.")
    needed = max(p.significant_digits for p in figure.entries) if figure.numeric else 0
    if needed > DIGITS.get(dtype, needed):
        raise ValueError(
            f"{figure.name}: the document prints {needed} significant digits and {dtype} carries "
            f"{DIGITS[dtype]}; compute it in float64"
        )
    return computed.tolist()


def _lengths(content: Any) -> list:
    """What identifies the layout of nested lists, ragged or not."""
    if not isinstance(content, list):
        return []
    inner = [_lengths(row) for row in content if isinstance(row, list)]
    return [len(content), *(inner[0] if inner and all(i == inner[0] for i in inner) else inner)]


def _folded(line: str) -> str:
    """A long label on two lines, so that a page shows it without scrolling; rows of values stay whole."""
    margin = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, PAGE_WIDTH, subsequent_indent=margin, break_long_words=False)


def _block(title: str, content: Any, differs: tuple[bool, ...] | None) -> list[str]:
    """The rows of `content` under `title`, columns aligned, differing entries marked with an asterisk."""
    rows = content if isinstance(content, list) and isinstance(content[0], list) else [content]
    rows = [row if isinstance(row, list) else [row] for row in rows]
    marks = iter(differs or [False] * len(flatten(rows)))
    cells = [[text + ("*" if next(marks) else "") for text in row] for row in rows]
    width = max((len(text) for row in cells for text in row), default=0) if len(cells) > 1 else 0
    lines = ["  ".join(text.ljust(width) for text in row).rstrip() for row in cells]
    return [f"    {title}", *(f"      [{line}]" for line in lines)]
