"""The averaged perceptron: its mistakes teach it, its weights are averages, and it reads context."""

import numpy as np

from lib.experiments.perceptron import EDGE, Perceptron, clues
from tests.lib.experiments.test_tagging import TRAINING, sentence
from tests.refusals import refuses


def test_the_context_decides_between_two_tags_of_a_word():
    perceptron = Perceptron(TRAINING, epochs=8)
    assert perceptron.accuracy(TRAINING) == 1
    assert perceptron.accuracy([sentence("o/DET canto/VERB")]) == 0.5
    assert perceptron.tag(["o", "canto"]) == ["DET", "NOUN"]
    assert perceptron.tag(["eu", "canto"]) == ["PRON", "VERB"]
    assert perceptron.tag([]) == []


def test_the_weights_are_the_mean_over_all_steps():
    """One word with three tags in turn, and the weights of its clues after each of three steps."""
    made = Perceptron([sentence("a/X"), sentence("a/Y"), sentence("a/Z")], epochs=1, seed=3)
    weights, total = np.zeros(3), np.zeros(3)
    for true in np.random.default_rng(3).permutation(3):
        guess = weights.argmax()
        if guess != true:
            weights[true] += 1
            weights[guess] -= 1
        total += weights
    np.testing.assert_allclose(made.weights[made.rows["0 a"]], total / 3, atol=1e-6)


def test_clues_know_the_edges_and_the_tags_before():
    seen = clues(["Ele", "canta"], 1, ["PRON"])
    assert "0 canta" in seen and f"7 {EDGE}" in seen and "8 ele" in seen and "13 PRON" in seen
    assert len(seen) == len(set(seen))


test_nothing_to_learn_is_refused = refuses(
    (lambda: Perceptron(TRAINING, epochs=0), "epochs"), (lambda: Perceptron([]), "at least one to learn from")
)
