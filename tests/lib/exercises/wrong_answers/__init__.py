"""Wrong answers to every exercise, as students write them, each with the hint it must get; and right ones.

One module per chapter: `WRONG[exercise]` is a list of (key of the hint, answer), or the number for each hint;
`RIGHT[exercise]` is a list of right answers written in another way than the published solution. The mistakes
are those of public courses, issue trackers and forums: masks inverted or one off, softmax over a wrong axis,
81/10/9, labels everywhere, averages over padding, shifts the wrong way.
"""

import importlib
from functools import cache

from lib.exercises.catalogue import CODE, NUMBER, Exercise, all_exercises
from lib.exercises.student import Verdict, checker_of


def answers(exercise: Exercise) -> tuple[list, list]:
    """Wrong answers with their hints, and right ones; the published solution is one of the right ones."""
    module = importlib.import_module(f"tests.lib.exercises.wrong_answers.chapter_{exercise.chapter:02}")
    published = [exercise.function()] if exercise.kind == CODE else []
    wrong = module.WRONG[exercise.name]
    return [*wrong.items()] if exercise.kind == NUMBER else wrong, [*module.RIGHT[exercise.name], *published]


@cache
def prove(exercise_name: str) -> tuple[list[tuple[str, Verdict]], list[Verdict]]:
    """The verdicts on wrong answers, each after the hint that it must be, and those on right answers."""
    exercise = next(e for e in all_exercises() if e.name == exercise_name)
    check, (wrong, right) = checker_of(exercise), answers(exercise)
    return [(hint, check.verdict(answer)) for hint, answer in wrong], [*map(check.verdict, right)]
