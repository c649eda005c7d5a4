"""The parameter counter among all widgets."""

import random
from dataclasses import replace

from lib.presets import PRESETS
from lib.widgets.parameter_counter import BERT_TOKENS, NAMES, SIZES, TITLES, TOKENS, parameter_counter, shown
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.pages.parameter_counter import CounterPage, Move, standing_at


def starts():
    yield from ((parameter_counter(name), standing_at(name)) for name in TITLES)
    yield parameter_counter(mlm_head=True), standing_at("bert-base", head=True)


def moves():
    """Every published model, a model that cannot be and how it becomes possible, and random ones."""
    yield from (Move(name) for name in [*reversed(TITLES), "gpt-1", "bert-base"])
    yield Move(sizes={"d": 64})
    yield Move(sizes={"heads": 8})
    rng, choices = random.Random(4), parameter_counter().widget.choices
    for _ in range(20):
        preset = rng.choice(list(TITLES)) if rng.random() < 0.4 else None
        sizes = {name: rng.choice(choices[name]) for name in rng.sample(list(SIZES), 2)}
        yield Move(preset, sizes, rng.random() < 0.5, rng.choice(TOKENS))


def tour(stored):
    yield Move("xlm-r-base")
    yield Move("gpt-1")
    yield Move(None, {"layers": 24, "d": 1024, "heads": 16}, True, BERT_TOKENS)


MUTATIONS = {
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
    "fractions of the largest": (
        "parts[name] / total));",
        "parts[name] / Math.max(...Object.values(parts))));",
    ),
    "keep the flags of another model": (
        "FLAGS.map((name) => [name, preset[name]])",
        'FLAGS.map((name) => [name, this.model.get("flags")[name]])',
    ),
}

CASE = Case(
    name="parameter_counter",
    page=CounterPage,
    make=parameter_counter,
    starts=starts,
    moves=moves,
    tour=tour,
    pair=lambda: (parameter_counter(), parameter_counter("xlm-r-large")),
    used=(Move("gpt-1", {"layers": 48}), Move(sizes={"d": 64, "heads": 12})),
    heard=Move(sizes={"d": 64}),
    stops=["Modelo", *NAMES.values(), "Cabeça MLM", "Tokens de treino"],
    keys=[
        ("ArrowRight", replace(standing_at("bert-base"), tokens=TOKENS[TOKENS.index(BERT_TOKENS) + 1])),
    ],
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
        (lambda: parameter_counter("bert"), r"preset must be one of bert-base, .* got 'bert'"),
        (lambda: shown(PRESETS["bert-base"], tokens=0), "tokens must be at least 1, got 0"),
    ],
    mutations=MUTATIONS,
    telling=[
        Move("gpt-1", {"d_ff": 3_072}, False, 10**12),
        Move("xlm-r-base", {"d_ff": 2_048}, True, 10**12),
        Move("antiberty", {"d_ff": 2_048}, True, 10**12),
    ],
)
