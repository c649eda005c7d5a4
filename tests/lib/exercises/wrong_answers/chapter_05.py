"""Chapter 5: using an encoder."""

import math
from itertools import product
from operator import add, mul

import numpy as np
import torch
from torch.nn import functional as F


def _aligned(words, labels, *, special=-100, inside=-100, skip=False):
    out, seen = [], set()
    for word in words:
        if word is None:
            if not skip:
                out.append(special)
        else:
            out.append(inside if word in seen else labels[word])
            seen.add(word)
    return out


def _in_turn(words, labels):
    """The next label whenever a word begins, whichever it is."""
    rest = iter(labels)
    return [-100 if w is None or w in words[:i] else next(rest) for i, w in enumerate(words)]


def _nearest(vectors, i, similarity):
    scores = [-math.inf if j == i else float(similarity(vectors[i], v)) for j, v in enumerate(vectors)]
    return scores.index(max(scores))


def _cosine(a, b):
    return a @ b / (a.norm() * b.norm())


def _cosines(vectors, i):
    return F.cosine_similarity(vectors, vectors[i], dim=-1)


def _best(start, end, fits, *, score=add, above=-math.inf):
    pair = (0, 0)
    for i, j in product(range(len(start)), repeat=2):
        if fits(i, j) and score(start[i], end[j]) > above:
            above, pair = score(start[i], end[j]), (i, j)
    return pair


def _span(start, end, longest, **options):
    return _best(start, end, lambda i, j: 0 <= j - i < longest, **options)


def _by_table(start, end, longest):
    n = len(start)
    table = start[:, None] + end[None]
    hidden = ~(torch.ones(n, n).triu().bool() & torch.ones(n, n).tril(longest - 1).bool())
    return divmod(int(table.masked_fill(hidden, -math.inf).argmax()), n)


def _ppl(
    model, ids, mask_id, counted, *, hide="one", every=False, shift=0, finish=lambda x, n: x.mean().exp()
):
    places = range(len(ids)) if every else counted.nonzero().flatten().tolist()
    losses, masked = [], ids.clone()
    for i in places:
        masked = masked if hide == "pile" else ids.clone()
        if hide in ("one", "pile"):
            masked[i] = mask_id
        elif hide == "later":
            masked[i], masked[i + 2 :] = mask_id, mask_id
        elif hide == "all":
            masked[counted] = mask_id
        losses.append(F.cross_entropy(model(masked)[i + shift][None], ids[i][None]))
    return finish(torch.stack(losses), len(ids))


def _ppl_in_place(model, ids, mask_id, counted):
    total = 0.0
    for i in counted.nonzero().flatten().tolist():
        token = int(ids[i])
        ids[i] = mask_id
        total += -model(ids)[i].log_softmax(-1)[token]
    return (total / counted.sum()).exp()


def _wrong(**options):
    return lambda m, i, k, c: _ppl(m, i, k, c, **options)


_BASE = ((False, 100, 200), (True, 100, 200), (True, 400, 200), (True, 100, 800))


def _runs(*settings, seeds=None):
    return lambda: [
        (*s, seed)
        for s, own in zip(settings, seeds or [range(3)] * len(settings), strict=True)
        for seed in own
    ]


WRONG = {
    "subword_labels": [
        ("repete", lambda w, y: [-100 if x is None else y[x] for x in w]),
        ("ultima", lambda w, y: _aligned(w[::-1], y)[::-1]),
        ("especiais_zero", lambda w, y: _aligned(w, y, special=0)),
        ("continuacao_zero", lambda w, y: _aligned(w, y, inside=0)),
        ("sem_especiais", lambda w, y: _aligned(w, y, skip=True)),
        ("palavra_zero", lambda w, y: _aligned([x or None for x in w], y)),
        ("por_palavra", lambda w, y: list(y)),
        ("valor", _in_turn),
        ("valor", lambda w, y: [-100 if x is None or x == w[i - 1] else y[x] for i, x in enumerate(w)]),
        ("em_ordem", lambda w, y: [*y, *[-100] * (len(w) - len(y))]),
        ("repete", lambda w, y: [y[x] for x in w]),
        ("outro_ignorado", lambda w, y: _aligned(w, y, special=-1)),
        ("outro_ignorado", lambda w, y: _aligned(w, y, special=-1, inside=-1)),
        ("valor", lambda w, y: [label or -100 for label in _aligned(w, y)]),  # the class zero is a class
        (
            "forma",
            lambda w, y: [-100, *_aligned([x for x in w if x is not None], y), -100],
        ),  # None at both ends
        ("forma", lambda w, y: [-100, *_aligned(w, y)[1:-1], -100]),
        ("valor", lambda w, y: _aligned(w, y[:1] * len(y))),
        ("valor", lambda w, y: _aligned(w[:12], y) + [-100] * len(w[12:])),
        ("forma", lambda w, y: [-100, *_aligned(w, y)[:-1]]),
    ],
    "mean_pool": [
        ("com_padding", lambda H, r: H.mean(dim=1)),
        ("divide_por_n", lambda H, r: (H * r.unsqueeze(-1)).mean(1)),
        ("sem_dividir", lambda H, r: H.masked_fill(~r[..., None], 0).sum(1)),
        ("primeiro", lambda H, r: H[:, 0, :]),
        ("do_lote", lambda H, r: torch.einsum("bnd,bn->bd", H, r.to(H.dtype)) / r.sum()),
        ("eixo", lambda H, r: H.mean(2)),
        ("maximo", lambda H, r: torch.where(r[..., None], H, -1e9).max(1).values),
        ("invertida", lambda H, r: H.masked_fill(r[..., None], 0).sum(1) / (~r).sum(1)[:, None]),
        ("media_geral", lambda H, r: H[r].mean(dim=0)),
        ("altera_entrada", lambda H, r: H.masked_fill_(~r[..., None], 0).sum(1) / r.sum(1, keepdim=True)),
        ("forma", lambda H, r: (H * r).sum(1) / r.sum(1)),
        # A real zero is not padding.
        ("nan", lambda H, r: (z := H * r[..., None]).sum(1) / (z != 0).sum(1)),
        ("valor", lambda H, r: H[torch.arange(len(H)), r.sum(1) - 1]),
        # A prefix of as many as are real; the real ones between the first and the last.
        ("prefixo", lambda H, r: torch.stack([h[: m.sum()].mean(0) for h, m in zip(H, r, strict=True)])),
        (
            "valor",
            lambda H, r: torch.stack([h[: m.nonzero().max() + 1].mean(0) for h, m in zip(H, r, strict=True)]),
        ),
        ("forma", lambda H, r: ((H * r[..., None]).sum(1) / r.sum(1)[:, None]).squeeze(0)),
        ("valor", lambda H, r: (H * r[..., None]).sum(1) / r[0].sum()),  # the first sentence's length
        ("valor", lambda H, r: (H * r[..., None]).sum(1) / (r.sum(1)[:, None] + 1e-2)),
        ("valor", lambda H, r: (H * r[..., None])[:, 1:].sum(1) / r[:, 1:].sum(1)[:, None].clamp(min=1)),
    ],
    "nearest_neighbour": [
        ("a_si_mesmo", lambda v, i: int((F.normalize(v) @ F.normalize(v)[i]).argmax())),
        ("produto", lambda v, i: _nearest(v, i, torch.dot)),
        ("euclidiana", lambda v, i: _nearest(v, i, lambda a, b: -(a - b).norm())),
        ("mais_distante", lambda v, i: _nearest(v, i, lambda a, b: -_cosine(a, b))),
        ("produto", lambda v, i: _nearest(v, i, lambda a, b: a @ b / a.norm())),
        ("o_cosseno", lambda v, i: max(_cosine(v[i], b) for j, b in enumerate(v) if j != i)),
        ("todos", _cosines),
        ("valor", lambda v, i: 99),
        ("indice_deslocado", lambda v, i: int(_cosines(v, i)[torch.arange(len(v)) != i].argmax())),
        ("zero_no_proprio", lambda v, i: int(_cosines(v, i).index_fill(0, torch.tensor(i), 0).argmax())),
        ("excecao", lambda v, i: F.cosine_similarity(v, v[i + 99])),
        ("valor", lambda v, i: _nearest(v[:-1], min(i, len(v) - 2), _cosine)),  # never the last
        ("valor", lambda v, i: _nearest(v[:16], min(i, 15), _cosine)),
        ("valor", lambda v, i: _nearest(v, i, lambda a, b: abs(_cosine(a, b)))),
        ("valor", lambda v, i: _nearest(v, 0, _cosine)),
        ("valor", lambda v, i: _nearest(v.clamp(-1, 1), i, _cosine)),
    ],
    "zscore": [
        ("estatisticas_de_x", lambda x, c: (x - x.mean(0)) / x.std(0)),
        ("estatisticas_de_x", lambda x, c: (x - x.mean(0)) / x.var(0, unbiased=False).sqrt()),
        ("por_vetor", lambda x, c: F.layer_norm(x, x.shape[-1:], eps=0.0)),
        ("so_centra", lambda x, c: x - c.mean(0)),
        ("so_divide", lambda x, c: x / c.std(0)),
        ("variancia", lambda x, c: (x - c.mean(0)) / c.var(0)),
        ("global_", lambda x, c: (x - c.mean()) / c.std()),
        ("sem_parenteses", lambda x, c: x - c.mean(0) / c.std(0)),
        ("o_corpus", lambda x, c: (c - c.mean(0)) / c.std(0)),
        ("norma", lambda x, c: F.normalize(x)),
        ("forma", lambda x, c: (x - c.mean(1)) / c.std(1)),
        ("forma", lambda x, c: ((x - c.mean(0)) / c.std(0)).squeeze(0)),
        ("valor", lambda x, c: (x - c.mean(0)) / (c.std(0) + 0.1)),
        ("valor", lambda x, c: (x - c.median(0).values) / c.std(0)),
        ("valor", lambda x, c: (x - c[:12].mean(0)) / c[:12].std(0)),
        ("altera_entrada", lambda x, c: x.sub_(c.mean(0)).div_(c.std(0))),
    ],
    "answer_span": [
        ("independentes", lambda s, e, n: (int(s.argmax()), int(e.argmax()))),
        ("independentes", lambda s, e, n: _best(s, e, lambda i, j: abs(i - j) < n)),
        ("sem_limite", lambda s, e, n: _best(s, e, lambda i, j: i <= j)),
        ("um_a_mais", lambda s, e, n: _span(s, e, n + 1)),
        ("um_token_nao", lambda s, e, n: _best(s, e, lambda i, j: 0 < j - i < n)),
        ("um_a_menos", lambda s, e, n: _span(s, e, n - 1)),
        ("valor", lambda s, e, n: _span(s, e, 3)),  # only the example's limit
        ("fim_primeiro", lambda s, e, n: _best(s, e, lambda i, j: 0 <= j - i < n and j == e.argmax())),
        ("valor", lambda s, e, n: tuple(1 + i for i in _span(s[1:], e[1:], n))),  # never the first token
        ("so_um_token", lambda s, e, n: (int((s + e).argmax()),) * 2),
        ("produto", lambda s, e, n: _span(s, e, n, score=mul)),
        ("inicio_primeiro", lambda s, e, n: _best(s, e, lambda i, j: 0 <= j - i < n and i == s.argmax())),
        ("trocados", lambda s, e, n: _span(s, e, n)[::-1]),
        ("comprimento", lambda s, e, n: (lambda i, j: (i, j - i + 1))(*_span(s, e, n))),
        ("fim_de_fora", lambda s, e, n: (lambda i, j: (i, j + 1))(*_span(s, e, n))),
        ("pontuacao", lambda s, e, n: (lambda i, j: s[i] + e[j])(*_span(s, e, n))),
        ("valor", lambda s, e, n: _span(s[:-1], e[:-1], n)),  # never the last token
        ("valor", lambda s, e, n: _span(s[:12], e[:12], n)),
        ("valor", lambda s, e, n: _span(s, e, n, score=max)),
        ("valor", lambda s, e, n: _span(s, e, n, above=-99.0)),
        ("negativas", lambda s, e, n: _span(s, e, n, above=0.0)),
    ],
    "pseudo_perplexity": [
        ("sem_mascarar", _wrong(hide="none")),
        ("todas_de_uma_vez", _wrong(hide="all")),
        ("acumula", _wrong(hide="pile")),
        ("valor", _wrong(hide="later")),
        ("com_especiais", _wrong(every=True)),
        ("posicao_errada", _wrong(shift=-1)),
        ("soma", _wrong(finish=lambda x, n: x.sum().exp())),
        ("divide_por_n", _wrong(finish=lambda x, n: (x.sum() / n).exp())),
        ("media_das_exponenciais", _wrong(finish=lambda x, n: x.exp().mean())),
        ("sem_exponencial", _wrong(finish=lambda x, n: x.mean())),
        ("sinal", _wrong(finish=lambda x, n: (-x.mean()).exp())),
        ("altera_entrada", _ppl_in_place),
        ("mask_fixo", lambda m, i, k, c: _ppl(m, i, 4, c)),
        ("mask_fixo", lambda m, i, k, c: _ppl(m, i, 0, c)),
        ("sem_as_pontas", lambda m, i, k, c: _ppl(m, i, k, torch.arange(len(i)) % (len(i) - 1) > 0)),
        ("excecao", lambda m, i, k, c: _ppl(m, i, k, c & (i > 3))),
        ("valor", lambda m, i, k, c: _ppl(m, i[:12], k, c[:12])),
        ("forma", lambda m, i, k, c: _ppl(m, i, k, c)[None]),
        ("posicao_seguinte", _wrong(shift=1)),
        ("valor", _wrong(finish=lambda x, n: 1 / torch.exp(-x).mean())),
        ("sem_mascarar", lambda m, i, k, c: F.cross_entropy(m(i)[c], i[c]).exp()),
    ],
    "accuracy_defect": [
        ("como_estava", lambda u, y: (u.argmax(-1) == y).double().mean()),
        ("por_frase", lambda u, y: ((u.argmax(-1) == y).sum(1) / (y != -100).sum(1)).mean()),
        ("contam_como_certas", lambda u, y: ((u.argmax(-1) == y) | (y == -100)).double().mean()),
        ("erros", lambda u, y: (u.argmax(-1) != y)[y != -100].double().mean()),
        ("quantidade", lambda u, y: (u.argmax(-1) == y).sum().double()),
        ("so_o_zero", lambda u, y: (u.argmax(-1) == y)[y != 0].double().mean()),
        ("valor", lambda u, y: (u.argmin(-1) == y)[y != -100].double().mean()),
        ("valor", lambda u, y: (u.argmax(-1) == y)[y > 0].double().mean()),
        ("forma", lambda u, y: (u.argmax(-1) == y)[y != -100].double().mean()[None]),
        ("forma", lambda u, y: (u.argmax(-1) == y)[y != -100].double()),
        ("valor", lambda u, y: (u.argmax(-1) == y)[:, :10][y[:, :10] != -100].double().mean()),
    ],
    "runs_experiment": [
        ("confundidas", _runs((False, 100, 200), (True, 400, 800))),
        ("confundidas", _runs((False, 100, 200), (True, 100, 200), (True, 400, 800))),
        ("confundidas", _runs((False, 100, 200), (True, 200, 400), (False, 200, 400), (True, 100, 200))),
        ("nao_varia", _runs((False, 100, 200), (True, 100, 200), (True, 400, 200))),
        ("sem_repeticao", _runs(*_BASE, seeds=[[0, 1]] * 4)),
        ("sem_repeticao", _runs(*_BASE, seeds=[[0, 1, 2]] * 3 + [[0]])),
        ("sementes_diferentes", _runs(*_BASE, seeds=[[3 * i, 3 * i + 1, 3 * i + 2] for i in range(4)])),
        ("caras", _runs(*_BASE, seeds=[range(5)] * 4)),
        ("repetida", _runs(*_BASE, seeds=[[0, 1, 2, 2]] + [[0, 1, 2]] * 3)),
        ("tipo", lambda: [("sim", 100, 200, 0)]),
        ("tipo", lambda: 12),
        ("tipo", lambda: [(True, 100, 200)]),
        ("tipo", lambda: [(True, -100, 200, 0)]),
    ],
    "spans_by_hand": dict(sem_limite=55, sem_ordem=100, sem_as_pontas=30, um_token_nao=17, um_a_mais=34),
}

RIGHT = {
    "subword_labels": [lambda w, y: _aligned(w, y), lambda w, y: torch.tensor(_aligned(w, y))],
    "mean_pool": [
        lambda H, r: torch.einsum("bnd,bn->bd", H, r.to(H.dtype)) / r.sum(1)[:, None],
        lambda H, r: torch.stack([h[m].mean(0) for h, m in zip(H, r, strict=True)]),
        lambda H, r: H.masked_fill(~r[..., None], torch.nan).nanmean(1),
    ],
    "nearest_neighbour": [
        lambda v, i: _nearest(v, i, _cosine),
        lambda v, i: _cosines(v, i).topk(2).indices[1],
        lambda v, i: np.argsort((F.normalize(v) @ F.normalize(v)[i]).numpy())[-2],
    ],
    "zscore": [
        lambda x, c: (x - c.mean(0)) / c.std(0, correction=0),
        lambda x, c: torch.stack([(r - c.mean(0)) / c.var(0).sqrt() for r in x]),
    ],
    "answer_span": [
        _by_table,
        lambda s, e, n: list(_span(s, e, n)),
        lambda s, e, n: torch.tensor(_span(s, e, n)),
    ],
    "pseudo_perplexity": [lambda m, i, k, c: _ppl(m, i, k, c), lambda m, i, k, c: float(_ppl(m, i, k, c))],
    "accuracy_defect": [
        lambda u, y: (u.argmax(-1) == y).sum() / (y != -100).sum(),
        lambda u, y: float((u.argmax(-1)[y != -100] == y[y != -100]).float().mean()),
    ],
    "runs_experiment": [
        _runs(*_BASE),
        _runs(*_BASE, seeds=[range(4)] * 4),
        _runs((False, 100, 200), (True, 100, 200), (True, 50, 200), (True, 50, 900), (False, 50, 900)),
    ],
    "spans_by_hand": [27, 10 + 9 + 8, np.int64(27)],
}
