"""`lib.project.task`: answers are those of `lib.use`; what cannot be used is refused."""

import pytest
import torch

from lib.commands.console import Refusal
from lib.commands.examples import Example
from lib.corpus.porttinari import TaggedSentence
from lib.encoder import Config, Encoder
from lib.project.task import Classification, Tagging, read_task, tagging
from lib.tokenizer import Tokenizer
from lib.use import classify, tag
from tests.lib.project.made_up import sentences

TAGGED = [
    TaggedSentence("", str(i), tuple(s.split()), tuple("xy"[len(w) % 2] for w in s.split()))
    for i, s in enumerate(sentences(40, 0))
]
EXAMPLES = [Example(s, "abc"[i % 3]) for i, s in enumerate(sentences(60, 1))]
TOKENIZER = Tokenizer.train([str(s) for s in TAGGED], 300)
QUICK = {"epochs": 1, "batch": 8}


def encoder() -> Encoder:
    torch.manual_seed(0)
    config = Config(TOKENIZER.size, d=16, layers=1, heads=2, positions=64, pooler=False)
    return Encoder(config).eval()


def test_a_tagger_is_judged_word_by_word():
    task = Tagging(TAGGED[:30], TAGGED[30:])
    model = task.learn(encoder(), TOKENIZER, **QUICK)
    judged = task.judged(model, TOKENIZER)
    assert judged.guess == [t for s in TAGGED[30:] for t in tag(model, TOKENIZER, s.words)]
    assert judged.truth == [t for s in TAGGED[30:] for t in s.tags]
    assert judged.accuracy == sum(judged.right) / len(task.items)
    assert len(task.items) == len(task.lengths) == len(judged.confidence)
    assert ((judged.confidence >= 0.5) & (judged.confidence <= 1)).all(), "there are two classes"
    assert set(task.bars.values()) <= {x / len(task.items) for x in range(len(task.items) + 1)}


def test_a_classifier_is_judged_text_by_text():
    task = Classification(EXAMPLES[:40], EXAMPLES[40:])
    model = task.learn(encoder(), TOKENIZER, **QUICK)
    assert task.judged(model, TOKENIZER).guess == classify(model, TOKENIZER, task.items)
    assert set(task.bars) == {"a classe mais comum", "saco de palavras (Bayes)"}


@pytest.mark.parametrize(
    "task", [Tagging(TAGGED[:30], TAGGED[30:]), Classification(EXAMPLES[:40], EXAMPLES[40:])]
)
def test_shuffling_changes_the_order_and_nothing_else(task):
    mixed, again = task.shuffled(), task.shuffled()
    assert mixed.exam_texts == again.exam_texts != task.exam_texts
    assert [sorted(t.split()) for t in mixed.exam_texts] == [sorted(t.split()) for t in task.exam_texts]
    assert mixed.lesson_texts == task.lesson_texts
    pairs, mixed_pairs = (sorted(zip(t.truth, t.lengths, strict=True)) for t in (task, mixed))
    assert pairs == mixed_pairs


def test_a_sentence_that_the_model_cannot_hold_is_not_asked():
    long = TaggedSentence("", "z", ("palavra",) * 80, ("x",) * 80)
    assert tagging(TAGGED, [long, *TAGGED], TOKENIZER, 30, 5, 64).exam == TAGGED[:5]
    with pytest.raises(Refusal, match="cabe nos 64 tokens"):
        tagging(TAGGED, [long], TOKENIZER, 30, 5, 64)


def test_a_csv_is_a_task_and_its_texts_are_on_one_side(tmp_path):
    path = tmp_path / "opinioes.csv"
    path.write_text("texto;rotulo\n" + "".join(f"{e.text};{e.label}\n" for e in EXAMPLES), encoding="utf-8")
    task = read_task(path, TOKENIZER, 1000, 1000, 64)
    assert isinstance(task, Classification) and not {*task.lesson_texts} & {*task.exam_texts}
    assert len(task.lesson_texts) + len(task.exam_texts) == len({e.text for e in EXAMPLES})
    with pytest.raises(Refusal, match="embaralhe as linhas"):
        read_task(path, TOKENIZER, 1, 1000, 64)


def test_news_without_a_file():
    task = read_task(None, TOKENIZER, 5, 4, 96)
    assert isinstance(task, Tagging) and (len(task.lesson_texts), len(task.exam_texts)) == (5, 4)


@pytest.mark.parametrize("name", ["nada.csv", "nada.conllu"])
def test_a_task_that_is_not_there_is_refused(tmp_path, name):
    with pytest.raises(Refusal, match="não existe"):
        read_task(tmp_path / name, TOKENIZER, 5, 5, 64)
