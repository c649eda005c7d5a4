"""Proves the chain of trust: changes digits, one at a time, and requires that a check notices each of them.

Every digit of the stored outputs, of the numerals in the prose and their ledgers, of the data on the source
documents, of the stored widget state and of the files of measurements is a candidate. Nothing is written into
the book: each change is made on a copy in memory and handed to the check that guards that place. `make test`
tries a sample of each kind; `make tamper` tries them all.
"""

import copy
import json
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from unittest.mock import patch

from lib.sources import catalog, errata
from tests.trust import fresh, prose
from tests.trust.numerals import numerals
from tests.trust.pages import BOOK, Block, Page, printed_text, read_page
from trust import tolerance
from trust.tolerance import FIGURE


@dataclass(frozen=True)
class Candidate:
    """A digit that can be changed: where it is, and the check that is asked whether it notices."""

    place: str
    text: str
    at: int
    notices: Callable[[str], bool]  # takes the text with the digit changed
    others: str = "0123456789"  # what it may be changed to

    def tampered(self, rng: random.Random) -> str:
        return self.with_digit(rng.choice([d for d in self.others if d != self.text[self.at]]))

    def with_digit(self, digit: str) -> str:
        return self.text[: self.at] + digit + self.text[self.at + 1 :]

    def caught(self, rng: random.Random) -> bool:
        return self.notices(self.tampered(rng))

    def __str__(self) -> str:
        around = self.text[max(0, self.at - 30) : self.at + 30].replace("\n", " ")
        return f"{self.place}, digit {self.text[self.at]!r} at {self.at}: …{around}…"


def digits(place: str, text: str, notices: Callable[[str], bool]) -> Iterator[Candidate]:
    """A candidate for each digit of `text`."""
    for match in re.finditer(r"[0-9]", text):
        yield Candidate(place, text, match.start(), notices)


# Stored outputs


def output_candidates(path: Path, stored: dict, executed: dict) -> Iterator[Candidate]:
    """Digits in the texts that a notebook stores; nbval's own comparison must notice."""
    for old, new in zip(stored["cells"], executed["cells"], strict=True):
        if old["cell_type"] != "code":
            continue
        if not fresh.nbval_accepts(old, new):
            raise ValueError(f"{path.name}, {old['id']}: not what the code gives; run make notebooks first")
        for index, output in enumerate(old["outputs"]):
            for holder, key in text_places(output):
                notices = _output_check(old, new, index, holder, key)
                text = "".join(output[holder][key] if holder else output[key])
                found = digits(f"{path.name}, output of {old['id']}", text, notices)
                within = tolerance.declared(old)
                yield from found if within is None else beyond(found, within)


def beyond(candidates: Iterable[Candidate], within: Decimal) -> Iterator[Candidate]:
    """The digits of a tolerant cell, each only with changes that leave the distance for certain.

    The stored figure lies within the distance of the fresh one, so a change of twice as much leaves it.
    """
    for candidate in candidates:
        figure = next(
            (m for m in FIGURE.finditer(candidate.text) if m.start() <= candidate.at < m.end()), None
        )
        others = [d for d in candidate.others if d != candidate.text[candidate.at]]
        if figure:
            before = tolerance.figures(figure[0])[0]
            others = [
                d
                for d in others
                for after in tolerance.figures(candidate.with_digit(d)[figure.start() : figure.end()])
                if max(abs(a - b) for a, b in zip(after, before, strict=True)) > 2 * within
            ]
        if others:
            yield replace(candidate, others="".join(others))


def text_places(output: dict) -> list[tuple[str, str]]:
    if output["output_type"] == "stream":
        return [("", "text")]
    return [("data", key) for key in output.get("data", {}) if key.startswith("text/")]


def _output_check(old: dict, new: dict, index: int, holder: str, key: str) -> Callable[[str], bool]:
    def notices(text: str) -> bool:
        cell = {**old, "outputs": copy.deepcopy(old["outputs"])}
        output = cell["outputs"][index]
        (output[holder] if holder else output)[key] = text
        return not fresh.nbval_accepts(cell, new)

    return notices


# Prose and ledgers


def prose_candidates(page: Page) -> Iterator[Candidate]:
    """Digits in the numerals of the prose and in the ledgers; the prose check must notice."""
    known = prose.origins(page)

    def check(block: Block) -> bool:
        return bool(prose.problems(Page(page.path, [block], page.cells), known))

    for block in page.blocks:
        if check(block):
            raise ValueError(f"{page.name}, {block.name}: the prose check already fails; mend it first")
        in_numerals = {i for n in numerals(block.text) for i in range(n.start, n.end)}
        place = f"{page.name}, {block.name}"
        for candidate in digits(place, block.text, lambda t, b=block: check(_with(b, text=t))):
            if candidate.at in in_numerals:
                yield candidate
        for index, entry in enumerate(block.ledger.get("values", [])):
            for candidate in digits(
                f"{place}, ledger", entry, lambda t, b=block, i=index: check(_rebound(b, i, t))
            ):
                if candidate.at < entry.index(" @ "):
                    yield candidate
        noted = block.ledger.get("notation", "")
        yield from digits(
            f"{place}, ledger", noted, lambda t, b=block: check(_with(b, ledger={**b.ledger, "notation": t}))
        )


def _with(block: Block, text: str | None = None, ledger: dict | None = None) -> Block:
    return Block(block.name, block.text if text is None else text, ledger or block.ledger, block.position)


def _rebound(block: Block, index: int, entry: str) -> Block:
    lines = list(block.ledger["values"])
    lines[index] = entry
    return _with(block, ledger={**block.ledger, "values": lines})


# What the documents print


def rendered(folder: Path) -> list[str]:
    """The cards that the errata page shows, from the data in `folder`."""
    examples, statements = catalog.load_examples(folder), errata.load_statements(folder)
    with (
        patch.object(catalog, "_examples", lambda: examples),
        patch.object(errata, "_statements", lambda: statements),
    ):
        documents = sorted({id[:2] for id in examples})
        cards = [errata.figure_cards(d) for d in documents] + [errata.statement_cards(d) for d in statements]
        return [card.text for card in cards]


def stored_errata(path: Path = BOOK / "errata.ipynb") -> str:
    """What the errata page has stored."""
    return "\n".join(printed_text(cell) for cell in read_page(path).code_cells())


def source_candidates(stored: str) -> Iterator[Candidate]:
    """Digits in the data on the documents: it must no longer load, or give another errata page."""
    if not all(card in stored for card in rendered(catalog.DATA)):
        raise ValueError("errata.ipynb does not show what lib/sources says; run make notebooks first")
    for path in sorted(catalog.DATA.glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        comments = {i for m in re.finditer(r"^#.*$", text, re.MULTILINE) for i in range(*m.span())}
        for candidate in digits(f"lib/sources/data/{path.name}", text, _source_check(path, stored)):
            if candidate.at not in comments:
                yield candidate


def _source_check(path: Path, stored: str) -> Callable[[str], bool]:
    def notices(text: str) -> bool:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(shutil.copytree(catalog.DATA, Path(scratch) / "data"))
            (folder / path.name).write_text(text, encoding="utf-8")
            try:
                return not all(card in stored for card in rendered(folder))
            except Exception:
                return True  # the page cannot be made at all

    return notices


# Widgets


def widget_candidates(path: Path, stored: dict, executed: dict) -> Iterator[Candidate]:
    """Digits in the state of the stored widgets: the comparison with a fresh execution must notice."""
    if problems := fresh.widget_problems(stored, executed):
        raise ValueError(f"{path.name}: {problems[0]}")
    for id, model in fresh.widget_state(stored).items():
        for trait, value in model["state"].items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            notices = _widget_check(stored, executed, id, trait, isinstance(value, str))
            yield from digits(f"{path.name}, widget {id[-4:]}, {trait}", text, notices)


def _widget_check(stored: dict, executed: dict, id: str, trait: str, is_text: bool) -> Callable[[str], bool]:
    def notices(text: str) -> bool:
        try:
            value = text if is_text else json.loads(text)
        except ValueError:
            return True  # no longer JSON: the notebook cannot be read
        model = fresh.widget_state(stored)[id]
        changed = {**model, "state": {**model["state"], trait: value}}
        state = {**fresh.widget_state(stored), id: changed}
        widgets = {fresh.WIDGET_STATE: {"state": state}}
        return bool(fresh.widget_problems({**stored, "metadata": {"widgets": widgets}}, executed))

    return notices


def attempt(candidates: list[Candidate], seed: int, sample: int | None) -> tuple[int, list[Candidate]]:
    """Tampers with a sample of the digits, or with all: how many were tried, and which nobody noticed."""
    rng = random.Random(seed)
    chosen = candidates if sample is None else rng.sample(candidates, min(sample, len(candidates)))
    return len(chosen), [c for c in chosen if not c.caught(rng)]
