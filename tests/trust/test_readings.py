"""What an output prints, and whether it shows a number at the precision of the prose."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trust.conventions import Convention
from trust.numerals import numerals
from trust.readings import Reading, printed


@pytest.mark.parametrize(
    ("prose", "output", "shown"),
    [
        ("0,45", "soma: 0.4549", True),
        ("0,45", "soma: 0.4551", False),
        ("0,45", "soma: 0.5", False),
        ("0,4500", "soma: 0.45", False),
        ("−0,45", "soma: 0.45", False),
        ("3", "total 3.0000", True),
        ("3", "total 2.98", False),
        ("3", "x3 ou 13", False),
        ("45%", "0.4512", True),
        ("45%", "45 %", True),
        ("45%", "45", False),
        ("109 milhões", "109_482_240", True),
        ("109 milhões", "109,482,240", True),
        ("109.482.240", "109482240", True),
        ("1234,5", "1,234.5", True),
        ("1.414", "1.41421", True),
        ("0,131", "0,131 nat", True),
        (r"$2 \times 10^{-5}$", "2.04e-05", True),
        (r"$10^{-5}$", "1e-05", True),
        (r"$2^{20}$", "1048576", True),
        ("9", "[7. 8. 9.]", True),
        ("2,22e-16", "2.220446049250313e-16", True),
        ("5", "0.005", False),
        ("1000", "1.000", True),
        ("0", "<Network at 0x1128391d0>", False),
        ("109M", "109482240", True),
        ("110M", "110M", True),
        ("110M", "120000000", False),
        ("123456789", "sha256=123456789abcdef0123", False),
    ],
)
def test_printed_at_the_precision_shown(prose, output, shown):
    (numeral,) = numerals(prose, Convention(",", "pt"))
    assert printed(output).shows(numeral.readings) is shown


@given(st.integers(-(10**6), 10**6), st.integers(0, 4))
def test_a_printed_number_is_read_back(n, decimals):
    number = Decimal(n).scaleb(-decimals)
    assert Reading(number, Decimal(1).scaleb(-decimals)) in printed(f"value: {number:f}").readings


@given(st.text(alphabet="0123456789.,eE+-_% \n", max_size=60))
def test_any_output_can_be_read(text):
    numbers = printed(text)
    assert numbers.values == sorted(numbers.values)


def test_a_number_beyond_reason_is_left_out():
    assert printed("1e99999999999999999999 and 2").values == [2]
