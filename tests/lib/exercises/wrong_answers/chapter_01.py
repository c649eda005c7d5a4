"""Chapter 1: masks and softmax."""

import math

import numpy as np
import torch
from torch.nn import functional as F


def _loops(n):
    m = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(i + 1):
            m[i, j] = True
    return m


_ready = torch.softmax  # another name is still the same function


WRONG = {
    "causal_mask": [
        ("invertida", lambda n: torch.triu(torch.ones(n, n), diagonal=1).bool()),
        ("diagonal", lambda n: torch.tril(torch.ones(n, n), diagonal=-1) == 1),
        ("diagonal", lambda n: torch.ones(n, n).tril().bool() & torch.tensor(n > 1)),  # wrong at length one
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
        ("valor", lambda n: torch.eye(n, dtype=torch.bool)),
        ("valor", lambda n: torch.ones(n, n).tril(1).bool()),
    ],
    "softmax": [
        ("eixo", lambda s: torch.exp(s) / torch.exp(s).sum(dim=0)),
        ("total", lambda s: torch.exp(s - s.max()) / torch.exp(s - s.max()).sum()),
        ("sem_normalizar", lambda s: torch.exp(s)),
        ("logaritmo", lambda s: s - torch.logsumexp(s, -1, keepdim=True)),
        ("instavel", lambda s: s.exp() / s.exp().sum(-1, keepdim=True)),
        ("maximo_global", lambda s: (s - s.max()).exp() / (s - s.max()).exp().sum(-1, keepdim=True)),
        ("maximo_de_outro_eixo", lambda s: (e := (s - s.amax(0)).exp()) / e.sum(-1, keepdim=True)),
        ("linear", lambda s: s / s.sum(-1, keepdim=True)),
        ("pronta", lambda s: torch.softmax(s, -1)),
        ("pronta", lambda s: torch.log_softmax(s, -1).exp()),
        ("pronta", lambda s: torch.nn.Softmax(dim=-1)(s)),
        ("pronta", lambda s: _ready(s, -1)),
        ("pronta", lambda s: getattr(torch, "soft" + "max")(s, -1)),
        ("instavel", lambda s: (e := s.clamp(-50, 50).exp()) / e.sum(-1, keepdim=True)),
        ("valor", lambda s: (e := (s - s.amax(-1, keepdim=True)).exp()) / (e.sum(-1, keepdim=True) + 0.01)),
        ("altera_entrada", lambda s: (e := s.sub_(s.amax(-1, keepdim=True)).exp()) / e.sum(-1, keepdim=True)),
        ("excecao", lambda s: s.exp() / s.exp().sum(1)),
        ("valor", lambda s: torch.sigmoid(s)),
    ],
    "batch_mask": [
        ("so_causal", "causal & real[:, None, :] -> causal.repeat(len(real), 1, 1)"),
        ("so_padding", "causal & real[:, None, :] -> real[:, None, :].repeat(1, n, 1)"),
        ("ou", "causal & -> causal |"),
        ("linhas", "real[:, None, :] -> real[:, :, None]"),
        ("invertida", "causal & real[:, None, :] -> ~(causal & real[:, None, :])"),
        ("um_a_mais", "< comprimentos -> <= comprimentos"),
        ("futuro", "<= i[:, None] -> >= i[:, None]"),
        ("diagonal", "<= i[:, None] -> < i[:, None]"),
        ("valor", "comprimentos[:, None] -> comprimentos.sort().values[:, None]"),
        ("forma", "arange(n) -> arange(3)"),
        ("forma", "causal & real[:, None, :] -> causal"),
        ("forma", "real[:, None, :] -> real[:, None, None, :]"),
        ("dtype", "causal & -> causal.float() *"),
    ],
    "masked_weights": [
        ("sem_escala", " / math.sqrt(q.shape[-1]) -> "),
        ("escala_sem_raiz", "math.sqrt(q.shape[-1]) -> q.shape[-1]"),
        ("escala_do_tamanho", ("q.shape[-1] -> q.shape[-2]", "-math.inf -> -1e9")),
        ("escala_multiplica", ("/ math -> * math", "-math.inf -> -1e9")),
        ("depois", ("s.masked_fill(~mascara, -math.inf) -> s", "dim=-1) -> dim=-1) * mascara")),
        ("esquecida", "s.masked_fill(~mascara, -math.inf) -> s"),
        ("zerada", "-math.inf -> 0.0"),
        ("invertida", ("~mascara -> mascara", "-math.inf -> -1e30")),
        ("eixo", "dim=-1 -> dim=-2"),
        ("trocadas", "q @ k.transpose -> k @ q.transpose"),
        ("pontuacoes", "torch.softmax(s, dim=-1) -> s"),
        ("finito", "-math.inf -> -100.0"),
        ("excecao", "k.transpose(-2, -1) -> k"),
    ],
    "weight_by_hand": dict(sem_mascara=0.22, outra_coluna=1 / 3, sem_exponencial=1, tipo="2/3"),
    "allowed_pairs": dict(sem_diagonal=4950, sem_mascara=100**2, metade=5000, valor_a_mao=5049),
}

RIGHT = {
    "causal_mask": [
        lambda n: torch.ones(n, n).tril().bool(),
        lambda n: torch.from_numpy(np.tril(np.ones((n, n), dtype=bool))),
        lambda n: torch.ones(n, n).cumsum(0) >= torch.ones(n, n).cumsum(1),
    ],
    "softmax": [
        lambda s: torch.exp(s - torch.logsumexp(s, -1, keepdim=True)),
        lambda s: (e := torch.exp(s.double() - s.double().amax(-1, keepdim=True))) / e.sum(-1, keepdim=True),
        lambda s: (e := (s - s.amax(-1)[..., None]).exp()) / e.sum(-1)[..., None],
    ],
    "batch_mask": [
        lambda c, n: torch.stack([torch.ones(n, n).tril().bool() & (torch.arange(n) < x) for x in c]),
        lambda c, n: torch.minimum(torch.arange(n), c[:, None] - 1)[:, :, None] >= torch.arange(n),
    ],
    "masked_weights": [
        "s.masked_fill(~mascara, -math.inf) -> s + torch.where(mascara, 0.0, -math.inf)",
        "s.masked_fill(~mascara, -math.inf) -> torch.where(mascara, s, -1e9)",
        "s.masked_fill(~mascara, -math.inf) -> s.double() + mascara.double().log()",
        lambda q, k, m: F.scaled_dot_product_attention(
            q, k, torch.eye(k.shape[-2]).expand(*k.shape[:-1], -1), attn_mask=m
        ),
    ],
    "weight_by_hand": [0.667, 2 / 3, torch.tensor(0.67)],
    "allowed_pairs": [100 * 101 // 2, 5050.0],
}
