"""Where an encoder departs from the reference: the first operation that gives other numbers, and why.

The reference is worked out here one operation at a time, with the weights that both have. Each step knows
what the usual mistakes would have given in its place; what the student's modules read and write is recorded
while they run, and the first step that differs is the one to mend: all before it agree.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

WITHIN = 1e-6  # in float64, where two right programs differ by some 1e-14
EPS = 1e-12
Weights = dict[str, Tensor]


class Step(NamedTuple):
    place: str  # "embeddings", "bloco 1"
    operation: str
    key: str  # under which it is recorded
    value: Tensor
    mistakes: dict[str, Tensor]  # what each would have given


class Departure(NamedTuple):
    place: str
    operation: str
    cause: str = ""

    def __str__(self) -> str:
        return f"{self.place}, {self.operation}" + (f": {self.cause}" if self.cause else "")


def first_departure(
    model: nn.Module, weights: Weights, heads: int, ids: Tensor, segments: Tensor, real: Tensor
) -> Departure | None:
    """The first operation of the student's encoder that is not the reference's; its weights are replaced."""
    if wrong := _wrong_parameter(model, weights):
        return wrong
    model.load_state_dict(weights)
    found = _recorded(model, ids, segments, real)
    for step in _reference(weights, heads, ids, segments, real):
        there = found.get(step.key)
        if there is not None and not _same(there, step.value, real):
            causes = [cause for cause, value in step.mistakes.items() if _same(there, value, real)]
            if not causes and not _same(_recorded(model, ids, segments, real)[step.key], there, real):
                causes = ["muda de uma execução para a outra; há um dropout ligado?"]
            if not causes and isinstance(there, Tensor) and there.shape != step.value.shape:
                causes = [f"a forma é {tuple(there.shape)}, e não {tuple(step.value.shape)}"]
            return Departure(step.place, step.operation, next(iter(causes), ""))
    return None


def _wrong_parameter(model: nn.Module, weights: Weights) -> Departure | None:
    theirs = {name: p.shape for name, p in model.state_dict().items()}
    for name, weight in weights.items():
        module, _, kind = name.rpartition(".")
        if name not in theirs:
            return Departure(_place(name), _module(module), f"falta o parâmetro {kind} ({name})")
        if theirs[name] != weight.shape:
            shapes = f"{tuple(theirs[name])} em vez de {tuple(weight.shape)}"
            return Departure(_place(name), _module(module), f"o parâmetro {kind} tem a forma {shapes}")
    if extra := sorted(theirs.keys() - weights.keys()):
        module, _, kind = extra[0].rpartition(".")
        return Departure(_place(extra[0]), _module(module), f"sobra o parâmetro {kind} ({extra[0]})")
    return None


def _place(name: str) -> str:
    first, *rest = name.split(".")
    return f"bloco {int(rest[0]) + 1}" if first == "blocks" and rest[0].isdigit() else first


def _module(name: str) -> str:
    last = name.rpartition(".")[2]
    return {"norm": "normalização", "norm_1": "primeira normalização", "norm_2": "segunda normalização"}.get(
        last, f"projeção {last}" if last.startswith("W_") else f"tabela {last}"
    )


def _recorded(model: nn.Module, ids: Tensor, segments: Tensor, real: Tensor) -> dict[str, Any]:
    """What went into and came out of each named module, and what the model returned."""
    found: dict[str, Any] = {}

    def record(name: str) -> Callable:
        def hook(module: nn.Module, inputs: tuple, output: Any) -> None:
            found.setdefault(f"{name}:in", inputs[0])
            found.setdefault(f"{name}:out", output)

        return hook

    hooks = [m.register_forward_hook(record(name)) for name, m in model.named_modules() if name]
    try:
        with torch.no_grad():
            states, maps = model(ids, segments, real)
    finally:
        for hook in hooks:
            hook.remove()
    found |= {f"state:{i}": x for i, x in enumerate(states)} | {f"map:{i}": a for i, a in enumerate(maps)}
    return found


def _same(a: Any, b: Tensor, real: Tensor) -> bool:
    """At the real tokens: what is computed for padding is read by nobody."""
    if not isinstance(a, Tensor) or a.shape != b.shape:
        return False
    if b.dim() == 4:
        a, b = a.transpose(1, 2), b.transpose(1, 2)  # (B, N, h, N)
    return torch.allclose(a[real].double(), b[real].double(), rtol=0, atol=WITHIN, equal_nan=True)


def _reference(weights: Weights, heads: int, ids: Tensor, segments: Tensor, real: Tensor) -> Iterator[Step]:
    w = weights
    first = x = yield from _embeddings(w, ids, segments)
    for layer in range(1 + max(int(name.split(".")[1]) for name in w if name.startswith("blocks."))):
        x = yield from _block(w, layer, heads, x, first, real)


def _embeddings(w: Weights, ids: Tensor, segments: Tensor):
    E, P, S = (w[f"embeddings.{table}.weight"] for table in ("token", "position", "segment"))
    n, place = ids.shape[1], "embeddings"
    token, position, segment = E[ids], P[:n], S[segments]
    x = token + position + segment
    mistakes = {
        "falta a posição": token + segment,
        "falta o segmento": token + position,
        "as posições começam em um": token + P[1 : n + 1] + segment,
        "o segmento lê a outra linha da tabela": token + position + S[1 - segments],
        "o segmento é sempre o primeiro": token + position + S[0],
        "o segmento é sempre o segundo": token + position + S[1],
        "é a média das três": x / 3,
    }
    yield Step(place, "soma das três tabelas", "embeddings.norm:in", x, mistakes)
    normal = yield from _normalised(w, "embeddings.norm", place, x)
    mistakes = {"falta a normalização": x} | _inside("embeddings.norm", _wrong_norms(w, "embeddings.norm", x))
    yield Step(place, "o que sai", "state:0", normal, mistakes)
    return normal


def _inside(name: str, wrong: dict[str, Tensor]) -> dict[str, Tensor]:
    """Where a module is not called, but its weights are used, only the next step shows what was wrong."""
    return {f"na {_module(name)}, {cause}": value for cause, value in wrong.items()}


def _norm(
    x: Tensor, eps: float = EPS, correction: int = 0, root: bool = True, dim: int | tuple[int, ...] = -1
) -> Tensor:
    variance = x.var(dim, correction=correction, keepdim=True) + eps
    return (x - x.mean(dim, keepdim=True)) / (variance.sqrt() if root else variance)


def _wrong_norms(w: Weights, name: str, x: Tensor) -> dict[str, Tensor]:
    gain, bias = w[f"{name}.weight"], w[f"{name}.bias"]
    return {
        **{
            f"o eps é {eps:.0e}, e não {EPS:.0e}": _norm(x, eps) * gain + bias
            for eps in (1e-5, 1e-6, 1e-3, 1e-8)
        },
        "a variância divide por d - 1, e não por d": _norm(x, correction=1) * gain + bias,
        "a divisão é pela variância, e não pela raiz": _norm(x, root=False) * gain + bias,
        "a média corre pelas posições, e não pelo vetor": _norm(x, dim=1) * gain + bias,
        "a média corre pela frase inteira": _norm(x, dim=(1, 2)) * gain + bias,
        "faltam o ganho e o viés": _norm(x),
        "falta o viés": _norm(x) * gain,
        "não há normalização": x,
    }


def _normalised(w: Weights, name: str, place: str, x: Tensor):
    right = _norm(x) * w[f"{name}.weight"] + w[f"{name}.bias"]
    yield Step(place, _module(name), f"{name}:out", right, _wrong_norms(w, name, x))
    return right


def _wrong_products(w: Weights, name: str, x: Tensor) -> dict[str, Tensor]:
    weight, bias = w[f"{name}.weight"], w[f"{name}.bias"]
    wrong = {"falta somar o viés": x @ weight.T}
    if weight.shape[0] == weight.shape[1]:
        wrong["a matriz está transposta"] = x @ weight + bias
    return wrong


def _linear(w: Weights, name: str, place: str, x: Tensor):
    right = x @ w[f"{name}.weight"].T + w[f"{name}.bias"]
    yield Step(place, _module(name), f"{name}:out", right, _wrong_products(w, name, x))
    return right


def _block(w: Weights, layer: int, heads: int, x: Tensor, first: Tensor, real: Tensor):
    here, place, came = f"blocks.{layer}", f"bloco {layer + 1}", x

    def norm(which: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], w[f"{here}.{which}.weight"], w[f"{here}.{which}.bias"], EPS)

    def wrong(which: str, x: Tensor) -> dict[str, Tensor]:
        return _inside(f"{here}.{which}", _wrong_products(w, f"{here}.{which}", x))

    before = {
        "a normalização vem depois da atenção, e não antes dela": norm("norm_1", x),
        "ele lê o que saiu dos embeddings, e não do bloco anterior": first,
    }
    yield Step(place, "entrada da atenção", f"{here}.attention.W_Q:in", x, before)
    q = yield from _linear(w, f"{here}.attention.W_Q", place, x)
    k = yield from _linear(w, f"{here}.attention.W_K", place, x)
    v = yield from _linear(w, f"{here}.attention.W_V", place, x)
    wrong_q, wrong_k = (_wrong_products(w, f"{here}.attention.{W}", x) for W in ("W_Q", "W_K"))
    others = {f"na projeção W_Q, {cause}": (other, k) for cause, other in wrong_q.items()}
    others |= {f"na projeção W_K, {cause}": (q, other) for cause, other in wrong_k.items()}
    others |= {f"em W_Q e em W_K, {cause}": (wrong_q[cause], wrong_k[cause]) for cause in wrong_q}
    a = yield from _weights(layer, place, heads, q, k, real, others)

    def join(values: Tensor) -> Tensor:
        return (a @ _split(values, heads)).transpose(1, 2).flatten(2)  # (B, N, d)

    joined = join(v)
    mistakes = {
        "falta trocar os eixos das cabeças e das posições antes de juntar": (a @ _split(v, heads)).reshape(
            x.shape
        ),
        "as cabeças foram juntadas número a número, e não uma depois da outra": (a @ _split(v, heads))
        .permute(0, 2, 3, 1)
        .flatten(2),
        "as cabeças foram separadas número a número": (a @ _interleaved(v, heads)).transpose(1, 2).flatten(2),
        "as cabeças foram juntadas da última para a primeira": (a @ _split(v, heads))
        .transpose(1, 2)
        .flip(2)
        .flatten(2),
        "os valores são a própria entrada, sem W_V": join(x),
        "os valores são as consultas": join(q),
        "os valores são as chaves": join(k),
        **{cause: join(other) for cause, other in wrong("attention.W_V", x).items()},
    }
    yield Step(place, "junção das cabeças", f"{here}.attention.W_O:in", joined, mistakes)
    attended = yield from _linear(w, f"{here}.attention.W_O", place, joined)
    y = x + attended
    mistakes = _unadded(x, attended) | {"não passa por W_O": x + joined}
    mistakes |= {cause: x + other for cause, other in wrong("attention.W_O", joined).items()}
    yield Step(place, "soma residual da atenção", f"{here}.norm_1:in", y, mistakes)
    x = yield from _normalised(w, f"{here}.norm_1", place, y)
    early = {"ele lê a soma antes da normalização": y, "a normalização vem depois dele": norm("norm_2", y)}
    early |= _inside(f"{here}.norm_1", _wrong_norms(w, f"{here}.norm_1", y))
    yield Step(place, "entrada do feed-forward", f"{here}.W_1:in", x, early)
    inner = yield from _linear(w, f"{here}.W_1", place, x)
    mistakes = {
        "é a aproximação por tanh, e não a exata": F.gelu(inner, approximate="tanh"),
        "é a ReLU": inner.relu(),
        "é a aproximação pela sigmoide": inner * torch.sigmoid(1.702 * inner),
        "é a SiLU": F.silu(inner),
        "não há ativação": inner,
        **{cause: F.gelu(other) for cause, other in wrong("W_1", x).items()},
    }
    yield Step(place, "GELU", f"{here}.W_2:in", F.gelu(inner), mistakes)
    fed = yield from _linear(w, f"{here}.W_2", place, F.gelu(inner))
    y = x + fed
    mistakes = _unadded(x, fed) | {"soma o que entrou no bloco, e não no feed-forward": came + fed}
    mistakes |= {cause: x + other for cause, other in wrong("W_2", F.gelu(inner)).items()}
    yield Step(place, "soma residual do feed-forward", f"{here}.norm_2:in", y, mistakes)
    x = yield from _normalised(w, f"{here}.norm_2", place, y)
    mistakes = {"falta a segunda normalização": y}
    mistakes |= _inside(f"{here}.norm_2", _wrong_norms(w, f"{here}.norm_2", y))
    yield Step(place, "o que sai do bloco", f"state:{layer + 1}", x, mistakes)
    return x


def _unadded(x: Tensor, new: Tensor) -> dict[str, Tensor]:
    return {
        "falta somar o que entrou": new,
        "falta somar o que foi calculado": x,
        "o que entrou foi subtraído": new - x,
    }


def _split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)  # (B, h, N, d_k)


def _interleaved(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)  # (B, h, N, d_k), with every h-th number


def _weights(
    layer: int,
    place: str,
    heads: int,
    q: Tensor,
    k: Tensor,
    real: Tensor,
    others: dict[str, tuple[Tensor, Tensor]],
):
    """Of these queries and keys; `others` are what mistakes in projecting them would have given."""
    d, n = q.shape[-1], q.shape[1]
    root = math.sqrt(d // heads)
    shown = real[:, None, None, :]

    def weights(
        scale: float = root,
        mask: Tensor = shown,
        split: Callable = _split,
        dim: int = -1,
        pair: tuple[Tensor, Tensor] = (q, k),
        added: Tensor | float = 0.0,
    ) -> Tensor:
        a, b = (split(x, heads) for x in pair)
        return (a @ b.mT / scale + added).masked_fill(~mask, -math.inf).softmax(dim)

    causal, every = torch.ones(n, n, dtype=torch.bool).tril(), torch.ones_like(shown)
    mistakes = {
        "falta a escala": weights(scale=1.0),
        "a escala é a raiz de d, e não a de d_k": weights(scale=math.sqrt(d)),
        "a divisão é por d_k, e não por sua raiz": weights(scale=d // heads),
        "a escala multiplica, em vez de dividir": weights(scale=1 / root),
        "a máscara não esconde o preenchimento": weights(mask=every),
        "a máscara entra na soma com o sinal trocado": weights(mask=every, added=1e9 * ~shown),
        "a máscara foi somada como zeros e uns": weights(mask=every, added=shown.double()),
        "a máscara está invertida": weights(mask=~shown),
        "há uma máscara causal": weights(mask=shown & causal),
        "as cabeças foram separadas número a número, e não em fatias": weights(split=_interleaved),
        "as cabeças misturam posições: faltou cortar o último eixo antes de trocar": weights(
            split=lambda x, h: x.reshape(len(x), h, n, -1)
        ),
        "a softmax corre pelas colunas": weights(dim=-2),
        "consultas e chaves estão trocadas": weights(pair=(k, q)),
        "as chaves são as consultas": weights(pair=(q, q)),
        "as consultas são as chaves": weights(pair=(k, k)),
        "a máscara vem depois da softmax": weights(mask=every) * shown,
        **{cause: weights(pair=pair) for cause, pair in others.items()},
    }
    yield Step(place, "pesos da atenção", f"map:{layer}", weights(), mistakes)
    return weights()
