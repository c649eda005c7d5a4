"""Digits of what a notebook stores, changed one at a time: its outputs, and the state of its widgets."""

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from trust import comparison, tolerance
from trust.tamper import Candidate, digits
from trust.tolerance import FIGURE

Notebook = dict[str, Any]


def output_candidates(name: str, stored: Notebook, executed: Notebook) -> Iterator[Candidate]:
    """Digits in the texts that a notebook stores; nbval's own comparison must notice."""
    for old, new in zip(stored["cells"], executed["cells"], strict=True):
        if old["cell_type"] != "code":
            continue
        if not comparison.nbval_accepts(old, new):
            raise ValueError(f"{name}, {old['id']}: not what the code gives; execute the notebook first")
        for index, output in enumerate(old["outputs"]):
            for holder, key in comparison.text_places(output):
                notices = _output_check(old, new, index, key)
                found = digits(f"{name}, output of {old['id']}", "".join(holder[key]), notices)
                within = tolerance.declared(old)
                yield from found if within is None else beyond(found, within)


def _output_check(old: dict[str, Any], new: dict[str, Any], index: int, key: str) -> Callable[[str], bool]:
    def notices(text: str) -> bool:
        cell = {**old, "outputs": copy.deepcopy(old["outputs"])}
        output = cell["outputs"][index]
        (output if output["output_type"] == "stream" else output["data"])[key] = text
        return not comparison.nbval_accepts(cell, new)

    return notices


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


def widget_candidates(name: str, stored: Notebook, executed: Notebook) -> Iterator[Candidate]:
    """Digits in the state of the stored widgets: the comparison with a fresh execution must notice."""
    fresh = comparison.numbered_widgets(executed)
    if problems := comparison.widget_differences(comparison.numbered_widgets(stored), fresh):
        raise ValueError(f"{name}: {problems[0]}")
    for id, model in comparison.widget_state(stored).items():
        for trait, value in model["state"].items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            notices = _widget_check(stored, fresh, id, trait, isinstance(value, str))
            yield from digits(f"{name}, widget {id[-4:]}, {trait}", text, notices)


def _widget_check(
    stored: Notebook, fresh: comparison.Widgets, id: str, trait: str, is_text: bool
) -> Callable[[str], bool]:
    def notices(text: str) -> bool:
        try:
            value = text if is_text else json.loads(text)
        except ValueError:
            return True  # no longer JSON: the notebook cannot be read
        model = comparison.widget_state(stored)[id]
        state = {
            **comparison.widget_state(stored),
            id: {**model, "state": {**model["state"], trait: value}},
        }
        widgets = {comparison.WIDGET_STATE: {"state": state}}
        changed = comparison.numbered_widgets({**stored, "metadata": {"widgets": widgets}})
        return bool(comparison.widget_differences(changed, fresh))

    return notices
