"""The parameter counter: its page object, and what all widgets are tested with."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from lib.presets import PRESETS
from lib.widgets import parameter_counter as twin
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import Said, WidgetPage

COSTS = ("float32", "float16", "adam", "perToken", "training")
TOKEN_LABELS = dict(zip(twin.TOKENS, ["10⁹", "10¹⁰", "10¹¹", "1,3·10¹¹", "10¹²", "10¹³"], strict=True))


@dataclass(frozen=True)
class State:
    """The sizes of a model, what else tells it from others, and its training."""

    sizes: Mapping[str, int]
    flags: Mapping[str, int]
    head: bool = False
    tokens: float = twin.BERT_TOKENS


def standing_at(preset: str, **training) -> State:
    """The state of a counter that stands at a published model."""
    config, names = PRESETS[preset], (twin.SIZES, twin.FLAGS)
    return State(*({name: int(getattr(config, name)) for name in group} for group in names), **training)


@dataclass(frozen=True)
class Move:
    """A model from the list, then sizes by their sliders, then the training; what is left out stays."""

    preset: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    head: bool | None = None
    tokens: float | None = None


class CounterPage(WidgetPage):
    """A list of models, a slider for each size, and the parameters that follow."""

    widget, selector = twin.ParameterCounter, ".cw-panel:has(.cw.cw-counter)"
    READ = """{
      total: text(".cw-total"),
      parts: byName("part", row => ({
        cells: all("td", td => td.textContent, row).slice(0, 2),
        fill: Number(row.querySelector(".cw-part").style.getPropertyValue("--cw-fill")) })),
      facts: byName("fact", fact => fact.textContent.replaceAll(".", "")),
      note: text(".cw-note"),
      message: text(".cw-refused"),
      model: panel.querySelector("select").selectedOptions[0].textContent.replaceAll("\u00a0", " "),
    }"""

    def first(self, stored) -> State:
        sizes = {name: stored["choices"][name][stored[f"{name}_index"]] for name in twin.SIZES}
        tokens = stored["tokens_choices"][stored["tokens_index"]]
        return State(sizes, stored["flags"], bool(stored["head_index"]), tokens)

    def go(self, move: Move) -> None:
        if move.preset:
            self.choose("Modelo", label=twin.TITLES[move.preset])
            at = standing_at(move.preset)
            self.state = replace(self.state, sizes=at.sizes, flags=at.flags)
        for name, value in move.sizes.items():
            self.slide(twin.SIZES[name][0], thousands(value))
            self.state = replace(self.state, sizes={**self.state.sizes, name: value})
        if move.head is not None:
            self.choose("Cabeça MLM", index=int(move.head))
            self.state = replace(self.state, head=move.head)
        if move.tokens is not None:
            self.slide("Tokens de treino", TOKEN_LABELS[move.tokens])
            self.state = replace(self.state, tokens=move.tokens)

    def wanted(self) -> dict[str, Any]:
        at, d, heads = self.state, self.state.sizes["d"], self.state.sizes["heads"]
        if d % heads:
            parts = {name: {"cells": ["—", "—"]} for name in twin.shown(PRESETS["bert-base"]).count.parts()}
            message = f"Não existe: d = {d} não se divide em {heads} cabeças iguais."
            return {"message": message, "parts": parts, "facts": dict.fromkeys(COSTS, "—")}
        config = twin.config_of(dict(at.sizes), dict(at.flags))
        lib = twin.shown(config, mlm_head=at.head, tokens=int(at.tokens))
        memory = map(in_bytes, (lib.weights_float32, lib.weights_float16, lib.training))
        work = Said(lib.flops_per_token, within=1e-6)
        training = Said(lib.training_flops, " (", lib.petaflops_days, " petaFLOP/s-dia)")
        note = f"Cada cabeça fica com d / h = {d // heads} números: mudar h não muda nenhum parâmetro. "
        note += f"FLOPs: produtos de matrizes em frases de {config.max_length} tokens"
        return {
            "message": "",
            "total": f"{thousands(lib.count.total)} parâmetros",
            "parts": {name: part(n, n / lib.count.total) for name, n in lib.count.parts().items()},
            "facts": dict(zip(COSTS, (*memory, work, training), strict=True)),
            "note": note + ("; a cabeça lê 15% das posições." if at.head else "."),
        }


def part(n: int, share: float) -> dict[str, Any]:
    return {"cells": [thousands(n), Said(100 * share, "%")], "fill": pytest.approx(share, abs=1e-9)}


def thousands(n: int) -> str:
    return f"{n:,}".replace(",", ".")


def in_bytes(n: int) -> Said:
    return Said(n / 1e6, " MB") if n < 10**9 else Said(n / 1e9, " GB")


def starts():
    yield from ((twin.parameter_counter(name), standing_at(name)) for name in twin.TITLES)
    yield twin.parameter_counter(mlm_head=True), standing_at("bert-base", head=True)


def moves():
    """Every published model, a model that cannot be and how it becomes possible, and random ones."""
    yield from (Move(name) for name in [*reversed(twin.TITLES), "gpt-1", "bert-base"])
    yield Move(sizes={"d": 64})
    yield Move(sizes={"heads": 8})
    rng, choices = random.Random(4), twin.parameter_counter().widget.choices
    for _ in range(20):
        preset = rng.choice(list(twin.TITLES)) if rng.random() < 0.4 else None
        sizes = {name: rng.choice(choices[name]) for name in rng.sample(list(twin.SIZES), 2)}
        yield Move(preset, sizes, rng.random() < 0.5, rng.choice(twin.TOKENS))


def tour(stored):
    yield Move("xlm-r-base")
    yield Move("gpt-1")
    yield Move(None, {"layers": 24, "d": 1024, "heads": 16}, True, twin.BERT_TOKENS)


CASE = Case(
    page=CounterPage,
    make=twin.parameter_counter,
    starts=starts,
    moves=moves,
    tour=tour,
    pair=lambda: (twin.parameter_counter(), twin.parameter_counter("xlm-r-large")),
    used=(Move("gpt-1", {"layers": 48}), Move(sizes={"d": 64, "heads": 12})),
    stops=["Modelo", *(title for title, _ in twin.SIZES.values()), "Cabeça MLM", "Tokens de treino"],
    keys=[("ArrowRight", standing_at("bert-base", tokens=10**12))],
    change="""(panel, k) => {
      const model = panel.querySelector("select");
      model.selectedIndex = 1 + k % (model.length - 1);
      model.dispatchEvent(new Event("change", { bubbles: true }));
    }""",
    leaves=20,
    poke="(el, k) => el.querySelector('table').click()",
    has_controls=False,
    listeners=3,
    refusals=[
        (lambda: twin.parameter_counter("bert"), r"preset must be one of bert-base, .* got 'bert'"),
        (lambda: twin.shown(PRESETS["bert-base"], tokens=0), "tokens must be at least 1, got 0"),
    ],
    mutations={
        "no bias in the attention": ("4 * (d * d + d)", "4 * d * d"),
        "three projections": ("layers * 4 * (d * d", "layers * 3 * (d * d"),
        "a norm without bias": ("const norm = 2 * d", "const norm = d"),
        "one norm a block": ("2 * layers + flags", "layers + flags"),
        "forget the norm of the embeddings": ("flags.embedding_norm + flags.pre_norm", "flags.pre_norm"),
        "forget d_ff": ("d * dFF + dFF + dFF * d + d", "d * 4 * d + 4 * d + 4 * d * d + d"),
        "always two segments": ("flags.segments * d", "2 * d"),
        "always a pooler": ("(d * d + d) * flags.pooler", "d * d + d"),
        "an untied head": ("d * d + d + norm + V", "d * d + d + norm + V + V * d"),
        "always a head": ("norm + V) * head", "norm + V)"),
        "two bytes in float32": ("float32: 4", "float32: 2"),
        "Adam with one moment": ("adam: 16", "adam: 12"),
        "mebibytes": ("n / 1e6", "n / 2 ** 20"),
        "another day": ("86_400", "24"),
        "backward as dear as forward": ("3 * perToken", "2 * perToken"),
        "multiplications only": ("2 * 4 * d * d + 2 * 2 * d * dFF", "4 * d * d + 2 * d * dFF"),
        "scores without values": ("2 * 2 * n * d", "2 * n * d"),
        "reserved positions are read": ("positions - flags.first_position;", "positions;"),
        "head at every position": ("PREDICTED * 2 * (d", "2 * (d"),
        "fractions of another": ("parts[name] / total));", "parts[name] / parts.attention));"),
        "keep the flags of another model": ("[name, preset[name]]", '[name, this.model.get("flags")[name]]'),
    },
    telling=[
        Move("gpt-1", {"d_ff": 3_072}, False, 10**12),
        Move("xlm-r-base", {"d_ff": 2_048}, True, 10**12),
        Move("antiberty", {"d_ff": 2_048}, True, 10**12),
    ],
)
