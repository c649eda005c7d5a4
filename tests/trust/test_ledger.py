"""Every value in the prose was printed; and the check notices when one was not."""

import re

import pytest

from tests.trust.made_up import code, page, prose
from trust.ledger import problems

GOOD = (
    code("soma", "print(soma)", "soma 0.4551 de 4"),
    prose("texto", "A soma é 0,46 em $N = 4$ tokens ($i+1$).", "0,46 @ soma", "4 @ soma", notation="1"),
)


def found_in(*cells) -> list[str]:
    made = page(*cells)
    return problems(made, made.printed)


def test_good_prose_passes():
    assert found_in(*GOOD) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("A soma é 0,47 em $N = 4$ ($i+1$).", "says '0,47'; the ledger expects '0,46', from 'soma'"),
        ("A soma é 0,46 em $N = 4$ ($i+2$).", "indices, exponents and marks are '2'"),
        ("A soma é 0,46 em $N = 4$ ($i+1$), ou 9.", "'9' in “.*” has no origin"),
        ("A soma é 0,46 em $i+1$.", "the ledger has '4', which is no longer in the prose"),
        ({"values": ["0,46 @ outra", "4 @ soma"], "notation": "1"}, "from 'outra', which does not exist"),
        ({"values": ["0,46 @ ?", "4 @ soma"], "notation": "1"}, "from '\\?', which does not exist"),
        ({"values": ["0,46 @ soma", "5 @ soma"], "notation": "1"}, "says '4'; the ledger expects '5'"),
        ({"values": ["0,46 @ soma", "4 @ soma"]}, "indices, exponents and marks"),
        ({"values": 3}, "'0,46' in “.*” has no origin"),
        ({"valores": []}, "unknown keys"),
        ({}, "'0,46' in “.*” has no origin"),
        (["0,46"], "'0,46' in “.*” has no origin"),
    ],
)
def test_bad_prose_and_a_bad_ledger_are_named(changed, message):
    cell = {"source": changed} if isinstance(changed, str) else {"metadata": {"figures": changed}}
    (found,) = found_in(GOOD[0], {**GOOD[1], **cell})
    assert re.search(message, found), found


def test_a_cell_that_prints_something_else_is_noticed():
    (found,) = found_in(code("soma", "print(soma)", "soma 0.4449 de 4"), GOOD[1])
    assert "'0,46'" in found and "does not print it at that precision" in found
