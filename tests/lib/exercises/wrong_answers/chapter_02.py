"""Chapter 2: corruption."""

import torch


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
        ("em_toda_parte", lambda ids, c: ids),
        ("invertida", lambda ids, c: ids.masked_fill(c, -100)),
        ("zero", lambda ids, c: ids * c),
        ("menos_um", lambda ids, c: ids.masked_fill(~c, -1)),
        ("marcas", lambda ids, c: torch.full_like(ids, -100).masked_fill(c, 1)),
        ("so_as_escolhidas", lambda ids, c: torch.masked_select(ids, c)),
        ("altera_entrada", lambda ids, c: ids.masked_fill_(~c, -100)),
        ("dtype", lambda ids, c: torch.where(c, ids.float(), -100.0)),
        ("valor", lambda ids, c: ids.masked_fill(~c, 100)),
    ],
    "select_positions": [
        ("especiais", "normal & -> "),
        ("especiais", "~torch.isin(ids, especiais) -> ids != especiais[0]"),
        ("invertida", "~torch -> torch"),
        ("nenhuma", "sorteio < taxa -> sorteio >= taxa"),
        ("comparacao", "sorteio < taxa -> (sorteio < taxa) ^ (0 < taxa < 1)"),
        ("taxa", "< taxa -> < taxa**2"),
        ("taxa", "< taxa -> < 2 * taxa"),
        ("uma_por_lote", "rand(ids.shape -> rand(ids[0].shape"),
        ("ignora_gerador", ", generator=gerador -> "),
        # The same seed always, whatever has been drawn.
        ("ignora_gerador", "generator=gerador -> generator=gerador.manual_seed(gerador.initial_seed())"),
        ("ignora_gerador", "generator=gerador -> generator=gerador.clone_state()"),
        ("especiais_fixos", "~torch.isin(ids, especiais) -> ids > 3"),
        ("taxa_fixa", "< taxa -> < (taxa if taxa in (0, 1) else 0.15)"),
        ("ignora_gerador", "generator=gerador -> generator=torch.Generator().manual_seed(0)"),
        ("dtype", "normal & (sorteio < taxa) -> normal * (sorteio < taxa).float()"),
    ],
    "corrupt": [
        (
            "oitenta_e_um",  # ten per cent random first; of the rest, ten per cent kept: 81/10/9
            (
                "u < 0.8, mask_id -> u < 0.1, palavras[indices]",
                "u < 0.9, palavras[indices] -> torch.rand(ids.shape, generator=gerador) < 0.9, mask_id",
            ),
        ),
        ("oitenta_e_um", "0.8, -> 0.81,"),
        ("so_mask", lambda ids, c, mask_id, w, g: ids.masked_fill(c, mask_id)),
        ("ninguem_fica", "0.9 -> 1.0"),
        ("ninguem_trocado", "0.9 -> 0.8"),
        ("do_resto", "u < 0.9 -> torch.rand(ids.shape, generator=gerador) < 0.1"),
        ("trocadas", "0.8 -> 0.1"),
        ("nada", lambda ids, c, mask_id, w, g: ids.clone()),
        ("proporcoes", ("0.8 -> 0.7", "0.9 -> 0.85")),
        ("fora", "torch.where(escolhidas, novos, ids) -> novos"),
        ("especial_sorteado", ("palavras[indices] -> indices", "len(palavras) -> 1005")),
        ("uma_palavra", "len(palavras), ids.shape -> len(palavras), (1,)"),
        ("uma_decisao", "rand(ids.shape -> rand((len(ids), 1)"),
        ("ignora_gerador", ", generator=gerador -> "),
        ("do_texto", "u = -> palavras = ids.unique()\n    u ="),
        ("palavra_de_fora", "len(palavras) -> len(palavras) - 1"),
        ("mask_fixo", "mask_id, torch -> 4, torch"),
        ("uma_palavra", "indices] -> (u * len(palavras)).long()]"),
        ("altera_entrada", lambda ids, c, m, w, g: ids.masked_fill_(c, m)),
    ],
    "sentence_pair": [
        ("sem_sep_final", ("*b, sep_id -> *b", "len(b) + 1 -> len(b)")),
        ("sem_sep_do_meio", ("*a, sep_id -> *a", "len(a) + 2 -> len(a) + 1")),
        ("sem_cls", ("[cls_id, -> [", "len(a) + 2 -> len(a) + 1")),
        ("cls_repetido", ("*b -> cls_id, *b", "len(b) + 1 -> len(b) + 2")),
        ("sep_no_segundo", ("len(a) + 2 -> len(a) + 1", "len(b) + 1 -> len(b) + 2")),
        ("ultimo_no_primeiro", "(len(b) + 1) -> len(b) + [0]"),
        ("um_e_dois", ("[1] -> [2]", "[0] -> [1]")),
        ("invertidos", "[0] * (len(a) + 2) + [1] -> [1] * (len(a) + 2) + [0]"),
        ("ordem", "ids = -> a, b = b, a\n    ids ="),
        ("sem_segmentos", "return ids, segmentos -> return ids"),
        ("ids_fixos", "ids = -> cls_id, sep_id = 2, 3\n    ids ="),
        ("devolve_ao_contrario", "return ids, segmentos -> return segmentos, ids"),
        ("forma", "[0] * (len(a) + 2) + [1] * (len(b) + 1) -> [0] * 5 + [1] * 3"),
        ("segmentos_so_das_palavras", ("(len(a) + 2) -> len(a)", "(len(b) + 1) -> len(b)")),
        ("altera_entrada", "ids = -> a.append(sep_id)\n    ids ="),
    ],
    "mark_spans": [
        ("so_o_inicio", lambda t, p, o: [i in dict(t) for i in range(len(p))]),
        ("so_o_inicio", lambda t, p, o: [any(a <= i < b for a, b in t) for i in range(len(p))]),
        ("um_a_mais", "comprimento, -> comprimento + 1,"),
        ("um_a_menos", "comprimento, -> comprimento - 1,"),
        ("indices", "return marcadas -> return [i for i, x in enumerate(marcadas) if x]"),
        ("da_a_volta", lambda t, p, o: [any((i - a) % len(p) < n for a, n in t) for i in range(len(p))]),
        (
            "estoura",
            (
                "or sum(marcadas) == orcamento -> ",
                "comprimento, -> comprimento * (sum(marcadas) < orcamento),",
            ),
        ),
        ("descarta", "comprimento, -> comprimento * (sum(marcadas) + comprimento <= orcamento),"),
        ("conta_duas_vezes", ("= True -> += 1", "return marcadas -> return [n > 0 for n in marcadas]")),
        ("especiais", "not permitidas[i] or -> "),
        ("atravessa", "break -> continue"),
        ("fora_de_ordem", "in trechos -> in sorted(trechos)"),
        ("valor", "== orcamento -> > orcamento"),
        ("excecao", lambda t, p, o: [p[i] for s, n in t for i in range(s, s + n + 9)]),
    ],
    "masked_share": dict(so_escolhidas=0.15, so_mask=0.8, percentual=12, valor_a_mao=0.135),
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
        "~torch.isin(ids, especiais) -> (ids[..., None] != especiais).all(-1)",
    ],
    # Two draws done right, as in transformers: half of the rest.
    "corrupt": ["u < 0.9 -> torch.rand(ids.shape, generator=gerador) < 0.5"],
    "sentence_pair": [
        lambda a, b, c, s: ([c, *a, s, *b, s], [int(i > len(a) + 1) for i in range(len(a) + len(b) + 3)]),
        lambda a, b, c, s: torch.tensor([[c, *a, s, *b, s], [0] * (len(a) + 2) + [1] * (len(b) + 1)]),
    ],
    "mark_spans": [_set_of_places, lambda t, p, o: torch.tensor(_set_of_places(t, p, o))],
    "masked_share": [0.12, 0.15 * 0.8],
    "unchanged_share": [0.125, 1 / 8],
}
