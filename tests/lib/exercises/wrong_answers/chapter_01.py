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


def _with(weights):
    """The whole attention, from a function that gives its weights."""
    return lambda q, k, v, m: ((a := weights(q, k, m)) @ v.to(a.dtype), a)


def _hide(s, hidden):
    return s.masked_fill(hidden, -math.inf).softmax(-1)


def _hide_columns(s, lengths):
    return _hide(s, ~_real(lengths, s.shape[-1])[:, None])


def _moved(x, rows):
    other = x.clone()
    for j in rows:
        other[j] += 1 + torch.rand(x.shape[1])
    return other


def _longer(x, j):
    return x * (1 + (torch.arange(len(x)) == j))[:, None]


def _same(a, b):
    return torch.allclose(a, b, atol=1e-6)


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
        ("forma", lambda n: _causal(512)[:n, :n]),  # a buffer of BERT's
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
        ("instavel", lambda s: _shifted(s.double(), 0.0)),  # twice the digits only move where it breaks
        ("instavel", lambda s: _shifted(s.double(), s.double().mean(-1, keepdim=True))),
        ("instavel", lambda s: _shifted(s, s.amax(-1, keepdim=True) if s.dim() < 4 else s.max())),
        ("pronta", lambda s: torch._safe_softmax(s, -1)),
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
        ("excecao", lambda c, n: _causal(128)[:n, :n] & _real(c, n)[:, None]),
        ("forma", lambda c, n: (_causal(n) & _real(c, n)[:, None])[:, None]),
        ("dtype", lambda c, n: torch.ones(n, n).tril() * _real(c, n)[:, None]),
        ("forma", lambda c, n: (_causal(n) & _real(c, n)[:, None]).squeeze(0)),
        ("valor", lambda c, n: _causal(n) & _real(c.clamp(min=1), n)[:, None]),  # no sentence without a token
        ("valor", lambda c, n: _causal(n) & _real(c[:1].expand(len(c)), n)[:, None]),  # the first for all
        ("valor", lambda c, n: _causal(n) & (_real(c, n)[:, None] | torch.eye(n).bool())),
    ],
    "attention": [
        ("sem_escala", _with(lambda q, k, m: _masked(_dot(q, k), m))),
        ("escala_sem_raiz", _with(lambda q, k, m: _masked(_dot(q, k) / q.shape[-1], m))),
        ("escala_do_tamanho", _with(lambda q, k, m: _masked(_dot(q, k) / q.shape[-2] ** 0.5, m, -1e9))),
        ("escala_multiplica", _with(lambda q, k, m: _masked(_dot(q, k) * q.shape[-1] ** 0.5, m, -1e9))),
        ("depois", _with(lambda q, k, m: F.softmax(_scaled(q, k), -1).masked_fill(~m, 0.0))),
        ("depois", _with(lambda q, k, m: F.softmax(_scaled(q, k), -1) * m)),
        ("esquecida", _with(lambda q, k, m: F.softmax(_scaled(q, k), -1))),
        ("zerada", _with(lambda q, k, m: F.softmax(_scaled(q, k) * m, -1))),
        ("invertida", _with(lambda q, k, m: _masked(_scaled(q, k), ~m, -1e30))),
        ("eixo", _with(lambda q, k, m: _masked(_scaled(q, k), m, dim=-2))),
        ("trocadas", _with(lambda q, k, m: _masked(_scaled(k, q), m))),
        ("pontuacoes", _with(lambda q, k, m: _scaled(q, k).masked_fill(~m, -math.inf))),
        ("finito", _with(lambda q, k, m: _masked(_scaled(q, k), m, -100.0))),
        ("excecao", _with(lambda q, k, m: _masked(q @ k / 2, m))),
        (
            "excecao",
            _with(lambda q, k, m: _masked(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, m)),
        ),  # one batch axis
        ("esquecida", _with(lambda q, k, m: _masked(_scaled(q, k), torch.ones_like(m)))),
        (
            "valor",
            _with(lambda q, k, m: _masked(_scaled(q, k), _causal(q.shape[-2]))),
        ),  # the causal mask, not the given
        ("valor", _with(lambda q, k, m: _masked(_dot(q, k) / 2, m))),  # the scale of one size
        ("forma", _with(lambda q, k, m: _masked(_scaled(q, k), m).squeeze(0))),
        ("finito", _with(lambda q, k, m: _masked(_scaled(q, k), m, -1000.0))),
        (
            "excecao",
            _with(lambda q, k, m: _masked(_scaled(q, k), m[..., range(q.shape[-2]), :])),
        ),  # one row of the mask for all
        ("so_os_pesos", lambda q, k, v, m: _masked(_scaled(q, k), m)),
        ("trocado", lambda q, k, v, m: (a := _masked(_scaled(q, k), m), a @ v)),
        ("com_chaves", lambda q, k, v, m: ((a := _masked(_scaled(q, k), m)) @ k, a)),
        ("valor", lambda q, k, v, m: (v.mean(-2, keepdim=True).expand_as(v), _masked(_scaled(q, k), m))),
    ],
    "weight_by_hand": dict(sem_mascara=0.22, outra_coluna=1 / 3, sem_exponencial=1, tipo="2/3"),
    "changed_outputs": dict(
        sem_a_propria=6, sem_mascara=10, so_ela=1, o_passado=4, por_camada=21, valor_a_mao=3
    ),
    "padding_defect": [
        (
            "como_estava",
            lambda s, c: _hide(s, ~_real(c, s.shape[-1])[:, :, None]).nan_to_num(1 / s.shape[-1]),
        ),
        ("como_estava", lambda s, c: _hide(s, ~_real(c, s.shape[-1])[:, :, None]).nan_to_num(0.0)),
        ("linhas_zeradas", lambda s, c: _hide_columns(s, c) * _real(c, s.shape[-1])[:, :, None]),
        ("sem_mascara", lambda s, c: s.softmax(-1)),
        ("depois", lambda s, c: s.softmax(-1) * _real(c, s.shape[-1])[:, None]),
        ("causal", lambda s, c: _hide(s, ~(_real(c, s.shape[-1])[:, None] & _causal(s.shape[-1])))),
        ("nan", lambda s, c: _hide_columns(s, c) + 0 * _hide(s, ~_real(c, s.shape[-1])[:, :, None])),
        ("valor", lambda s, c: _hide(s, ~_real(c, s.shape[-1])[:1, None].expand_as(s))),  # the first for all
        ("valor", lambda s, c: s.masked_fill(~_real(c, s.shape[-1])[:, None], -1.0).softmax(-1)),
        ("valor", lambda s, c: s.masked_fill(~_real(c, s.shape[-1])[:, None], -30.0).softmax(-1)),
        (
            "altera_entrada",
            lambda s, c: s.masked_fill_(~_real(c, s.shape[-1])[:, None], -math.inf).softmax(-1),
        ),
    ],
    "leak_experiment": [
        ("so_o_ultimo", lambda m, x: not _same(m(_moved(x, [-1]))[:-1], m(x)[:-1])),
        ("so_a_primeira", lambda m, x: not _same(m(_moved(x, range(1, len(x))))[:1], m(x)[:1])),
        (
            "sempre_sim",
            lambda m, x: any(not _same(m(_moved(x, [j]))[: j + 1], m(x)[: j + 1]) for j in range(len(x))),
        ),
        ("sempre_sim", lambda m, x: not _same(m(torch.rand_like(x)), m(x))),
        ("sempre_nao", lambda m, x: False),
        ("sempre_nao", lambda m, x: not _same(m(x), m(x.clone()))),
        (
            "so_a_seguinte",
            lambda m, x: any(not _same(m(_moved(x, [j]))[j - 1], m(x)[j - 1]) for j in range(1, len(x))),
        ),
        (
            "multiplica",
            lambda m, x: any(not _same(m(_longer(x, j))[:j], m(x)[:j]) for j in range(1, len(x))),
        ),
        ("excecao", lambda m, x: not _same(m(x + torch.arange(4)), m(x))),  # only vectors of four
        ("tipo", lambda m, x: "sim"),
        ("altera_entrada", lambda m, x: bool(x.add_(1).sum() > 0)),
    ],
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
    "attention": [
        _with(lambda q, k, m: F.softmax(_scaled(q, k) + torch.zeros(m.shape).masked_fill(~m, -math.inf), -1)),
        _with(lambda q, k, m: F.softmax(torch.where(m, _scaled(q, k), -1e9), -1)),
        _with(lambda q, k, m: softmax((q / q.shape[-1] ** 0.5) @ k.mT + torch.where(m, 0.0, -math.inf))),
        _with(lambda q, k, m: F.softmax(_scaled(q.double(), k.double()) + m.double().log(), -1)),
        _with(
            lambda q, k, m: F.scaled_dot_product_attention(
                q, k, torch.eye(k.shape[-2]).expand(*k.shape[:-1], -1), attn_mask=m
            )
        ),
    ],
    "weight_by_hand": [0.667, 2 / 3, torch.tensor(0.67), Fraction(2, 3), np.float32(0.667)],
    "changed_outputs": [7, 10 - 4 + 1, torch.tensor(7)],
    "padding_defect": [
        _hide_columns,
        lambda s, c: (e := s.exp() * _real(c, s.shape[-1])[:, None]) / e.sum(-1, keepdim=True),
        lambda s, c: F.softmax(torch.where(_real(c, s.shape[-1])[:, None], s, -1e9), -1),
    ],
    "leak_experiment": [
        lambda m, x: any(not _same(m(_moved(x, range(j, len(x))))[:j], m(x)[:j]) for j in range(1, len(x))),
        lambda m, x: bool((torch.autograd.functional.jacobian(m, x).abs().sum((1, 3)).triu(1) > 0).any()),
    ],
}
