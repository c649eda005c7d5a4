"""Chapter 3: encoders."""

import math

import torch
from torch import nn
from torch.nn import functional as F


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


def _embedding(forward):
    """The class of the exercise with this forward."""

    class Embeddings(nn.Module):
        def __init__(self, V, posicoes, segmentos, d):
            super().__init__()
            self.token, self.position = nn.Embedding(V, d), nn.Embedding(posicoes, d)
            self.segment = nn.Embedding(segmentos, d)
            self.norm = nn.LayerNorm(d, eps=1e-12)

        def forward(self, ids, segmentos):
            return forward(self, ids, segmentos)

    return Embeddings


def _embed(add, norm=True):
    """From a function of the ids, the segments and the three tables."""

    def forward(m, ids, segments):
        x = add(ids, segments, m.token.weight.data, m.position.weight.data, m.segment.weight.data)
        return m.norm(x) if norm else x

    return _embedding(forward)


def _cut_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)


def _attend(q, k, v, mask):
    a = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf).softmax(-1)
    return a @ v, a


def _joined(x):
    return x.transpose(1, 2).flatten(2)


class _Heads(nn.Module):
    """The attention of the exercises, right; `forward` is what a wrong answer changes."""

    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, mask):
        out, a = self.each(x, mask)
        return self.W_O(_joined(out)), a

    def each(self, x, mask):
        return _attend(*(_cut_heads(W(x), self.h) for W in (self.W_Q, self.W_K, self.W_V)), mask)


def _heads(forward):
    return type("Cabecas", (_Heads,), {"forward": lambda self, x, mask: forward(self, x, mask)})


class _Block(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.attention = _Heads(d, h)
        self.norm_1, self.norm_2 = nn.LayerNorm(d, 1e-12), nn.LayerNorm(d, 1e-12)
        self.W_1, self.W_2 = nn.Linear(d, d_ff), nn.Linear(d_ff, d)

    def forward(self, x, mask):
        z, a = self.attention(x, mask)
        x = self.norm_1(x + z)
        return self.norm_2(x + self.feed(x)), a

    def feed(self, x):
        return self.W_2(F.gelu(self.W_1(x)))


def _block(forward):
    return type(
        "Bloco",
        (_Block,),
        {"forward": lambda self, x, mask: forward(self, x, mask, *self.attention(x, mask))},
    )


def _norm_first(m, x, mask, z, a):
    z, a = m.attention(m.norm_1(x), mask)
    x = x + z
    return x + m.feed(m.norm_2(x)), a


class _Encoder(nn.Module):
    def __init__(self, V, d, h, d_ff, camadas, posicoes=512, segmentos=2, causal=False):
        super().__init__()
        self.causal = causal
        tables = _embedding(
            lambda m, i, s: m.norm(m.token(i) + m.position(torch.arange(i.shape[1])) + m.segment(s))
        )
        self.embeddings = tables(V, posicoes, segmentos, d)
        self.blocks = nn.ModuleList(_Block(d, h, d_ff) for _ in range(camadas))

    def forward(self, ids, segments, real):
        return self.run(ids, segments, self.mask(real))

    def mask(self, real, causal=None):
        n = real.shape[1]
        every = torch.ones(n, n, dtype=torch.bool)
        return real[:, None, None] & (every.tril() if (self.causal if causal is None else causal) else every)

    def run(self, ids, segments, mask, blocks=None, chain=True):
        states, maps = [self.embeddings(ids, segments)], []
        for block in blocks or self.blocks:
            x, a = block(states[-1 if chain else 0], mask)
            states.append(x), maps.append(a)
        return states, maps


def _encoder(forward):
    return type("Codificador", (_Encoder,), {"forward": lambda self, i, s, r: forward(self, i, s, r)})


def _folded(q, k, v, mask):
    """Attention (B h, N, d_k) under one mask for each of its rows."""
    return _attend(q, k, v, mask)[0]


def _each_place(model, x, places, order):
    """Whether the output at one of the places changes when the others are put in another order."""
    for i in places:
        others = order([j for j in range(len(x)) if j != i])
        rows = [*others[:i], i, *others[i:]]
        if not torch.allclose(model(x[rows])[i], model(x)[i], atol=1e-5):
            return True
    return False


def _turned(places):
    return [*places[1:], places[0]]


WRONG = {
    "embeddings": [
        ("sem_posicao", _embed(lambda i, s, E, P, S: E[i] + S[s])),
        ("sem_segmento", _embed(lambda i, s, E, P, S: E[i] + P[: i.shape[1]])),
        ("so_tokens", _embed(lambda i, s, E, P, S: torch.nn.functional.embedding(i, E))),
        ("posicao_do_id", _embed(lambda i, s, E, P, S: E[i] + P[i] + S[s])),
        ("posicao_da_frase", _embed(lambda i, s, E, P, S: E[i] + P[torch.arange(len(i))][:, None] + S[s])),
        ("a_partir_de_um", _embed(lambda i, s, E, P, S: E[i] + P[torch.arange(1, i.shape[1] + 1)] + S[s])),
        ("media", _embed(lambda i, s, E, P, S: (E[i] + P[None, : i.shape[1]] + S[s]).div(3), norm=False)),
        (
            "concatena",
            _embed(
                lambda i, s, E, P, S: torch.cat([E[i], P[: i.shape[1]].repeat(len(i), 1, 1), S[s]], 2),
                norm=False,
            ),
        ),
        ("forma", _embed(lambda i, s, E, P, S: E[i] + P + S[s])),
        ("forma", _embed(lambda i, s, E, P, S: E[i] + P[:4] + S[s])),  # only the example's length
        (
            "forma",
            _embed(lambda i, s, E, P, S: E[i] + P[: 2 * len(i)] + S[s]),
        ),  # the length of the batch, by luck
        ("forma", _embed(lambda i, s, E, P, S: (E[i] + P[: i.shape[1]] + S[s]).transpose(0, 1))),
        ("so_tokens", _embed(lambda i, s, E, P, S: E.add_(1)[i])),
        ("forma", _embed(lambda i, s, E, P, S: (E[i] + P[: i.shape[1]] + S[s]).squeeze(0))),
        (
            "valor",
            _embed(lambda i, s, E, P, S: E[i] + P[: i.shape[1]] + S[s[:1]]),
        ),  # the first sentence's segments
        ("valor", _embed(lambda i, s, E, P, S: E[i] + P[: i.shape[1]] + S[s.clamp(max=1)])),  # two segments
        ("valor", _embed(lambda i, s, E, P, S: E[i] + P[-i.shape[1] :] + S[s])),
        ("valor", _embed(lambda i, s, E, P, S: E[i] + P[: i.shape[1]] + S[s] * (s > 0)[..., None])),
        ("sem_norma", _embed(lambda i, s, E, P, S: E[i] + P[: i.shape[1]] + S[s], norm=False)),
        (
            "norma_de_cada",
            _embedding(
                lambda m, i, s: (
                    m.norm(m.token(i)) + m.norm(m.position.weight[: i.shape[1]]) + m.norm(m.segment(s))
                )
            ),
        ),
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
        ("valor", lambda x, h: _cut_heads(x, h).half()),
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
    "heads": [
        ("sem_saida", _heads(lambda m, x, k: (lambda o, a: (_joined(o), a))(*m.each(x, k)))),
        (
            "juntadas_tortas",
            _heads(lambda m, x, k: (lambda o, a: (m.W_O(o.reshape(x.shape)), a))(*m.each(x, k))),
        ),
        (
            "uma_cabeca",
            _heads(
                lambda m, x, k: (lambda o, a: (m.W_O(o), a))(*_attend(m.W_Q(x), m.W_K(x), m.W_V(x), k[:, 0]))
            ),
        ),
        ("sem_mascara", _heads(lambda m, x, k: (lambda o, a: (m.W_O(_joined(o)), a))(*m.each(x, k | True)))),
        ("so_a_saida", _heads(lambda m, x, k: m.W_O(_joined(m.each(x, k)[0])))),
        (
            "trocadas",
            _heads(
                lambda m, x, k: (lambda o, a: (m.W_O(_joined(o)), a))(
                    *_attend(*(_cut_heads(W(x), m.h) for W in (m.W_K, m.W_Q, m.W_V)), k)
                )
            ),
        ),
        (
            "valores_crus",
            _heads(lambda m, x, k: (lambda a: (m.W_O(_joined(a @ _cut_heads(x, m.h))), a))(m.each(x, k)[1])),
        ),
        (
            "media_dos_pesos",
            _heads(lambda m, x, k: (lambda o, a: (m.W_O(_joined(o)), a.mean(1)))(*m.each(x, k))),
        ),
        ("valor", _heads(lambda m, x, k: (lambda o, a: (x + m.W_O(_joined(o)), a))(*m.each(x, k)))),
        ("valor", _heads(lambda m, x, k: (lambda o, a: (_joined(o) @ m.W_O.weight.T, a))(*m.each(x, k)))),
        (
            "valor",
            _heads(
                lambda m, x, k: (lambda o, a: (m.W_O(_joined(o)), a))(
                    *_attend(
                        _cut_heads(m.W_Q(x), m.h) / 2, *(_cut_heads(W(x), m.h) for W in (m.W_K, m.W_V)), k
                    )
                )
            ),
        ),
        ("forma", _heads(lambda m, x, k: (lambda o, a: (m.W_O(_joined(o)).squeeze(0), a))(*m.each(x, k)))),
    ],
    "block": [
        ("sem_residuo_1", _block(lambda m, x, k, z, a: (m.norm_2((y := m.norm_1(z)) + m.feed(y)), a))),
        ("sem_residuo_2", _block(lambda m, x, k, z, a: (m.norm_2(m.feed(m.norm_1(x + z))), a))),
        ("norma_antes", _block(_norm_first)),
        ("norma_sem_soma", _block(lambda m, x, k, z, a: ((y := x + m.norm_1(z)) + m.norm_2(m.feed(y)), a))),
        ("residuo_do_bloco", _block(lambda m, x, k, z, a: (m.norm_2(x + m.feed(m.norm_1(x + z))), a))),
        ("uma_norma", _block(lambda m, x, k, z, a: ((y := m.norm_1(x + z)) + m.feed(y), a))),
        ("norma_trocada", _block(lambda m, x, k, z, a: (m.norm_1((y := m.norm_2(x + z)) + m.feed(y)), a))),
        ("so_a_saida", _block(lambda m, x, k, z, a: m.norm_2((y := m.norm_1(x + z)) + m.feed(y)))),
        (
            "relu",
            _block(lambda m, x, k, z, a: (m.norm_2((y := m.norm_1(x + z)) + m.W_2(m.W_1(y).relu())), a)),
        ),
        ("valor", _block(lambda m, x, k, z, a: (m.norm_2((y := m.norm_1(x - z)) + m.feed(y)), a))),
        ("valor", _block(lambda m, x, k, z, a: (m.norm_2((y := m.norm_1(x + z)) + 2 * m.feed(y)), a))),
        ("forma", _block(lambda m, x, k, z, a: (m.norm_2((y := m.norm_1(x + z)) + m.feed(y)), a.mean(1)))),
    ],
    "encoder": [
        ("sem_mascara", _encoder(lambda m, i, s, r: m.run(i, s, m.mask(r | True)))),
        ("sempre_causal", _encoder(lambda m, i, s, r: m.run(i, s, m.mask(r, True)))),
        ("nunca_causal", _encoder(lambda m, i, s, r: m.run(i, s, m.mask(r, False)))),
        ("so_o_ultimo", _encoder(lambda m, i, s, r: m.run(i, s, m.mask(r))[0][-1])),
        ("sem_embeddings", _encoder(lambda m, i, s, r: (lambda x, a: (x[1:], a))(*m.run(i, s, m.mask(r))))),
        ("sem_o_ultimo", _encoder(lambda m, i, s, r: (lambda x, a: (x[:-1], a))(*m.run(i, s, m.mask(r))))),
        ("blocos_ao_contrario", _encoder(lambda m, i, s, r: m.run(i, s, m.mask(r), [*m.blocks][::-1]))),
        ("todos_do_comeco", _encoder(lambda m, i, s, r: m.run(i, s, m.mask(r), chain=False))),
        ("sem_mapas", _encoder(lambda m, i, s, r: m.run(i, s, m.mask(r))[0])),
        ("segmentos_zero", _encoder(lambda m, i, s, r: m.run(i, 0 * s, m.mask(r)))),
        ("valor", _encoder(lambda m, i, s, r: m.run(i, s, m.mask(r[:1].expand_as(r))))),  # the first for all
        ("forma", _encoder(lambda m, i, s, r: m.run(i, s, m.mask(r), [m.blocks[0]]))),
        ("forma", _encoder(lambda m, i, s, r: m.run(i, s, r))),
    ],
    "batched_heads_defect": [
        ("como_estava", lambda q, k, v, r: _folded(q, k, v, r.repeat(len(q) // len(r), 1)[:, None])),
        ("sem_mascara", lambda q, k, v, r: _folded(q, k, v, torch.ones(1, 1, r.shape[1]).bool())),
        ("da_primeira", lambda q, k, v, r: _folded(q, k, v, r[:1, None])),
        ("comum", lambda q, k, v, r: _folded(q, k, v, r.all(0)[None, None])),
        ("comum", lambda q, k, v, r: _folded(q, k, v, r.any(0)[None, None])),
        ("linhas", lambda q, k, v, r: _folded(q, k, v, r.repeat_interleave(len(q) // len(r), 0)[:, :, None])),
        ("forma", lambda q, k, v, r: _folded(q, k, v, r[:, None].expand(99, -1, -1))),
        (
            "forma",
            lambda q, k, v, r: _folded(q, k, v, r.repeat_interleave(len(q) // len(r), 0)[:, None]).squeeze(0),
        ),
        (
            "valor",
            lambda q, k, v, r: _folded(q / 2, k, v, r.repeat_interleave(len(q) // len(r), 0)[:, None]),
        ),
        (
            "forma",
            lambda q, k, v, r: _folded(q, k, v, r.repeat_interleave(len(q) // len(r), 0)[:, None]).unflatten(
                0, (len(r), -1)
            ),
        ),
    ],
    "order_experiment": [
        ("trocou_tudo", lambda m, x: not torch.allclose(m(x.flip(0)).flip(0), m(x), atol=1e-5)),
        ("so_a_primeira", lambda m, x: _each_place(m, x, [0], _turned)),
        ("so_a_ultima", lambda m, x: _each_place(m, x, [len(x) - 1], _turned)),
        ("inverteu", lambda m, x: _each_place(m, x, range(len(x)), lambda others: others[::-1])),
        ("sempre_sim", lambda m, x: not torch.allclose(m(x.flip(0)), m(x), atol=1e-5)),
        ("sempre_nao", lambda m, x: not torch.allclose(m(x), m(x))),
        ("tipo", lambda m, x: [m(x), m(x.flip(0))]),
        ("excecao", lambda m, x: m(x[:, :2])),
        ("valor", lambda m, x: _each_place(m, x, [len(x) // 2], _turned)),
    ],
    "block_by_hand": dict(sem_vies=56, sem_normas=66, sem_saida=68, sem_atencao=50),
}

RIGHT = {
    "embeddings": [
        _embed(lambda i, s, E, P, S: E[i] + P[torch.arange(i.shape[1])].unsqueeze(0) + S[s]),
        _embed(
            lambda i, s, E, P, S: torch.stack([E[r] + P[: len(r)] + S[t] for r, t in zip(i, s, strict=True)])
        ),
    ],
    "wordpiece": [lambda w, v: _cut(w, v), _recursive],
    "split_heads": [
        lambda x, h: x.unflatten(-1, (h, x.shape[-1] // h)).permute(0, 2, 1, 3),
        lambda x, h: torch.stack([x.narrow(-1, c * x.shape[-1] // h, x.shape[-1] // h) for c in range(h)], 1),
    ],
    "heads": [
        _Heads,
        _heads(lambda m, x, k: (lambda o, a: (m.W_O(torch.cat([*o.unbind(1)], -1)), a))(*m.each(x, k))),
    ],
    "block": [_Block, _block(lambda m, x, k, z, a: [m.norm_2(m.feed(y := m.norm_1(z + x)) + y), a])],
    "encoder": [_Encoder, _encoder(lambda m, i, s, r: tuple(m.run(i, s, m.mask(r))))],
    "batched_heads_defect": [
        lambda q, k, v, r: _folded(q, k, v, r.repeat_interleave(len(q) // len(r), 0)[:, None]),
        lambda q, k, v, r: torch.cat(
            [
                _folded(*x, r[i : i + 1, None])
                for i, x in enumerate(zip(*(y.split(len(q) // len(r)) for y in (q, k, v)), strict=True))
            ]
        ),
    ],
    "order_experiment": [
        lambda m, x: _each_place(m, x, range(len(x)), _turned),
        lambda m, x: any(
            _each_place(m, x, range(len(x)), lambda o, j=j: [*o[j:], *o[:j]]) for j in range(1, len(x) - 1)
        ),
    ],
    "block_by_hand": [74, 24 + 42 + 8],
}
