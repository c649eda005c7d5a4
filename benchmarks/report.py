"""What a program leaves behind: NAME.json with the values, and NAME.md (and a chart) made of it alone.

`python -m benchmarks.report` makes every Markdown file and chart again, without measuring anything.
"""

import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tools.console import ROOT, fail, step
from trust import provenance
from trust.dependencies import Project
from trust.provenance import Part

HERE = Path(__file__).parent
# The modules that hold a REPORT.
PROGRAMS = ("__main__", "floor", "porttinari", "scaling", "frames", "lighthouse", "portability")
REBUILD = "python -m benchmarks.report"
REQUIREMENTS = tuple(sorted(ROOT.glob("requirements*.txt")))


@dataclass(frozen=True)
class Report:
    """The parts that a program measures, and the files that hold and show them."""

    name: str
    command: str
    parts: tuple[Part, ...]
    preface: str = ""
    chart: Callable[[dict[str, Any]], str] | None = None  # from the values of the parts to an SVG
    folder: Path = HERE

    @property
    def json(self) -> Path:
        return self.folder / f"{self.name}.json"

    @property
    def shown(self) -> list[str]:
        """The names of the files that are made of it."""
        return [f"{self.name.upper()}.{kind}" for kind in (("md", "svg") if self.chart else ("md",))]

    def content(self) -> dict[str, dict]:
        """The parts as they are kept; none if nothing is."""
        try:
            return provenance.read(self.json.read_text(encoding="utf-8")) if self.json.exists() else {}
        except ValueError as problem:
            raise ValueError(f"{self.json.name}: {problem}") from None

    def made(self, content: dict[str, dict]) -> dict[str, str]:
        """The files that show the content, by name."""
        known = [part for part in self.parts if part.name in content]
        sections = [
            f"{part.show(content[part.name]['values'])}\n{provenance.origin(content[part.name]['made'])}"
            for part in known
        ]
        title = f"# Results of `{self.command}`\n"
        texts = ["\n".join([title, *filter(None, [self.preface]), *sections])]
        if self.chart:
            texts.append(self.chart({part.name: content[part.name]["values"] for part in known}))
        return dict(zip(self.shown, texts, strict=True))

    def write(self) -> None:
        """Write the files that show what is kept, if anything is."""
        content = self.content()
        for name, text in self.made(content).items() if content else ():
            provenance.write(self.folder / name, text)

    def texts(self) -> dict[str, str]:
        """The files as they stand, by name."""
        paths = [self.folder / name for name in (self.json.name, *self.shown)]
        return {path.name: path.read_text(encoding="utf-8") for path in paths if path.exists()}

    def problems(self, texts: dict[str, str], project: Project) -> list[str]:
        """Why the files are not to be believed, and what to do."""
        try:
            content = provenance.read(texts.get(self.json.name, provenance.as_text({})))
        except ValueError as problem:
            return [f"{self.json.name}: {problem}; put it back, or delete it and run: {self.command}"]
        pins = provenance.pins(*REQUIREMENTS)
        if found := provenance.problems(project, content, self.parts, pins):
            return [f"{self.json.name}, {problem}" for problem in found]
        return [
            f"{name} is not what {self.json.name} gives; run: {REBUILD}"
            for name, text in self.made(content).items()
            if texts.get(name) != text
        ]


def make_part(
    name: str,
    command: str,
    measure: Callable[[Namespace], Any],
    show: Callable[[Any], str],
    *also: str,
    packages: tuple[str, ...] = ("torch",),
    data: tuple[str, ...] = (),
) -> Part:
    """A part whose code begins at `measure`, and, in processes that it starts, at `also`."""
    main = sys.modules["__main__"].__spec__
    home = main.name if main and measure.__module__ == "__main__" else measure.__module__
    return Part(name, command, measure, show, (f"{home}:{measure.__name__}", *also), packages, data)


def reports() -> list[Report]:
    """The reports of all programs."""
    return [import_module(f"benchmarks.{name}").REPORT for name in PROGRAMS]


def main() -> None:
    for report in reports():
        try:
            report.write()
        except ValueError as problem:
            fail(problem)
        made = f"made {' and '.join(report.shown)}" if report.json.exists() else "nothing is measured yet"
        step(f"{report.json.name}: {made}")


if __name__ == "__main__":
    main()
