"""From tagged sentences to labelled tokens."""

import pytest
import torch

from lib.corpus.porttinari import TaggedSentence
from lib.experiments.tagging import most_frequent_tag, tag_names
from lib.losses import IGNORE_INDEX
from lib.tokenizer import Tokenizer
from lib.training.examples import tagged


def sentence(text: str) -> TaggedSentence:
    words, tags = zip(*(pair.split("/") for pair in text.split()), strict=True)
    return TaggedSentence("s", "d", words, tags)


TRAINING = [
    sentence("o/DET canto/NOUN do/ADP+DET gatinho/NOUN"),
    sentence("eu/PRON canto/VERB"),
    sentence("eu/PRON canto/VERB o/DET canto/NOUN"),
    sentence("canto/VERB"),
    sentence("corro/VERB"),
]
TOKENIZER = Tokenizer(["o", "canto", "do", "gat", "##inho", "eu"])
TAGS = tag_names(TRAINING)


def test_tags_are_sorted_and_contractions_have_their_own():
    assert TAGS == ("ADP+DET", "DET", "NOUN", "PRON", "VERB")


def test_a_word_is_judged_at_its_first_piece():
    examples = tagged(TRAINING[:1], TOKENIZER, TAGS)
    tokens = [TOKENIZER.vocabulary[i] for i in examples.ids[0]]
    assert tokens == ["[CLS]", "o", "canto", "do", "gat", "##inho", "[SEP]"]
    told = [TAGS[t] if t != IGNORE_INDEX else None for t in examples.target[0].tolist()]
    assert told == [None, "DET", "NOUN", "ADP+DET", "NOUN", None, None]


def test_padding_has_no_label_and_unknown_tags_count_as_errors():
    examples = tagged([*TRAINING, sentence("xyz/X")], TOKENIZER, TAGS)
    assert (examples.target[~examples.real] == IGNORE_INDEX).all()
    assert examples.target[-1, 1] == len(TAGS) and examples.ids[-1, 1] == TOKENIZER.vocabulary.unk_id


def test_long_sentences_are_cut_and_closed():
    examples = tagged(TRAINING, TOKENIZER, TAGS, max_length=4)
    assert examples.ids.shape[1] == 4
    assert (examples.ids[0] == torch.tensor([*examples.ids[0, :3], TOKENIZER.vocabulary.sep_id])).all()


@pytest.mark.guards("05.s39")
def test_the_most_frequent_tag_is_the_bar():
    test = [sentence("Canto/VERB o/DET canto/NOUN zebra/VERB")]
    # "canto" was a verb three times and a noun twice; an unknown word gets the commonest tag, VERB.
    assert most_frequent_tag(TRAINING, test) == pytest.approx(3 / 4)
    with pytest.raises(ValueError, match="training"):
        most_frequent_tag([], test)
