"""The grammar's tasks as tensors: rows as BERT builds them, labels and answers where they belong."""

from lib.corpus import PORTUGUESE, tasks
from lib.training.examples import answered, classified, paired
from lib.vocabulary import CLS, PAD, SEP
from tests.refusals import refuses

WORDS = PORTUGUESE.vocabulary


def read(row):
    return [WORDS[i] for i in row.tolist() if i != PAD]


def test_a_sentence_stands_between_cls_and_sep_with_its_label():
    examples = tasks.topics("train", 20)
    made = classified(examples, PORTUGUESE.topics)
    for e, row, real, label in zip(examples, made.ids, made.real, made.target, strict=True):
        assert read(row) == [WORDS[CLS], *e.words, WORDS[SEP]]
        assert real.sum() == len(e.words) + 2 and PORTUGUESE.topics[label] == e.label


def test_a_pair_has_two_segments_and_padding_belongs_to_the_first():
    examples = tasks.entailments("train", 12)
    made = paired(examples, tasks.NLI_LABELS)
    for e, row, segments in zip(examples, made.ids, made.segments, strict=True):
        assert read(row) == [WORDS[CLS], *e.first, WORDS[SEP], *e.second, WORDS[SEP]]
        first, second = len(e.first) + 2, len(e.second) + 1
        assert segments.tolist() == [0] * first + [1] * second + [0] * (len(row) - first - second)


def test_the_answer_is_read_back_and_lies_where_it_is_allowed():
    examples = tasks.questions("train", 30)
    made = answered(examples)
    assert made.ids.shape == made.real.shape == made.segments.shape == made.allowed.shape
    for e, row, (start, end), allowed in zip(examples, made.ids, made.target, made.allowed, strict=True):
        assert tuple(WORDS[i] for i in row[start : end + 1].tolist()) == e.answer
        assert tuple(WORDS[i] for i in row[allowed].tolist()) == e.context


test_a_label_that_is_not_listed_is_named = refuses(
    (lambda: classified(tasks.topics("train", 20), PORTUGUESE.topics[:3]), "labels must hold every label"),
    (lambda: classified([], PORTUGUESE.topics), "at least one"),
)
