"""Figures of architecture and geometry: what is drawn is what was given."""

import pytest
import torch

from lib.encoder import Config
from lib.plots import architecture, geometry


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
    with pytest.raises(ValueError, match="at most"):
        geometry.clouds([("t", points, list("abcde"))])


def test_one_point_per_layer():
    ax = geometry.by_layer([("x", [0.1, 0.2]), ("y", [0.0, 0.0])], ylabel="v").axes[0]
    assert [line.get_ydata()[-1] for line in ax.lines] == [0.2, 0.0]
