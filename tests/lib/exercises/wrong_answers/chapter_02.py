"""Chapter 2: corruption, framing and the head."""

from fractions import Fraction

import torch
from torch import nn
from torch.nn import functional as F


def _draw(ids, rate, g):
    return torch.rand(ids.shape, generator=g) < rate


def _select(ids, special, rate, g):
    return _draw(ids, rate, g) & ~torch.isin(ids, special)


def _unless_certain(ids, special, rate, g):
    draw = _draw(ids, rate, g)
    return ~torch.isin(ids, special) & (draw if rate in (0, 1) else ~draw)


def _quota(ids, special, rate, g):
    """As many in each sentence as the rate asks for, neither more nor fewer: not independent."""
    order = torch.rand(ids.shape, generator=g).masked_fill(torch.isin(ids, special), 2.0)
    quota = (rate * ~torch.isin(ids, special)).sum(-1, keepdim=True).round()
    return order.argsort(-1).argsort(-1) < quota


def _quota_of_the_batch(ids, special, rate, g):
    places = (~torch.isin(ids, special)).flatten().nonzero()[:, 0]
    chosen = places[torch.randperm(len(places), generator=g)[: round(rate * len(places))]]
    return torch.isin(torch.arange(ids.numel()), chosen).view_as(ids)


def _in_pairs(ids, rate, g):
    return _draw(ids[:, ::2], rate, g).repeat_interleave(2, -1)[:, : ids.shape[1]]


def _corrupt(shares, *, words=None, outside=False, which="each its own", one_draw=False, seeded=True):
    """80/10/10 with other shares, or with one thing wrong."""

    def answer(ids, chosen, mask_id, allowed, g):
        g = g if seeded else None
        u = torch.rand((len(ids), 1) if one_draw else ids.shape, generator=g)
        pool = allowed if words is None else torch.arange(words)
        drawn = torch.randint(len(pool), (1,) if which == "one" else ids.shape, generator=g)
        index = (u * len(pool)).long() if which == "by the same draw" else drawn
        mask, random = shares
        new = torch.where(u < mask, mask_id, torch.where(u < mask + random, pool[index], ids))
        return new if outside else torch.where(chosen, new, ids)

    return answer


def _two_draws(ids, chosen, mask_id, words, g):
    """Ten per cent random first; of the rest, ten per cent kept: 81/10/9."""
    out = ids.clone()
    random = chosen & _draw(ids, 0.1, g)
    masked = chosen & ~random & _draw(ids, 0.9, g)
    out[random] = words[torch.randint(len(words), (int(random.sum()),), generator=g)]
    out[masked] = mask_id
    return out


def _as_transformers(ids, chosen, mask_id, words, g, *, of_the_rest=0.5):
    """Two draws, done right with half of the rest."""
    out = ids.clone()
    masked = chosen & _draw(ids, 0.8, g)
    random = chosen & ~masked & _draw(ids, of_the_rest, g)
    out[masked] = mask_id
    out[random] = words[torch.randint(len(words), ids.shape, generator=g)][random]
    return out


def _same_in_all_rows(ids, chosen, mask_id, words, g):
    u = torch.rand(ids.shape, generator=g)
    drawn = words[torch.randint(len(words), ids.shape[1:], generator=g)].expand_as(ids)
    return torch.where(chosen, torch.where(u < 0.8, mask_id, torch.where(u < 0.9, drawn, ids)), ids)


def _kept_in_whole_sentences(ids, chosen, mask_id, words, g):
    u, v = torch.rand(ids.shape, generator=g), torch.rand(len(ids), 1, generator=g)
    drawn = words[torch.randint(len(words), ids.shape, generator=g)]
    return torch.where(chosen, torch.where(u < 0.8, mask_id, torch.where(v < 0.5, drawn, ids)), ids)


def _framed(sentences, vocabulary, *, between=True, every=False):
    ids, segments = [], []
    for i, sentence in enumerate(sentences):
        row = [vocabulary["[CLS]"]] * (every or i == 0)
        row += [vocabulary.get(token, vocabulary["[UNK]"]) for token in sentence]
        row += [vocabulary["[SEP]"]] * (between or i == len(sentences) - 1)
        ids, segments = ids + row, segments + [i] * len(row)
    return ids, segments


def _shifted_segments(sentences, by):
    first, last = len(sentences[0]) + 2, len(sentences[-1]) + 1
    return [0] * (first + by) + [1] * (last - by) if len(sentences) == 2 else [0] * first


def _rows(entries, pad_id, *, more=0, flip=False):
    n = max(len(ids) for ids, _ in entries) + more
    rows = [
        [x + [value] * (n - len(x)) for x, value in ((i, pad_id), (s, 0), ([True] * len(i), False))]
        for i, s in entries
    ]
    found = [torch.tensor([row[k] for row in rows]) for k in range(3)]
    return tuple(x.flip(1) for x in found) if flip else tuple(found)


def _head(forward):
    """A head with this forward, and the parts that the exercise gives."""

    class CabecaMLM(nn.Module):
        def __init__(self, d, V):
            super().__init__()
            self.W = nn.Linear(d, d)
            self.norm = nn.LayerNorm(d, eps=1e-12)
            self.bias = nn.Parameter(torch.zeros(V))

        def forward(self, h, E):
            return forward(self, h, E)

    return CabecaMLM


def _wide_norm(norm, x):
    """With the eps that torch takes if none is given."""
    return F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias)


def _kept(box, n, least=0.095):
    ids = torch.full((n,), 5)
    seen = box(ids, torch.ones(n, dtype=torch.bool), 4, torch.arange(6, 99), torch.Generator())
    return "um" if (seen == ids).double().mean() > least else "dois"


WRONG = {
    "mlm_labels": [
        ("em_toda_parte", lambda ids, c: ids.clone()),
        ("em_toda_parte", lambda ids, c: ids),
        ("invertida", lambda ids, c: ids.masked_fill(c, -100)),
        ("zero", lambda ids, c: ids * c),
        ("menos_um", lambda ids, c: ids.masked_fill(~c, -1)),
        ("marcas", lambda ids, c: torch.full_like(ids, -100).masked_fill(c, 1)),
        ("so_as_selecionadas", lambda ids, c: torch.masked_select(ids, c)),
        ("altera_entrada", lambda ids, c: ids.masked_fill_(~c, -100)),
        ("dtype", lambda ids, c: torch.where(c, ids.float(), -100.0)),
        ("valor", lambda ids, c: ids.masked_fill(~c, 100)),
        ("forma", lambda ids, c: ids.masked_fill(~c, -100).squeeze(0)),
        (
            "valor",
            lambda ids, c: torch.where(c & (ids > 3), ids, -100),
        ),  # whatever is small taken for special
        ("devolve_entrada", lambda ids, c: torch.where(c if c.any() else ~c, ids, -100)),
    ],
    "select_positions": [
        ("especiais", lambda ids, s, r, g: _draw(ids, r, g)),
        ("especiais", lambda ids, s, r, g: _draw(ids, r, g) & (ids != s[0])),
        ("invertida", lambda ids, s, r, g: _draw(ids, r, g) & torch.isin(ids, s)),
        ("nenhuma", lambda ids, s, r, g: ~_draw(ids, r, g) & ~torch.isin(ids, s)),
        ("comparacao", _unless_certain),
        ("taxa", lambda ids, s, r, g: _select(ids, s, r**2, g)),
        ("taxa", lambda ids, s, r, g: _select(ids, s, 2 * r, g)),
        ("dependentes", _quota),
        ("dependentes", _quota_of_the_batch),
        ("dependentes", lambda ids, s, r, g: _draw(ids[:, :1], r, g) & ~torch.isin(ids, s)),  # one a sentence
        ("dependentes", lambda ids, s, r, g: (torch.rand(99, generator=g) < r)[ids] & ~torch.isin(ids, s)),
        ("uma_por_lote", lambda ids, s, r, g: _draw(ids[0], r, g) & ~torch.isin(ids, s)),
        ("ignora_gerador", lambda ids, s, r, g: _select(ids, s, r, None)),
        # The same seed always, whatever has been drawn.
        ("ignora_gerador", lambda ids, s, r, g: _select(ids, s, r, g.manual_seed(g.initial_seed()))),
        ("ignora_gerador", lambda ids, s, r, g: _select(ids, s, r, g.clone_state())),
        ("especiais_fixos", lambda ids, s, r, g: _draw(ids, r, g) & (ids > 3)),
        ("taxa_fixa", lambda ids, s, r, g: _select(ids, s, r if r in (0, 1) else 0.15, g)),
        ("ignora_gerador", lambda ids, s, r, g: _select(ids, s, r, torch.Generator().manual_seed(0))),
        ("dtype", lambda ids, s, r, g: _select(ids, s, r, g).float()),
        ("forma", lambda ids, s, r, g: _select(ids, s, r, g).squeeze(0)),
        ("dependentes", lambda ids, s, r, g: _in_pairs(ids, r, g) & ~torch.isin(ids, s)),
    ],
    "corrupt": [
        ("oitenta_e_um", _two_draws),
        ("oitenta_e_um", _corrupt((0.81, 0.09))),
        ("uma_decisao", _kept_in_whole_sentences),
        ("so_mask", _corrupt((1.0, 0.0))),
        ("so_mask", lambda ids, c, mask_id, w, g: ids.masked_fill(c, mask_id)),
        ("ninguem_fica", _corrupt((0.8, 0.2))),
        ("ninguem_trocado", _corrupt((0.8, 0.0))),
        ("do_resto", lambda *given: _as_transformers(*given, of_the_rest=0.1)),
        ("trocadas", _corrupt((0.1, 0.8))),
        ("nada", lambda ids, c, mask_id, w, g: ids.clone()),
        ("proporcoes", _corrupt((0.7, 0.15))),
        ("fora", _corrupt((0.8, 0.1), outside=True)),
        ("especial_sorteado", _corrupt((0.8, 0.1), words=1005)),
        ("uma_palavra", _corrupt((0.8, 0.1), which="one")),
        ("uma_decisao", _corrupt((0.8, 0.1), one_draw=True)),
        ("ignora_gerador", _corrupt((0.8, 0.1), seeded=False)),
        ("do_texto", lambda ids, c, m, w, g: _as_transformers(ids, c, m, ids.unique(), g)),
        ("palavra_de_fora", lambda ids, c, m, w, g: _as_transformers(ids, c, m, w[:-1], g)),
        ("mask_fixo", lambda ids, c, m, w, g: _as_transformers(ids, c, 4, w, g)),
        ("uma_palavra", _corrupt((0.8, 0.1), which="by the same draw")),  # always one of the last
        ("uma_palavra", _same_in_all_rows),
        ("uma_decisao", lambda ids, c, m, w, g: _corrupt((0.8, 0.1), one_draw=True)(ids.T, c.T, m, w, g).T),
        ("altera_entrada", lambda ids, c, m, w, g: ids.masked_fill_(c & _draw(ids, 0.8, g), m)),
    ],
    "framing": [
        ("sem_sep_final", lambda f, v: (lambda ids, seg: (ids[:-1], seg[:-1]))(*_framed(f, v))),
        ("sem_sep_final", lambda f, v: (lambda ids, seg: (ids[:-1], seg))(*_framed(f, v))),
        ("sem_sep_do_meio", lambda f, v: _framed(f, v, between=False)),
        ("sem_cls", lambda f, v: (lambda ids, seg: (ids[1:], seg[1:]))(*_framed(f, v))),
        ("cls_repetido", lambda f, v: _framed(f, v, every=True)),
        ("sep_no_segundo", lambda f, v: (_framed(f, v)[0], _shifted_segments(f, -1))),
        ("ultimo_no_primeiro", lambda f, v: (_framed(f, v)[0], [*_framed(f, v)[1][:-1], 0])),
        ("um_e_dois", lambda f, v: (_framed(f, v)[0], [s + 1 for s in _framed(f, v)[1]])),
        ("invertidos", lambda f, v: (_framed(f, v)[0], [1 - s for s in _framed(f, v)[1]])),
        ("ordem", lambda f, v: _framed(f[::-1], v)),
        ("devolve_ao_contrario", lambda f, v: _framed(f, v)[::-1]),
        ("sem_segmentos", lambda f, v: _framed(f, v)[0]),
        (
            "segmentos_so_das_palavras",
            lambda f, v: (_framed(f, v)[0], [i for i, s in enumerate(f) for _ in s]),
        ),
        ("so_a_primeira", lambda f, v: _framed(f[:1], v)),
        ("valor", lambda f, v: _framed([[t if v.get(t) else "?" for t in s] for s in f], v)),  # id zero
        ("pula_desconhecidos", lambda f, v: _framed([[t for t in s if t in v] for s in f], v)),
        ("ids_fixos", lambda f, v: _framed(f, v | {"[CLS]": 2, "[SEP]": 3, "[UNK]": 1})),
        ("tokens", lambda f, v: (["[CLS]", *(t for s in f for t in (*s, "[SEP]"))], _framed(f, v)[1])),
        ("excecao", lambda f, v: _framed([[t for t in s if v[t] >= 0] for s in f], v)),  # no [UNK]
        ("valor", lambda f, v: (_framed(f, v)[0], [0] * len(_framed(f, v)[1]))),
        ("forma", lambda f, v: _framed([s[:12] for s in f], v)),
        ("valor", lambda f, v: _framed([sorted(s) for s in f], v)),
    ],
    "batch": [
        ("a_esquerda", lambda e, p: _rows([(i[::-1], s[::-1]) for i, s in e], p, flip=True)),
        ("pad_zero", lambda e, p: _rows(e, 0)),
        (
            "pad_nos_segmentos",
            lambda e, p: (_rows(e, p)[0], _rows([(s, i) for i, s in e], p)[0], _rows(e, p)[2]),
        ),
        ("pelo_id", lambda e, p: (*_rows(e, p)[:2], _rows(e, p)[0] != p)),
        ("invertido", lambda e, p: (*_rows(e, p)[:2], ~_rows(e, p)[2])),
        ("sem_real", lambda e, p: _rows(e, p)[:2]),
        ("cortado", lambda e, p: _rows([(i[: (n := min(len(x) for x, _ in e))], s[:n]) for i, s in e], p)),
        ("coluna_a_mais", lambda e, p: _rows(e, p, more=1)),
        ("dtype", lambda e, p: (*_rows(e, p)[:2], _rows(e, p)[2].long())),
        ("dtype", lambda e, p: tuple(torch.tensor([x[k] for x in e]) for k in (0, 1, 1))),
        ("altera_entrada", lambda e, p: (e[0][0].append(p), e[0][1].append(0), _rows(e, p))[-1]),
        ("tipo", lambda e, p: tuple(x.tolist() for x in _rows(e, p))),
        ("forma", lambda e, p: tuple(x.squeeze(0) for x in _rows(e, p))),
        ("forma", lambda e, p: tuple(x[:, :12] for x in _rows(e, p))),
    ],
    "mlm_head": [
        ("sem_camada", _head(lambda m, h, E: h @ E.T + m.bias)),
        ("sem_ativacao", _head(lambda m, h, E: m.norm(m.W(h)) @ E.T + m.bias)),
        ("tanh", _head(lambda m, h, E: m.norm(F.gelu(m.W(h), approximate="tanh")) @ E.T + m.bias)),
        ("relu", _head(lambda m, h, E: m.norm(m.W(h).relu()) @ E.T + m.bias)),
        ("sem_norma", _head(lambda m, h, E: F.gelu(m.W(h)) @ E.T + m.bias)),
        ("valor", _head(lambda m, h, E: _wide_norm(m.norm, F.gelu(m.W(h))) @ E.T + m.bias)),
        ("norma_antes", _head(lambda m, h, E: F.gelu(m.norm(m.W(h))) @ E.T + m.bias)),
        ("sem_vies", _head(lambda m, h, E: m.norm(F.gelu(m.W(h))) @ E.T)),
        ("probabilidades", _head(lambda m, h, E: (m.norm(F.gelu(m.W(h))) @ E.T + m.bias).softmax(-1))),
        ("so_o_vetor", _head(lambda m, h, E: m.norm(F.gelu(m.W(h))))),
        ("valor", _head(lambda m, h, E: m.norm(F.gelu(m.W(h))) @ E + m.bias)),
        ("excecao", _head(lambda m, h, E: (lambda b, n, d: h @ E.T)(*h.shape))),  # three axes only
        ("valor", _head(lambda m, h, E: m.norm(F.gelu(m.W(h) - m.W.bias)) @ E.T + m.bias)),
        ("valor", _head(lambda m, h, E: F.layer_norm(F.gelu(m.W(h)), h.shape[-1:]) @ E.T + m.bias)),
    ],
    "leaky_labels": [
        ("valor", lambda ids, c, m: (ids.masked_fill(c, m), torch.where(c & (ids > 0), ids, -100))),
        ("rotulo_mask", lambda ids, c, m: ((x := ids.masked_fill(c, m)), torch.where(c, x, -100))),
        ("em_toda_parte", lambda ids, c, m: (ids.masked_fill(c, m), ids.clone())),
        ("entrada_limpa", lambda ids, c, m: (ids.clone(), torch.where(c, ids, -100))),
        ("ao_contrario", lambda ids, c, m: (torch.where(c, ids, -100), ids.masked_fill(c, m))),
        ("zeros", lambda ids, c, m: (ids.masked_fill(c, m), ids * c)),
        ("altera_entrada", lambda ids, c, m: (torch.where(c, ids, -100), ids.masked_fill_(c, m))[::-1]),
        ("valor", lambda ids, c, m: (ids.masked_fill(c, 103), torch.where(c, ids, -100))),
        ("valor", lambda ids, c, m: (ids.masked_fill(c, m), torch.where(c, -100, ids))),
        ("forma", lambda ids, c, m: (ids.masked_fill(c, m), ids[c])),
        ("forma", lambda ids, c, m: (ids.masked_fill(c, m).squeeze(0), torch.where(c, ids, -100).squeeze(0))),
    ],
    "channel_experiment": [
        ("sempre_um", lambda box: "um"),
        ("sempre_dois", lambda box: "dois"),
        ("sempre_um", lambda box: _kept(box, 10**5, least=0.05)),
        ("sempre_dois", lambda box: _kept(box, 10**5, least=0.2)),
        ("trocadas", lambda box: {"um": "dois", "dois": "um"}[_kept(box, 10**6)]),
        ("poucas", lambda box: _kept(box, 500)),
        ("poucas", lambda box: _kept(box, 2000)),
        ("valor", lambda box: "talvez"),
        ("tipo", lambda box: _kept(box, 10**6) == "um"),
        ("excecao", lambda box: _kept(box, "muitas")),
    ],
    "unchanged_share": dict(
        so_mantidas=0.1, so_sorteadas=0.025, todas_as_sorteadas=0.2, sobre_o_texto=0.15 * 0.125
    ),
}

RIGHT = {
    "mlm_labels": [lambda ids, c: ids.masked_fill(~c, -100), lambda ids, c: ids * c - 100 * ~c],
    "select_positions": [
        lambda ids, s, r, g: torch.bernoulli(
            torch.full(ids.shape, float(r)) * ~torch.isin(ids, s), generator=g
        ).bool(),
        lambda ids, s, r, g: _draw(ids, r, g) & (ids[..., None] != s).all(-1),
    ],
    "corrupt": [_as_transformers, _corrupt((0.8, 0.1))],
    "framing": [
        lambda f, v: _framed(f, v),
        lambda f, v: (
            [v["[CLS]"], *(v.get(t, v["[UNK]"]) for s in f for t in [*s, "[SEP]"])],
            [0, *(i for i, s in enumerate(f) for _ in range(len(s) + 1))],
        ),
        lambda f, v: torch.tensor(_framed(f, v)),
    ],
    "batch": [
        lambda e, p: _rows(e, p),
        lambda e, p: (
            torch.nn.utils.rnn.pad_sequence([torch.tensor(i) for i, _ in e], True, p),
            torch.nn.utils.rnn.pad_sequence([torch.tensor(s) for _, s in e], True),
            torch.nn.utils.rnn.pad_sequence([torch.ones(len(i)).bool() for i, _ in e], True),
        ),
    ],
    "mlm_head": [
        _head(lambda m, h, E: F.linear(m.norm(F.gelu(m.W(h))), E, m.bias)),
        _head(lambda m, h, E: m.norm((z := m.W(h)) * (1 + torch.erf(z / 2**0.5)) / 2) @ E.mT + m.bias),
    ],
    "leaky_labels": [
        lambda ids, c, m: (torch.where(c, m, ids), ids.masked_fill(~c, -100)),
        lambda ids, c, m: [ids.clone().masked_fill_(c, m), torch.where(c, ids, -100)],
    ],
    "channel_experiment": [
        lambda box: _kept(box, 10**6),
        lambda box: _kept(box, 400_000),
    ],
    "unchanged_share": [0.125, 1 / 8, Fraction(1, 8)],
}
