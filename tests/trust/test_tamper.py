"""Digits are changed one at a time, and it is reported which of them nobody noticed."""

import random

from tests.trust.made_up import code, page, prose
from trust import tamper


def test_a_digit_that_nobody_checks_is_reported():
    blind = tamper.Candidate("somewhere", "soma 1", 5, lambda text: False)
    assert tamper.attempt([blind], seed=1, sample=None) == (1, [blind])
    assert "somewhere, digit '1' at 5" in str(blind)


def test_tampering_always_changes_the_digit():
    candidate = tamper.Candidate("somewhere", "soma 1", 5, lambda text: text != "soma 1")
    assert all(candidate.caught(random.Random(seed)) for seed in range(50))


def test_prose_candidates_cover_prose_and_ledger():
    made = page(
        code("soma", "print(1)", "0.45 4"), prose("t", "É 0,45 em $x_1$.", "0,45 @ soma", notation="1")
    )
    found = list(tamper.prose_candidates(made, made.printed))
    assert len(found) == 3 + 1 + 3 + 1
    assert all(c.caught(random.Random(seed)) for c in found for seed in range(20))
