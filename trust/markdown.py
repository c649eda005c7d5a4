"""What a reader sees of a page: MyST as Jupyter Book 1 parses it, and the Markdown of plain notebooks.

The parser is myst-parser's own. It leaves the content of a directive unparsed until a page is built; here
that content is read as its directive would: prose, mathematics, or nothing.
"""

import re
from functools import cache
from typing import Any

from docutils.parsers.rst.directives.misc import TestDirective
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.directives import parse_directive_text
from myst_parser.parsers.mdit import create_md_parser

from trust.inline import Text, View, WatchedInline

SYNTAX = {"amsmath", "attrs_inline", "attrs_block", "colon_fence", "deflist", "dollarmath", "substitution"}
# Directives whose content is not prose: code, diagrams, data, lists of files.
NOT_PROSE = (
    "altair bibliography bokeh-plot code code-block code-cell contents csv-table digraph doctest embed "
    "eval-rst footbibliography glue graphviz highlight iframe image include index ipython jupyter-execute "
    "julia literalinclude mermaid parsed-literal plot plotly prompt python r raw sourcecode tableofcontents "
    "testcode thebe-button tikz toctree uml video youtube"
)
VERBATIM = set(NOT_PROSE.split())
# Directives whose argument is a file, a label or a layout, and not a title.
WITHOUT_TITLE = {"figure", "figure-md", "grid", "math", "solution", "solution-start", "button-link"}
DIRECTIVE = re.compile(r"\s*\{([^\s{}]+)\}[ \t]*")
SPOKEN_OPTION = re.compile(r"\s*:?(?:alt|caption|title)\s*:[ \t]*")


def view(markdown: str, diagrams: frozenset[str] = frozenset()) -> View:
    """What a reader sees; the text of `diagrams`, verbatim directives by name, is read too."""
    seen = View()
    markdown = markdown.replace("\0", "\ufffd")  # as the parser does
    _Reader(diagrams).blocks(Text(markdown, range(len(markdown))), seen)
    return seen


@cache
def parser() -> tuple[MarkdownIt, WatchedInline]:
    """The parser of blocks, which leaves inline text alone, and the one of inline text."""
    md = create_md_parser(MdParserConfig(enable_extensions=SYNTAX, dmath_double_inline=True), RendererHTML)
    md.core.ruler.enableOnly(["normalize", "block"])
    inline = WatchedInline(md)
    md.inline = inline
    return md, inline


class _Reader:
    """Walks the blocks of a page, and of the directives within it."""

    def __init__(self, diagrams: frozenset[str]) -> None:
        self.md, self.inline = parser()
        self.verbatim = VERBATIM - diagrams
        self.diagrams = diagrams

    def blocks(self, source: Text, seen: View) -> None:
        env: dict[str, Any] = {}
        tokens = self.md.parse(source.chars, env)
        lines = _Lines(source)
        for before, token in zip([None, *tokens], tokens, strict=False):
            if token.type in ("inline", "html_block") and token.content.strip():
                opened = before.type if before else ""
                text = lines.cell(token) if opened in ("td_open", "th_open") else lines.content(token)
                self.shown(text, seen, env, heading=opened == "heading_open")
            elif token.type in ("math_block", "math_block_label", "amsmath"):
                seen.math.append(lines.mathematics(token))
            elif token.type == "list_item_open" and token.info:
                seen.marks.append(lines.find(token, re.compile(rf"{re.escape(token.info)}(?=[.)])")))
            elif token.type in ("fence", "colon_fence"):
                self.directive(token, lines, seen, env)

    def shown(self, text: Text, seen: View, env: dict[str, Any], heading: bool = False) -> None:
        """Add one block of inline text."""
        if text.chars:
            seen.begin(text.at[0], heading)
            self.inline.read(text, seen, env)

    def directive(self, token: Token, lines: "_Lines", seen: View, env: dict[str, Any]) -> None:
        named = DIRECTIVE.match(token.info)
        name = named[1] if named else token.info.strip() if token.info.strip() in self.diagrams else ""
        body = lines.content(token, skip=1)
        if not named and token.type == "colon_fence":
            self.blocks(body, seen)
        elif name and name.split(":")[0] not in self.verbatim:
            title = token.info[named.end() :].rstrip() if named else ""
            if title and name not in WITHOUT_TITLE:
                self.shown(lines.find(token, re.compile(re.escape(title))), seen, env)
            self.content(name, title, body, seen, env)

    def content(self, name: str, title: str, body: Text, seen: View, env: dict[str, Any]) -> None:
        plain = re.sub(r"[^\S\n]", " ", body.chars)  # what Python calls the end of a line, besides \n
        offset = parse_directive_text(TestDirective, title, plain).body_offset
        within = _Lines(body)
        for number in range(min(offset, within.count)):
            line = within.line(number)
            if option := SPOKEN_OPTION.match(line.chars):
                self.shown(line.part(option.end(), len(line.chars)), seen, env)
        rest = body.part(within.starts[offset], len(body.chars)) if offset < within.count else Text("", [])
        if not rest.chars:
            return
        if name == "math":
            seen.math.append(rest)
        elif name in self.diagrams:
            seen.begin(rest.at[0])
            seen.add(rest.chars, rest.at)
        else:
            self.blocks(rest, seen)


class _Lines:
    """The lines of a text, and where in them the content of a token stands."""

    def __init__(self, source: Text) -> None:
        self.source = source
        self.starts = [0, *(match.end() for match in re.finditer("\n", source.chars))]
        self.count = len(self.starts)
        self.used: dict[int, int] = {}  # how far each line has been used

    def line(self, number: int) -> Text:
        if number >= self.count:
            return Text("", [])
        end = self.starts[number + 1] - 1 if number + 1 < self.count else len(self.source.chars)
        return self.source.part(self.starts[number], end)

    def find(self, token: Token, pattern: re.Pattern[str]) -> Text:
        """A part of the token's first line, after what has been found there before."""
        number = (token.map or [0])[0]
        line = self.line(number)
        found = pattern.search(line.chars, self.used.get(number, 0))
        if not found:
            return Text("", [])
        self.used[number] = found.end()
        return line.part(*found.span())

    def cell(self, token: Token) -> Text:
        """The content of a cell of a table, which has lost the mark of escape before a bar."""
        return self.find(token, re.compile(re.escape(token.content.strip()).replace(r"\|", r"\\?\|")))

    def content(self, token: Token, skip: int = 0) -> Text:
        """The content of a token, which starts `skip` lines after it: the ends of lines, or part of one."""
        number, end_line = token.map or (0, self.count)
        number, chars, at = number + skip, [], []
        for content in token.content.rstrip("\n").split("\n"):
            kept = content.strip()
            while kept not in self.line(number).chars and number + 1 < end_line:
                number += 1  # a line of nothing but odd spaces, which the parser drops
            line, number = self.line(number), number + 1
            end = len(line.chars.rstrip())
            if not line.chars[:end].endswith(kept):
                end = max(0, line.chars.find(kept)) + len(kept)  # a heading with marks after it, too
            place = line.at[end - len(kept) : end]
            kept = kept[: len(place)]
            indent = content[: len(content) - len(content.lstrip())] if kept else ""
            before = place[0] if kept else at[-1] if at else 0
            chars.append(f"{indent}{kept}\n")
            at += [*[before] * len(indent), *place, place[-1] if kept else before]
        return Text("".join(chars), at)

    def mathematics(self, token: Token) -> Text:
        """The source of displayed mathematics, without its dollars and its label."""
        first, last = token.map or [0, 0]
        end = self.starts[last] if last < self.count else len(self.source.chars)
        region = self.source.part(self.starts[first], end)
        if token.type == "amsmath":
            return region
        start = region.chars.index("$$") + 2
        return region.part(start, max(start, region.chars.rfind("$$")))
