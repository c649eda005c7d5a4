"""Part-of-speech tagging of real Portuguese: from tagged sentences to labelled tokens, and the bar to beat.

A word that WordPiece cuts into pieces is judged at its first piece; the others have no label.
"""

from collections import Counter
from collections.abc import Sequence

import torch

from lib.losses import IGNORE_INDEX
from lib.porttinari import TaggedSentence
from lib.tokenizer import Tokenizer
from lib.training.fine_tuning import Labelled


def tag_names(sentences: Sequence[TaggedSentence]) -> tuple[str, ...]:
    """The tags that occur, sorted: their place is their number."""
    return tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))


def tagging_examples(
    sentences: Sequence[TaggedSentence], tokenizer: Tokenizer, tags: Sequence[str], max_length: int = 64
) -> Labelled:
    """Sentences as ids with a tag at the first piece of every word; what exceeds `max_length` is cut off.

    A tag that is not among `tags` gets the number len(tags), which no model predicts: it counts as an error.
    """
    number = {tag: i for i, tag in enumerate(tags)}
    rows, targets = [], []
    for sentence in sentences:
        ids, target = [tokenizer.cls_id], [IGNORE_INDEX]
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            pieces = tokenizer.encode(word).ids[1:-1] or [tokenizer.unk_id]
            ids += pieces
            target += [number.get(tag, len(tags))] + [IGNORE_INDEX] * (len(pieces) - 1)
        rows.append(torch.tensor([*ids[: max_length - 1], tokenizer.sep_id]))
        targets.append(torch.tensor([*target[: max_length - 1], IGNORE_INDEX]))
    pad = torch.nn.utils.rnn.pad_sequence
    ids = pad(rows, batch_first=True, padding_value=tokenizer.pad_id)  # (B, N)
    real = torch.arange(ids.shape[1]) < torch.tensor([len(row) for row in rows])[:, None]  # (B, N)
    return Labelled(ids, real, pad(targets, batch_first=True, padding_value=IGNORE_INDEX))


def most_frequent_tag(training: Sequence[TaggedSentence], test: Sequence[TaggedSentence]) -> float:
    """Accuracy of the simplest tagger: a word's most frequent tag; for unknown words, the commonest."""
    seen: dict[str, Counter] = {}
    for sentence in training:
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            seen.setdefault(word.lower(), Counter())[tag] += 1
    if not seen:
        raise ValueError("training must hold at least one sentence, got none")
    default = sum(seen.values(), Counter()).most_common(1)[0][0]
    best = {word: counts.most_common(1)[0][0] for word, counts in seen.items()}
    told = [
        best.get(word.lower(), default) == tag
        for sentence in test
        for word, tag in zip(sentence.words, sentence.tags, strict=True)
    ]
    return sum(told) / len(told)
