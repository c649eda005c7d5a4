"""The grammar's labelled sentences as the tensors that fine-tuning reads, one function per use of an encoder.

    classified   [CLS] words [SEP]                    a class for the sentence
    paired       [CLS] A [SEP] B [SEP]                a class for the pair; segments 0 and 1
    answered     [CLS] question [SEP] context [SEP]   the two ends of the answer, which lies in the context

A label becomes its place in `labels`. Real text, tagged word by word, is in `lib.tagging`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from lib.corpus import CLS, PORTUGUESE, SEP, Grammar
from lib.corpus.tasks import Classified, Pair, Question
from lib.training.fine_tuning import Labelled, labelled

Words = Sequence[str]


def classified(
    examples: Sequence[Classified], labels: Sequence[str], grammar: Grammar = PORTUGUESE
) -> Labelled:
    """One sentence, one class."""
    rows = [framed(grammar, e.words) for e in examples]
    return labelled(rows, label_numbers(examples, labels))


def paired(examples: Sequence[Pair], labels: Sequence[str], grammar: Grammar = PORTUGUESE) -> Labelled:
    """Two sentences in one row, one class."""
    rows = [framed(grammar, e.first, e.second) for e in examples]
    return with_segments(rows, label_numbers(examples, labels), [len(e.first) + 2 for e in examples])


def answered(examples: Sequence[Question], grammar: Grammar = PORTUGUESE) -> Labelled:
    """A question and its context in one row; the target is the first and the last token of the answer."""
    rows = [framed(grammar, e.question, e.context) for e in examples]
    starts = torch.tensor([len(e.question) + 2 for e in examples])  # the first token of the context
    ends = torch.tensor([[e.start, e.stop - 1] for e in examples]) + starts[:, None]  # (B, 2)
    made = with_segments(rows, ends, starts.tolist())
    last = made.real.sum(1, keepdim=True) - 1  # the final [SEP], which is no answer
    place = torch.arange(made.ids.shape[1])
    return made._replace(allowed=(place >= starts[:, None]) & (place < last))


def framed(grammar: Grammar, *sentences: Words) -> list[int]:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP], as ids."""
    row = [CLS]
    for sentence in sentences:
        row += [*grammar.encode(sentence).tolist(), SEP]
    return row


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
