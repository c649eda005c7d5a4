"""What a tolerant cell may declare, and what it accepts; the comparison itself is tried in test_tamper.py."""

from decimal import Decimal

import pytest

from tests.trust.made_up import code
from trust import tolerance

GOOD = {"within": 0.06, "reason": "three trainings"}


def found(printed: str, entry: dict) -> list[str]:
    return tolerance.problems("99.ipynb", [code("t", "print()", printed, tolerance=entry)])


def test_figures_are_read_with_signs_and_units():
    text = "acerto 0.69 ± 0.04, perda −1.5 ± 0.5; 2.6% ± 0.7% e 3 ± 1"
    assert tolerance.figures(text) == [
        (Decimal("0.69"), Decimal("0.04")),
        (Decimal("-1.5"), Decimal("0.5")),
        (Decimal("2.6"), Decimal("0.7")),
        (Decimal(3), Decimal(1)),
    ]
    assert tolerance.figures("v0.69 ± 0.04x, 1.2.3 ± 4, 0.69±0.04") == []


def test_a_good_declaration_passes():
    assert found("acerto 0.69 ± 0.02", GOOD) == []
    assert tolerance.problems("99.ipynb", [code("t", "print()", "acerto 0.69")]) == []


@pytest.mark.parametrize(
    ("printed", "entry", "message"),
    [
        ("acerto 0.69 ± 0.02", {"within": 0.06}, "needs `within` and a `reason`"),
        ("acerto 0.69 ± 0.02", {"within": 0.06, "reason": " "}, "needs `within` and a `reason`"),
        ("acerto 0.69 ± 0.02", {**GOOD, "lines": "all"}, "and nothing else"),
        ("acerto 0.69", GOOD, "prints no figure of the form"),
        ("acerto 0.69 ± 0.01", GOOD, "at most 4 times the largest spread"),
        ("acerto 0.69 ± 0.00", GOOD, "at most 4 times the largest spread"),
        ("acerto 0.69 ± 0.02", {**GOOD, "within": 0}, "more than 0"),
    ],
)
def test_a_declaration_that_says_too_much_or_nothing_is_named(printed, entry, message):
    (problem,) = found(printed, entry)
    assert message in problem and problem.startswith("99.ipynb, t:")


def test_texts_of_results_and_of_streams_settle():
    stored = [{"output_type": "display_data", "data": {"text/plain": "1.0 ± 0.1", "image/png": "a"}}]
    fresh = [{"output_type": "display_data", "data": {"text/plain": "1.1 ± 0.1", "image/png": "b"}}]
    (settled,) = tolerance.settled_outputs(fresh, stored, Decimal("0.1"))
    assert settled["data"] == {"text/plain": "1.0 ± 0.1", "image/png": "b"}
    assert fresh[0]["data"]["text/plain"] == "1.1 ± 0.1", "what was given stays as it was"
