"""Vectors of words in context, and how senses are told apart by cosines."""

import math

import pytest
import torch

from lib.encoder import Config, Encoder
from lib.experiments.word_senses import cosines, separation, word_vector
from lib.tokenizer import Tokenizer
from tests.refusals import refuses

TOKENIZER = Tokenizer(["o", "gat", "##inho", "dorme"])
ENCODER = Encoder(Config(TOKENIZER.size, d=8, layers=1, heads=2, positions=16)).eval()


@pytest.mark.guards("05.s8")
def test_the_vector_of_a_word_is_the_mean_over_its_subwords():
    hidden = ENCODER(torch.tensor([TOKENIZER.encode("o gatinho dorme").ids]))[0]
    expected = (hidden[2] + hidden[3]) / 2  # [CLS] o gat ##inho dorme [SEP]
    torch.testing.assert_close(word_vector(ENCODER, TOKENIZER, "o gatinho dorme", "gatinho"), expected)


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
    (lambda: word_vector(ENCODER, TOKENIZER, "o gatinho dorme", "banco"), "word 'banco' does not occur"),
    (lambda: cosines(torch.tensor([[1.0, 0.0], [0.0, 0.0]])), "zero vector"),
    (lambda: separation(EYE, torch.tensor([0, 0, 0])), "senses must hold"),
    (lambda: separation(EYE, torch.tensor([0, 1, 2])), "senses must hold"),
    (lambda: separation(EYE[:2, :2], torch.tensor([0, 1, 0])), r"cosine must be \(3, 3\)"),
)
