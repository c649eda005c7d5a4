"""The figures in the quiz of chapter 5: encoder-only architectures."""

import torch

from lib.corruption import LONGEST_SPAN, SPAN_P, span_lengths
from lib.heads import best_span
from lib.numbers import pt
from lib.parameters import count
from lib.presets import preset
from lib.quizzes.question import Figures


def what_an_encoder_returns() -> Figures:
    bert = preset("bert-base")
    return dict(sentences=8, n=20, d=bert.d, v=bert.vocab_size)


def masking_by_flat_indices() -> Figures:
    batch = torch.ones(4, 6, dtype=torch.long)
    chosen = torch.zeros_like(batch, dtype=torch.bool)
    chosen[0, 2] = chosen[1, 3] = True
    noisy = batch.clone()
    noisy[chosen.nonzero().flatten()] = 0  # 0 stands for [MASK]
    masked, meant = int((noisy == 0).sum()), int(chosen.sum())
    rows, columns = batch.shape
    places = " e ".join(f"({i}, {j})" for i, j in chosen.nonzero().tolist())
    mistakes = dict(meant=meant, tokens=2 * meant, lines=meant * columns)
    return dict(rows=rows, columns=columns, places=places, masked=masked, **mistakes)


def parameters_of_a_classifier() -> Figures:
    bert, classes = preset("bert-base"), 3
    no_biases = bert.d * classes
    new = no_biases + classes
    mistakes = dict(no_biases=no_biases, with_pooler=new + bert.d**2 + bert.d, encoder=count(bert).total)
    return dict(d=bert.d, classes=classes, new=new, **mistakes)


def span() -> Figures:
    start, end = torch.tensor([[1.0, 0.5, 3.0, 0.2]]), torch.tensor([[0.1, 2.5, 1.0, 0.3]])
    best = [int(k) + 1 for k in best_span(start, end, torch.ones(1, 4, dtype=torch.bool))[0]]
    alone = [int(x.argmax()) + 1 for x in (start, end)]
    starts, ends = (", ".join(pt(x, 1) for x in row[0]) for row in (start, end))
    return dict(starts=starts, ends=ends, best=best, alone=alone, whole=[1, 4])


def multilingual_vocabulary() -> Figures:
    big, small = count(preset("xlm-r-large")), count(preset("bert-large"))
    share = big.token_embeddings / big.total
    of_bert, attention = small.token_embeddings / small.total, big.attention / big.total
    v = preset("xlm-r-large").vocab_size
    return dict(v=v, share=share, of_bert=of_bert, rest=1 - share, attention=attention)


def span_length() -> Figures:
    p, longest = 2 * SPAN_P, LONGEST_SPAN // 2
    mean = float((span_lengths(p, longest) * torch.arange(1, longest + 1)).sum())
    return dict(p=p, longest=longest, mean=mean, uncut=1 / p, uniform=(1 + longest) / 2)


def anisotropy() -> Figures:
    return dict(background=0.78, pair=0.79)


def standardising() -> Figures:
    sigma = 4.0
    x = sigma * torch.randn(10_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = sigma * (x - x.mean()) / x.std()
    by_variance, by_deviation = ((x / spread).std() for spread in (x.var(), x.std()))
    mistakes = dict(by_deviation=by_deviation, deviation=x.std(), variance=x.var())
    return dict(sigma=sigma, by_variance=by_variance, **mistakes)
