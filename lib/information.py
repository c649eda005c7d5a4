"""Exact entropies of small distributions over sentences, where every case can be counted by hand."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence


def conditional_entropy(
    sentences: Mapping[Sequence[str], float], target: int, given: Collection[int]
) -> float:
    """H(word at `target` | words at `given`), in nats; `sentences` maps each sentence to its probability."""
    if not sentences:
        raise ValueError("sentences must hold at least one sentence")
    total = sum(sentences.values())
    if min(sentences.values()) < 0 or not math.isclose(total, 1, abs_tol=1e-9):
        raise ValueError(
            f"the probabilities of sentences must be >= 0 and add up to 1, they add up to {total}"
        )
    joint, context = defaultdict(float), defaultdict(float)
    for words, p in sentences.items():
        seen = tuple(words[i] for i in sorted(given))
        joint[seen, words[target]] += p
        context[seen] += p
    return 0.0 - sum(p * math.log(p / context[seen]) for (seen, _), p in joint.items() if p > 0)
