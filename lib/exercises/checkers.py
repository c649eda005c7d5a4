"""The checker of an exercise: `check_<name>` in the module of its chapter."""

import importlib

from lib.exercises.catalogue import Exercise
from lib.exercises.student import Checker


def checker_of(exercise: Exercise) -> Checker:
    return getattr(importlib.import_module(f"lib.exercises.ch{exercise.chapter}"), exercise.check_name)
