"""Vectors of words in context, and how senses are told apart by cosines."""

import math

import pytest
import torch

from lib.encoder import Config, Encoder
from lib.experiments.word_senses import cosines, separation, word_vector
from lib.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def parts():
    torch.manual_seed(0)
    tokenizer = Tokenizer(["o", "gat", "##inho", "dorme"])
    return Encoder(
        Config(tokenizer.size, d=8, layers=1, heads=2, positions=16, dropout=0.0)
    ).eval(), tokenizer


@pytest.mark.guards("05.s8")
def test_the_vector_of_a_word_is_the_mean_over_its_subwords(parts):
    encoder, tokenizer = parts
    hidden = encoder(torch.tensor([tokenizer.encode("o gatinho dorme").ids]))[0]
    expected = (hidden[2] + hidden[3]) / 2  # [CLS] o gat ##inho dorme [SEP]
    torch.testing.assert_close(word_vector(encoder, tokenizer, "o gatinho dorme", "gatinho"), expected)


def test_a_word_that_is_not_there_is_named(parts):
    with pytest.raises(ValueError, match="word 'banco' does not occur"):
        word_vector(*parts, "o gatinho dorme", "banco")


def test_cosines_do_not_depend_on_length():
    c = cosines(torch.tensor([[1.0, 0.0], [5.0, 0.0], [1.0, 1.0], [-2.0, 0.0]]))
    torch.testing.assert_close(c[0], torch.tensor([1.0, 1.0, math.sqrt(0.5), -1.0], dtype=torch.float64))


def test_a_zero_vector_has_no_cosine():
    with pytest.raises(ValueError, match="zero vector"):
        cosines(torch.tensor([[1.0, 0.0], [0.0, 0.0]]))


def test_separation_leaves_a_vector_out_of_its_own_neighbours():
    """Each of four occurrences is closest to one of the other sense; with itself counted it would be 4."""
    x = torch.tensor([[1.0, 0.0], [0.99, 0.1], [0.0, 1.0], [0.1, 0.99]])
    found = separation(cosines(x), torch.tensor([0, 1, 0, 1]))
    assert found.neighbours == 0 and found.same < 0.2 and found.across > 0.5
    told_apart = separation(cosines(x), torch.tensor([0, 0, 1, 1]))
    assert told_apart.neighbours == 4 and told_apart.same > told_apart.across


@pytest.mark.parametrize("senses", [[0, 0, 0], [0, 1, 2]])
def test_separation_needs_two_senses_and_a_repeated_one(senses):
    with pytest.raises(ValueError, match="senses must hold"):
        separation(torch.eye(3, dtype=torch.float64), torch.tensor(senses))


def test_separation_names_a_wrong_shape():
    with pytest.raises(ValueError, match=r"cosine must be \(3, 3\)"):
        separation(torch.eye(2), torch.tensor([0, 1, 0]))
