"""The vocabulary: ids both ways, special tokens, framing and padding."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.vocabulary import CLS, MASK, PAD, SEP, SPECIAL_TOKENS, UNK, Vocabulary, segments

SMALL = Vocabulary.of_size(9)
sentences = st.lists(st.integers(5, 8), max_size=6)


def test_a_token_and_its_id_are_two_names_of_one_thing():
    tokens = ["o", *SPECIAL_TOKENS[::-1], "gato"]
    vocabulary = Vocabulary(tokens)
    assert [vocabulary.id_of(token) for token in vocabulary] == list(range(7)) and list(vocabulary) == tokens
    named = (vocabulary.pad_id, vocabulary.unk_id, vocabulary.cls_id, vocabulary.sep_id, vocabulary.mask_id)
    assert named == vocabulary.special_ids == (5, 4, 3, 2, 1)
    assert vocabulary.ordinary_ids.tolist() == [0, 6]
    assert vocabulary.is_ordinary(torch.tensor([[0, 1], [5, 6]])).tolist() == [[True, False], [False, True]]


def test_the_ids_of_the_course_are_those_of_a_vocabulary_that_begins_with_the_special_tokens():
    assert SMALL.special_ids == (PAD, UNK, CLS, SEP, MASK)


@given(st.lists(sentences, min_size=1, max_size=5))
def test_rows_are_framed_one_by_one_as_all_together(rows):
    framed, real = SMALL.pad([SMALL.frame(row) for row in rows])
    words, _ = SMALL.pad(rows)
    at_once = SMALL.frame_rows(words.long())
    assert torch.equal(SMALL.trim(at_once), framed)
    assert torch.equal(real, framed != PAD)
    assert [row[mask].tolist() for row, mask in zip(framed, real, strict=True)] == [
        [CLS, *row, SEP] for row in rows
    ]


@given(sentences, sentences)
def test_a_pair_has_a_segment_for_each_token(first, second):
    row = SMALL.frame(first, second)
    assert row == [CLS, *first, SEP, *second, SEP]
    assert segments(first, second) == [0] * len(SMALL.frame(first)) + [1] * (len(second) + 1)


def test_a_token_that_is_not_there_is_named():
    with pytest.raises(KeyError, match="token 'lua' is not in the vocabulary of 9 tokens"):
        SMALL.id_of("lua")
    with pytest.raises(KeyError, match=r"\[CLS\]"):
        Vocabulary(["a", "b"]).frame([0])


def test_pieces_are_counted_by_the_word_that_they_belong_to():
    vocabulary = Vocabulary([*SPECIAL_TOKENS, "gat", "##inho", "o"])
    ids = torch.tensor([[2, 7, 5, 6, 6, 5, 3]])  # [CLS] o gat ##inho ##inho gat [SEP]
    assert vocabulary.word_ids(ids).tolist() == [[1, 2, 3, 3, 3, 4, 5]]
