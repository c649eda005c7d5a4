"""The figures in the quiz of chapter 3: bidirectional encoders."""

import math

from lib.parameters import count
from lib.presets import preset
from lib.quizzes.question import Figures
from lib.tokenizer import greedy_wordpiece


def greedy_pieces() -> Figures:
    word, known = "gatinho", "gat gato g ##a ##at ##inho ##in ##ho ##i ##n ##h ##o ##t"
    vocabulary = set(known.split())
    listed = ", ".join(f"`{piece}`" for piece in sorted(vocabulary) if len(piece.strip("#")) > 1)
    pieces = " ".join(f"`{piece}`" for piece in greedy_wordpiece(word, vocabulary).tokens)
    return dict(word=word, listed=listed, pieces=pieces)


def attention_parameters() -> Figures:
    bert = preset("bert-base")
    per_layer = count(bert).attention // bert.layers
    mistakes = dict(no_output=per_layer * 3 // 4, no_biases=4 * bert.d**2, by_heads=per_layer * bert.heads)
    return dict(d=bert.d, heads=bert.heads, per_layer=per_layer, **mistakes)


def spread_of_a_score() -> Figures:
    d_k = 144
    return dict(d_k=d_k, deviation=math.sqrt(d_k), divided=1, square=d_k**2)


def parameters_of_the_mask() -> Figures:
    short, long = 256, 512
    one, other = (preset("bert-base", positions=n, causal=n == short) for n in (short, long))
    return dict(short=short, long=long, more=count(other).total - count(one).total)
