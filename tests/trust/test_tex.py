"""The rule that tells values from notation in mathematics, case by case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trust.tex import numerals


@pytest.mark.parametrize(
    ("tex", "values", "notation"),
    [
        (r"2 \times 10^{-5} > 10^{-3}", [r"2 \times 10^{-5}", "10^{-3}"], []),
        (r"x_1, x_{12} \in \mathbb{R}^{3}, N^2", [], ["1", "12", "3", "2"]),
        (r"i + 1, \ln 8 \approx 2{,}079, N(N+1)/2 = 10", ["2{,}079", "10"], ["1", "8", "1", "2"]),
        (r"e^{0{,}75} \approx 2{,}117, e^{2}", ["0{,}75", "2{,}117"], ["2"]),
        (r"N = 4, x \in [0, 1]", ["4", "0", "1"], []),
        (r"\begin{bmatrix} 1 & 0 \\[2pt] -0.5 & 2 \end{bmatrix}", ["1", "0", "-0.5", "2"], []),
        (r"64\,\text{MiB}, \text{float32} % of 8", ["64"], ["32"]),
        (r"S = 4 \label{eq-9} \tag{3}", ["4"], []),
        (r"45\% = 10\,000 = 2^{20}", [r"45\%", r"10\,000", "2^{20}"], []),
    ],
)
def test_values_and_notation(tex, values, notation):
    found = numerals(tex, ",")
    assert [n.text for n in found if not n.notation] == values
    assert [n.text for n in found if n.notation] == notation


@pytest.mark.parametrize(
    ("tex", "decimal", "value"),
    [
        (r"0{,}45", ",", "0.45"),
        (r"1{,}000", ".", "1000"),
        (r"N = 12,345", ".", "12345"),
        (r"1{.}024", ",", "1024"),
        (r"0,05x = 1", ",", "0.05"),
        (r"2 \cdot 10^{3}", ".", "2E+3"),
        (r"45\%", ".", "0.45"),
        (r"2^{-2}", ".", "0.25"),
    ],
)
def test_what_a_formula_means(tex, decimal, value):
    found = numerals(tex, decimal)[0]
    assert value in {str(reading.value) for reading in found.readings}


def test_two_numbers_in_brackets_are_not_one():
    assert [n.text for n in numerals("[100,200]", ".")] == ["100", "200"]
    assert [n.text for n in numerals("[0,1] \\ni x_{1,2}", ",")] == ["0", "1", "1", "2"]


@given(st.text(alphabet="ab0123456789.,_^{}=+-\\&% ", max_size=60), st.sampled_from(",."))
def test_any_formula_can_be_read(tex, decimal):
    numerals(tex, decimal)


def test_an_exponent_beyond_reason_has_no_value():
    (found,) = numerals(r"2 \times 10^{99999999999999999999}", ".")
    assert found.readings == ()
