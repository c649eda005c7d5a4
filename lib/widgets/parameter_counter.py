"""The parameter counter: what each size of an encoder costs in parameters, memory and training.

`parameter_counter` makes the widget. `shown` is its twin: `lib.parameters.count` for the parts, and for the
work the closed form of `forward_flops`, which the tests hold equal to what torch counts on the real modules.
"""

from dataclasses import dataclass
from typing import Any

import traitlets
from ipywidgets import Dropdown, SelectionSlider

from lib.encoder import Config
from lib.numbers import pt
from lib.parameters import Count, count
from lib.presets import PRESETS
from lib.widgets.base import CourseWidget, Panel, one_of, picker, script_and_style

TITLES = {
    "bert-base": "BERT-base",
    "bert-large": "BERT-large",
    "bertimbau-base": "BERTimbau-base",
    "bertimbau-large": "BERTimbau-large",
    "roberta-base": "RoBERTa-base",
    "roberta-large": "RoBERTa-large",
    "xlm-r-base": "XLM-R-base",
    "xlm-r-large": "XLM-R-large",
    "spanbert-base": "SpanBERT-base",
    "spanbert-large": "SpanBERT-large",
    "gpt-1": "GPT-1",
    "minilm": "MiniLM (6 camadas)",
    "antiberty": "AntiBERTy",
}
SIZES = {  # the sliders: title, and round values, which those of the presets join
    "vocab_size": ("Vocabulário |V|", (100, 1_000, 10_000, 100_000)),
    "d": ("Dimensão d", (64, 128, 256, 1_536, 2_048, 4_096)),
    "layers": ("Blocos L", (1, 2, 4, 16, 32, 48)),
    "heads": ("Cabeças h", (1, 2, 4, 32)),
    "d_ff": ("Dimensão d_ff", (256, 512, 1_024, 4_096, 8_192, 16_384)),
    "positions": ("Posições", (64, 128, 256, 1_024, 2_048, 8_192)),
}
FLAGS = ("segments", "first_position", "embedding_norm", "pre_norm", "pooler")
BERT_TOKENS = 256 * 512 * 10**6  # batches of 256 sentences of 512 tokens, a million of them
TOKENS = (10**9, 10**10, 10**11, BERT_TOKENS, 10**12, 10**13)
PREDICTED = 0.15  # the share of the positions that the MLM head reads
PETAFLOPS_DAY = 10**15 * 86_400  # a machine that does 10^15 operations a second, for a day
FLOAT32, FLOAT16, ADAM = 4, 2, 16  # bytes a parameter; Adam keeps weight, gradient and two moments


@dataclass(frozen=True)
class Shown:
    """What the counter shows for one configuration."""

    count: Count
    weights_float32: int  # bytes
    weights_float16: int
    training: int
    flops_per_token: float  # of the forward pass
    training_flops: float

    @property
    def petaflops_days(self) -> float:
        return self.training_flops / PETAFLOPS_DAY


def shown(config: Config, *, mlm_head: bool = False, tokens: int = BERT_TOKENS) -> Shown:
    """Compute with `lib` what the counter shows."""
    if tokens < 1:
        raise ValueError(f"tokens must be at least 1, got {tokens!r}")
    parts = count(config, mlm_head=mlm_head)
    forward = forward_flops(config, mlm_head=mlm_head)
    # The backward pass multiplies twice where the forward pass does once: for the weights and for the inputs.
    float32, float16, training = (parts.total * size for size in (FLOAT32, FLOAT16, ADAM))
    return Shown(parts, float32, float16, training, forward, 3 * forward * tokens)


def forward_flops(config: Config, *, mlm_head: bool = False) -> float:
    """Additions and multiplications of all matrix products, per token, in sentences of the maximal length.

    The pooler, one product per sentence, is left out; the head reads `PREDICTED` of the positions.
    """
    d, n = config.d, config.max_length
    block = 2 * 4 * d * d + 2 * 2 * d * config.d_ff  # W_Q, W_K, W_V, W_O; the two layers of the feed-forward
    attention = 2 * 2 * n * d  # Q K^T and A V
    head = PREDICTED * 2 * (d * d + d * config.vocab_size)
    return config.layers * (block + attention) + head * mlm_head


class ParameterCounter(CourseWidget):
    """The view: an index per slider into `choices`, and the flags that only a preset changes."""

    TITLE = "Quanto pesa um codificador"
    INSTRUCTION = "Escolha um modelo ou mude um tamanho: parâmetros, memória e trabalho seguem."
    _esm, _css = script_and_style("parameter_counter", "fields")

    presets = traitlets.List(traitlets.Dict()).tag(sync=True)
    preset_index = traitlets.Int(0).tag(sync=True)  # 0: none of them, sizes of the reader's own
    choices = traitlets.Dict().tag(sync=True)
    vocab_size_index = traitlets.Int().tag(sync=True)
    d_index = traitlets.Int().tag(sync=True)
    layers_index = traitlets.Int().tag(sync=True)
    heads_index = traitlets.Int().tag(sync=True)
    d_ff_index = traitlets.Int().tag(sync=True)
    positions_index = traitlets.Int().tag(sync=True)
    flags = traitlets.Dict().tag(sync=True)
    head_index = traitlets.Int(0).tag(sync=True)
    tokens_choices = traitlets.List(traitlets.Float(), [float(t) for t in TOKENS]).tag(sync=True)
    tokens_index = traitlets.Int(TOKENS.index(BERT_TOKENS)).tag(sync=True)


def config_of(sizes: dict[str, Any], flags: dict[str, int]) -> Config:
    """The sizes of the sliders and the flags of a preset as a configuration."""
    first = flags["first_position"]
    return Config(
        **sizes,
        segments=flags["segments"],
        embedding_norm=bool(flags["embedding_norm"]),
        pre_norm=bool(flags["pre_norm"]),
        pooler=bool(flags["pooler"]),
        pad_id=first - 1 if first else None,
        count_real_positions=bool(first),
    )


def parameter_counter(preset: str = "bert-base", *, mlm_head: bool = False) -> Panel:
    """The counter, standing at one of the published models."""
    chosen = one_of("preset", preset, TITLES)
    presets = [_preset(name) for name in TITLES]
    choices = {name: sorted({*values, *(p[name] for p in presets)}) for name, (_, values) in SIZES.items()}
    widget = ParameterCounter(
        presets=presets,
        preset_index=chosen + 1,
        choices=choices,
        **{f"{name}_index": choices[name].index(presets[chosen][name]) for name in SIZES},
        flags={name: presets[chosen][name] for name in FLAGS},
        head_index=int(mlm_head),
    )
    titles = ["Tamanhos seus", *TITLES.values()]
    sizes = [
        picker(SelectionSlider, widget, f"{name}_index", title, map(_thousands, widget.choices[name]))
        for name, (title, _) in SIZES.items()
    ]
    controls = [
        picker(Dropdown, widget, "preset_index", "Modelo", titles),
        *sizes,
        picker(Dropdown, widget, "head_index", "Cabeça MLM", ["não", "sim"]),
        picker(SelectionSlider, widget, "tokens_index", "Tokens de treino", map(_power, TOKENS)),
    ]
    return Panel(widget, controls)


def _preset(name: str) -> dict[str, int | str]:
    config = PRESETS[name]
    return {"title": TITLES[name], **{field: int(getattr(config, field)) for field in (*SIZES, *FLAGS)}}


def _thousands(n: int) -> str:
    return f"{n:,}".replace(",", ".")


def _power(tokens: float) -> str:
    mantissa, exponent = f"{tokens:.1e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if float(mantissa) == 1 else f"{pt(float(mantissa))}·{power}"
