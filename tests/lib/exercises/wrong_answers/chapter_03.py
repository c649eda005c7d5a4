"""Chapter 3: encoders."""

import torch


def _cut(word, vocabulary, *, sought="##", mark="##", short=False, on_fail="unk"):
    """Greedy WordPiece with one thing wrong."""
    pieces, start = [], 0
    while start < len(word):
        ends = range(start + 1, len(word) + 1) if short else range(len(word), start, -1)
        for end in ends:
            if (sought if start else "") + word[start:end] in vocabulary:
                pieces.append((mark if start else "") + word[start:end])
                start = end
                break
        else:
            if on_fail in ("unk", "partial", "stop"):
                return {"unk": ["[UNK]"], "partial": [*pieces, "[UNK]"], "stop": pieces}[on_fail]
            if on_fail == "letter":
                pieces.append(("##" if start else "") + word[start])
            start += 1
    return pieces


def _from_the_right(word, vocabulary):
    pieces, end = [], len(word)
    while end > 0:
        start = next((s for s in range(end) if ("##" if s else "") + word[s:end] in vocabulary), None)
        if start is None:
            return ["[UNK]"]
        pieces.insert(0, ("##" if start else "") + word[start:end])
        end = start
    return pieces


def _recursive(word, vocabulary, prefix="", *, backtracks=False):
    for end in range(len(word), 0, -1):
        if prefix + word[:end] in vocabulary:
            rest = _recursive(word[end:], vocabulary, "##", backtracks=backtracks) if word[end:] else []
            if rest != ["[UNK]"]:
                return [prefix + word[:end], *rest]
            if not backtracks:
                break
    return ["[UNK]"]


def _parameters(*, biases="af", attention=4, norms=2, norm=2, inputs=1, segments=1, positions=1, extra=None):
    def answer(V, P, S, d, d_ff, L):
        total = (V + positions * P + segments * S) * d + inputs * norm * d
        total += {"pooler": d * d + d, "mask": P * P}.get(extra, 0)
        block = attention * (d * d + d * ("a" in biases)) + 2 * d * d_ff + (d_ff + d) * ("f" in biases)
        return total + (1 if extra == "one" else L) * (block + norms * norm * d)

    return answer


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
        ("media", lambda i, s, E, P, S: (E[i] + P[None, : i.shape[1]] + S[s]).div(3)),
        ("concatena", lambda i, s, E, P, S: torch.cat([E[i], P[: i.shape[1]].repeat(len(i), 1, 1), S[s]], 2)),
        ("excecao", lambda i, s, E, P, S: E[i] + P + S[s]),
        ("excecao", lambda i, s, E, P, S: E[i] + P[:4] + S[s]),  # only the example's length
        ("excecao", lambda i, s, E, P, S: E[i] + P[: 2 * len(i)] + S[s]),  # the length of the batch, by luck
        ("forma", lambda i, s, E, P, S: (E[i] + P[: i.shape[1]] + S[s]).transpose(0, 1)),
        ("altera_entrada", lambda i, s, E, P, S: E.add_(1)[i]),
        ("forma", lambda i, s, E, P, S: (E[i] + P[: i.shape[1]] + S[s]).squeeze(0)),
        ("valor", lambda i, s, E, P, S: E[i] + P[: i.shape[1]] + S[s[:1]]),  # the first sentence's segments
        ("valor", lambda i, s, E, P, S: E[i] + P[: i.shape[1]] + S[s.clamp(max=1)]),  # two segments
        ("valor", lambda i, s, E, P, S: E[i] + P[-i.shape[1] :] + S[s]),
        ("valor", lambda i, s, E, P, S: E[i] + P[: i.shape[1]] + S[s] * (s > 0)[..., None]),
    ],
    "wordpiece": [
        ("sem_marca", lambda w, v: _cut(w, v, mark="")),
        ("sem_marca", lambda w, v: _cut(w, v, sought="", mark="")),  # "inho" is a word of its own
        ("marca_em_todos", lambda w, v: [w] if w in v else ["##" + p.lstrip("#") for p in _cut(w, v)]),
        ("menor_primeiro", lambda w, v: _cut(w, v, short=True)),
        ("so_o_primeiro", lambda w, v: [next((w[:e] for e in range(len(w), 0, -1) if w[:e] in v), "[UNK]")]),
        ("unk", lambda w, v: [w] if w in v else ["[UNK]"]),
        ("unk_parcial", lambda w, v: _cut(w, v, on_fail="partial")),
        ("pula", lambda w, v: _cut(w, v, on_fail="skip")),
        ("pula", lambda w, v: _cut(w, v, on_fail="stop")),
        ("letra", lambda w, v: _cut(w, v, on_fail="letter")),
        ("volta_atras", lambda w, v: _recursive(w, v, backtracks=True)),
        ("da_direita", _from_the_right),
        ("valor", lambda w, v: _cut(w, v) if w.isascii() else ["[UNK]"]),
        ("forma", lambda w, v: _cut(w[:12], v)),  # no more than twelve letters
        ("valor", lambda w, v: _cut(w, {p for p in v if len(p) > 1})),
        ("valor", lambda w, v: [p.replace("##", "#") for p in _cut(w, v)]),
        ("valor", lambda w, v: _cut(w, v) if w[0] in v else ["[UNK]"]),
        ("texto", lambda w, v: _cut(w, v) if w == "gato" else " ".join(_cut(w, v))),
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
        ("forma", lambda x, h: torch.stack(x.chunk(h, -1), 1).squeeze(0)),
        ("forma", lambda x, h: torch.stack(x.chunk(h, -1), 1)[:, :, :12]),
        ("forma", lambda x, h: x[:1].unflatten(-1, (h, -1)).transpose(1, 2)),
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
    "count_parameters": [
        ("sem_vies", _parameters(biases="")),
        ("sem_vies_da_atencao", _parameters(biases="f")),
        ("sem_vies_do_ff", _parameters(biases="a")),
        ("sem_saida", _parameters(attention=3)),
        ("sem_normas", _parameters(norms=0, inputs=0)),
        ("sem_norma_das_entradas", _parameters(inputs=0)),
        ("uma_norma", _parameters(norms=1)),
        ("norma_so_ganho", _parameters(norm=1)),
        ("sem_segmentos", _parameters(segments=0)),
        ("sem_posicoes", _parameters(positions=0)),
        ("uma_camada", _parameters(extra="one")),
        ("com_pooler", _parameters(extra="pooler")),
        ("mascara_conta", _parameters(extra="mask")),
        ("valor", lambda V, P, S, d, d_ff, L: V * d),
        ("valor", lambda V, P, S, d, d_ff, L: _by_parts(V, P, S, d, 4 * d, L)),
        ("valor", lambda V, P, S, d, d_ff, L: _by_parts(V, P, 2, d, d_ff, L)),
        ("valor", lambda V, P, S, d, d_ff, L: _by_parts(V, 512, S, d, d_ff, L)),
        ("valor", lambda V, P, S, d, d_ff, L: _by_parts(V, P, S, d, d_ff, max(L, 2))),
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
    "wordpiece": [lambda w, v: _cut(w, v), _recursive],
    "split_heads": [
        lambda x, h: x.unflatten(-1, (h, x.shape[-1] // h)).permute(0, 2, 1, 3),
        lambda x, h: torch.stack([x.narrow(-1, c * x.shape[-1] // h, x.shape[-1] // h) for c in range(h)], 1),
    ],
    "mean_pool": [
        lambda H, r: torch.einsum("bnd,bn->bd", H, r.to(H.dtype)) / r.sum(1)[:, None],
        lambda H, r: torch.stack([h[m].mean(0) for h, m in zip(H, r, strict=True)]),
        lambda H, r: H.masked_fill(~r[..., None], torch.nan).nanmean(1),
    ],
    "count_parameters": [_by_parts, _parameters(), lambda *sizes: float(_by_parts(*sizes))],
    "head_size": [64, 768 / 12],
    "block_by_hand": [74, 24 + 42 + 8],
}
