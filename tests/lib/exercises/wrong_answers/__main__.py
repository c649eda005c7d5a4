"""`python -m tests.lib.exercises.wrong_answers` runs the whole catalogue and prints the count."""

import sys

from lib.exercises.catalogue import OPEN, all_exercises
from tests.lib.exercises.wrong_answers import prove, summary

proofs = [prove(e.name) for e in all_exercises() if e.kind != OPEN]
for problem in (problem for proof in proofs for problem in proof.mistaken + proof.refused):
    print(problem, file=sys.stderr)
print(summary(proofs))
sys.exit(any(proof.mistaken or proof.refused for proof in proofs))
