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


def _one_by_one(logits, targets):
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


def _loop(
    model,
    loss,
    batches,
    rate,
    *,
    order="zbs",
    kind=torch.optim.AdamW,
    falls=True,
    after=False,
    told=torch.Tensor.item,
):
    """The training loop: `order` says when gradients are zeroed, worked out, and used for a step."""
    optimizer, found = kind(model.parameters(), lr=rate), []
    for i, batch in enumerate(batches):
        if falls:
            optimizer.param_groups[0]["lr"] = rate * (1 - i / len(batches))
        value = loss(batch)
        gestures = {"z": optimizer.zero_grad, "b": value.backward, "s": optimizer.step}
        for gesture in order:
            gestures[gesture]()
        found.append(told(loss(batch) if after else value))
    return found


def _loops(**options):
    return lambda m, f, b, r: _loop(m, f, b, r, **options)


def _as_of_a_module(model, loss, batches, rate):
    """What else a module can do: it is told to train, and its gradients are zeroed."""
    model.train().zero_grad()
    return _loop(model, loss, batches, rate)


def _means(x, r, n, weight=lambda real: 1.0):
    parts = [*zip(x.split(n), r.split(n), strict=True)]
    weights = [weight(real) for _, real in parts]
    return sum(w * y[real].mean() for w, (y, real) in zip(weights, parts, strict=True)) / sum(weights)


def _told_apart(loss, counted, ignored, logits=8, scale=None):
    """The name of the mistake that comes closest, with so many positions that count and that do not."""
    y = torch.tensor([0] * counted + [-100] * ignored)
    value = float(loss(torch.zeros(len(y), logits), y)) / math.log(logits)
    outcomes = {"nenhum": 1.0, "conta": counted / len(y), "bits": 1 / math.log(2), "soma": counted}
    return min(outcomes, key=lambda name: abs(outcomes[name] - value))


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
        ("zero_na_probabilidade", lambda u, y: -_right(u.double(), y).log().mean()),
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
        ("instavel", lambda u, t: (e := u.double().exp()) / e.sum() - _one_hot(u, t)),
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
    "training_loop": [
        ("acumula", _loops(order="bs")),
        ("nao_anda", _loops(order="zb")),
        ("nao_anda", _loops(order="bz")),
        ("um_atrasado", _loops(order="szb")),
        ("taxa_constante", _loops(falls=False)),
        ("sgd", _loops(kind=torch.optim.SGD)),
        ("guarda_o_grafo", _loops(told=lambda value: value)),
        ("depois_do_passo", _loops(after=True)),
        ("so_a_ultima", lambda m, f, b, r: _loop(m, f, b, r)[-1]),
        ("valor", _loops(kind=torch.optim.Adam)),
        ("valor", lambda m, f, b, r: _loop(m, f, b, 2 * r)),
        ("valor", lambda m, f, b, r: _loop(m, f, b[::-1], r)),
        ("valor", lambda m, f, b, r: [x - 1 for x in _loop(m, f, b, r)]),
        ("forma", lambda m, f, b, r: _loop(m, f, b[:12], r)),
        ("forma", lambda m, f, b, r: [*_loop(m, f, b, r), 0.0]),
        ("sem_retorno", lambda m, f, b, r: (_loop(m, f, b, r), None)[1]),
    ],
    "first_loss": dict(
        bits=9.966, base_dez=3, probabilidade=0.001, perplexidade=1000, sinal=-6.908, valor_a_mao=7.5
    ),
    "mean_of_means_defect": [
        ("como_estava", lambda x, r, n: _means(x, r, n)),
        ("com_padding", lambda x, r, n: x.mean()),
        ("com_padding", lambda x, r, n: (x * r).mean()),
        ("por_frase", lambda x, r, n: ((x * r).sum(1) / r.sum(1)).mean()),
        ("por_lote_cheio", lambda x, r, n: _means(x, r, n, weight=len)),
        ("sem_o_resto", lambda x, r, n: (w := len(x) - len(x) % n, x[:w][r[:w]].mean())[1]),
        ("valor", lambda x, r, n: x[r].median()),
        ("valor", lambda x, r, n: x[r].sum() / (r.sum() + 1)),
        ("valor", lambda x, r, n: x[:n][r[:n]].mean()),  # the first batch only
        ("forma", lambda x, r, n: x[r].mean()[None]),
        ("valor", lambda x, r, n: x[:, :10][r[:, :10]].mean()),
    ],
    "loss_experiment": [
        ("sem_ignoradas", lambda f: _told_apart(f, 3, 0)),
        ("uma_posicao", lambda f: _told_apart(f, 1, 3)),
        ("sem_bits", lambda f: (k := _told_apart(f, 2, 3), "nenhum" if k == "bits" else k)[1]),
        ("acusa_a_certa", lambda f: (k := _told_apart(f, 2, 3), "conta" if k == "nenhum" else k)[1]),
        ("sempre_a_mesma", lambda f: "nenhum"),
        ("sempre_a_mesma", lambda f: "soma"),
        ("valor", lambda f: "não sei"),
        ("tipo", lambda f: f(torch.zeros(5, 8), torch.tensor([0, 1, -100, -100, -100]))),
        ("valor", lambda f: {"bits": "soma", "soma": "bits"}.get(k := _told_apart(f, 2, 3), k)),
        ("excecao", lambda f: _told_apart(f, 0, 0)),
    ],
}

RIGHT = {
    "shift": [
        lambda ids: (ids.narrow(1, 0, ids.shape[1] - 1), ids.narrow(1, 1, ids.shape[1] - 1)),
        lambda ids: [torch.stack([*ids.T][:-1], 1), torch.stack([*ids.T][1:], 1)],
        lambda ids: torch.stack([ids[:, :-1], ids[:, 1:]]),
    ],
    "cross_entropy": [
        _one_by_one,
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
    "training_loop": [_loops(), _loops(order="bsz"), _loops(told=torch.Tensor.detach), _as_of_a_module],
    "first_loss": [math.log(1000), 6.91, 6.9078],
    "mean_of_means_defect": [
        lambda x, r, n: x[r].mean(),
        lambda x, r, n: _means(x, r, n, weight=lambda real: real.sum()),
    ],
    "loss_experiment": [lambda f: _told_apart(f, 2, 3), lambda f: _told_apart(f, 3, 4, logits=100)],
}
