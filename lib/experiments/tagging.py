"""Part-of-speech tagging of real Portuguese: the tags, and the bar to beat."""

from collections import Counter
from collections.abc import Sequence

from lib.corpus.porttinari import TaggedSentence


def tag_names(sentences: Sequence[TaggedSentence]) -> tuple[str, ...]:
    """The tags that occur, sorted: their place is their number."""
    return tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))


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
    right = [
        best.get(word.lower(), default) == tag
        for sentence in test
        for word, tag in zip(sentence.words, sentence.tags, strict=True)
    ]
    return sum(right) / len(right)
