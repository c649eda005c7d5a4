"""`lib.plots`: a figure shows the numbers that it was given."""

import pytest
import torch

from lib.attention import causal_mask
from lib.encoder import Config
from lib.plots import architecture, curves, geometry, matrices, matrix, mlm, who_sees_whom
from lib.plots.encoders import by_d_k, head_grid, head_maps, stacked
from lib.plots.tasks import accuracies
from lib.plots.training import against_exact, against_floor
from tests.refusals import refuses

TOKENS = ["a", "b", "c"]
A = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.2, 0.3, 0.5]])


# Attention


def test_matrix_writes_every_value_that_is_not_hidden():
    ax = matrix(A, TOKENS, hidden=~causal_mask(3)).axes[0]
    assert [t.get_text() for t in ax.texts] == ["1,00", "0,25", "0,75", "0,20", "0,30", "0,50"]
    assert len(ax.patches) == 3, "one hatched cell for each hidden pair"


def test_panels_share_one_colour_scale():
    fig = matrices([("x", A), ("y", A / 2), ("z", A)], TOKENS)
    assert {ax.images[0].get_clim() for ax in fig.axes if ax.images} == {(0.0, 1.0)}


def test_arrows_come_from_the_mask():
    ax = who_sees_whom([("causal", causal_mask(3))], TOKENS).axes[0]
    assert [p.get_linestyle() == ":" for p in ax.patches] == (~causal_mask(3)).flatten().tolist()


def test_curves_draw_each_series_and_the_floor():
    series = [("x", [3, 2, 1]), ("y", [3, 3, 3])]
    ax = curves(series, xlabel="passo", ylabel="perda", floor=("piso", 0.5)).axes[0]
    assert [list(line.get_ydata()) for line in ax.lines] == [[3, 2, 1], [3, 3, 3], [0.5, 0.5]]
    assert len({line.get_linestyle() for line in ax.lines[:2]}) == 2, "told apart by dash too"


# The encoder


def test_bars_are_as_long_as_the_parts_and_start_where_the_last_one_ended():
    ax = stacked({"x": {"a": 1, "b": 2}, "y": {"a": 3}}, xlabel="milhões").axes[0]
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 1), (0, 3), (1, 2), (3, 0)]


def test_grid_writes_per_cents():
    ax = head_grid([("x", torch.tensor([[0.0, 0.5], [0.25, 1.0]]))]).axes[0]
    assert [t.get_text() for t in ax.texts] == ["0", "50", "25", "100"]


def test_maps_show_the_weights_of_each_head():
    fig = head_maps([("x", torch.eye(3)), ("y", torch.ones(3, 3) / 3)], ["a", "b", "c"])
    assert [ax.images[0].get_array().sum().item() for ax in fig.axes] == pytest.approx([3, 3])


def test_lines_over_d_k():
    fig = by_d_k([("x", [("sem", [1.0, 2.0]), ("com", [1.0, 1.0])])], [4, 16])
    assert [list(line.get_ydata()) for line in fig.axes[0].lines] == [[1, 2], [1, 1]]


# Architecture and geometry


@pytest.mark.guards("05.s1")
@pytest.mark.parametrize(("layers", "tokens"), [(1, ["a"]), (2, ["a", "b", "c"])])
def test_in_every_block_each_token_is_linked_to_each(layers, tokens):
    ax = architecture.encoder(tokens, Config(10, d=8, layers=layers, heads=2)).axes[0]
    arrows = [p for p in ax.patches if hasattr(p, "get_arrowstyle")]
    assert len(arrows) == len(tokens) + layers * len(tokens) ** 2
    assert any("segmento" in t.get_text() for t in ax.texts)


def test_a_model_without_segments_is_drawn_without_them():
    ax = architecture.encoder(["a"], Config(10, d=8, layers=1, heads=2, segments=0)).axes[0]
    assert not any("segmento" in t.get_text() for t in ax.texts)


@pytest.mark.guards("05.s1")
@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_block_has_two_residuals_around_its_parts(pre_norm):
    ax = architecture.block(pre_norm).axes[0]
    assert len(ax.lines) == 2
    parts = [t.get_text() for t in ax.texts][1:-1]
    half = ["norma", "{}", "+"] if pre_norm else ["{}", "+", "norma"]
    assert parts == [part.format(name) for name in ("atenção", "feed-forward") for part in half]


def test_clouds_hold_every_point_under_the_name_of_its_sense():
    points = torch.arange(10.0).reshape(5, 2)
    ax = geometry.clouds([("t", points, ["a", "b", "a", "b", "b"])]).axes[0]
    drawn = {c.get_label(): c.get_offsets().tolist() for c in ax.collections}
    assert drawn["a"] == points[[0, 2]].tolist() and len(drawn["b"]) == 3


def test_one_point_per_layer():
    ax = geometry.by_layer([("x", [0.1, 0.2]), ("y", [0.0, 0.0])], ylabel="v").axes[0]
    assert [line.get_ydata()[-1] for line in ax.lines] == [0.2, 0.0]


# Masked language modelling


def test_draws_write_what_is_read_and_tell_fates_apart_without_colour():
    fig = mlm.draws([[("o", "intacto"), ("[MASK]", "[MASK]"), ("azul", "aleatória"), ("rua", "mantida")]])
    ax = fig.axes[0]
    assert [text.get_text() for text in ax.texts] == ["o", "[MASK]", "azul", "rua"]
    hatches = [patch.get_hatch() or "" for patch in ax.patches]
    fills = [patch.get_facecolor() for patch in ax.patches]
    assert len(set(zip(hatches, fills, strict=True))) == 4 and hatches[2] != hatches[3]


def test_the_belief_is_drawn_over_the_context_with_its_threshold():
    p = torch.logspace(-4, 0, 5)
    curve, threshold = mlm.copy_or_doubt(p, p, threshold=0.01).axes[0].lines
    assert curve.get_ydata().tolist() == p.tolist() and set(threshold.get_xdata()) == {0.01}


# Training


def test_every_run_has_its_curve_and_its_floor():
    fig = against_floor([("a", [1, 2, 3], [3.0, 2.0, 1.5], 1.4), ("b", [1, 2], [2.0, 1.0], 0.9)])
    for ax, losses, floor in zip(fig.axes, ([3.0, 2.0, 1.5], [2.0, 1.0]), (1.4, 0.9), strict=True):
        curve, line = ax.lines
        assert list(curve.get_ydata()) == losses and set(line.get_ydata()) == {floor}
    assert [text.get_text() for text in fig[0].legends[0].get_texts()] == ["modelo", "piso exato"]


def test_bars_show_the_likeliest_words_of_either_side():
    exact = {"gato": 0.6, "rato": 0.3, "pato": 0.1, "casa": 0.0}
    model = {"gato": 0.5, "casa": 0.4, "rato": 0.1}
    ax = against_exact([("lacuna", exact, model)], most=3).axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["gato", "casa", "rato"]
    heights = [[bar.get_height() for bar in group] for group in ax.containers]
    assert heights == [[0.6, 0.0, 0.3], [0.5, 0.4, 0.1]]


def test_every_training_has_its_mark_in_the_row_of_its_task():
    trained = {"sem": {"x": [0.3, 0.4]}, "com": {"x": [0.9], "y": [0.6, 0.7]}}
    ax = accuracies({"x": 0.2, "y": 0.5}, trained).axes[0]
    drawn = [(list(line.get_xdata()), [round(y) for y in line.get_ydata()]) for line in ax.lines]
    assert drawn == [([0.2, 0.5], [0, -1]), ([0.3, 0.4], [0, 0]), ([0.9, 0.6, 0.7], [0, -1, -1])]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x", "y"]


test_bad_input_is_named = refuses(
    (lambda: accuracies({"x": 0.5}, {kind: {} for kind in "abcd"}), "at most 3 kinds"),
    (lambda: matrix(A[:2], TOKENS), r"values must be \(3, 3\)"),
    (lambda: curves([("x", [1])] * 5, xlabel="", ylabel=""), "at most 4 lines"),
    (lambda: stacked({"x": dict.fromkeys("abcdefg", 1)}, xlabel=""), "at most 6 parts"),
    (lambda: head_maps([("x", torch.eye(2))], TOKENS), r"x: weights must be \(3, 3\)"),
    (lambda: geometry.clouds([("t", torch.zeros(5, 2), list("abcde"))]), "at most"),
    (lambda: mlm.draws([[("o", "intacto")], []]), "one cell per token"),
    (lambda: mlm.draws([[("o", "sumiu")]]), "fate must be one of"),
)
