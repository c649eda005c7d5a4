"""From tagged sentences to labelled tokens."""

import pytest
import torch

from lib.corpus.porttinari import TaggedSentence
from lib.encoder import Config, Encoder
from lib.experiments.tagging import (
    Looks,
    LookTable,
    fine_tune_tagger,
    most_frequent_tag,
    shape_of,
    tag_names,
    tag_of_the_looks,
)
from lib.losses import IGNORE_INDEX
from lib.tokenizer import Tokenizer
from lib.training import accuracy, predict
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
    assert examples.words.tolist() == [[0, 1, 2, 3, 4, 4, 5]], "[CLS] and [SEP] stand beside the words"


def test_padding_has_no_label_and_unknown_tags_count_as_errors():
    examples = tagged([*TRAINING, sentence("xyz/X")], TOKENIZER, TAGS)
    assert (examples.target[~examples.real] == IGNORE_INDEX).all()
    assert (examples.words[~examples.real] < 0).all()
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


def test_an_unknown_word_is_tagged_by_its_looks():
    training = [*TRAINING, sentence("Rita/PROPN cantou/VERB"), sentence("o/DET carro/NOUN 12/NUM")]
    test = [sentence("Maria/PROPN dançou/VERB"), sentence("27/NUM barro/NOUN")]
    assert tag_of_the_looks(training, test) == 1 > most_frequent_tag(training, test)


def test_shapes():
    shapes = {"Brasil": "Xx", "PT": "X", "2,5": "d,d", "vice-campeã": "x-x", "R$": "X$", "é": "x"}
    assert {word: shape_of(word) for word in shapes} == shapes


def test_looks_are_those_that_training_shows_often():
    looks = Looks([sentence("casa/NOUN asa/NOUN Rosa/PROPN")])
    assert [look for look in looks.numbers] == ["-1 a", "-2 sa"], "three times or more"
    assert looks.number("mesa") == looks.number("casa") != looks.number("ela") != looks.number("o") == 0
    table = LookTable(looks, 4)
    a, sa = table.weight[1:]
    known = table(torch.tensor([looks.number(word) for word in ("mesa", "ela", "o")]))
    torch.testing.assert_close(known, torch.stack([a + sa, a, 0 * a]))


def test_the_looks_of_a_word_stand_at_each_of_its_pieces():
    looks = Looks(TRAINING)
    examples = looks.shown(TRAINING, tagged(TRAINING, TOKENIZER, TAGS))
    numbers = [looks.number(word) for word in TRAINING[0].words]
    assert examples.segments[0].tolist() == [0, *numbers, numbers[-1], 0]
    assert (examples.segments[~examples.real] == 0).all()


def test_a_tagger_tells_two_uses_of_a_word_by_its_neighbours():
    """ "canto" after "o" and after "eu", in sentences that it learnt: no table of words can tell these."""
    torch.manual_seed(0)
    training = TRAINING * 6
    looks = Looks(training)
    lessons = looks.shown(training, tagged(training, TOKENIZER, TAGS))
    encoder = Encoder(Config(TOKENIZER.size, d=16, layers=1, heads=2, positions=16, segments=0, pooler=False))
    model = fine_tune_tagger(encoder, looks, lessons, len(TAGS), TOKENIZER.vocabulary, epochs=40)
    assert accuracy(model, lessons) == 1 > most_frequent_tag(training, training)
    assert model.encoder is encoder and predict(model, lessons).shape == lessons.ids.shape
