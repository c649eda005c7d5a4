"""Wrong answers to every exercise, as students write them, each with the hint it must get; and right ones.

One module per chapter: `WRONG[exercise]` is a list of (key of the hint, answer), `RIGHT[exercise]` a list of
right answers written in another way than the published solution. The mistakes are those of public courses,
issue trackers and forums: masks inverted or one off, softmax over the wrong axis, 81/10/9, labels everywhere,
averages over padding, shifts the wrong way.
"""

import importlib
from dataclasses import dataclass, field
from functools import cache

from lib.exercises.catalogue import CODE, Exercise, all_exercises
from lib.exercises.checkers import checker_of
from lib.exercises.student import RIGHT, WRONG


@dataclass
class Proof:
    """What a checker made of the catalogue: how many answers there are, and what it got wrong."""

    wrong: int
    right: int
    mistaken: list[str] = field(default_factory=list)  # wrong answers accepted, or given another hint
    refused: list[str] = field(default_factory=list)  # right answers rejected
    reached: set[str] = field(default_factory=set)  # hints that a wrong answer led to


def answers(exercise: Exercise) -> tuple[list, list]:
    """Wrong answers with their hints, and right ones; the published solution is one of the right ones."""
    module = importlib.import_module(f"tests.lib.exercises.wrong_answers.ch{exercise.chapter}")
    published = [exercise.function()] if exercise.kind == CODE else []
    return module.WRONG[exercise.name], [*module.RIGHT[exercise.name], *published]


@cache
def prove(exercise_name: str) -> Proof:
    """Run the catalogue's answers to one exercise through its checker."""
    exercise = next(e for e in all_exercises() if e.name == exercise_name)
    wrong, right = answers(exercise)
    proof, check = Proof(len(wrong), len(right)), checker_of(exercise)
    verdicts = [check.verdict(answer) for answer in [a for _, a in wrong] + right]
    for (mistake, _), verdict in zip(wrong, verdicts, strict=False):
        proof.reached.add(verdict.mistake)
        if (verdict.status, verdict.mistake) != (WRONG, mistake):
            proof.mistaken.append(f"{exercise_name}, {mistake}: {verdict.text}")
    proof.refused += [f"{exercise_name}: {v.text}" for v in verdicts[len(wrong) :] if v.status != RIGHT]
    return proof


def summary(proofs: list[Proof]) -> str:
    """The line that counts: "N of N wrong answers rejected, M of M right ones accepted"."""
    wrong, right = sum(p.wrong for p in proofs), sum(p.right for p in proofs)
    rejected, accepted = (
        wrong - sum(len(p.mistaken) for p in proofs),
        right - sum(len(p.refused) for p in proofs),
    )
    return f"{rejected} of {wrong} wrong answers rejected, {accepted} of {right} right ones accepted"
