"""Finds every numeral in the Markdown of a page, and tells values from notation by rule.

A **value** is a claim about something: it must have been printed by a cell, or be a cited fact. **Notation**
is the rest: it needs no origin, but it is recorded too, so that no digit can change unnoticed.

In text, a numeral is notation if it
- numbers a list item, a heading or an enumeration: "1. ", "## 2.3 ", "(1) ... (2) ...";
- is part of a name: a letter or a letter and hyphen come right before it ("float32", "GPT-1");
- refers: it follows a noun such as "capítulo", "seção", "teorema" ("capítulo 10"), or is an ordinal ("3ª");
- is a year (1900 to 2099) in parentheses or after a capitalised word ("Taylor 1953");
- has two or more dots that are not thousands ("2.13.0").

In LaTeX, decimals are values, and an integer is notation if it
- stands in a subscript, or in an exponent whose base is not a number;
- belongs to a term with symbols ("i + 1", "\\ln 8", "N(N+1)/2"). Terms are what relations, commas and
  alignment marks separate, so in "N = 4" and "[0, 1]" the integers are values.

What is not read at all: code (fences, and spans with letters in them), names and options of directives,
labels, roles, link targets, footnote marks, HTML. Alternative texts are read. "1.414" is read both ways, as a
decimal and as thousands; in LaTeX a decimal comma is "{,}", because a bare one separates.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

VERBATIM = {"code", "code-block", "code-cell", "literalinclude", "raw", "bibliography", "toctree", "include"}
PATH_ARGUMENT = {"figure", "image"}
SPOKEN_OPTIONS = {"alt", "caption"}
TEXT_ROLES = {"abbr", "sub", "sup"}
REFERENCE = (
    r"(?:cap[íi]tulos?|se[çc](?:ão|ões)|equa(?:ção|ções)|figuras?|tabelas?|teoremas?|lemas?|corol[áa]rios?|"
    r"proposi(?:ção|ções)|observa(?:ção|ções)|exemplos?|exerc[íi]cios?|p[áa]ginas?|partes?|passos?|etapas?|documentos?)"
)
SCALES = {"mil": 3, "milhão": 6, "milhões": 6, "bilhão": 9, "bilhões": 9}

TEXT_NUMERAL = re.compile(
    r"(?P<sign>(?<![\w.,)\]-])[-−+])?"
    r"(?P<digits>\d{1,3}(?:[\u202f\u00a0]\d{3})+(?:,\d+)?|\d+(?:[.,]\d+)*(?:[eE][-−+]?\d+)?)"
    rf"(?P<unit>\s?%|\s(?:{'|'.join(sorted(SCALES, key=len, reverse=True))})\b)?"
)
MATH_NUMERAL = re.compile(
    r"(?P<digits>\d+(?:(?:\{,\}|\{\.\}|\.|\\,(?=\d{3}(?!\d)))\d+)*)"
    r"(?P<power>\s*(?:\\cdot|\\times)\s*10\s*\^\s*(?:\{[^{}]*\}|\d)|\s*\^\s*(?:\{[-+]?\d+\}|\d))?"
    r"(?P<unit>\s*\\%)?"
)
RELATION = re.compile(
    r"=|<|>|&|;|:|,|\\\\|\\(?:approx|simeq|sim|equiv|neq|ne|leq|le|geq|ge|ll|gg|in|to|mapsto|Rightarrow|iff|mid|"
    r"quad|qquad|dots|ldots|cdots|text|mathrm|textbf)(?![A-Za-z])"
)
NEUTRAL = re.compile(
    r"\\(?:left|right|[bB]igg?[lr]?|cdot|times|pm|displaystyle|begin|end)(?![A-Za-z])|\\[,;:!% {}]"
)


@dataclass(frozen=True)
class Reading:
    """One way to read a numeral: its value, and the unit of its last digit (0 where it is exact)."""

    value: Decimal
    unit: Decimal

    def printed_as(self, printed: "Reading") -> bool:
        """True where `printed` shows this value, at this precision or a finer one."""
        if self.unit == 0:
            return printed.value == self.value
        return printed.unit <= self.unit and abs(printed.value - self.value) <= self.unit / 2


@dataclass(frozen=True)
class Numeral:
    """A numeral in a page, where it stands (offsets into the Markdown) and what it may mean."""

    text: str
    start: int
    end: int
    notation: bool
    readings: tuple[Reading, ...] = ()


def numerals(markdown: str) -> list[Numeral]:
    """Every numeral of `markdown`, in order."""
    text, math = _readable(markdown)
    found = [n for span in math for n in _in_math(markdown, *span)]
    found += _in_text(text, _enumeration_marks(markdown))
    return sorted(found, key=lambda n: n.start)


def line_of(markdown: str, numeral: Numeral) -> str:
    """The line in which the numeral stands, for messages."""
    start = markdown.rfind("\n", 0, numeral.start) + 1
    end = markdown.find("\n", numeral.end)
    return markdown[start : end if end >= 0 else None].strip()


# What a reader sees of the Markdown: everything else is blanked, so that offsets stay valid.


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def _blank_all(text: str, pattern: str, group: int | str = 0, flags: int = re.MULTILINE) -> str:
    for match in list(re.finditer(pattern, text, flags)):
        text = _blank(text, *match.span(group))
    return text


def _readable(markdown: str) -> tuple[str, list[tuple[int, int]]]:
    """The text with syntax and mathematics blanked, and the spans of the mathematics."""
    text = _blank_all(markdown, r"<!--.*?-->", flags=re.DOTALL)
    text, math = _fences(text)
    text, spans = _code_spans(text)
    math += spans
    for pattern in (
        r"\$\$(.+?)\$\$(?:[ ]*\([\w:-]+\))?",
        r"(?<![\\$])\$([^$]+?)(?<!\\)\$",
        r"\\begin\{align.*?\\end\{align\*?\}",
    ):
        for match in list(re.finditer(pattern, text, re.DOTALL)):
            math.append(match.span(1) if match.re.groups else match.span())
            text = _blank(text, *match.span())
    text = _blank_all(text, r"^[ ]*\([\w:.-]+\)=[ ]*$")  # targets
    text = _blank_all(text, r"\]\(([^)\n]*)\)", 1)  # link targets
    text = _blank_all(text, r"<?\bhttps?://[^\s>)]+>?")
    text = _blank_all(text, r"\[\^[^\]]+\]:?")  # footnote marks
    text = _blank_all(text, r"\{[.#][^}\n]*\}")  # attributes
    for tag in list(re.finditer(r"</?[A-Za-z][^<>]*>", text)):
        kept = re.search(r"\b(?:alt|title|aria-label)=\"([^\"]*)\"", tag[0])
        cut = text[tag.start() : tag.end()]
        for start, end in [(0, kept.start(1)), (kept.end(1), len(cut))] if kept else [(0, len(cut))]:
            text = _blank(text, tag.start() + start, tag.start() + end)
    return text, sorted(math)


def _fences(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Blanks code fences and the syntax of directives; the spans of {math} directives come apart."""
    math, stack, offset, options = [], [], 0, False
    for line in text.splitlines(keepends=True):
        start, offset = offset, offset + len(line)
        fence = re.match(r"[ >]*(`{3,}|~{3,}|:{3,})\s*(.*?)\s*$", line)
        if fence and stack and not fence[2] and fence[1].startswith(stack[-1][0]):
            _, name, body = stack.pop()
            if name == "math":
                math.append((body, start))
                text = _blank(text, body, start)
            text = _blank(text, start, offset)
            options = False
        elif stack and stack[-1][1] in VERBATIM | {""}:
            text = _blank(text, start, offset)
        elif fence and (fence[2] or fence[1][0] != ":"):
            directive = re.match(r"\{([\w:+-]+)\}", fence[2])
            name = directive[1] if directive else ""
            stack.append((fence[1], name, offset))
            keep_argument = directive and name not in PATH_ARGUMENT | VERBATIM
            text = _blank(
                text, start, start + line.index(fence[2]) + directive.end() if keep_argument else offset
            )
            options = bool(directive)
        elif options and (option := re.match(r"[ >]*:([\w-]+):[ ]?", line)):
            text = _blank(text, start, start + option.end() if option[1] in SPOKEN_OPTIONS else offset)
        elif stack and stack[-1][1] == "mermaid":
            if re.match(r"\s*(?:style|classDef|linkStyle|class)\b", line):
                text = _blank(text, start, offset)
        else:
            options = False
    return text, math


def _code_spans(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Blanks roles and code; a code span that is only a number stays, and {math} comes apart."""
    math = []
    for match in list(re.finditer(r"(?:\{([\w:+-]+)\})?(`+)(?!`)(.+?)(?<!`)\2(?!`)", text, re.DOTALL)):
        role, content = match[1], match[3]
        if role == "math":
            math.append(match.span(3))
        if role in TEXT_ROLES or (
            role is None and not re.search(r"[^\W\d_]", re.sub(r"\de[-+]?\d", "", content))
        ):
            continue
        text = _blank(text, *match.span())
    return text, math


# Numerals in text


def _in_text(text: str, marks: set[int]) -> list[Numeral]:
    return [
        Numeral(
            match[0].strip(),
            match.start(),
            match.end(),
            match.start("digits") in marks or _is_notation(text, match),
            _readings(match["digits"], match["sign"], match["unit"]),
        )
        for match in TEXT_NUMERAL.finditer(text)
    ]


def _enumeration_marks(markdown: str) -> set[int]:
    """Offsets of list marks, heading numbers and of (1), (2), ... where they count from one."""
    patterns = (r"^[ >]*(\d+)[.)][ ]", r"^[ >]*#+[ ]+(\d+(?:\.\d+)*)\.?[ ]")
    marks = {m.start(1) for pattern in patterns for m in re.finditer(pattern, markdown, re.MULTILINE)}
    expected = 1
    for match in re.finditer(r"\((\d{1,2})\)", markdown):
        if int(match[1]) in (1, expected):
            marks.add(match.start(1))
            expected = int(match[1]) + 1
    return marks


def _is_notation(text: str, match: re.Match) -> bool:
    before, after, digits = text[: match.start()], text[match.end() :], match["digits"]
    if match["unit"]:
        return False
    if re.search(r"[^\W\d]-?$", before) and not match["sign"]:
        return True
    if re.match(r"[ºª]", after) or re.search(rf"(?i)\b{REFERENCE}\s+(?:\d+(?:,\s*|\s+e\s+))*$", before):
        return True
    if re.fullmatch(r"(?:19|20)\d\d", digits):
        return bool(re.search(r"\([^()]*$|\b[A-ZÀ-Ý]\w+,?\s+$", before[-80:]))
    return digits.count(".") > 1 and not re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", digits)


# Numerals in mathematics


def _in_math(markdown: str, start: int, end: int) -> list[Numeral]:
    tex = markdown[start:end]
    tex = _blank_all(tex, r"\\(?:label|tag|eqref|ref|hspace|vspace|color)\{[^{}]*\}")
    tex = _blank_all(tex, r"\\(?:begin|end)\{[^{}]*\}(?:\{[^{}]*\})?|\\\\\[[^\]]*\]")
    scripts, terms = _scripts(tex), _terms(tex)
    found = []
    for match in MATH_NUMERAL.finditer(tex):
        at = match.start()
        sign = re.search(r"(?:^|[=<>&,;:(\[{~]|\\\w+|\\\\|\+)\s*([-−])\s*$", tex[:at])
        found.append(
            Numeral(
                (sign[1] if sign else "") + match[0].strip(),
                start + at,
                start + match.end(),
                _is_math_notation(tex, match, scripts, terms),
                _readings(match["digits"], sign and sign[1], match["unit"], match["power"]),
            )
        )
    return found


def _is_math_notation(tex: str, match: re.Match, scripts: list, terms: list) -> bool:
    at, digits = match.start(), match["digits"]
    if re.search(r"\\(?:text|mathrm|textbf)\{[^{}]*[^\W\d]-?$", tex[:at]):
        return True  # part of a name, as in text
    if "." in digits or "{,}" in digits:
        return False
    term = next(t for t in terms if t[0] <= at < t[1])
    return any(a <= at < b for a, b in scripts) or _has_symbols(tex, term, scripts)


def _scripts(tex: str) -> list[tuple[int, int]]:
    """Spans of subscripts, and of exponents whose base is not a number."""
    powers = [m.span() for m in MATH_NUMERAL.finditer(tex) if m["power"]]
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


def _terms(tex: str) -> list[tuple[int, int]]:
    """Terms between relations, separators and alignment marks; decimal commas do not separate."""
    guarded = tex.replace("{,}", "{.}")
    cuts = [0, *(c for m in RELATION.finditer(guarded) for c in m.span()), len(tex) + 1]
    return list(pairwise(cuts))


def _has_symbols(tex: str, segment: tuple[int, int], scripts: list[tuple[int, int]]) -> bool:
    body = tex[segment[0] : segment[1]]
    for a, b in scripts:
        if segment[0] <= a < segment[1]:
            body = body[: a - segment[0]] + " " * (b - a) + body[b - segment[0] :]
    return bool(re.search(r"\\?[^\W\d_]", NEUTRAL.sub(" ", body)))


# Meaning


def _readings(
    digits: str, sign: str | None, unit: str | None, power: str | None = None
) -> tuple[Reading, ...]:
    """The values that a numeral may stand for."""
    digits = digits.replace("{,}", ",").replace("{.}", " ").replace("\\,", " ").replace("−", "-")
    grouped = re.sub(r"[\s\u202f\u00a0]", "", digits)
    decimals = [grouped.replace(",", ".")] if grouped.count(",") + grouped.count(".") <= 1 else []
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", grouped):
        decimals.append(grouped.replace(".", "").replace(",", "."))
    return tuple(_scaled(Decimal(d), sign, (unit or "").strip(), power) for d in dict.fromkeys(decimals))


def _scaled(number: Decimal, sign: str | None, unit: str, power: str | None) -> Reading:
    exponent = number.as_tuple().exponent
    step = Decimal(0) if exponent == 0 else Decimal(1).scaleb(exponent)
    if power:
        n = int(re.sub(r"[{}\s^]", "", power.rpartition("^")[2]).replace("−", "-"))
        if "10" in power.rpartition("^")[0]:
            step, number = (step or Decimal(1)).scaleb(n), number.scaleb(n)
        else:
            step, number = Decimal(0), number**n
    if "%" in unit:
        step, number = (step or Decimal(1)).scaleb(-2), number.scaleb(-2)
    elif unit in SCALES:
        step, number = (step or Decimal(1)).scaleb(SCALES[unit]), number.scaleb(SCALES[unit])
    return Reading(-number if sign in ("-", "−") else number, step)


PRINTED = re.compile(
    r"(?<![\w.,])(?P<sign>[-−+])?(?P<digits>\d[\d_]*(?:[.,]\d+)*)\.?(?P<power>e[-+]?\d+)?(?P<percent>\s?%)?"
)


def printed_numbers(text: str) -> list[Reading]:
    """Every number that an output prints, with the unit of its last digit."""
    found = []
    for match in PRINTED.finditer(text):
        digits = match["digits"].replace("_", "")
        parts = re.split(r"[.,]", digits)
        candidates = {digits.replace(",", ".")} if len(parts) <= 2 else set()
        if len(parts) > 1 and re.fullmatch(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*", digits):
            candidates.add("".join(parts))
        candidates |= set(parts) if "," in digits else set()
        for candidate in sorted(candidates):
            number = Decimal(candidate + (match["power"] or ""))
            number = -number if match["sign"] in ("-", "−") else number
            scale = -2 if match["percent"] else 0
            unit = Decimal(1).scaleb(number.as_tuple().exponent + scale)
            found.append(Reading(number.scaleb(scale), unit))
    return found
