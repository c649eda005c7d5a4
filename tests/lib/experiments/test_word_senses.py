"""How the senses of a word are told apart by the cosines of its vectors."""

import math

import torch

from lib.experiments.word_senses import cosines, separation
from tests.refusals import refuses


def test_cosines_do_not_depend_on_length():
    c = cosines(torch.tensor([[1.0, 0.0], [5.0, 0.0], [1.0, 1.0], [-2.0, 0.0]]))
    torch.testing.assert_close(c[0], torch.tensor([1.0, 1.0, math.sqrt(0.5), -1.0], dtype=torch.float64))


def test_separation_leaves_a_vector_out_of_its_own_neighbours():
    """Each of four occurrences is closest to one of the other sense; with itself counted it would be 4."""
    x = torch.tensor([[1.0, 0.0], [0.99, 0.1], [0.0, 1.0], [0.1, 0.99]])
    found = separation(cosines(x), torch.tensor([0, 1, 0, 1]))
    assert found.neighbours == 0 and found.same < 0.2 and found.across > 0.5
    told_apart = separation(cosines(x), torch.tensor([0, 0, 1, 1]))
    assert told_apart.neighbours == 4 and told_apart.same > told_apart.across


EYE = torch.eye(3, dtype=torch.float64)
test_what_cannot_be_told_apart_is_named = refuses(
    (lambda: cosines(torch.tensor([[1.0, 0.0], [0.0, 0.0]])), "zero vector"),
    (lambda: separation(EYE, torch.tensor([0, 0, 0])), "senses must hold"),
    (lambda: separation(EYE, torch.tensor([0, 1, 2])), "senses must hold"),
    (lambda: separation(EYE[:2, :2], torch.tensor([0, 1, 0])), r"cosine must be \(3, 3\)"),
)
