"""A page's MyST Markdown, read into its parts: the few forms that the book uses, and no others."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_VERBATIM = ("mermaid", "glossary", "bibliography")  # what stands in these is no Markdown
_DIRECTIVE = re.compile(r"(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\} *(?P<argument>.*)")
_OPTION = re.compile(r":([\w-]+): *(.*)")
_CODE = re.compile(r" *(`{3,})")
_TARGET = re.compile(r"\(([\w-]+)\)=")
_HEADING = re.compile(r"(#{1,6}) (.+)")
_FORMULA = re.compile(r"\$\$(?P<tex>.+?)\$\$(?: \((?P<label>[\w-]+)\))?", re.DOTALL)


@dataclass
class Directive:
    """```` ```{name} argument ````, its options, and what stands in it."""

    name: str
    argument: str
    options: dict[str, str]
    body: str
    parts: list["Part"]
    number: str = ""


@dataclass
class Code:
    """A block of code, fences included."""

    text: str


@dataclass
class Formula:
    tex: str
    label: str
    number: str = ""


@dataclass
class Heading:
    level: int
    text: str
    number: str = ""


@dataclass
class Target:
    """`(label)=`, for what follows it."""

    label: str


@dataclass
class Line:
    text: str


Part = Directive | Code | Formula | Heading | Target | Line


def parse(text: str) -> Iterator[Part]:
    """The parts of a text, in order."""
    lines = text.split("\n")
    while lines:
        line = lines.pop(0)
        if found := _DIRECTIVE.fullmatch(line):
            yield _directive(found, _until_fence(lines, found["fence"]))
        elif found := _CODE.match(line):
            inner = _until_fence(lines, found[1])
            yield Code("\n".join([line, *inner, found[0]]))
        elif line.startswith("$$"):
            while line.count("$$") < 2:
                line += "\n" + lines.pop(0)
            found = _FORMULA.fullmatch(line.rstrip())
            yield Formula(found["tex"].strip(), found["label"] or "") if found else Line(line)
        elif found := _TARGET.fullmatch(line.rstrip()):
            yield Target(found[1])
        elif found := _HEADING.fullmatch(line.rstrip()):
            yield Heading(len(found[1]), found[2])
        else:
            yield Line(line)


def _until_fence(lines: list[str], fence: str) -> list[str]:
    """Take the lines up to the one that closes a fence, and that one."""
    inner = []
    while lines:
        line = lines.pop(0)
        mark = line.strip()
        if len(mark) >= len(fence) and set(mark) == {fence[0]}:
            return inner
        inner.append(line)
    raise ValueError(f"a block is never closed: {inner[:1]}")


def _directive(found: re.Match, inner: list[str]) -> Directive:
    options = {}
    while inner and (option := _OPTION.fullmatch(inner[0].strip())):
        options[option[1]] = option[2].strip()
        inner = inner[1:]
    body = "\n".join(inner).strip("\n")
    parts = [] if found["name"] in _VERBATIM else list(parse(body))
    return Directive(found["name"], found["argument"].strip(), options, body, parts)
