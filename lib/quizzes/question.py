"""What a question is: its text, its choices with their explanations, and the section that answers it."""

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path


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


def right(text: str, why: str) -> Choice:
    return Choice(text, why, right=True)


def wrong(text: str, why: str) -> Choice:
    return Choice(text, why, right=False)


def ask(text: str, *choices: Choice, section: str) -> Question:
    """A question whose choices stand in an order that their author did not choose, and that never changes."""
    return Question(text, tuple(sorted(choices, key=lambda choice: _shuffled(text + choice.text))), section)


def read(module: str | Path) -> dict[str, Question]:
    """The questions of a chapter that hold no figure, by name, from the text beside its module."""
    texts = tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        name: ask(
            question["text"],
            *(right(*choice) for choice in question["right"].items()),
            *(wrong(*choice) for choice in question["wrong"].items()),
            section=question["section"],
        )
        for name, question in texts.items()
    }


def _shuffled(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
