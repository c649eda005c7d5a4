"""The bars to beat: a model that does not do better than these has learnt nothing new."""

import math
from collections import Counter
from collections.abc import Sequence

from lib.commands.examples import Example
from lib.tokenizer import Tokenizer

Words = Sequence[str]


def majority(training: Sequence[str], examined: Sequence[str]) -> float:
    """Accuracy of always giving the commonest label of the training part."""
    commonest = Counter(training).most_common(1)[0][0]
    return sum(label == commonest for label in examined) / len(examined)


def bag_of_words(training: Sequence[Example], examined: Sequence[Example], tokenizer: Tokenizer) -> float:
    """Accuracy of naive Bayes: the class whose words, counted and in any order, the text has most of.

    log P(class) + sum of log P(word | class), with one added to every count, over the tokens of the model.
    """
    words: dict[str, Counter] = {}
    for text, label in training:
        words.setdefault(label, Counter()).update(tokenizer.tokenize(text))
    classes = Counter(label for _, label in training)
    known = len(set().union(*words.values()))
    total = {label: sum(counts.values()) + known for label, counts in words.items()}

    def score(label: str, tokens: Words) -> float:
        found = sum(math.log((words[label][token] + 1) / total[label]) for token in tokens)
        return math.log(classes[label]) + found

    right = [
        max(classes, key=lambda label: score(label, tokens)) == truth
        for tokens, truth in ((tokenizer.tokenize(text), truth) for text, truth in examined)
    ]
    return sum(right) / len(right)
