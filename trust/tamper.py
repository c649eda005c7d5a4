"""Proves the chain of trust: changes digits, one at a time, and requires that a check notices each of them.

Every digit of the numerals in the prose and of their ledgers is a candidate here; `tamper_outputs` adds
those of stored outputs and widgets, and a project may add its own. Nothing is written: each change is made on
a copy in memory and handed to the check that guards that place.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from trust.ledger import Origins, block_problems
from trust.pages import Block, Page


@dataclass(frozen=True)
class Candidate:
    """A digit that can be changed: where it is, and the check that is asked whether it notices."""

    place: str
    text: str
    at: int
    notices: Callable[[str], bool]  # takes the text with the digit changed
    others: str = "0123456789"  # what it may be changed to

    def with_digit(self, digit: str) -> str:
        return self.text[: self.at] + digit + self.text[self.at + 1 :]

    def caught(self, rng: random.Random) -> bool:
        return self.notices(self.with_digit(rng.choice([d for d in self.others if d != self.text[self.at]])))

    def __str__(self) -> str:
        around = self.text[max(0, self.at - 30) : self.at + 30].replace("\n", " ")
        return f"{self.place}, digit {self.text[self.at]!r} at {self.at}: …{around}…"


def digits(place: str, text: str, notices: Callable[[str], bool]) -> Iterator[Candidate]:
    """A candidate for each digit of `text`."""
    for match in re.finditer(r"[0-9]", text):
        yield Candidate(place, text, match.start(), notices)


def attempt(candidates: list[Candidate], seed: int, sample: int | None) -> tuple[int, list[Candidate]]:
    """Change a sample of the digits, or all: how many were tried, and which nobody noticed."""
    rng = random.Random(seed)
    chosen = candidates if sample is None else rng.sample(candidates, min(sample, len(candidates)))
    return len(chosen), [c for c in chosen if not c.caught(rng)]


def prose_candidates(page: Page, known: Origins) -> Iterator[Candidate]:
    """Digits in the numerals of the prose and in the ledgers; the check of the ledger must notice."""

    def check(block: Block, **changed: Any) -> bool:
        return bool(block_problems(page, replace(block, **changed), known))

    for block in page.blocks:
        if check(block):
            raise ValueError(f"{page.name}, {block.name}: the prose check already fails; mend it first")
        place = f"{page.name}, {block.name}"
        in_numerals = {i for n in page.numerals(block) for i in range(n.start, n.end)}
        of_text = digits(place, block.text, lambda text, b=block: check(b, text=text))
        yield from (candidate for candidate in of_text if candidate.at in in_numerals)
        ledger = json.dumps(block.ledger, ensure_ascii=False)
        in_origins = {i for origin in re.finditer(r' @ [^"]*"', ledger) for i in range(*origin.span())}
        of_ledger = digits(
            f"{place}, ledger", ledger, lambda text, b=block: check(b, ledger=json.loads(text))
        )
        yield from (candidate for candidate in of_ledger if candidate.at not in in_origins)
