"""Finds the numerals of a formula in LaTeX, and tells values from notation by rule.

Decimals are values. An integer is notation if it
- stands in a subscript, or in an exponent whose base is not a number;
- belongs to a term with symbols ("i + 1", "\\ln 8", "N(N+1)/2"). Terms are what relations, commas and
  alignment marks separate, so in "N = 4" and "[0, 1]" the integers are values.

"{,}" is a decimal comma, or separates thousands where the decimal mark is a point. A bare comma separates,
unless digits are on both sides and no brackets around: then it is what a comma is on the page.
"""

import re
from itertools import pairwise

from trust.readings import Numeral, Reading, plain_numbers, readings

# In the place of a bare comma: between thousands, or before decimals.
GROUP, COMMA = "\ue000", "\ue001"
THOUSANDS = re.compile(r"(?<![\d.,(\[{])\d{1,3}(?:,\d{3})+(?![\d,)\]}])")
DECIMAL = re.compile(r"(?<![\d.,(\[{])\d+,\d+(?![\d,)\]}])")
NUMERAL = re.compile(
    rf"(?P<digits>\d+(?:(?:\{{,\}}|\{{\.\}}|\.|[{GROUP}{COMMA}]|\\,(?=\d{{3}}(?!\d)))\d+)*)"
    r"(?P<power>\s*(?:\\cdot|\\times)\s*10\s*\^\s*(?:\{\s*[-−+]?\s*\d+\s*\}|\d)"
    r"|(?<!_\d)\s*\^\s*(?:\{[-+]?\d+\}|\d))?"  # the 2 of x_1^2 is no power of 1
    r"(?P<unit>\s*\\%)?"
)
RELATION = re.compile(
    r"=|<|>|&|;|:|,|\\\\|\\(?:approx|simeq|sim|equiv|neq|ne|leq|le|geq|ge|ll|gg|in|to|mapsto|Rightarrow|iff|mid|"
    r"quad|qquad|dots|ldots|cdots|text|mathrm|textbf)(?![A-Za-z])"
)
NEUTRAL = re.compile(
    r"\\(?:left|right|[bB]igg?[lr]?|cdot|times|pm|displaystyle|begin|end)(?![A-Za-z])|\\[,;:!% {}]"
)
STRUCTURE = (
    re.compile(r"\\(?:label|tag|eqref|ref|hspace|vspace|color|textcolor)\*?\{[^{}]*\}"),
    re.compile(r"\\(?:begin|end)\{[^{}]*\}(?:\{[^{}]*\})?|(?<=\\\\)\[[^\]]*\]"),
    re.compile(r"(?<!\\)%[^\n]*"),
)
SIGN = re.compile(r"(?:^|[=<>&,;:(\[{~]|\\\w+|\\\\|\+)\s*([-−])\s*$")
NAME = re.compile(r"\\(?:text|mathrm|textbf)\{[^{}]*[^\W\d]-?$")
Span = tuple[int, int]


def numerals(tex: str, decimal: str) -> list[Numeral]:
    """Every numeral of a formula, in order."""
    for pattern in STRUCTURE:
        tex = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), tex)
    pattern, stand_in = (THOUSANDS, GROUP) if decimal == "." else (DECIMAL, COMMA)
    tex = pattern.sub(lambda match: match[0].replace(",", stand_in), tex)
    scripts, terms, found = _scripts(tex), _terms(tex), []
    for match in NUMERAL.finditer(tex):
        sign = SIGN.search(tex[: match.start()])
        found.append(
            Numeral(
                (sign[1] if sign else "") + match[0].strip().replace(stand_in, ","),
                match.start(),
                match.end(),
                _is_notation(tex, match, scripts, terms),
                _readings(match, sign[1] if sign else None, decimal),
            )
        )
    return found


def _is_notation(tex: str, match: re.Match[str], scripts: list[Span], terms: list[Span]) -> bool:
    at, digits = match.start(), match["digits"]
    if NAME.search(tex[:at]):
        return True  # part of a name, as in text
    if re.search(rf"\.|\{{,\}}|{COMMA}", digits):
        return False
    term = next(t for t in terms if t[0] <= at < t[1])
    return any(a <= at < b for a, b in scripts) or _has_symbols(tex, term, scripts)


def _scripts(tex: str) -> list[Span]:
    """Subscripts, and exponents whose base is not a number."""
    powers = [m.span() for m in NUMERAL.finditer(tex) if m["power"]]
    return [
        (m.end(), _argument_end(tex, m.end()))
        for m in re.finditer(r"(?<!\\)[_^]\s*", tex)
        if not any(a < m.start() < b for a, b in powers)
    ]


def _argument_end(tex: str, at: int) -> int:
    """Where the argument that starts at `at` ends: a group in braces, a command, or one character."""
    if tex[at : at + 1] == "{":
        depth = 0
        for i in range(at, len(tex)):
            depth += {"{": 1, "}": -1}.get(tex[i], 0)
            if depth == 0:
                return i + 1
        return len(tex)
    command = re.match(r"\\[A-Za-z]+", tex[at:])
    return at + (command.end() if command else 1)


def _terms(tex: str) -> list[Span]:
    """What relations, separators and alignment marks separate; decimal commas do not."""
    guarded = tex.replace("{,}", "{.}")
    cuts = [0, *(c for m in RELATION.finditer(guarded) for c in m.span()), len(tex) + 1]
    return list(pairwise(cuts))


def _has_symbols(tex: str, term: Span, scripts: list[Span]) -> bool:
    body = tex[term[0] : term[1]]
    for a, b in scripts:
        if term[0] <= a < term[1]:
            body = body[: a - term[0]] + " " * (b - a) + body[b - term[0] :]
    return bool(re.search(r"\\?[^\W\d_]", NEUTRAL.sub(" ", body)))


def _readings(match: re.Match[str], sign: str | None, decimal: str) -> tuple[Reading, ...]:
    power, percent = match["power"], -2 if match["unit"] else 0
    exponent = int(re.sub(r"[{}\s^]", "", power.rpartition("^")[2]).replace("−", "-")) if power else None
    times_ten = power and "10" in power.rpartition("^")[0]
    scale = percent + (exponent if times_ten and exponent else 0)
    digits = re.sub(rf"\{{\.\}}|\\,|{GROUP}", "", match["digits"]).replace("{,}", ",").replace(COMMA, ",")
    numbers = plain_numbers(digits, decimal)
    return tuple(readings(numbers, sign, scale, None if times_ten else exponent))
