"""Chapter 2: corruption."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch


def _pair(a, b, c, s):
    return [c, *a, s, *b, s]


def _segments(first, second):
    return [0] * first + [1] * second


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


def _spans(
    spans, allowed, budget, *, more=0, skip=False, special=False, twice=False, drop=False, whole=False
):
    out, left = [False] * len(allowed), budget
    for start, length in spans:
        if drop and length > left:
            continue
        if whole and left <= 0:
            break
        for i in range(start, min(start + length + more, len(allowed))):
            if not allowed[i] and not special:
                if skip:
                    continue
                break
            if not whole and left <= 0:
                break
            left -= 1 if twice else not out[i]
            out[i] = True
    return out


def _set_of_places(spans, allowed, budget):
    places = []
    for start, length in spans:
        for i in range(start, start + length):
            if i >= len(allowed) or not allowed[i] or (len(set(places)) == budget and i not in places):
                break
            places.append(i)
    return [i in places for i in range(len(allowed))]


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
    "sentence_pair": [
        ("sem_sep_final", lambda a, b, c, s: ([c, *a, s, *b], _segments(len(a) + 2, len(b)))),
        ("sem_sep_do_meio", lambda a, b, c, s: ([c, *a, *b, s], _segments(len(a) + 1, len(b) + 1))),
        ("sem_cls", lambda a, b, c, s: ([*a, s, *b, s], _segments(len(a) + 1, len(b) + 1))),
        ("cls_repetido", lambda a, b, c, s: ([c, *a, s, c, *b, s], _segments(len(a) + 2, len(b) + 2))),
        ("sep_no_segundo", lambda a, b, c, s: (_pair(a, b, c, s), _segments(len(a) + 1, len(b) + 2))),
        ("ultimo_no_primeiro", lambda a, b, c, s: (_pair(a, b, c, s), [*_segments(len(a) + 2, len(b)), 0])),
        ("um_e_dois", lambda a, b, c, s: (_pair(a, b, c, s), [1] * (len(a) + 2) + [2] * (len(b) + 1))),
        ("invertidos", lambda a, b, c, s: (_pair(a, b, c, s), [1] * (len(a) + 2) + [0] * (len(b) + 1))),
        ("ordem", lambda a, b, c, s: (_pair(b, a, c, s), _segments(len(b) + 2, len(a) + 1))),
        ("sem_segmentos", _pair),
        ("ids_fixos", lambda a, b, c, s: (_pair(a, b, 2, 3), _segments(len(a) + 2, len(b) + 1))),
        ("devolve_ao_contrario", lambda a, b, c, s: (_segments(len(a) + 2, len(b) + 1), _pair(a, b, c, s))),
        ("forma", lambda a, b, c, s: (_pair(a, b, c, s), _segments(5, 3))),
        ("segmentos_so_das_palavras", lambda a, b, c, s: (_pair(a, b, c, s), _segments(len(a), len(b)))),
        (
            "ultimo_no_primeiro",
            lambda a, b, c, s: (_pair(a, b, c, s), [int(x in b) for x in _pair(a, b, c, s)]),
        ),
        ("forma", lambda a, b, c, s: (_pair(a, b, c, s)[:32], _segments(len(a) + 2, len(b) + 1)[:32])),
        ("altera_entrada", lambda a, b, c, s: (a.append(s), b.append(s), ([c, *a, *b], [0] * 9))[-1]),
    ],
    "mark_spans": [
        ("so_o_inicio", lambda t, p, o: [i in dict(t) for i in range(len(p))]),
        ("so_o_inicio", lambda t, p, o: [any(a <= i < b for a, b in t) for i in range(len(p))]),
        ("um_a_mais", lambda t, p, o: _spans(t, p, o, more=1)),
        ("um_a_menos", lambda t, p, o: _spans(t, p, o, more=-1)),
        ("indices", lambda t, p, o: [i for i, x in enumerate(_spans(t, p, o)) if x]),
        ("da_a_volta", lambda t, p, o: [any((i - a) % len(p) < n for a, n in t) for i in range(len(p))]),
        ("estoura", lambda t, p, o: _spans(t, p, o, whole=True)),
        ("descarta", lambda t, p, o: _spans(t, p, o, drop=True)),
        ("conta_duas_vezes", lambda t, p, o: _spans(t, p, o, twice=True)),
        ("especiais", lambda t, p, o: _spans(t, p, o, special=True)),
        ("atravessa", lambda t, p, o: _spans(t, p, o, skip=True)),
        ("fora_de_ordem", lambda t, p, o: _spans(sorted(t), p, o)),
        ("um_no_orcamento", lambda t, p, o: _spans(t, p, o + 1)),
        ("estoura", lambda t, p, o: _spans(t, p, len(p))),
        ("valor", lambda t, p, o: _spans(t, p, max(o, 1))),  # a budget of nothing
        ("excecao", lambda t, p, o: _spans(t, p, o) if t[0] else []),  # no span at all
        ("forma", lambda t, p, o: [*_spans(t, p, o), *[False] * 16][:16]),
        ("excecao", lambda t, p, o: [p[i] for s, n in t for i in range(s, s + n + 9)]),
    ],
    "masked_share": dict(so_selecionadas=0.4, so_mask=0.6, percentual=24, valor_a_mao=0.32),
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
    "sentence_pair": [
        lambda a, b, c, s: ([c, *a, s, *b, s], [int(i > len(a) + 1) for i in range(len(a) + len(b) + 3)]),
        lambda a, b, c, s: torch.tensor([[c, *a, s, *b, s], [0] * (len(a) + 2) + [1] * (len(b) + 1)]),
    ],
    "mark_spans": [
        _set_of_places,
        lambda t, p, o: _spans(t, p, o),
        lambda t, p, o: torch.tensor(_spans(t, p, o)),
        lambda t, p, o: [*np.array(_spans(t, p, o), dtype=bool)],
        lambda t, p, o: np.array(_spans(t, p, o), dtype=bool).tolist(),
    ],
    "masked_share": [0.24, 0.4 * 0.6, Fraction(6, 25), Decimal("0.24")],
    "unchanged_share": [0.125, 1 / 8, Fraction(1, 8)],
}
