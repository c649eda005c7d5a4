"""The figures in the quiz of chapter 1: causal masking."""

import math
from collections.abc import Sequence

import torch

from lib.attention import attention, causal_mask, softmax
from lib.experiments.wrong_masks import mistaken_weights
from lib.losses import conditional_entropy
from lib.numbers import pt
from lib.quizzes.question import Figures


def allowed_pairs() -> Figures:
    n = 6
    allowed = int(causal_mask(n).sum())
    return dict(n=n, allowed=allowed, no_diagonal=allowed - n, half=n * n / 2, all=n * n)


def one_row() -> Figures:
    row, d_k = torch.tensor([1.0, 4.0, 2.0], dtype=torch.float64), 4
    scaled = row / math.sqrt(d_k)
    of_the_first, weight = softmax(scaled[:2])
    mistakes = dict(unscaled=softmax(row[:2])[1], unmasked=softmax(scaled)[1], of_the_first=of_the_first)
    return dict(row=_list(row), d_k=d_k, weight=weight, **mistakes)


def zero_instead_of_infinity() -> Figures:
    scores = torch.tensor([[2.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    leak, unmasked = mistaken_weights("zerada", scores)[0, 1], softmax(scores[0])[1]
    return dict(row=_list(scores[0]), leak=leak, nothing=0, unmasked=unmasked, half=0.5)


def perturbing_a_token() -> Figures:
    n, changed = 5, 3
    x = torch.randn(n, 4, generator=torch.Generator().manual_seed(0))
    other = x.clone()
    other[changed - 1] += 1

    def stack(v):
        for _ in range(3):
            v = v + torch.tanh(attention(v, v, v, causal_mask(n))[0])
        return v

    moved = [i + 1 for i in range(n) if not torch.equal(stack(x)[i], stack(other)[i])]
    return dict(n=n, changed=changed, moved=_list(moved), before=_list(range(1, changed + 1)))


def price_of_the_mask() -> Figures:
    verbs, nouns = ("dorme", "come"), ("gato", "cão")
    sentences: dict[Sequence[str], float] = {("o", noun, verb): 1 / 4 for noun in nouns for verb in verbs}
    floor, informed = conditional_entropy(sentences, 1, [0]), conditional_entropy(sentences, 1, [0, 2])
    return dict(price=floor - informed, floor=floor, both=math.log(len(sentences)), half=floor / 2)


def memory() -> Figures:
    n, size = 2048, torch.float32.itemsize
    mib = n * n / 2**20
    mistakes = dict(one_byte=mib, half=size * mib / 2, double=2 * size * mib)
    return dict(n=n, size=size, memory=size * mib, double_size=2 * size, **mistakes)


def _list(values) -> str:
    """(1.0, 2.0, 3.0) becomes "1, 2 e 3"."""
    *first, last = [pt(float(value), 0) for value in values]
    return f"{', '.join(first)} e {last}" if first else last
