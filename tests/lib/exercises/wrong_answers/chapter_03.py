"""Chapter 3: encoders."""

import torch


def _backtracking(word, vocabulary, start=0):
    if start == len(word):
        return []
    for end in range(len(word), start, -1):
        piece = ("##" if start else "") + word[start:end]
        if piece in vocabulary:
            rest = _backtracking(word, vocabulary, end)
            if rest != ["[UNK]"]:
                return [piece, *rest]
    return ["[UNK]"]


def _from_the_right(word, vocabulary):
    pieces, end = [], len(word)
    while end > 0:
        start = next((s for s in range(end) if ("##" if s else "") + word[s:end] in vocabulary), None)
        if start is None:
            return ["[UNK]"]
        pieces.insert(0, ("##" if start else "") + word[start:end])
        end = start
    return pieces


def _by_parts(V, P, S, d, d_ff, L):
    linear = [(d, d)] * 4 + [(d, d_ff), (d_ff, d)]
    block = sum(a * b + b for a, b in linear) + 2 * 2 * d
    return sum(n * d for n in (V, P, S)) + 2 * d + sum(block for _ in range(L))


WRONG = {
    "sum_embeddings": [
        ("sem_posicao", lambda i, s, E, P, S: E[i] + S[s]),
        ("sem_segmento", lambda i, s, E, P, S: E[i] + P[: i.shape[1]]),
        ("so_tokens", lambda i, s, E, P, S: torch.nn.functional.embedding(i, E)),
        ("posicao_do_id", lambda i, s, E, P, S: E[i] + P[i] + S[s]),
        ("posicao_da_frase", lambda i, s, E, P, S: E[i] + P[torch.arange(len(i))][:, None] + S[s]),
        ("a_partir_de_um", lambda i, s, E, P, S: E[i] + P[torch.arange(1, i.shape[1] + 1)] + S[s]),
        ("media", "tokens + posicoes + S[segmentos] -> (tokens + posicoes + S[segmentos]) / 3"),
        ("concatena", lambda i, s, E, P, S: torch.cat([E[i], P[: i.shape[1]].repeat(len(i), 1, 1), S[s]], 2)),
        ("excecao", lambda i, s, E, P, S: E[i] + P + S[s]),
        ("excecao", lambda i, s, E, P, S: E[i] + P[:4] + S[s]),  # only the example's length
        ("excecao", lambda i, s, E, P, S: E[i] + P[: 2 * len(i)] + S[s]),  # the length of the batch, by luck
        ("forma", lambda i, s, E, P, S: (E[i] + P[: i.shape[1]] + S[s]).transpose(0, 1)),
        ("altera_entrada", lambda i, s, E, P, S: E.add_(1)[i]),
    ],
    "wordpiece": [
        ("sem_marca", "append(pedaco) -> append(palavra[inicio:fim])"),
        ("sem_marca", ' ("##" if inicio > 0 else "") + -> '),  # finds "inho", a word of its own
        (
            "marca_em_todos",
            'return pedacos -> return [p if p == palavra else "##" + p.strip("#") for p in pedacos]',
        ),
        ("menor_primeiro", "range(len(palavra), inicio, -1) -> range(inicio + 1, len(palavra) + 1)"),
        ("so_o_primeiro", lambda w, v: [next((w[:e] for e in range(len(w), 0, -1) if w[:e] in v), "[UNK]")]),
        ("unk", lambda w, v: [w] if w in v else ["[UNK]"]),
        ("unk_parcial", '["[UNK]"] -> [*pedacos, "[UNK]"]'),
        ("pula", 'return ["[UNK]"] -> inicio += 1\n            continue'),
        ("pula", '["[UNK]"] -> pedacos'),
        ("letra", 'return ["[UNK]"] -> pass'),
        ("volta_atras", _backtracking),
        ("da_direita", _from_the_right),
        ("texto", 'return pedacos -> return pedacos if pedacos == [palavra] else " ".join(pedacos)'),
    ],
    "split_heads": [
        ("sem_transpor", lambda x, h: x.unflatten(-1, (h, -1))),
        ("embaralha", lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1)),
        ("intercala", lambda x, h: torch.stack([x[..., c::h] for c in range(h)], 1)),
        ("transposta", lambda x, h: x.unflatten(-1, (h, -1)).transpose(1, 2).transpose(2, 3)),
        ("lote_e_cabeca", lambda x, h: torch.stack(x.chunk(h, -1))),
        ("lista", lambda x, h: x.chunk(h, dim=-1)),
        ("devolve_entrada", lambda x, h: x),
        ("transposta", lambda x, h: x.transpose(1, 2).view(len(x), h, -1, x.shape[1])),
        ("forma", lambda x, h: torch.stack(x.chunk(2, -1), 1)),  # only two heads
        ("valor", lambda x, h: torch.stack(x.chunk(h, -1)[::-1], 1)),
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
        ("excecao", lambda H, r: (H * r).sum(1) / r.sum(1)),
        # A real zero is not padding.
        ("valor", lambda H, r: (z := H * r[..., None]).sum(1) / (z != 0).sum(1)),
        ("valor", lambda H, r: H[torch.arange(len(H)), r.sum(1) - 1]),
    ],
    "count_parameters": [
        ("sem_vies", ("d * d + d -> d * d", "d_ff + d_ff -> d_ff", "d_ff * d + d -> d_ff * d")),
        ("sem_vies_da_atencao", "d * d + d -> d * d"),
        ("sem_vies_do_ff", ("d_ff + d_ff -> d_ff", "d_ff * d + d -> d_ff * d")),
        ("sem_saida", "4 * ( -> 3 * ("),
        ("sem_normas", (" + 2 * d -> ", " + normas -> ")),
        ("sem_norma_das_entradas", " + 2 * d -> "),
        ("uma_norma", "normas = 2 * -> normas = "),
        ("norma_so_ganho", ("+ 2 * d -> + d", "2 * (2 * d) -> 2 * d")),
        ("sem_segmentos", " + segmentos) -> )"),
        ("sem_posicoes", " + posicoes + -> +"),
        ("uma_camada", "camadas * ( -> ("),
        ("com_pooler", "return -> return d * d + d +"),
        ("mascara_conta", "return -> return posicoes**2 +"),
        ("valor", lambda V, P, S, d, d_ff, L: V * d),
        ("valor", lambda V, P, S, d, d_ff, L: _by_parts(V, P, S, d, 4 * d, L)),
        ("valor", lambda V, P, S, d, d_ff, L: _by_parts(V, P, 2, d, d_ff, L)),
        ("tipo", lambda V, P, S, d, d_ff, L: f"{V * d} parâmetros"),
    ],
    "head_size": dict(por_camada=768, dividido_pelo_total=768 / 144, cabecas=12, valor_a_mao=63),
    "block_by_hand": dict(sem_vies=56, sem_normas=66, sem_saida=68, sem_atencao=50),
}

RIGHT = {
    "sum_embeddings": [
        lambda i, s, E, P, S: E[i] + P[torch.arange(i.shape[1])].unsqueeze(0) + S[s],
        lambda i, s, E, P, S: torch.stack([E[r] + P[: len(r)] + S[t] for r, t in zip(i, s, strict=True)]),
    ],
    "wordpiece": ["range(len(palavra), inicio, -1) -> reversed(range(inicio + 1, len(palavra) + 1))"],
    "split_heads": [
        lambda x, h: x.unflatten(-1, (h, x.shape[-1] // h)).permute(0, 2, 1, 3),
        lambda x, h: torch.stack(
            [x[..., c * x.shape[-1] // h : (c + 1) * x.shape[-1] // h] for c in range(h)], 1
        ),
    ],
    "mean_pool": [
        lambda H, r: torch.einsum("bnd,bn->bd", H, r.to(H.dtype)) / r.sum(1)[:, None],
        lambda H, r: torch.stack([h[m].mean(0) for h, m in zip(H, r, strict=True)]),
        lambda H, r: H.masked_fill(~r[..., None], torch.nan).nanmean(1),
    ],
    "count_parameters": [_by_parts, lambda *sizes: float(_by_parts(*sizes))],
    "head_size": [64, 768 / 12],
    "block_by_hand": [74, 24 + 42 + 8],
}
