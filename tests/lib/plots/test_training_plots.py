"""The figures that set training against what is known exactly."""

from lib.plots.training import against_exact, against_floor


def test_every_run_has_its_curve_and_its_floor():
    fig = against_floor([("a", [1, 2, 3], [3.0, 2.0, 1.5], 1.4), ("b", [1, 2], [2.0, 1.0], 0.9)])
    for ax, losses, floor in zip(fig.axes, ([3.0, 2.0, 1.5], [2.0, 1.0]), (1.4, 0.9), strict=True):
        curve, line = ax.lines
        assert list(curve.get_ydata()) == losses and set(line.get_ydata()) == {floor}
    assert [text.get_text() for text in fig.axes[0].get_legend().get_texts()] == ["modelo", "piso exato"]


def test_bars_show_the_likeliest_words_of_either_side():
    exact = {"gato": 0.6, "rato": 0.3, "pato": 0.1, "casa": 0.0}
    model = {"gato": 0.5, "casa": 0.4, "rato": 0.1}
    ax = against_exact([("lacuna", exact, model)], most=3).axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["gato", "casa", "rato"]
    heights = [[bar.get_height() for bar in group] for group in ax.containers]
    assert heights == [[0.6, 0.0, 0.3], [0.5, 0.4, 0.1]]
