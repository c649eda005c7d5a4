"""Wrong answers to every exercise, as students write them, each with the hint it must get; and right ones.

One module per chapter: `WRONG[exercise]` is a list of (key of the hint, answer), or the number for each hint.
An answer is a function, or what to change in the published solution: "old -> new", or several of those.
`RIGHT[exercise]` is a list of right answers written in another way than the published solution. The mistakes
are those of public courses, issue trackers and forums: masks inverted or one off, softmax over a wrong axis,
81/10/9, labels everywhere, averages over padding, shifts the wrong way.
"""

import importlib
from collections.abc import Callable

from lib.exercises.catalogue import CODE, Exercise


def answers(exercise: Exercise) -> tuple[list, list]:
    """Wrong answers with their hints, and right ones; the published solution is one of the right ones."""
    module = importlib.import_module(f"tests.lib.exercises.wrong_answers.chapter_{exercise.chapter:02}")
    wrong, right = module.WRONG[exercise.name], module.RIGHT[exercise.name]
    if exercise.kind != CODE:
        return [*wrong.items()], right
    whole = [(hint, _written(exercise, answer)) for hint, answer in wrong]
    return whole, [exercise.function(), *(_written(exercise, answer) for answer in right)]


def _written(exercise: Exercise, answer: Callable | str | tuple[str, ...]) -> Callable:
    """The answer, or the published solution with what it says to change."""
    if callable(answer):
        return answer
    code = exercise.solution_code()
    for change in (answer,) if isinstance(answer, str) else answer:
        old, new = change.split(" -> ")
        assert old in code, f"{exercise.answer} does not contain {old!r}"
        code = code.replace(old, new)
    exec(code, space := dict(exercise.function().__globals__))
    return space[exercise.answer]
