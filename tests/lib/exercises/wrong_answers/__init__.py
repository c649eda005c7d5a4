"""Wrong answers to every exercise, as students write them, each with the hint it must get; and right ones.

One module per chapter: `WRONG[exercise]` is a list of (key of the hint, answer), or the number for each hint;
`RIGHT[exercise]` is a list of right answers written in another way than the published solution. The mistakes
are those of public courses, issue trackers and forums: masks inverted or one off, softmax over a wrong axis,
81/10/9, labels everywhere, averages over padding, shifts the wrong way.
"""

import importlib

from lib.exercises.catalogue import CODE, NUMBER, Exercise


def answers(exercise: Exercise) -> tuple[list, list]:
    """Wrong answers with their hints, and right ones; the published solution is one of the right ones."""
    module = importlib.import_module(f"tests.lib.exercises.wrong_answers.chapter_{exercise.chapter:02}")
    published = [exercise.function()] if exercise.kind == CODE else []
    wrong = module.WRONG[exercise.name]
    return [*wrong.items()] if exercise.kind == NUMBER else wrong, [*module.RIGHT[exercise.name], *published]
