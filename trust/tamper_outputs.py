"""Digits of what a notebook stores, changed one at a time: its outputs, and the state of its widgets."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from trust import comparison, tolerance
from trust.notebooks import Cell, text_places
from trust.tamper import Candidate, digits

Notebook = dict[str, Any]
# A number with as many digits as a double holds: another last digit may be the same number.
LONG = re.compile(r"\d+\.\d{14,}(?:e[+-]?\d+)?")


def output_candidates(name: str, stored: Notebook, executed: Notebook) -> Iterator[Candidate]:
    """Digits in the texts that a notebook stores; nbval's own comparison must notice."""
    for old, new in zip(stored["cells"], executed["cells"], strict=True):
        if old["cell_type"] != "code":
            continue
        if not comparison.nbval_accepts(old, new):
            raise ValueError(f"{name}, {old['id']}: not what the code gives; execute the notebook first")
        yield from cell_candidates(
            f"{name}, output of {old['id']}",
            old,
            lambda cell, new=new: not comparison.nbval_accepts(cell, new),
        )


def cell_candidates(place: str, cell: Cell, notices: Callable[[Cell], bool]) -> Iterator[Candidate]:
    """Digits in the texts that a code cell stores, each only with changes that must be noticed."""
    within = tolerance.declared(cell)
    for index, output in enumerate(cell["outputs"]):
        for number, (holder, key) in enumerate(text_places(output)):

            def notices_text(text: str, index: int = index, number: int = number) -> bool:
                outputs = copy.deepcopy(cell["outputs"])
                holder, key = text_places(outputs[index])[number]
                holder[key] = text
                return notices({**cell, "outputs": outputs})

            for candidate in digits(place, holder[key], notices_text):
                if others := candidate.others if within is None else beyond(candidate, within):
                    yield replace(candidate, others=others)


def beyond(candidate: Candidate, within: Decimal) -> str:
    """What a digit of a tolerant cell may be changed to, so that it leaves the distance for certain.

    The stored figure lies within the distance of the fresh one, so a change of twice as much leaves it.
    """
    others = candidate.others.replace(candidate.text[candidate.at], "")
    for figure in tolerance.FIGURE.finditer(candidate.text):
        if figure.start() <= candidate.at < figure.end():
            [before] = tolerance.figures(figure[0])
            return "".join(
                digit
                for digit in others
                for after in tolerance.figures(candidate.with_digit(digit)[figure.start() : figure.end()])
                if max(abs(a - b) for a, b in zip(after, before, strict=True)) > 2 * within
            )
    return others


def widget_candidates(name: str, stored: Notebook, executed: Notebook) -> Iterator[Candidate]:
    """Digits in the stored widgets: the comparison with a fresh execution must notice."""
    fresh, state = comparison.numbered_widgets(executed), comparison.widget_state(stored)
    if problems := comparison.widget_differences(comparison.numbered_widgets(stored), fresh):
        raise ValueError(f"{name}: {problems[0]}")
    for id, model in state.items():

        def notices(text: str, id: str = id) -> bool:
            try:
                widgets = {comparison.WIDGET_STATE: {"state": {**state, id: json.loads(text)}}}
            except ValueError:
                return True  # no longer JSON: the notebook cannot be read
            changed = comparison.numbered_widgets({**stored, "metadata": {"widgets": widgets}})
            return bool(comparison.widget_differences(changed, fresh))

        text = json.dumps(model, ensure_ascii=False)
        long = {at: number.span() for number in LONG.finditer(text) for at in range(*number.span())}
        for candidate in digits(f"{name}, widget {id[-4:]}", text, notices):
            span = long.get(candidate.at)
            if others := other_numbers(candidate, *span) if span else candidate.others:
                yield replace(candidate, others=others)


def other_numbers(candidate: Candidate, start: int, stop: int) -> str:
    """What a digit of the number between `start` and `stop` may be, so that it is read as another number."""
    number = float(candidate.text[start:stop])
    return "".join(d for d in candidate.others if float(candidate.with_digit(d)[start:stop]) != number)
