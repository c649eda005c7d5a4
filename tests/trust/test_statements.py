"""Statements, their cells and their property tests agree; and the check notices when they do not."""

import pytest

from tests.trust.made_up import code, page, prose
from tests.trust.pages import chapters, notebooks, read_page
from tests.trust.statements import asserts, labels_in_prose, problems


@pytest.mark.guards("01.s27", "03.s57", "04.s21")
def test_every_chapter_states_something_and_labels_agree():
    found = problems([read_page(path) for path in notebooks()])
    assert not found, "\n".join(found)
    stating = {path.name[:2] for path in chapters() if labels_in_prose(read_page(path))[0]}
    assert stating == {path.name[:2] for path in chapters()}, "one page of a chapter at least"


THEOREM = "```{prf:theorem} Soma\n:label: teo-soma\nA soma é um.\n```"
CELL = code("teo", "assert soma == 1", tags=("statement:teo-soma",))
TEST = '@pytest.mark.statement("teo-soma")\n@given(st.integers())\ndef test_soma(n):\n    assert n == n\n'


def found_in(tmp_path, cells, test):
    (tmp_path / "test_made_up.py").write_text(test, encoding="utf-8")
    return problems([page(*cells)], tmp_path)


@pytest.mark.parametrize(
    ("theorem", "cell", "test", "message"),
    [
        (THEOREM.replace(":label: teo-soma\n", ""), CELL, TEST, "“Soma” has no :label:"),
        (THEOREM, code("teo", "assert soma == 1"), TEST, "no code cell is tagged statement:teo-soma"),
        (THEOREM, {**CELL, "source": "print(soma)"}, TEST, "asserts nothing"),
        (THEOREM, {**CELL, "source": "assert True"}, TEST, "asserts nothing"),
        (THEOREM, CELL, "", "no property test carries the mark of teo-soma"),
        (THEOREM, CELL, TEST.replace("@given(st.integers())\n", ""), "needs @given and an assert"),
        (THEOREM, CELL, TEST.replace("assert n == n", "n == n"), "needs @given and an assert"),
        (THEOREM, CELL, TEST + TEST.replace("teo-soma", "teo-outro"), "a test marks teo-outro"),
        ("Sem teorema.", CELL, TEST, "no statement has the label teo-soma"),
        (THEOREM + "\n\n" + THEOREM, CELL, TEST, "the label teo-soma is used twice"),
        (THEOREM.replace("theorem", "observation").replace("teo-soma", "obs"), CELL, TEST, "mark of obs"),
    ],
)
def test_a_gap_is_named(tmp_path, theorem, cell, test, message):
    found = found_in(tmp_path, [prose("t", theorem), cell], test)
    assert any(message in problem for problem in found), found


def test_a_good_chapter_passes_and_its_proofs_and_definitions_are_no_statements(tmp_path):
    text = "```{prf:proof}\nÓbvio.\n```\n\n```{prf:definition} Soma\n:label: def-soma\nA soma.\n```"
    assert found_in(tmp_path, [prose("t", THEOREM), prose("d", text), CELL], TEST) == []


def test_an_assertion_on_nothing_does_not_count():
    assert asserts("assert True\nassert 1 == 1") == []
    assert asserts("%matplotlib inline\nassert soma == 1") == [{"soma"}]
    assert asserts("torch.testing.assert_close(soma, 1.0)") == [{"soma"}]
    assert asserts("assert_close(1, 1)\nsoma == 1") == []
