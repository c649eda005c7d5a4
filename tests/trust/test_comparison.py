"""What a notebook stores against what its code gives: as nbval compares, and what nbval does not see."""

import copy

import pytest
from nbformat.v4 import new_output

from tests.trust.made_up import code, notebook
from trust import comparison
from trust.comparison import IGNORE, WIDGET_STATE, WIDGET_VIEW


@pytest.mark.parametrize("kind", comparison.PICTURES)
def test_nbval_comparison_sees_text_and_not_pictures(kind):
    old = code("f", "plot()", "soma 1", picture=True)
    old["outputs"][1]["data"] = {kind: "uma", "text/plain": "<Picture size 334x240 with 1 Axes>"}
    new = copy.deepcopy(old)
    assert comparison.nbval_accepts(old, new)
    new["outputs"][1]["data"][kind] = "outra"
    assert comparison.nbval_accepts(old, new)
    new["outputs"][0]["text"] = "soma 2"
    assert not comparison.nbval_accepts(old, new)


def test_how_a_stream_is_cut_does_not_matter():
    old, new = code("f", "print()", "soma 1\nfim"), code("f", "print()", "soma ")
    new["outputs"].append({"output_type": "stream", "name": "stdout", "text": "1\nfim"})
    assert comparison.nbval_accepts(old, new) and comparison.nbval_accepts(new, old)
    new["outputs"][1]["text"] = "2\nfim"
    assert not comparison.nbval_accepts(old, new)


def test_text_of_an_ignored_cell_must_be_what_the_code_gives():
    old = notebook(code("f", "plot()", tags=(IGNORE,), picture=True))
    new = copy.deepcopy(old)
    assert comparison.ignored_text_problems(old, new) == []
    new["cells"][0]["outputs"][0]["data"]["text/plain"] = "<Figure size 640x480 with 2 Axes>"
    assert len(comparison.ignored_text_problems(old, new)) == 1


def test_a_tolerant_cell_accepts_within_its_distance_and_no_further():
    metadata = {"tolerance": {"within": 0.03, "reason": "a training"}}
    stored = code("t", "print()", "acerto 0.69 ± 0.04 em 300 frases", **metadata)

    def accepts(printed: str) -> bool:
        return comparison.nbval_accepts(stored, code("t", "print()", printed, **metadata))

    assert accepts("acerto 0.66 ± 0.07 em 300 frases")
    assert not accepts("acerto 0.65 ± 0.04 em 300 frases")
    assert not accepts("acerto 0.69 ± 0.08 em 300 frases")
    assert not accepts("acerto 0.68 ± 0.04 em 301 frases")
    assert not accepts("acerto 0.68% ± 0.04 em 300 frases")
    assert not accepts("acerto 0.68 ± 0.04 em 300 frases, 0.1 ± 0.1")
    exact = code("t", "print()", "acerto 0.69 ± 0.04 em 300 frases")
    assert not comparison.nbval_accepts(exact, code("t", "print()", "acerto 0.68 ± 0.04 em 300 frases"))


def widgets(ids: str = "abcd", value: int = 1, layout: int = 3, shown: int = 0) -> dict:
    """A notebook with two widgets, one layout of each, and a link between them; `ids` are made up anew."""
    a, b, c, d = ids
    layouts = [{"state": {"width": "9px"}}, {"state": {"width": "9px"}}]
    state = {
        a: {"state": {"value": value, "layout": f"IPY_MODEL_{c}"}},
        b: {"state": {"value": 2, "layout": f"IPY_MODEL_{ids[layout]}"}},
        c: layouts[0],
        d: layouts[1],
        "e": {"state": {"source": [f"IPY_MODEL_{a}", "value"], "target": [f"IPY_MODEL_{b}", "value"]}},
    }
    made = notebook(code("w", "w"), code("v", "v"))
    for cell, id in zip(made.cells, (ids[shown], b), strict=True):
        cell.outputs = [new_output("display_data", data={WIDGET_VIEW: {"model_id": id}})]
    made.metadata["widgets"] = {WIDGET_STATE: {"state": {id: state[id] for id in sorted(state)}}}
    return made


def test_widgets_are_compared_whatever_their_ids():
    assert comparison.widget_problems(widgets(), widgets("dcba")) == []
    assert comparison.widget_problems(widgets(), widgets("bdac")) == []


def test_another_state_another_reference_and_another_view_are_noticed():
    assert comparison.widget_problems(widgets(), widgets(value=3)) == [
        "widget a: the stored state is not what the code gives; execute the notebook"
    ]
    assert comparison.widget_problems(widgets(), widgets(layout=2)), "an equal layout, but not the same"
    assert comparison.widget_problems(widgets(), widgets(shown=1)), "the second widget where the first was"
    none = notebook(code("w", "w"), code("v", "v"))
    assert "5 widgets that the code gives are not stored" in comparison.widget_problems(none, widgets())[0]
    assert len(comparison.widget_problems(widgets(), none)) == 5
