"""The chain of trust holds on the real book: a changed digit, anywhere, makes a check fail.

The digits of stored outputs and of widgets are changed by `checks.py`, after each notebook's execution.
`pytest --tamper-seed N` repeats a run; `--tamper all` tries every digit.
"""

import copy
import random
from decimal import Decimal

import pytest

from tests.trust import fresh, tamper
from tests.trust.checks import tampered
from tests.trust.made_up import code, notebook, page, prose
from tests.trust.pages import ROOT, pages, read_page
from tests.trust.tags import IGNORE


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_changed_digits_in_the_prose_are_noticed(path, request):
    tampered(list(tamper.prose_candidates(read_page(path))), "prose", request.node)


def test_changed_digits_in_the_data_on_the_sources_are_noticed(request):
    tampered(list(tamper.source_candidates(tamper.stored_errata())), "source figures", request.node)


# The checks on made-up notebooks


def test_nbval_comparison_sees_text_and_not_pictures():
    old = code("f", "plot()", "soma 1", picture=True)
    new = copy.deepcopy(old)
    assert fresh.nbval_accepts(old, new)
    new["outputs"][1]["data"]["image/png"] = "outra"
    assert fresh.nbval_accepts(old, new)
    new["outputs"][0]["text"] = "soma 2"
    assert not fresh.nbval_accepts(old, new)


def test_how_a_stream_is_cut_does_not_matter():
    old, new = code("f", "print()", "soma 1\nfim"), code("f", "print()", "soma ")
    new["outputs"].append({"output_type": "stream", "name": "stdout", "text": ["1\n", "fim"]})
    assert fresh.nbval_accepts(old, new) and fresh.nbval_accepts(new, old)
    new["outputs"][1]["text"][0] = "2\n"
    assert not fresh.nbval_accepts(old, new)


def test_text_of_an_ignored_cell_must_be_what_the_code_gives():
    old = notebook(code("f", "plot()", tags=(IGNORE,), picture=True))
    new = copy.deepcopy(old)
    assert fresh.ignored_text_problems(old, new) == []
    new["cells"][0]["outputs"][0]["data"]["text/plain"] = "<Figure size 640x480 with 2 Axes>"
    assert len(fresh.ignored_text_problems(old, new)) == 1


def widget_notebook(value, printed=None):
    state = {"scores": value, "_model_name": "AnyModel"}
    printed = printed or fresh.fingerprint(state)
    made = notebook(code("w", "w", f"Widget(dados sha256={printed})"))
    made["metadata"]["widgets"] = {fresh.WIDGET_STATE: {"state": {"1": {"state": state}}}}
    return made


def test_widget_state_must_be_what_the_code_gives():
    stored = widget_notebook([1, 2])
    assert fresh.widget_problems(stored, copy.deepcopy(stored)) == []
    assert "not what the code gives" in fresh.widget_problems(stored, widget_notebook([1, 3]))[0]
    assert "fingerprint" in fresh.widget_problems(widget_notebook([1, 2], "0" * 16), stored)[-1]


def test_a_digit_that_nobody_checks_is_reported():
    blind = tamper.Candidate("somewhere", "soma 1", 5, lambda text: False)
    assert tamper.attempt([blind], seed=1, sample=None) == (1, [blind])
    assert "somewhere, digit '1' at 5" in str(blind)


def test_tampering_always_changes_the_digit():
    candidate = tamper.Candidate("somewhere", "soma 1", 5, lambda text: text != "soma 1")
    assert all(candidate.caught(random.Random(seed)) for seed in range(50))


def test_a_tolerant_digit_is_changed_only_beyond_its_distance():
    text = "acerto 0.69 ± 0.04 em 300 frases"
    found = list(tamper.beyond(tamper.digits("somewhere", text, lambda text: True), Decimal("0.03")))
    others = {candidate.at: candidate.others for candidate in found}
    assert others[text.index("300")] == "012456789", "what is no tolerant figure may change to anything"
    assert others[text.index("6")] == "012345789", "0.59 and 0.79 are 0.10 away"
    assert others[text.index("9")] == "012", "0.63 may be what another machine gives"


def test_a_tolerant_cell_accepts_within_its_distance_and_no_further():
    metadata = {"tolerance": {"within": 0.03, "reason": "a training"}}
    stored = code("t", "print()", "acerto 0.69 ± 0.04 em 300 frases", **metadata)

    def accepts(printed: str) -> bool:
        return fresh.nbval_accepts(stored, code("t", "print()", printed, **metadata))

    assert accepts("acerto 0.66 ± 0.07 em 300 frases")
    assert not accepts("acerto 0.65 ± 0.04 em 300 frases")
    assert not accepts("acerto 0.69 ± 0.08 em 300 frases")
    assert not accepts("acerto 0.68 ± 0.04 em 301 frases")
    assert not accepts("acerto 0.68% ± 0.04 em 300 frases")
    assert not accepts("acerto 0.68 ± 0.04 em 300 frases, 0.1 ± 0.1")
    exact = code("t", "print()", "acerto 0.69 ± 0.04 em 300 frases")
    assert not fresh.nbval_accepts(exact, code("t", "print()", "acerto 0.68 ± 0.04 em 300 frases"))


def test_prose_candidates_cover_prose_and_ledger():
    made = page(
        code("soma", "print(1)", "0.45 4"), prose("t", "É 0,45 em $x_1$.", "0,45 @ soma", notation="1")
    )
    found = list(tamper.prose_candidates(made))
    assert len(found) == 3 + 1 + 3 + 1
    assert all(c.caught(random.Random(seed)) for c in found for seed in range(20))


def test_a_book_that_already_fails_is_not_tampered_with():
    stale = notebook(code("c", "print(1)", "1"))
    with pytest.raises(ValueError, match="run make notebooks"):
        list(tamper.output_candidates(ROOT / "x.ipynb", stale, notebook(code("c", "print(1)", "2"))))
    with pytest.raises(ValueError, match="prose check already fails"):
        list(tamper.prose_candidates(page(prose("t", "São 4."))))
    with pytest.raises(ValueError, match="errata"):
        list(tamper.source_candidates("nothing"))
