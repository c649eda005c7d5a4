"""Labelled sentences as the tensors that fine-tuning reads, one function per use of an encoder.

    classified   [CLS] words [SEP]                    a class for the sentence
    paired       [CLS] A [SEP] B [SEP]                a class for the pair; segments 0 and 1
    answered     [CLS] question [SEP] context [SEP]   the two ends of the answer, which lies in the context
    tagged       [CLS] pieces [SEP]                   a class for each word, at its first piece

A label becomes its place in `labels`. The first three are for the grammar, the last for real text.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from lib.corpus import PORTUGUESE, Grammar
from lib.corpus.porttinari import TaggedSentence
from lib.corpus.tasks import Classified, Pair, Question
from lib.losses import IGNORE_INDEX
from lib.tokenizer import Tokenizer
from lib.training.fine_tuning import Labelled, labelled
from lib.vocabulary import pad

Words = Sequence[str]


def classified(examples: Sequence[Classified], labels: Sequence[str]) -> Labelled:
    """One sentence, one class."""
    rows = [frame_words(PORTUGUESE, e.words) for e in examples]
    return labelled(rows, label_numbers(examples, labels))


def paired(examples: Sequence[Pair], labels: Sequence[str]) -> Labelled:
    """Two sentences in one row, one class."""
    rows = [frame_words(PORTUGUESE, e.first, e.second) for e in examples]
    return with_segments(rows, label_numbers(examples, labels), [len(e.first) + 2 for e in examples])


def answered(examples: Sequence[Question]) -> Labelled:
    """A question and its context in one row; the target is the first and the last token of the answer."""
    rows = [frame_words(PORTUGUESE, e.question, e.context) for e in examples]
    starts = torch.tensor([len(e.question) + 2 for e in examples])  # the first token of the context
    ends = torch.tensor([[e.start, e.stop - 1] for e in examples]) + starts[:, None]  # (B, 2)
    made = with_segments(rows, ends, starts.tolist())
    last = made.real.sum(1, keepdim=True) - 1  # the final [SEP], which is no answer
    place = torch.arange(made.ids.shape[1])
    return made._replace(allowed=(place >= starts[:, None]) & (place < last))


def tagged(
    sentences: Sequence[TaggedSentence], tokenizer: Tokenizer, tags: Sequence[str], max_length: int = 64
) -> Labelled:
    """A tag at the first piece of every word; what exceeds `max_length` is cut off.

    A tag that is not among `tags` gets the number len(tags), which no model predicts: it counts as an error.
    """
    vocabulary, number = tokenizer.vocabulary, {tag: i for i, tag in enumerate(tags)}
    rows, targets, words = [], [], []
    for sentence in sentences:
        ids, target, place = [], [], []
        for i, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True), 1):
            pieces = tokenizer.encode(word).ids[1:-1] or [vocabulary.unk_id]
            ids += pieces
            target += [number.get(tag, len(tags))] + [IGNORE_INDEX] * (len(pieces) - 1)
            place += [i] * len(pieces)
        rows.append(vocabulary.frame(ids[: max_length - 2]))
        targets.append(torch.tensor([IGNORE_INDEX, *target[: max_length - 2], IGNORE_INDEX]))
        words.append(torch.tensor([0, *(place := place[: max_length - 2]), place[-1] + 1]))
    return labelled(rows, pad(targets, IGNORE_INDEX), vocabulary.pad_id)._replace(words=pad(words, -1))


def frame_words(grammar: Grammar, *sentences: Words) -> list[int]:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP], as ids."""
    return grammar.vocabulary.frame(*(grammar.encode(sentence).tolist() for sentence in sentences))


def label_numbers(examples: Sequence[Classified | Pair], labels: Sequence[str]) -> Tensor:
    """The place of each example's label in `labels`, (B,)."""
    if not len(examples):
        raise ValueError("examples must hold at least one, got none")
    place = {label: i for i, label in enumerate(labels)}
    if unknown := sorted({e.label for e in examples} - place.keys()):
        raise ValueError(f"labels must hold every label of the examples; {unknown} are not in {list(labels)}")
    return torch.tensor([place[e.label] for e in examples])


def with_segments(rows: list[list[int]], target: Tensor, first: list[int]) -> Labelled:
    """Rows whose second part starts at token `first`: segment 0 before it, 1 from there on, 0 at padding."""
    made = labelled(rows, target)
    second = torch.arange(made.ids.shape[1]) >= torch.tensor(first)[:, None]  # (B, N)
    return made._replace(segments=(second & made.real).long())
