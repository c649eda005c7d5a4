"""A number as a document prints it: its value, and how finely it was printed.

The precision is half a unit of the last printed digit. Three readings settle what that digit is:

- in a vector or matrix, all entries share the finest precision ("0" beside "0.577" is 0.000);
- in scientific notation each entry has its own ("2.68941421e-01" is good to 1e-9), and zero means zero;
- plain integers, without "~" or a unit such as "M", are counts, and exact.
"""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

SCALES = {"%": "0.01", " milhões": "1e6", "M": "1e6", " bilhões": "1e9", "B": "1e9"}
# What float64 arithmetic may add to a value that is mathematically exact.
ROUNDING_NOISE = Decimal("1e-12")


@dataclass(frozen=True)
class Printed:
    """One printed number: `text` is the document's, the other fields say how to read it."""

    text: str
    value: Decimal
    unit: Decimal  # of the last printed digit, in the scale of `value`; 0 where the number is exact
    suffix: str = ""
    scale: Decimal = Decimal(1)
    scientific: bool = False

    @property
    def significant_digits(self) -> int:
        """How many digits a computed value needs to be judged against this one."""
        if self.unit == 0 or not self.value.is_finite():
            return 1
        return max(1, max(self.value.adjusted(), self.unit.adjusted()) - self.unit.adjusted() + 1)

    def agrees(self, computed: float) -> bool:
        """True where `computed` rounds to this number at the printed precision."""
        other = Decimal(computed)
        if not (other.is_finite() and self.value.is_finite()):
            return other == self.value
        return abs(other - self.value) <= self.unit / 2 + ROUNDING_NOISE

    def show(self, computed: float) -> str:
        """`computed` in this number's own format; one more digit where rounding alone would mislead."""
        other = Decimal(computed)
        if not other.is_finite():
            return str(computed)
        rounded, finer = (self._format(other, extra) for extra in (0, 1))
        if not self.agrees(computed):
            return rounded
        return self.text.lstrip("~≈ ") if self.value in map(self._read_back, (rounded, finer)) else finer

    def _format(self, other: Decimal, extra: int) -> str:
        if self.scientific:
            mantissa = self.text.lower().split("e")[0]
            return f"{float(other):.{len(mantissa.partition('.')[2]) + extra}e}"
        if self.unit == 0:
            return f"{float(other):.6g}"
        decimals = max(0, -(self.unit / self.scale).adjusted()) + extra
        text = f"{other / self.scale:.{decimals}f}"
        return (text.lstrip("-") if Decimal(text) == 0 else text) + self.suffix

    def _read_back(self, text: str) -> Decimal:
        return Decimal(text.removesuffix(self.suffix)) * self.scale


def parse(text: str) -> Printed:
    """Reads one printed number ("0.35", "2.68941421e-01", "-inf", "29%", "~117M")."""
    body = text.lstrip("~≈ ")
    suffix = next((s for s in SCALES if body.endswith(s)), "")
    scale = Decimal(SCALES.get(suffix, "1"))
    try:
        number = Decimal(body.removesuffix(suffix))
    except InvalidOperation:
        raise ValueError(f"text: {text!r} is not a number that a document prints") from None
    if number.is_nan():
        raise ValueError(f"text: {text!r} is not a number")
    if not number.is_finite():
        return Printed(text, number, Decimal(0))
    digits = body.removesuffix(suffix)
    scientific = "e" in digits.lower()
    whole = digits.lstrip("+-").isdecimal()
    exact = (whole and body == text and not suffix) or (scientific and number == 0)
    unit = Decimal(0) if exact else Decimal(1).scaleb(int(number.as_tuple().exponent)) * scale
    return Printed(text, number * scale, unit, suffix, scale, scientific)


def parse_all(texts: list[str], decimals: int | None = None) -> list[Printed]:
    """Reads the entries of one vector or matrix, which share their precision (see the module's docstring).

    `decimals` is the number of decimals that the format stands for, where it dropped trailing zeros.
    """
    entries = [parse(text) for text in texts]
    positional = [p for p in entries if not p.scientific and p.value.is_finite()]
    finest = min((p.unit for p in positional if p.unit), default=Decimal(0))
    if decimals is not None:
        finest = Decimal(1).scaleb(-decimals)
    return [
        Printed(p.text, p.value, finest, p.suffix, p.scale) if p in positional and finest else p
        for p in entries
    ]
