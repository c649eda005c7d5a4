"""What a question is: its text, its choices with their explanations, and the section that answers it."""

import hashlib
from dataclasses import dataclass
from functools import partial
from string import Formatter
from typing import Any

from lib.numbers import pt

Figures = dict[str, Any]  # what a chapter computes for a question, by the names in its text


@dataclass(frozen=True)
class Choice:
    text: str
    why: str
    right: bool


@dataclass(frozen=True)
class Question:
    text: str
    choices: tuple[Choice, ...]
    section: str  # the heading of the chapter, as written there, to read again

    def __post_init__(self) -> None:
        texts = [choice.text for choice in self.choices]
        if not (self.text.strip() and self.section.strip()):
            raise ValueError(f"text and section must not be empty, got {self.text!r} and {self.section!r}")
        if not all(choice.text.strip() and choice.why.strip() for choice in self.choices):
            raise ValueError(f"every choice of {self.text!r} must have a text and an explanation")
        if not 3 <= len(texts) <= 5 or len(set(texts)) != len(texts):
            raise ValueError(f"choices of {self.text!r} must be 3 to 5 different texts, got {texts}")
        if sum(choice.right for choice in self.choices) != 1:
            raise ValueError(f"exactly one choice of {self.text!r} must be right")


right = partial(Choice, right=True)
wrong = partial(Choice, right=False)


def ask(text: str, *choices: Choice, section: str) -> Question:
    """A question whose choices stand in an order that their author did not choose, and that never changes."""

    def shuffled(choice: Choice) -> str:
        return hashlib.sha256((text + choice.text).encode()).hexdigest()

    return Question(text, tuple(sorted(choices, key=shuffled)), section)


def filled(table: dict[str, Any], figures: Figures) -> Question:
    """The question of a table of texts, with its figures in them."""

    def fill(text: str) -> str:
        return _InPortuguese().vformat(text, (), figures)

    choices = [
        kind(fill(text), fill(why))
        for kind, texts in ((right, table["right"]), (wrong, table["wrong"]))
        for text, why in texts.items()
    ]
    return ask(fill(table["text"]), *choices, section=table["section"])


class _InPortuguese(Formatter):
    """`{x:3}` is a figure with three decimals, `{x:%}` a percentage; `{x}` stays as it is."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "%":
            return f"{pt(100 * value, 0)}%"
        return pt(value, int(format_spec)) if format_spec else str(value)
