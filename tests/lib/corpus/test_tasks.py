"""Datasets made from the grammar: labels that are true, and splits that never meet."""

import itertools
import math
from collections import Counter

import pytest

from lib.corpus import PORTUGUESE, sample, tasks, topic_log_joint
from tests.refusals import refuses

MAKERS = ["topics", "sentiments", "senses", "entailments", "questions"]
VERBS = {
    PORTUGUESE.vocabulary[word]
    for name, row in zip(PORTUGUESE.classes, PORTUGUESE.emission, strict=True)
    if name.startswith("VERB ")
    for word in row.nonzero().flatten().tolist()
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_splits_never_meet_and_seeds_repeat(name):
    make, inputs = getattr(tasks, name), {}
    for split, seed in (("train", 1), ("dev", 2), ("test", 3)):
        examples = make(split, 300, seed)
        assert len(examples) == 300
        inputs[split] = {tuple(v for k, v in vars(e).items() if k not in ("label", "tags")) for e in examples}
    for one, other in itertools.combinations(inputs.values(), 2):
        assert not one & other
    assert make("dev", 20, 7) == make("dev", 20, 7)
    assert make("dev", 20, 7) != make("dev", 20, 8)


def test_split_sizes_are_as_stated():
    shares = Counter(tasks.split_of(s.words) for s in sample(PORTUGUESE, 5000, seed=0))
    for split, expected in (("train", 0.8), ("dev", 0.1), ("test", 0.1)):
        assert abs(shares[split] / 5000 - expected) < 4 * math.sqrt(expected * (1 - expected) / 5000)


def test_classes_are_balanced():
    assert set(Counter(e.label for e in tasks.topics("train", 300)).values()) == {60}
    assert Counter(e.label for e in tasks.sentiments("train", 300)) == dict.fromkeys(tasks.SENTIMENTS, 100)
    assert Counter(e.label for e in tasks.entailments("train", 300)) == dict.fromkeys(tasks.NLI_LABELS, 100)


def test_every_sense_example_has_an_ambiguous_word():
    examples = tasks.senses("train", 800)
    assert all(any(tag != "O" for tag in example.tags) for example in examples)
    found = {(w, t) for e in examples for w, t in zip(e.words, e.tags, strict=True) if w == "vela"}
    assert found == {("vela", "parte do barco"), ("vela", "utensílio")}


def test_entailment_labels_follow_from_a_truth_table():
    """Worlds: did it happen at all, and did it happen so (then, there, in that way)? So implies at all."""
    worlds = [(happened, so) for happened in (0, 1) for so in (0, 1) if so <= happened]

    def truth(words, longest):
        fact = 1 if len([w for w in words if w != "não"]) == longest else 0
        return [bool(world[fact]) != ("não" in words) for world in worlds]

    seen = Counter()
    for pair in tasks.entailments("train", 600):
        sizes = [len([w for w in words if w != "não"]) for words in (pair.first, pair.second)]
        if sizes[0] == sizes[1]:  # the same statement, affirmed and denied: one is the negation of the other
            assert pair.label == tasks.CONTRADICTION
            assert ("não" in pair.first) != ("não" in pair.second)
            continue
        premise, hypothesis = truth(pair.first, max(sizes)), truth(pair.second, max(sizes))
        implied = {h for p, h in zip(premise, hypothesis, strict=True) if p}
        expected = {(True,): tasks.ENTAILMENT, (False,): tasks.CONTRADICTION}
        assert pair.label == expected.get(tuple(implied), tasks.NEUTRAL), pair
        seen[pair.label] += 1
    assert min(seen.values()) > 30 and len(seen) == 3


def test_hypothesis_alone_is_worth_five_ninths():
    share = Counter()
    for label, relations in tasks.RELATIONS.items():
        for _, hypothesis in relations:
            share[label, hypothesis] += 1 / len(relations) / len(tasks.RELATIONS)
    forms = {hypothesis for _, hypothesis in share}
    assert sum(max(share[label, form] for label in tasks.RELATIONS) for form in forms) == pytest.approx(5 / 9)


def test_answers_are_spans_that_the_question_leaves_out():
    kinds = Counter()
    for example in tasks.questions("train", 500):
        text, answer = " ".join(example.context), " ".join(example.answer)
        assert answer and answer in text
        assert all(word in PORTUGUESE.vocabulary.ids for word in example.question + example.context)
        kinds[example.question[0]] += 1
        place_or_time = {"no", "na", "em", "ontem", "hoje", "de", "à"}
        assert (example.answer[0] in place_or_time) == (example.question[0] in ("onde", "quando"))
        # The verb asked about occurs once in the context, so no other sentence answers.
        [verb] = [w for w in example.question if w in VERBS]
        assert example.context.count(verb) == 1
    assert set(kinds) == {"quem", "o", "onde", "quando"}
    assert min(kinds.values()) > 50


def test_topic_labels_are_possible_given_the_words():
    for example in tasks.topics("dev", 100):
        joint = topic_log_joint(PORTUGUESE, example.words)
        assert joint[PORTUGUESE.topics.index(example.label)].isfinite()


test_bad_arguments_are_named = refuses(
    (lambda: tasks.topics("validation", 3), "split"), (lambda: tasks.questions("dev", 0), "count")
)
