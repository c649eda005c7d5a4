"""Chapter 1: masks and softmax."""

import functools
import math
from fractions import Fraction

import numpy as np
import torch
from torch.nn import functional as F


def _loops(n):
    m = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(i + 1):
            m[i, j] = True
    return m


class _Loops:
    def __call__(self, n):
        return _loops(n)


class _Softmax:
    """Calls the ready one; `softmax` below does not, whatever its name."""

    def __call__(self, s):
        return s.softmax(-1)


def softmax(s):
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def _shifted(s, shift):
    return torch.exp(s - shift) / torch.exp(s - shift).sum(-1, keepdim=True)


_ready = torch.softmax  # another name is still the same function


def _dot(q, k):
    return torch.einsum("...id,...jd->...ij", q, k)


def _scaled(q, k):
    return _dot(q, k) * q.size(-1) ** -0.5


def _masked(scores, mask, value=-math.inf, dim=-1):
    return F.softmax(scores.masked_fill(~mask, value), dim)


def _causal(n):
    return torch.ones(n, n).tril().bool()


def _real(lengths, n):
    return torch.stack([torch.arange(n) < length for length in lengths])


WRONG = {
    "causal_mask": [
        ("invertida", lambda n: torch.triu(torch.ones(n, n), diagonal=1).bool()),
        ("invertida", lambda n: torch.arange(n)[None, :] > torch.arange(n)[:, None]),
        ("diagonal", lambda n: torch.tril(torch.ones(n, n), diagonal=-1) == 1),
        ("valor", lambda n: torch.ones(n, n).tril().bool() & torch.tensor(n > 1)),  # wrong at length one
        ("diagonal", lambda n: torch.arange(n)[:, None] > torch.arange(n)),
        ("transposta", lambda n: torch.triu(torch.ones(n, n, dtype=torch.bool))),
        ("aditiva", lambda n: torch.triu(torch.full((n, n), -math.inf), diagonal=1)),
        ("dtype", lambda n: torch.tril(torch.ones(n, n))),
        ("dtype", lambda n: torch.ones(n, n, dtype=torch.long).tril()),
        ("cheia", lambda n: torch.ones(n, n) > 0),
        ("laco", _loops),
        ("laco", lambda n: _loops(n)),  # in a helper
        ("forma", lambda n: torch.tensor([[1, 0, 0], [1, 1, 0], [1, 1, 1]]) == 1),  # only the example
        ("tipo", lambda n: torch.ones(n, n).tril().bool().tolist()),
        ("tipo", lambda n: (torch.arange(n) <= i for i in range(n))),
        ("laco", lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)])),
        ("forma", lambda n: torch.ones(n, n).tril().bool()[None]),
        ("forma", lambda n: torch.arange(n) <= n),
        ("tipo", lambda n: np.tril(np.ones((n, n), dtype=bool))),
        ("so_a_propria", lambda n: torch.eye(n, dtype=torch.bool)),
        ("um_a_mais", lambda n: torch.ones(n, n).tril(1).bool()),
        ("forma", lambda n: torch.ones(3, 3).tril().bool()),
        ("forma", lambda n: torch.ones(16, 16).tril().bool()[:n, :n]),  # a buffer of 16
        ("valor", lambda n: _causal(n) & torch.ones(n, n).triu(-11).bool()),  # a window of 12
        ("laco", functools.partial(_loops)),
        ("laco", functools.lru_cache(_loops)),
        ("laco", _Loops()),
        ("forma", lambda n: _causal(n).squeeze()),
        ("forma", lambda n: _causal(n) if n else torch.ones(1, 1).bool()),
    ],
    "softmax": [
        ("eixo", lambda s: torch.exp(s) / torch.exp(s).sum(dim=0)),
        ("total", lambda s: torch.exp(s - s.max()) / torch.exp(s - s.max()).sum()),
        ("total", lambda s: torch.exp(s) / torch.exp(s).sum()),
        ("sem_normalizar", lambda s: torch.exp(s)),
        ("logaritmo", lambda s: s - torch.logsumexp(s, -1, keepdim=True)),
        ("instavel", lambda s: s.exp() / s.exp().sum(-1, keepdim=True)),
        ("maximo_global", lambda s: (s - s.max()).exp() / (s - s.max()).exp().sum(-1, keepdim=True)),
        ("maximo_de_outro_eixo", lambda s: (e := (s - s.amax(0)).exp()) / e.sum(-1, keepdim=True)),
        ("linear", lambda s: s / s.sum(-1, keepdim=True)),
        ("pronta", lambda s: torch.softmax(s, -1)),
        ("pronta", lambda s: F.softmax(s, dim=-1)),
        ("pronta", lambda s: torch.log_softmax(s, -1).exp()),
        ("pronta", lambda s: torch.nn.Softmax(dim=-1)(s)),
        ("pronta", lambda s: _ready(s, -1)),
        ("pronta", lambda s: getattr(torch, "soft" + "max")(s, -1)),
        ("instavel", lambda s: (e := s.clamp(-50, 50).exp()) / e.sum(-1, keepdim=True)),
        ("valor", lambda s: (e := (s - s.amax(-1, keepdim=True)).exp()) / (e.sum(-1, keepdim=True) + 0.01)),
        ("altera_entrada", lambda s: (e := s.sub_(s.amax(-1, keepdim=True)).exp()) / e.sum(-1, keepdim=True)),
        ("forma", lambda s: s.exp() / s.exp().sum(1)),
        ("valor", lambda s: torch.sigmoid(s)),
        ("instavel", lambda s: _shifted(s, s[..., :1])),
        ("instavel", lambda s: _shifted(s, s[..., -1:])),
        ("instavel", lambda s: _shifted(s, s.mean(-1, keepdim=True))),
        ("instavel", lambda s: _shifted(s, s.amin(-1, keepdim=True))),
        ("nan", lambda s: _shifted(s, 1000.0)),
        ("maximo_global", lambda s: _shifted(s, s.amax((-2, -1), keepdim=True) if s.dim() > 1 else s.max())),
        ("pronta", torch.nn.Softmax(-1)),
        ("pronta", lambda s: F.softmin(-s, dim=-1)),
        ("pronta", functools.partial(torch.softmax, dim=-1)),
        ("pronta", functools.lru_cache(lambda s: torch.softmax(s, -1))),
        ("pronta", _Softmax()),
        ("excecao", lambda s: (lambda b, n: softmax(s))(*s.shape)),  # two axes, no more and no fewer
        ("forma", lambda s: softmax(s).squeeze(0)),
        ("valor", lambda s: _shifted(s.T, s.T.amax(-1, keepdim=True)).T if s.dim() == 2 else softmax(s)),
    ],
    "batch_mask": [
        ("so_causal", lambda c, n: _causal(n).repeat(len(c), 1, 1)),
        ("so_padding", lambda c, n: _real(c, n)[:, None, :].repeat(1, n, 1)),
        ("ou", lambda c, n: _causal(n) | _real(c, n)[:, None]),
        ("linhas", lambda c, n: _causal(n) & _real(c, n)[:, :, None]),
        ("linhas", lambda c, n: _causal(n) & _real(c, n)[:, None] & _real(c, n)[:, :, None]),
        ("invertida", lambda c, n: torch.ones(n, n).triu(1).bool() | ~_real(c, n)[:, None]),
        ("um_a_mais", lambda c, n: _causal(n) & (torch.arange(n) <= c[:, None])[:, None]),
        ("futuro", lambda c, n: torch.ones(n, n).triu().bool() & _real(c, n)[:, None]),
        ("diagonal", lambda c, n: torch.ones(n, n).tril(-1).bool() & _real(c, n)[:, None]),
        ("valor", lambda c, n: _causal(n) & _real(c.sort().values, n)[:, None]),
        ("forma", lambda c, n: torch.ones(3, 3).tril().bool() & _real(c, 3)[:, None]),
        ("forma", lambda c, n: _causal(n)),
        ("forma", lambda c, n: (_causal(n) & _real(c, n)[:, None])[:, None]),
        ("dtype", lambda c, n: torch.ones(n, n).tril() * _real(c, n)[:, None]),
        ("forma", lambda c, n: (_causal(n) & _real(c, n)[:, None]).squeeze(0)),
        ("valor", lambda c, n: _causal(n) & _real(c.clamp(min=1), n)[:, None]),  # no sentence without a token
        ("valor", lambda c, n: _causal(n) & _real(c[:1].expand(len(c)), n)[:, None]),  # the first for all
        ("valor", lambda c, n: _causal(n) & (_real(c, n)[:, None] | torch.eye(n).bool())),
    ],
    "masked_weights": [
        ("sem_escala", lambda q, k, m: _masked(_dot(q, k), m)),
        ("escala_sem_raiz", lambda q, k, m: _masked(_dot(q, k) / q.shape[-1], m)),
        ("escala_do_tamanho", lambda q, k, m: _masked(_dot(q, k) / q.shape[-2] ** 0.5, m, -1e9)),
        ("escala_multiplica", lambda q, k, m: _masked(_dot(q, k) * q.shape[-1] ** 0.5, m, -1e9)),
        ("depois", lambda q, k, m: F.softmax(_scaled(q, k), -1).masked_fill(~m, 0.0)),
        ("depois", lambda q, k, m: F.softmax(_scaled(q, k), -1) * m),
        ("esquecida", lambda q, k, m: F.softmax(_scaled(q, k), -1)),
        ("zerada", lambda q, k, m: F.softmax(_scaled(q, k) * m, -1)),
        ("invertida", lambda q, k, m: _masked(_scaled(q, k), ~m, -1e30)),
        ("eixo", lambda q, k, m: _masked(_scaled(q, k), m, dim=-2)),
        ("trocadas", lambda q, k, m: _masked(_scaled(k, q), m)),
        ("pontuacoes", lambda q, k, m: _scaled(q, k).masked_fill(~m, -math.inf)),
        ("finito", lambda q, k, m: _masked(_scaled(q, k), m, -100.0)),
        ("excecao", lambda q, k, m: _masked(q @ k / 2, m)),
        ("excecao", lambda q, k, m: _masked(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, m)),  # one batch axis
        ("esquecida", lambda q, k, m: _masked(_scaled(q, k), torch.ones_like(m))),
        (
            "valor",
            lambda q, k, m: _masked(_scaled(q, k), _causal(q.shape[-2])),
        ),  # the causal mask, not the given
        ("valor", lambda q, k, m: _masked(_dot(q, k) / 2, m)),  # the scale of one size
        ("forma", lambda q, k, m: _masked(_scaled(q, k), m).squeeze(0)),
        ("finito", lambda q, k, m: _masked(_scaled(q, k), m, -1000.0)),
    ],
    "weight_by_hand": dict(sem_mascara=0.22, outra_coluna=1 / 3, sem_exponencial=1, tipo="2/3"),
    "allowed_pairs": dict(sem_diagonal=4950, sem_mascara=100**2, metade=5000, valor_a_mao=5049),
}

RIGHT = {
    "causal_mask": [
        lambda n: torch.ones(n, n).tril().bool(),
        lambda n: ~torch.triu(torch.ones(n, n, dtype=torch.bool), 1),
        lambda n: torch.from_numpy(np.tril(np.ones((n, n), dtype=bool))),
        lambda n: torch.eye(n).cumsum(0) > 0,
        functools.lru_cache(lambda n: torch.ones(n, n).tril() == 1),
        lambda n: torch.ones(n, n).cumsum(0) >= torch.ones(n, n).cumsum(1),
    ],
    "softmax": [
        lambda s: torch.exp(s - torch.logsumexp(s, -1, keepdim=True)),
        lambda s: (e := torch.exp(s.double() - s.double().amax(-1, keepdim=True))) / e.sum(-1, keepdim=True),
        lambda s: (e := (s - s.amax(-1)[..., None]).exp()) / e.sum(-1)[..., None],
        softmax,
        lambda s: softmax(s),
        functools.partial(softmax),
    ],
    "batch_mask": [
        lambda c, n: torch.stack([_causal(n) & (torch.arange(n) < x) for x in c]),
        lambda c, n: torch.minimum(torch.arange(n), c[:, None] - 1)[:, :, None] >= torch.arange(n),
    ],
    "masked_weights": [
        lambda q, k, m: F.softmax(_scaled(q, k) + torch.zeros(m.shape).masked_fill(~m, -math.inf), -1),
        lambda q, k, m: F.softmax(torch.where(m, _scaled(q, k), -1e9), -1),
        lambda q, k, m: softmax((q / q.shape[-1] ** 0.5) @ k.mT + torch.where(m, 0.0, -math.inf)),
        lambda q, k, m: F.softmax(_scaled(q.double(), k.double()) + m.double().log(), -1),
        lambda q, k, m: F.scaled_dot_product_attention(
            q, k, torch.eye(k.shape[-2]).expand(*k.shape[:-1], -1), attn_mask=m
        ),
    ],
    "weight_by_hand": [0.667, 2 / 3, torch.tensor(0.67), Fraction(2, 3), np.float32(0.667)],
    "allowed_pairs": [100 * 101 // 2, 5050.0],
}
