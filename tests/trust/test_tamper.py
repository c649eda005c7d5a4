"""Digits are changed one at a time, and it is reported which of them nobody noticed."""

import random

import pytest

from tests.trust.made_up import code, notebook, page, prose
from trust import tamper, tamper_outputs
from trust.comparison import WIDGET_STATE


def test_a_digit_that_nobody_checks_is_reported():
    blind = tamper.Candidate("somewhere", "soma 1", 5, lambda text: False)
    assert tamper.attempt([blind], seed=1, sample=None) == (1, [blind])
    assert "somewhere, digit '1' at 5" in str(blind)


def test_tampering_always_changes_the_digit():
    candidate = tamper.Candidate("somewhere", "soma 1", 5, lambda text: text != "soma 1")
    assert all(candidate.caught(random.Random(seed)) for seed in range(50))


def test_prose_candidates_cover_prose_and_ledger():
    made = page(code("c", "print(1)", "0.45 4"), prose("t", "É 0,45 em $x_1$.", "0,45 @ c", notation="1"))
    found = list(tamper.prose_candidates(made, made.printed))
    assert len(found) == 3 + 1 + 3 + 1
    assert all(c.caught(random.Random(seed)) for c in found for seed in range(20))


def test_a_tolerant_digit_is_changed_only_beyond_its_distance():
    text = "acerto 0.69 ± 0.04 em 300 frases"
    cell = code("t", "print()", text, tolerance={"within": 0.03, "reason": "a training"})
    found = tamper_outputs.cell_candidates("somewhere", cell, lambda changed: True)
    others = {candidate.at: candidate.others for candidate in found}
    assert others[text.index("300")] == "012456789", "what is no tolerant figure may change to anything"
    assert others[text.index("6")] == "012345789", "0.59 and 0.79 are 0.10 away"
    assert others[text.index("9")] == "012", "0.63 may be what another machine gives"


def test_every_digit_of_outputs_and_widgets_is_a_candidate():
    made = notebook(code("c", "print(12)", "12 e 3"), code("f", "plot()", picture=True))
    found = list(tamper_outputs.output_candidates("a.ipynb", made, made))
    assert len(found) == 3 + len("6404801") and all(c.caught(random.Random(1)) for c in found)
    models = {"1": {"state": {"a": [1, 23], "b": "x4", "c": None}}}
    made.metadata["widgets"] = {WIDGET_STATE: {"state": models}}
    found = list(tamper_outputs.widget_candidates("a.ipynb", made, made))
    assert len(found) == 4 and all(c.caught(random.Random(seed)) for c in found for seed in range(20))


def test_a_digit_that_leaves_a_float_as_it_is_is_no_change():
    """-1.6094379124341002 is read as the same number as -1.6094379124341003."""
    made = notebook()
    made.metadata["widgets"] = {WIDGET_STATE: {"state": {"1": {"state": {"a": [-1.6094379124341003, 0.5]}}}}}
    found = list(tamper_outputs.widget_candidates("a.ipynb", made, made))
    assert len(found) == 17 + 2 and found[16].text[found[16].at] == "3" and "2" not in found[16].others
    for candidate in found:
        digits = set(candidate.others) - {candidate.text[candidate.at]}
        assert len(digits) > 3 and all(candidate.notices(candidate.with_digit(d)) for d in digits)


def test_a_notebook_that_already_fails_is_not_tampered_with():
    stale, fresh = notebook(code("c", "print(1)", "1")), notebook(code("c", "print(1)", "2"))
    with pytest.raises(ValueError, match="execute the notebook first"):
        list(tamper_outputs.output_candidates("a.ipynb", stale, fresh))
    stale.metadata["widgets"] = {WIDGET_STATE: {"state": {"1": {"state": {}}}}}
    with pytest.raises(ValueError, match="not what the code gives"):
        list(tamper_outputs.widget_candidates("a.ipynb", stale, fresh))
