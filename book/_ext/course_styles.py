"""One style sheet for the whole book, cut to what its pages and scripts can show.

The theme brings the rules of hundreds of components and icons; a page that waits for all of them is white for
seconds on a phone. A rule stays if every class, id, element and attribute that it names occurs in some page,
or as a word in some script; a custom property stays if something that stays asks for it.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tinycss2
from bs4 import BeautifulSoup

GROUPS = {"media", "supports", "layer", "container"}  # at-rules that hold rules
ALTERNATIVES = {"is", "where", "matches"}
IMPORT = re.compile(r"""@import\s+["']([^"']+)["'];""")
ADDRESS = re.compile(r"""url\((["']?)(?!data:|#)([^"')]+)\1\)""")
ASKED = re.compile(r"var\(\s*(--[\w-]+)")
WORD = re.compile(r"-{0,2}[A-Za-z_][\w-]*")


@dataclass
class Known:
    """What pages hold, and the words of their scripts, which may add any of them."""

    classes: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    elements: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def add_page(self, html: str) -> None:
        for element in BeautifulSoup(html, "html.parser").find_all(True):
            self.elements.add(element.name)
            self.attributes.update(element.attrs)
            self.classes.update(element.get("class", ()))
            self.ids.add(element.get("id", ""))
            self.add_words(element.get("style", ""))

    def add_words(self, text: str) -> None:
        self.words.update(WORD.findall(text))

    def has(self, kind: set[str], name: str) -> bool:
        return name in kind or name in self.words


def split(tokens: Iterable) -> Iterator[list]:
    """The parts between the commas."""
    part: list = []
    for token in tokens:
        if token == ",":
            yield part
            part = []
        else:
            part.append(token)
    yield part


def matches(selector: list, known: Known) -> bool:
    """Whether anything that is known can be what the selector names; what `:not` names need not exist."""
    before = None
    for token in selector:
        kind, name = token.type, getattr(token, "value", "")
        if kind == "ident" and before == ".":
            found = known.has(known.classes, name)
        elif kind == "ident" and before != ":":
            found = known.has(known.elements, name.lower())
        elif kind == "hash":
            found = known.has(known.ids, name)
        elif kind == "[] block":
            [attribute, *_] = [part.value for part in token.content if part.type == "ident"]
            found = known.has(known.attributes, attribute.lower())
        elif kind == "function" and token.lower_name in ALTERNATIVES:
            found = any(matches(part, known) for part in split(token.arguments))
        else:
            found = True
        if not found:
            return False
        before = token
    return True


def text_of(tokens: list) -> str:
    return tinycss2.serialize(tokens).strip()


def without_comments(tokens: list) -> list:
    """The tokens with each run of spaces as one, and no comment, inside blocks too."""
    kept = []
    for token in tokens:
        for inner in ("content", "arguments"):
            if isinstance(getattr(token, inner, None), list):
                setattr(token, inner, without_comments(getattr(token, inner)))
        if token.type == "comment":
            continue
        if token.type == "whitespace":
            token.value = " "
        kept.append(token)
    return kept


def parsed(read: Callable[..., list], content: list | str) -> list:
    """What tinycss2 reads in the content; what it cannot read is an error."""
    found = read(content, skip_comments=True, skip_whitespace=True)
    if errors := [each.message for each in found if each.type == "error"]:
        raise ValueError(f"a style sheet cannot be read: {errors[0]}")
    return found


def declarations(content: list) -> list[str]:
    """`name: value`, each as text."""
    return [
        f"{each.name}:{text_of(each.value)}{'!important' * each.important}"
        for each in parsed(tinycss2.parse_declaration_list, without_comments(content))
    ]


@dataclass
class Rule:
    """A rule that stays: what stands before its braces, and in them declarations or other rules."""

    prelude: str
    lines: list[str] = field(default_factory=list)
    rules: list["Rule"] = field(default_factory=list)

    def each(self) -> Iterator["Rule"]:
        yield self
        for rule in self.rules:
            yield from rule.each()

    def text(self) -> str:
        inside = ";".join(self.lines) + "".join(rule.text() for rule in self.rules)
        return f"{self.prelude}{{{inside}}}\n" if inside else ""


def kept_rules(content: list | str, known: Known) -> list[Rule]:
    kept = []
    for rule in parsed(tinycss2.parse_stylesheet, content):
        prelude = without_comments(rule.prelude)
        if rule.type == "qualified-rule":
            selectors = [part for part in split(prelude) if matches(part, known)]
            if selectors:
                kept.append(Rule(",".join(map(text_of, selectors)), declarations(rule.content)))
        elif rule.lower_at_keyword != "charset":
            kept.append(kept_group(rule, f"@{rule.at_keyword} {text_of(prelude)}".rstrip(), known))
    return kept


def kept_group(rule: Any, head: str, known: Known) -> Rule:
    """What an at-rule keeps: of rules those that are kept, of animations all steps."""
    if rule.content is None:
        raise ValueError(f"a style sheet of the book may not hold {head}")
    if rule.lower_at_keyword in GROUPS:
        return Rule(head, rules=kept_rules(rule.content, known))
    if rule.lower_at_keyword.endswith("keyframes"):
        steps = parsed(tinycss2.parse_stylesheet, rule.content)
        return Rule(head, rules=[Rule(text_of(step.prelude), declarations(step.content)) for step in steps])
    return Rule(head, declarations(rule.content))


def drop_unused_properties(rules: list[Rule], known: Known) -> None:
    """Drop custom properties that nothing asks for; one that goes may have been the last to ask."""
    every = [rule for top in rules for rule in top.each()]

    def lines() -> Iterator[str]:
        return (line for rule in every for line in rule.lines)

    dropped = True
    while dropped:
        asked = known.words | {name for line in lines() for name in ASKED.findall(line)}
        own = (line for line in lines() if line.startswith("--"))
        unused = {line for line in own if line.partition(":")[0] not in asked}
        dropped = bool(unused)
        for rule in every:
            rule.lines = [line for line in rule.lines if line not in unused]


def read(static: Path, sheet: str) -> str:
    """A sheet with those that it imports in their places, and its addresses relative to `static`."""
    text = (static / sheet).read_text(encoding="utf-8")
    folder = os.path.dirname(sheet)

    def from_static(address: str) -> str:
        return os.path.normpath(os.path.join(folder, address)).replace(os.sep, "/")

    text = ADDRESS.sub(lambda found: f"url({found[1]}{from_static(found[2])}{found[1]})", text)
    return IMPORT.sub(lambda found: read(static, from_static(found[1])), text)


def bundle(static: Path, sheets: list[str], known: Known) -> str:
    """The sheets as one, in their order, whose addresses are relative to `static`."""
    rules = [rule for sheet in sheets for rule in kept_rules(read(static, sheet), known)]
    drop_unused_properties(rules, known)
    return f"/* Cut to what the book shows from: {' '.join(sheets)} */\n" + "".join(
        rule.text() for rule in rules
    )
