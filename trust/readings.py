"""What a numeral may mean: its value, and the unit of its last digit."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, DecimalException

LONGEST = 1_000_000  # characters of one cell's output that are read
# Hexadecimal: a digest, which the decimals of 2.220446049250313e-16 are not, and an address in memory.
DIGEST = re.compile(
    r"(?<![0-9a-f])(?<!\d[.,])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{16,}(?![0-9a-f])|\b0x[0-9a-fA-F]+"
)
PRINTED = re.compile(
    r"(?<![\w.,])(?P<sign>[-−+])?(?P<digits>\d[\d_]*(?:[.,]\d+)*)\.?(?P<power>[eE][-+]?\d+)?(?P<percent>\s?%)?"
)
MINUS = ("-", "−")


@dataclass(frozen=True)
class Reading:
    """One way to read a numeral: its value, and the unit of its last digit (0 where it is exact)."""

    value: Decimal
    unit: Decimal


@dataclass(frozen=True)
class Numeral:
    """A numeral of a page or a formula: where it stands, whether it is notation, and what it may mean."""

    text: str
    start: int
    end: int
    notation: bool
    readings: tuple[Reading, ...] = ()


def readings(
    numbers: Iterable[str], sign: str | None, scale: int, power: int | None = None, exact: bool = True
) -> Iterator[Reading]:
    """Numbers with a decimal point, times a power of ten, or to a power; without those beyond reason."""
    for number in numbers:
        with suppress(DecimalException):
            value = Decimal(number)
            exponent = value.as_tuple().exponent
            assert isinstance(exponent, int)
            unit = Decimal(0) if exact and exponent == 0 else Decimal(1).scaleb(exponent)
            if power is not None:
                unit, value = Decimal(0), value**power
            if scale:
                unit, value = (unit or Decimal(1)).scaleb(scale), value.scaleb(scale)
            yield Reading(-value if sign in MINUS else value, unit)


def plain_numbers(number: str, decimal: str) -> list[str]:
    """The ways to read digits and marks as a number with a decimal point."""
    other = "." if decimal == "," else ","
    grouped = re.fullmatch(
        rf"[1-9]\d{{,2}}(?:{re.escape(other)}\d{{3}})+(?:{re.escape(decimal)}\d+)?", number
    )
    found = [number.replace(",", ".")] if number.count(",") + number.count(".") <= 1 else []
    if grouped and decimal == ".":
        found = []  # nobody writes a decimal comma on such a page
    if grouped:
        found.append(number.replace(other, "").replace(decimal, "."))
    return list(dict.fromkeys(found))


@dataclass
class Printed:
    """The numbers that some output prints, in order."""

    readings: list[Reading]
    values: list[Decimal] = field(init=False)

    def __post_init__(self) -> None:
        self.readings.sort(key=lambda r: r.value)
        self.values = [r.value for r in self.readings]

    def shows(self, meanings: Iterable[Reading]) -> bool:
        """True where one of the numbers is what is meant, at the precision meant."""
        return any(self._has(meant) for meant in meanings)

    def _has(self, meant: Reading) -> bool:
        """True where a number rounds to what is meant, and is printed at this precision or a finer one."""
        first = bisect_left(self.values, meant.value - meant.unit / 2)
        last = bisect_right(self.values, meant.value + meant.unit / 2)
        return any(not meant.unit or found.unit <= meant.unit for found in self.readings[first:last])


def printed(text: str) -> Printed:
    """Every number that an output prints; digests and addresses in hexadecimal are not numbers."""
    found: set[Reading] = set()
    for match in PRINTED.finditer(DIGEST.sub(" ", text[:LONGEST])):
        digits = match["digits"].replace("_", "")
        candidates = {number for mark in ",." for number in plain_numbers(digits, mark)}
        candidates |= set(re.split(r"[.,]", digits)) if "," in digits else set()
        numbers = (candidate + (match["power"] or "") for candidate in candidates)
        found |= set(readings(numbers, match["sign"], -2 if match["percent"] else 0, exact=False))
    return Printed(list(found))
