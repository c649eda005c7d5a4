"""`lib.plots.project`: a figure shows the numbers that it was given."""

import pytest

from lib.plots.project import bars, calibration, confusion, groups, guesses, marked


def test_a_bar_goes_to_the_mean_and_marks_show_the_values():
    ax = bars({"palpite": [0.2], "modelo": [0.5, 0.7, 0.6]}, xlabel="acerto").axes[0]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.2, 0.6])
    assert [list(line.get_xdata()) for line in ax.lines] == [[0.5, 0.7, 0.6]]


def test_a_group_is_as_high_as_its_share_and_says_how_many():
    fig = groups([("x", [("raras", 0.5, 4), ("comuns", 0.75, 8)]), ("y", [("todas", 1, 3)])], ylabel="acerto")
    assert [[bar.get_height() for bar in ax.patches] for ax in fig.axes] == [[0.5, 0.75], [1]]
    assert [t.get_text() for t in fig.axes[0].get_xticklabels()] == ["raras\n(4)", "comuns\n(8)"]


def test_the_curve_of_a_model_stands_beside_the_diagonal():
    ax = calibration([("a", [(0.4, 0.5, 3), (0.9, 0.7, 3)])]).axes[0]
    diagonal, curve = ax.lines
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0, 1]
    assert (list(curve.get_xdata()), list(curve.get_ydata())) == ([0.4, 0.9], [0.5, 0.7])


def test_guesses_stand_from_the_likeliest_down():
    ax = guesses([("a ▁", [("x", 0.6), ("y", 0.2)])]).axes[0]
    assert [bar.get_width() for bar in ax.patches] == [0.6, 0.2] and ax.yaxis_inverted()


def test_mistakes_have_a_frame_and_say_both_classes():
    texts = marked(["a", "casa"], ["DET", "NOUN"], ["DET", "VERB"]).axes[0].texts
    assert [t.get_text() for t in texts] == ["a", "DET", "casa", "VERB, e não NOUN"]
    assert [t.get_bbox_patch() is not None for t in texts] == [False, False, False, True]


def test_a_row_of_the_confusion_matrix_is_in_per_cent_of_its_class():
    ax = confusion("aaab", "aabc", ["a", "b"]).axes[0]
    written = {tuple(map(int, t.get_position()[::-1])): t.get_text() for t in ax.texts}
    assert written == {(0, 0): "67", (0, 1): "33"}, "b was taken for a class that is not shown"
