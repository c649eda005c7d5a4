"""Chapter 4: the loss."""

import math

import torch
from torch.nn import functional as F


def _right(logits, targets):
    keep = targets != -100
    return logits[keep].softmax(-1).gather(1, targets[keep][:, None])


def _by_hand(logits, targets, shift):
    keep = targets != -100
    e = torch.exp(logits - shift)[keep]
    return -(e / e.sum(-1, keepdim=True)).gather(1, targets[keep][:, None]).log().mean()


def _ignoring(logits, targets, ignored):
    return F.cross_entropy(logits[~ignored], targets[~ignored].clamp(min=0))


def _loop(logits, targets):
    losses = [-torch.log_softmax(u, -1)[t] for u, t in zip(logits, targets, strict=True) if t != -100]
    return sum(losses) / len(losses)


def _one_hot(logits, target):
    return F.one_hot(torch.tensor(target), len(logits))


def _minus_one(logits, target, sign=1.0):
    g = logits.softmax(-1)
    g[target] -= 1
    return sign * g


def _autograd(logits, target):
    u = logits.clone().requires_grad_()
    (g,) = torch.autograd.grad(F.cross_entropy(u[None], torch.tensor([target])), u)
    return g


def _drop_impossible(p, q):
    keep = (p > 0) & (q > 0)
    return (p[keep] * (p[keep] / q[keep]).log()).sum()


WRONG = {
    "shift": [
        ("lado_errado", lambda ids: (ids[:, 1:], ids[:, :-1])),
        ("sem_deslocar", lambda ids: (ids, ids)),
        ("copia", lambda ids: (ids[:, :-1], ids[:, :-1])),
        ("copia", lambda ids: (ids[:, 1:], ids[:, 1:])),
        ("forma", lambda ids: (ids, F.pad(ids[:, 1:], (0, 1), value=-100))),
        ("forma", lambda ids: (ids[:, :3], ids[:, 1:4])),  # only the example's length
        ("da_a_volta", lambda ids: (ids, torch.roll(ids, -1, dims=1))),
        ("da_a_volta_para_tras", lambda ids: (ids, torch.roll(ids, 1, dims=1))),
        ("sem_cortar", lambda ids: (ids, ids[:, 1:])),
        ("dois", lambda ids: (ids[:, :-2], ids[:, 2:])),
        ("eixo", lambda ids: (ids[:-1], ids[1:])),
        ("so_alvos", lambda ids: ids[:, 1:]),
        ("so_entrada", lambda ids: ids[:, :-1]),
        ("forma", lambda ids: (ids[:, :-1], ids[:, 1:], ids)),
        ("forma", lambda ids: (ids[:, :-1].squeeze(0), ids[:, 1:].squeeze(0))),
        ("forma", lambda ids: (ids[:, :-1][:, :16], ids[:, 1:][:, :16])),
        ("forma", lambda ids: (ids[:1, :-1], ids[:1, 1:])),
    ],
    "cross_entropy": [
        ("todas_as_posicoes", lambda u, y: F.cross_entropy(u, y, reduction="none").mean()),
        ("soma", lambda u, y: F.cross_entropy(u, y, reduction="sum")),
        ("sinal", lambda u, y: _right(u, y).log().mean()),
        ("bits", lambda u, y: -_right(u, y).log2().mean()),
        ("log_da_media", lambda u, y: -_right(u, y).mean().log()),
        ("sem_log", lambda u, y: _right(u, y).mean()),
        ("sem_log", lambda u, y: F.nll_loss(F.softmax(u, -1), y)),
        ("zero_na_probabilidade", lambda u, y: -_right(u, y).clamp(min=1e-9).log().mean()),
        ("valor", lambda u, y: F.cross_entropy(u, y, label_smoothing=0.1)),
        ("nan", lambda u, y: F.cross_entropy(u[:-1], y[:-1])),
        ("softmax_duas_vezes", lambda u, y: F.cross_entropy(u.softmax(-1), y)),
        ("eixo", lambda u, y: F.nll_loss(u.log_softmax(0), y)),
        ("so_o_logit", lambda u, y: F.nll_loss(u, y)),
        ("ignora_o_ignorar", lambda u, y: F.cross_entropy(u, y.clamp(min=0))),
        ("ignorar_como_indice", lambda u, y: F.cross_entropy(u, torch.where(y == -100, u.shape[1] - 1, y))),
        ("por_posicao", lambda u, y: -_right(u, y)[:, 0].log()),
        ("instavel", lambda u, y: F.nll_loss((u.exp() / u.exp().sum(-1, keepdim=True)).log(), y)),
        ("zero_na_probabilidade", lambda u, y: -_right(u, y).log().mean()),
        ("excecao", lambda u, y: -u.log_softmax(-1).gather(1, y[:, None]).mean()),
        ("sem_retorno", lambda u, y: None),
        ("maximo_global", lambda u, y: _by_hand(u, y, u.max())),
        ("zero_na_probabilidade", lambda u, y: _by_hand(u, y, u[:, :1])),
        (
            "valor",
            lambda u, y: _ignoring(u, y, (y == -100).long().cumsum(0) * (y == -100) == 1),
        ),  # the first only
        ("valor", lambda u, y: _ignoring(u, y, (y == -100).long().cumprod(0) == 1)),  # a prefix
        (
            "valor",
            lambda u, y: _ignoring(u, y, (y == -100).flip(0).long().cumprod(0).flip(0) == 1),
        ),  # a suffix
        ("valor", lambda u, y: F.cross_entropy(u[:12], y[:12])),
        ("forma", lambda u, y: F.cross_entropy(u, y)[None]),
        ("valor", lambda u, y: F.cross_entropy(u, torch.where(y == 0, -100, y))),  # zero taken for padding
    ],
    "loss_gradient": [
        ("sinal", lambda u, t: _minus_one(u, t, -1.0)),
        ("so_softmax", lambda u, t: u.softmax(-1)),
        ("so_na_certa", lambda u, t: (u.softmax(-1) - 1) * (torch.arange(len(u)) == t)),
        ("zero_na_certa", lambda u, t: u.softmax(-1).index_fill(0, torch.tensor([t]), 0.0)),
        ("nas_probabilidades", lambda u, t: -(torch.arange(len(u)) == t).to(u.dtype) / u.softmax(-1)),
        ("sem_softmax", lambda u, t: u - _one_hot(u, t)),
        ("soma_um", lambda u, t: u.softmax(-1) + _one_hot(u, t)),
        ("media", lambda u, t: _minus_one(u, t) / len(u)),
        ("instavel", lambda u, t: u.exp() / u.exp().sum() - _one_hot(u, t)),
        ("a_perda", lambda u, t: F.cross_entropy(u[None], torch.tensor([t]))),
        ("valor", lambda u, t: u.softmax(-1) - 1),
        ("valor", lambda u, t: torch.sigmoid(u) - _one_hot(u, t)),
        ("instavel", lambda u, t: (e := u.exp().nan_to_num(posinf=1e30)) / e.sum() - _one_hot(u, t)),
        ("forma", lambda u, t: u.softmax(-1) - torch.eye(3)[t]),  # only three words
        ("altera_entrada", lambda u, t: u.sub_(1)),
        ("valor", lambda u, t: _minus_one(u, int(u.argmax()))),  # the most likely, not the right one
        ("instavel", lambda u, t: (e := (u - u[0]).exp()) / e.sum() - _one_hot(u, t)),
        ("valor", lambda u, t: _minus_one(u, min(t, 2))),
        ("valor", lambda u, t: _minus_one(u, t) if t else u.softmax(-1)),
    ],
    "perplexity": [
        ("com_padding", lambda x, r: x.mean().exp()),
        ("padding_no_denominador", lambda x, r: torch.where(r, x, 0).mean().exp()),
        ("media_das_exponenciais", lambda x, r: x[r].exp().mean()),
        ("por_frase", lambda x, r: ((x * r).sum(1) / r.sum(1)).mean().exp()),
        ("por_frase_media", lambda x, r: ((x * r).sum(1) / r.sum(1)).exp().mean()),
        ("uma_por_frase", lambda x, r: ((x * r).sum(1) / r.sum(1)).exp()),
        ("base_dois", lambda x, r: 2 ** x[r].mean()),
        ("sem_exponencial", lambda x, r: x[r].mean()),
        ("soma", lambda x, r: x[r].sum().exp()),
        ("invertida", lambda x, r: x[~r].mean().exp()),
        ("valor", lambda x, r: 1 / torch.exp(-x[r]).mean()),
        ("sinal", lambda x, r: torch.exp(-x[r].mean())),
        ("excecao", lambda x, r: math.exp(x[r])),
        ("prefixo", lambda x, r: x[torch.arange(x.shape[1]) < r.sum(1, keepdim=True)].mean().exp()),
        ("valor", lambda x, r: x[0][r[0]].mean().exp()),  # the first sentence only
        ("valor", lambda x, r: x[r & (x > 0)].mean().exp()),
        ("forma", lambda x, r: x[r].mean().exp()[None]),
        ("valor", lambda x, r: x[:, :12][r[:, :12]].mean().exp()),
    ],
    "divergence": [
        ("trocada", lambda p, q: (q * (q / p).log()).sum()),
        ("entropia_cruzada", lambda p, q: -(p * q.log()).sum()),
        ("entropia", lambda p, q: torch.special.entr(p).sum()),
        ("sinal", lambda p, q: (p * (q / p).log()).sum()),
        ("bits", lambda p, q: (p * (p / q).log2()).sum()),
        ("media", lambda p, q: F.kl_div(q.log(), p)),
        ("sem_peso", lambda p, q: (p.log() - q.log()).sum()),
        ("zero_log_zero", lambda p, q: (p * (p.log() - q.log())).sum()),
        ("por_entrada", lambda p, q: p * (p / q).log()),
        ("negada", _drop_impossible),
        ("negada", lambda p, q: (p * ((p + 1e-12) / (q + 1e-12)).log()).sum()),
        ("zero_log_zero", lambda p, q: F.kl_div(q.log(), p, reduction="sum")),
        ("valor", lambda p, q: (p - q).abs().sum() / 2),
        ("negada", lambda p, q: (p[p > 0] * (p[p > 0] / q[p > 0].clamp(min=1e-9)).log()).sum()),
        ("valor", lambda p, q: (p[p > 0] * (p[p > 0] / q[p > 0]).log().abs()).sum()),
    ],
    "bits_by_hand": dict(nats=2.0794, sinal=-3, probabilidade=0.125, perplexidade=8),
    "gradient_by_hand": dict(sinal=0.7, so_softmax=0.3, nas_probabilidades=-3.333, valor_a_mao=0),
}

RIGHT = {
    "shift": [
        lambda ids: (ids.narrow(1, 0, ids.shape[1] - 1), ids.narrow(1, 1, ids.shape[1] - 1)),
        lambda ids: [torch.stack([*ids.T][:-1], 1), torch.stack([*ids.T][1:], 1)],
        lambda ids: torch.stack([ids[:, :-1], ids[:, 1:]]),
    ],
    "cross_entropy": [
        _loop,
        lambda u, y: F.cross_entropy(u, y),
        lambda u, y: F.nll_loss(u.log_softmax(-1), y).item(),
    ],
    "loss_gradient": [_autograd, lambda u, t: u.softmax(-1) - _one_hot(u, t)],
    "perplexity": [
        lambda x, r: math.exp((x * r).sum() / r.sum()),
        lambda x, r: torch.masked_select(x, r).exp().log().mean().exp(),
    ],
    "divergence": [
        lambda p, q: sum(a * (a / b).log() for a, b in zip(p, q, strict=True) if a > 0),
        lambda p, q: (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(),
    ],
    "bits_by_hand": [3, -math.log2(1 / 8)],
    "gradient_by_hand": [-0.7, 0.3 - 1],
}
