"""Every numerical example of the documents, computed with `lib`: one short function each.

A function takes the example's inputs and returns its figures by name. `recompute` runs it; the errata page
shows its verdicts, and a test holds them equal to those that each chapter reaches with its own cells.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from lib.attention import additive, attention, causal_mask, softmax
from lib.losses import cross_entropy
from lib.pairs import IS_NEXT, next_sentence_pairs, pair_batch
from lib.parameters import LLAMA_3, count, count_llama
from lib.presets import preset
from lib.sources.catalog import example
from lib.sources.comparison import Comparison, compare
from lib.tokenizer import Tokenizer
from lib.vocabulary import Vocabulary

Inputs = Mapping[str, Any]
_RECIPES: dict[str, Callable[[Inputs], dict[str, Any]]] = {}


def _recipe(id: str) -> Callable:
    def register(function: Callable[[Inputs], dict[str, Any]]) -> Callable:
        _RECIPES[id] = function
        return function

    return register


def recompute(id: str) -> dict[str, Any]:
    """Every figure of example `id`, by name, computed from its inputs."""
    return _RECIPES[id](example(id).inputs)


def judge(id: str) -> Comparison:
    """The verdicts on every figure of example `id`."""
    return compare(id, **recompute(id))


def _tensor(values: Any) -> Tensor:
    """float64: the documents print up to nine digits, and float32 carries six."""
    return torch.tensor(values, dtype=torch.float64)


def _seen(mask: Tensor, tokens: list[str]) -> list[list[str]]:
    """For each query, the tokens that the mask lets it see."""
    return [[t for t, allowed in zip(tokens, row, strict=True) if allowed] for row in mask.tolist()]


@_recipe("01.1")
def _(x: Inputs) -> dict[str, Any]:
    s = _tensor(x["pontuacoes"])
    m = additive(causal_mask(len(s)), s.dtype)
    return {"originais": s, "mascara": m, "mascaradas": s + m}


@_recipe("01.2")
def _(x: Inputs) -> dict[str, Any]:
    tokens = x["tokens"]
    n = len(tokens)
    mask = causal_mask(n)
    hidden = [f"{tokens[j]}_{tokens[i]}" for j in reversed(range(n)) for i in range(n) if not mask[i, j]]
    return {
        "antes": _seen(torch.ones_like(mask), tokens),
        "depois": _seen(mask, tokens),
        "relacoes_apagadas": hidden,
        "setas_numeradas": [str(i) for i in range(int(mask.sum()))],
    }


@_recipe("01.3")
def _(x: Inputs) -> dict[str, Any]:
    s, root = _tensor(x["pontuacoes"]), math.sqrt(x["d_k"])
    m = additive(causal_mask(len(s)), s.dtype)
    return {"raiz_dk": root, "pesos": softmax((s + m) / root)}


@_recipe("01.4")
def _(x: Inputs) -> dict[str, Any]:
    scaled = _tensor(x["mascaradas"]) / math.sqrt(x["d_k"])
    a = softmax(scaled)
    third = a[2, :3]
    return {"escaladas": scaled, "pesos": a, "terceira_linha": third, "soma": third.sum()}


@_recipe("02.1")
def _(x: Inputs) -> dict[str, Any]:
    q = _tensor(x["embeddings"])
    s, root = q @ q.T, math.sqrt(x["d_k"])
    return {"pontuacoes": s, "raiz_dk": root, "escaladas": s / root}


@_recipe("02.2")
def _(x: Inputs) -> dict[str, Any]:
    swap = dict(zip(x["selecionados"], x["trocados"], strict=True))
    u = _tensor(x["E"]) @ _tensor(x["h"])  # (V,): the matrix printed as E^T has one row per word, so it is E
    y = softmax(u)
    best = {"mais_provavel": int(y.argmax()) + 1, "confianca": y.max()}
    corrupted = [swap.get(token, token) for token in x["tokens"]]
    return {"corrompida": corrupted, "logits": u, "probabilidades": y, **best}


@_recipe("02.3")
def _(x: Inputs) -> dict[str, Any]:
    names = Vocabulary(["[CLS]", "[SEP]", "[PAD]", x["frase_a"], x["frase_b"], x["frase_c"]])
    a, b, c = [3], [4], [5]  # each sentence as one token
    documents, g = [[a, b], [c]], torch.Generator().manual_seed(0)
    pairs = [p for r in (1.0, 0.0) for p in next_sentence_pairs(documents, generator=g, next_rate=r)]
    rows = pair_batch(pairs, names).ids.tolist()
    first, second = ([names[i] for i in row] for row in rows)
    return {"par_1": first, "par_2": second, "rotulos": [int(pair.label == IS_NEXT) for pair in pairs]}


@_recipe("02.4")
def _(x: Inputs) -> dict[str, Any]:
    z1, z2 = _tensor(x["z1"]), _tensor(x["z2"])
    dot, n1, n2 = z1 @ z2, z1.norm(), z2.norm()
    squares = {"norma2_z1": z1 @ z1, "norma2_z2": z2 @ z2}
    return {"produto": dot, **squares, "norma_z1": n1, "norma_z2": n2, "cosseno": dot / (n1 * n2)}


@_recipe("03.1")
def _(x: Inputs) -> dict[str, Any]:
    figures = _one_head(x)
    k, h = figures["K"], figures["saida"]
    return figures | {"K_transposta": k.T, "raiz_dk": math.sqrt(x["d_k"]), "h_1": h[0]}


@_recipe("03.2")
def _(x: Inputs) -> dict[str, Any]:
    tokens = x["tokens"]
    i, mask = tokens.index(x["consulta"]), causal_mask(len(tokens))
    return {"causal": _seen(mask, tokens)[i], "bidirecional": _seen(torch.ones_like(mask), tokens)[i]}


@_recipe("03.3")
def _(x: Inputs) -> dict[str, Any]:
    words, known = x["frase"].split(), set(x["vocabulario_palavras"])
    return {
        "por_palavras": [w if w in known else "OOV" for w in words],
        "fora_do_vocabulario": [w for w in words if w not in known],
        "por_subpalavras": Tokenizer(x["vocabulario_subpalavras"]).tokenize(x["frase"]),
    }


@_recipe("03.4")
def _(x: Inputs) -> dict[str, Any]:
    bert = count(preset("bert-base", layers=x["camadas_bert"], d=x["dimensao_bert"])).total
    gpt1 = count(preset("gpt-1", layers=x["camadas_gpt1"], d=x["dimensao_gpt1"])).total
    llama = count_llama(LLAMA_3["llama-3-405b"]).total
    return {"bert": bert, "gpt1": gpt1, "llama3": llama, "bert_texto": bert, "gpt1_texto": gpt1}


@_recipe("03.5")
def _(x: Inputs) -> dict[str, Any]:
    causal = causal_mask(5)
    return {"causal": [_rule(causal)], "bidirecional": [_rule(torch.ones_like(causal))]}


@_recipe("03.6")
def _(x: Inputs) -> dict[str, Any]:
    subwords = Tokenizer(x["vocabulario"]).tokenize(x["frase"])
    return {"por_palavras": x["frase"].split(), "por_subpalavras": subwords}


@_recipe("03.7")
def _(x: Inputs) -> dict[str, Any]:
    tokenizer = Tokenizer(x["vocabulario"])
    pieces = {word: tokenizer.tokenize(word) for word in x["palavras"]}
    return pieces | {"com_cor": sum("cor" in p for p in pieces.values())}


@_recipe("03.8")
def _(x: Inputs) -> dict[str, Any]:
    figures = _one_head(x)
    a, h = figures["pesos"], figures["saida"]
    read = torch.stack([a[0, 0], a[1, 0], a[0, 1], a[1, 1]])
    return figures | {"O": h, "lida_em_A": read[:3], "lida_em_O": read}


@_recipe("04.1")
def _next_word_losses(x: Inputs) -> dict[str, Any]:
    """The one-hot target and the loss of each prediction; logarithms of probabilities are logits."""
    target = torch.tensor(x["vocabulario"].index(x["alvo"]))
    losses = {
        name: cross_entropy(_tensor(x[key]).log()[None], target[None])
        for name, key in (("perda", "previsao"), ("perda_pior", "previsao_pior"))
    }
    return {"one_hot": one_hot(target, len(x["vocabulario"])), **losses}


@_recipe("04.2")
def _(x: Inputs) -> dict[str, Any]:
    phrase = x["frase"]
    contexts = _seen(causal_mask(len(phrase)), phrase)[:-1]
    return _next_word_losses(x) | {"contextos": contexts, "alvos": phrase[1:]}


def _one_head(x: Inputs) -> dict[str, Tensor]:
    """Q, K, V, scores, weights and output of one bidirectional head."""
    q, k, v = (_tensor(x["X"]) @ _tensor(x[w]) for w in ("W_Q", "W_K", "W_V"))
    s = q @ k.T
    h, a = attention(q, k, v, scale=1 / math.sqrt(x["d_k"]))
    scaled = s / math.sqrt(x["d_k"])
    return {"Q": q, "K": k, "V": v, "pontuacoes": s, "escaladas": scaled, "pesos": a, "saida": h}


def _rule(mask: Tensor) -> str:
    """Which relation between key j and query i the mask stands for."""
    j, i = torch.arange(len(mask))[None, :], torch.arange(len(mask))[:, None]
    rules = {"j ≤ i": j <= i, "j < i": j < i, "todo j": j == j, "j = i": j == i}
    return next(name for name, allowed in rules.items() if torch.equal(allowed.expand_as(mask), mask))
