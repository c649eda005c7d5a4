"""Finds quizzes that can be answered without reading them: by position, or by the length of the choices.

A guesser who knows nothing about the subject uses one rule for the whole quiz: always the same place, always
the longest choice, always the shortest; or never. `giveaways` names each rule that is right so often, or so
seldom, that chance would hardly do it.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce

import numpy as np

from lib.quizzes.question import Choice, Question

Rule = Callable[[Sequence[Choice]], int | None]


def _by_length(extreme: Callable[[list[int]], int], choices: Sequence[Choice]) -> int | None:
    """The choice of the extreme length, if it stands only once: a tie tells a guesser nothing."""
    lengths = [len(choice.text) for choice in choices]
    return lengths.index(extreme(lengths)) if lengths.count(extreme(lengths)) == 1 else None


def _place(k: int, choices: Sequence[Choice]) -> int | None:
    return k if k < len(choices) else None


RULES: dict[str, Rule] = {
    "the longest choice": partial(_by_length, max),
    "the shortest choice": partial(_by_length, min),
    "the last choice": lambda choices: len(choices) - 1,
    **{f"choice {k + 1}": partial(_place, k) for k in range(5)},
}


def luck(quiz: Sequence[Question]) -> list[float]:
    """The probability that blind guessing answers exactly 0, 1, 2, ... questions of the quiz."""
    chances = [1 / len(question.choices) for question in quiz]
    return [*reduce(np.convolve, ([1 - p, p] for p in chances), [1.0])]


def giveaways(quiz: Sequence[Question], chance: float = 0.02) -> list[str]:
    """The rules right so often, or so seldom, that luck does it with a probability below `chance`."""
    found = []
    for name, rule in RULES.items():
        guessed = [(question, k) for question in quiz if (k := rule(question.choices)) is not None]
        hits = sum(question.choices[k].right for question, k in guessed)
        exactly = luck([question for question, _ in guessed])
        if min(math.fsum(exactly[hits:]), math.fsum(exactly[: hits + 1])) < chance:
            found.append(f"{name} is right {hits} times of {len(guessed)}")
    return found
