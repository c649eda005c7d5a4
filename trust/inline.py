"""What a reader sees of a paragraph: its text without the marks of Markdown, and its mathematics apart.

markdown-it parses; here its inline parser is watched, because a token does not say where it came from. Each
character that a reader sees keeps its place in the page, so that a message can show the line and a check can
change a digit.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

OBJECT = "\ufffc"  # stands for what is not text: mathematics, code, a role
RAISED = "\ufff9"  # before what is written above or below the line
TEXT_ROLES = {"abbr", "sub", "sup", "subscript", "superscript"}
# Tags that a reader does not notice, tags whose content is not prose, and attributes that are read aloud.
WITHIN_WORDS = "a abbr b big cite em font i mark q s small span strong u"
NOT_PROSE = "code iframe kbd pre samp script style svg textarea title video"
PHRASING, HIDDEN = set(WITHIN_WORDS.split()), set(NOT_PROSE.split())
# Addresses (also 10.1000/182), the marks of footnotes that are defined elsewhere, and colours.
UNREAD = re.compile(
    r"\b(?:(?:https?|ftp)://|10\.\d{4,9}/)[^\s<>)\]]+|\[\^[^\]\s]+\]|#(?:[0-9A-Fa-f]{2}){3,4}\b"
)
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
SPOKEN = re.compile(r"(?s)\b(?:alt|title|aria-label)=([\"'])(.*?)\1")


@dataclass
class Text:
    """Characters, each with the place in the page that it comes from."""

    chars: str
    at: Sequence[int]

    def part(self, start: int, end: int) -> "Text":
        return Text(self.chars[start:end], self.at[start:end])


@dataclass
class View:
    """What a reader sees of a page."""

    pieces: list[str] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    math: list[Text] = field(default_factory=list)
    marks: list[Text] = field(default_factory=list)  # the numbers of list items
    starts: dict[int, bool] = field(default_factory=dict)  # where a block starts, and whether it is a heading
    hidden: str = ""  # the HTML tag whose content is being left out

    def add(self, chars: str, at: Sequence[int]) -> None:
        if not self.hidden:
            self.pieces.append(chars)
            self.at.extend(at)

    def mark(self, char: str, at: int) -> None:
        """Add a character that stands for something that is not text."""
        self.add(char, [at])

    def begin(self, at: int, heading: bool = False) -> None:
        """Start a block."""
        self.hidden = ""
        self.add("\n\n", [at, at])
        self.starts[len(self.at)] = heading

    def text(self) -> Text:
        chars = "".join(self.pieces)
        return Text(UNREAD.sub(lambda match: OBJECT * len(match[0]), chars), self.at)


class WatchedInline(ParserInline):
    """markdown-it's inline parser, which notes what each of its rules made of which characters."""

    def __init__(self, md: MarkdownIt) -> None:
        super().__init__()
        self.md = md
        self.ruler, self.ruler2 = md.inline.ruler, md.inline.ruler2
        self.ruler2.disable("fragments_join")  # it would move the text of one token into another
        self.notes: list[tuple[int, int, Token | None]] = []

    def tokenize(self, state: StateInline) -> None:
        rules, end = self.ruler.getRules(""), state.posMax
        while state.pos < end:
            start, pending, tokens = state.pos, state.pending, len(state.tokens)
            deep = state.level >= self.md.options["maxNesting"]
            if deep or not any(rule(state, False) for rule in rules):
                state.pending += state.src[state.pos]
                state.pos += 1
            if len(state.tokens) > tokens:
                self.notes += _new_tokens(state, start)
            elif state.pending != pending:
                self.notes.append((start, state.pos, None))
        if state.pending:
            state.pushPending()

    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        """The rule for images asks for the tokens of an alternative text; `read` looks at it itself."""
        return tokens

    def read(self, source: Text, view: View, env: dict[str, Any]) -> None:
        """Add to the view what a reader sees of one inline text."""
        state = StateInline(source.chars, self.md, env, [])
        outer, self.notes = self.notes, []
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)  # decides which asterisks are emphasis
        notes, self.notes = self.notes, outer
        for start, end, token in notes:
            self._show(source.part(start, end), token, view, env)

    def _show(self, source: Text, token: Token | None, view: View, env: dict[str, Any]) -> None:
        kind, first = token.type if token else "text", source.at[0]
        if token is None or (kind == "text" and token.content):
            view.add(source.chars, source.at)
        elif kind == "text_special":  # an escaped character, or an entity
            view.add(token.content, [source.at[1]] * len(token.content))
        elif kind in ("softbreak", "hardbreak"):
            view.mark("\n", first)
        elif kind.startswith("math_inline"):
            marks = len(token.markup)
            view.mark(OBJECT, first)
            if not view.hidden:
                view.math.append(source.part(marks, len(source.chars) - marks))
        elif kind == "html_inline":
            self._show_tag(source, view, env)
        elif kind == "image":
            view.mark(OBJECT, first)
            self.read(source.part(2, 2 + len(token.content)), view, env)
        elif kind in ("code_inline", "myst_role"):
            self._show_code(source, token, view)
        elif kind in ("footnote_ref", "substitution_inline"):
            view.mark(OBJECT, first)

    def _show_code(self, source: Text, token: Token, view: View) -> None:
        """A code span with letters is code; one that is only a number is shown as a figure."""
        role = token.meta.get("name", "")
        ticks = re.search("`+", source.chars)
        assert ticks
        width = ticks.end() - ticks.start()
        inner = source.part(ticks.end(), len(source.chars) - width)
        is_code = re.search(r"[^\W\d_]", re.sub(r"\de[-+]?\d", "", inner.chars))
        view.mark(RAISED if role.startswith(("sub", "sup")) else OBJECT, source.at[0])
        if role == "math":
            view.math.append(inner)
        elif role in TEXT_ROLES or (not role and not is_code):
            view.add(inner.chars, inner.at)
        view.mark(OBJECT, source.at[-1])

    def _show_tag(self, source: Text, view: View, env: dict[str, Any]) -> None:
        tag = TAG.match(source.chars)
        if not tag:
            return  # a comment
        closing, name = bool(tag[1]), tag[2].lower()
        if view.hidden:
            view.hidden = "" if closing and name == view.hidden else view.hidden
            return
        if name in ("sub", "sup"):
            view.mark(OBJECT if closing else RAISED, source.at[0])
        elif re.fullmatch("h[1-6]", name) and not closing:
            view.begin(source.at[0], heading=True)
        elif name not in PHRASING:
            view.mark("\n", source.at[0])
            view.starts.setdefault(len(view.at), False)
        for spoken in SPOKEN.finditer(source.chars):
            self.read(source.part(*spoken.span(2)), view, env)
        if name in HIDDEN and not closing and not source.chars.endswith("/>"):
            view.mark(OBJECT, source.at[0])
            view.hidden = name


def _new_tokens(state: StateInline, start: int) -> Iterator[tuple[int, int, Token | None]]:
    """The token that a rule made; or one for each of some asterisks, which may be emphasis or not."""
    last = state.tokens[-1]
    if last.type != "text":
        yield start, state.pos, last
    else:
        for place, token in zip(range(start, state.pos), state.tokens[start - state.pos :], strict=True):
            yield place, place + 1, token
