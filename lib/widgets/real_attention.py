"""Attention of a real encoder: what each head of MiniLM looks at, with and without the causal mask.

`real_attention` runs the pretrained weights once, in Python, and the page carries the result in thousandths,
two bytes a weight. `shown` is its twin: the same encoder, in float64, for one layer, head and mask. Float64
is there for the rounding: in float32 another processor would round some weight the other way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
import traitlets
from ipywidgets import Dropdown
from torch import Tensor

from lib.attention import Trace
from lib.encoder import Encoder
from lib.experiments.head_patterns import shares
from lib.tokenizer import Tokenizer
from lib.weights import real_encoder, real_encoder_name
from lib.widgets.base import CourseWidget, Panel, encoded, in_range, one_of, picker, script_and_style, slider

MASKS = {"bidirecional": "Bidirecional", "causal": "Causal"}
VIEWS = {"matriz": "Matriz", "linhas": "Linhas"}
UNIT = 1000  # a weight is stored in thousandths
MIN_TOKENS, MAX_TOKENS = 5, 20
MAX_SENTENCES = 8
SENTENCES = (
    "The cat jumped over the wall because it was afraid.",
    "The old bank by the river was closed.",
    "o gato pulou alto",
    "o gato pulou o almoço",
)


@dataclass(frozen=True)
class Shown:
    """What the widget shows of one head: its weights (N, N), in float64, and where they go on average."""

    tokens: list[str]
    weights: Tensor
    shares: dict[str, float]  # one per pattern of `lib.experiments.head_patterns`

    def largest(self, query: int, count: int = 3) -> list[int]:
        """The positions that `query` looks at most, in thousandths, the first ones first among equals."""
        row = thousandths(self.weights)[query].tolist()
        return sorted(range(len(row)), key=lambda j: (-row[j], j))[:count]


def shown(text: str, mask: str, layer: int, head: int) -> Shown:
    """Compute with `lib` what the widget shows; layers and heads count from 1."""
    one_of("mask", mask, MASKS)
    tokens, maps = _maps(text, causal=mask == "causal")
    in_range("layer", layer, 1, maps.shape[0])
    in_range("head", head, 1, maps.shape[1])
    weights = maps[layer - 1, head - 1]  # (N, N)
    return Shown(tokens, weights, {name: share.item() for name, share in shares(weights).items()})


def thousandths(weights: Tensor) -> Tensor:
    """The weights as the page carries them: integers, 1000 for a weight of 1."""
    return (weights * UNIT).round().to(torch.int32)


class RealAttention(CourseWidget):
    """The view: everything it can show is in `sentences`; each control sets one number here."""

    TITLE = "As cabeças de um modelo real"
    INSTRUCTION = "Escolha camada e cabeça; depois, uma célula: a linha olha para a coluna."
    _esm, _css = script_and_style("real_attention", "fields")

    encoder = traitlets.Unicode().tag(sync=True)
    sentences = traitlets.List(traitlets.Dict()).tag(sync=True)
    layers = traitlets.Int().tag(sync=True)
    heads = traitlets.Int().tag(sync=True)
    sentence_index = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(1).tag(sync=True)
    head = traitlets.Int(1).tag(sync=True)
    mask_index = traitlets.Int(0).tag(sync=True)
    view_index = traitlets.Int(0).tag(sync=True)
    cell = traitlets.List(traitlets.Int(), [2, 1]).tag(sync=True)


def real_attention(
    sentences: Sequence[str] | None = None,
    *,
    mask: str = "bidirecional",
    layer: int | None = None,
    head: int | None = None,
    view: str = "matriz",
) -> Panel:
    """The heads of MiniLM, an English model, or of the reader's own BERT, on a few short sentences.

    It opens at the given head, or else at the one that looks most at the word before.
    Of the course's own sentences, which MiniLM cuts into a few tokens, those that another model does too.
    """
    if sentences is None:
        sentences = [text for text in SENTENCES if len(_model()[1].encode(text)) <= MAX_TOKENS]
    if isinstance(sentences, str) or not 1 <= len(sentences) <= MAX_SENTENCES:
        raise ValueError(f"sentences must be a sequence of 1 to {MAX_SENTENCES} texts, got {sentences!r}")
    best = _previous_word_head(sentences[0])
    layer, head = best[0] if layer is None else layer, best[1] if head is None else head
    shown(sentences[0], mask, layer, head)  # refuses what is out of bounds
    config = _model()[0].config
    widget = RealAttention(
        encoder=real_encoder_name(),
        sentences=[_packed(text) for text in sentences],
        layers=config.layers,
        heads=config.heads,
        layer=layer,
        head=head,
        mask_index=one_of("mask", mask, MASKS),
        view_index=one_of("view", view, VIEWS),
    )
    controls = [
        picker(Dropdown, widget, "sentence_index", "Frase", sentences),
        slider(widget, "layer", "Camada", 1, config.layers),
        slider(widget, "head", "Cabeça", 1, config.heads),
        picker(Dropdown, widget, "mask_index", "Máscara", MASKS.values()),
        picker(Dropdown, widget, "view_index", "Vista", VIEWS.values()),
    ]
    return Panel(widget, controls)


@lru_cache(maxsize=1)
def _model() -> tuple[Encoder, Tokenizer]:
    encoder, tokenizer = real_encoder()
    return encoder.double(), tokenizer


@lru_cache(maxsize=2 * MAX_SENTENCES)  # of one widget, under both masks
@torch.no_grad()
def _maps(text: str, causal: bool) -> tuple[list[str], Tensor]:
    """The tokens of a text and the weights of every head, (L, h, N, N)."""
    encoder, tokenizer = _model()
    encoding = tokenizer.encode(text)
    if not MIN_TOKENS <= len(encoding) <= MAX_TOKENS:
        raise ValueError(
            f"a sentence must have {MIN_TOKENS} to {MAX_TOKENS} tokens, [CLS] and [SEP] included; "
            f"{text[:60]!r} has {len(encoding)}"
        )
    encoder(torch.tensor([encoding.ids]), causal=causal, trace=(trace := Trace()))
    return encoding.tokens, torch.stack([weights[0] for weights in trace.weights])  # (L, h, N, N)


def _previous_word_head(text: str) -> tuple[int, int]:
    """The layer and head, from 1, that give most of their weight to the token before."""
    _, maps = _maps(text, causal=False)
    layer, head = divmod(int(shares(maps)["previous"].argmax()), maps.shape[1])
    return layer + 1, head + 1


def _packed(text: str) -> dict[str, str | list[str]]:
    """What the page carries of a sentence: whole rows, and with the causal mask only what it lets through."""
    tokens, both_sides = _maps(text, causal=False)
    _, causal = _maps(text, causal=True)
    lower = torch.ones(len(tokens), len(tokens)).tril().bool()
    return {
        "text": text,
        "tokens": tokens,
        "bidirecional": encoded(thousandths(both_sides), "<u2"),
        "causal": encoded(thousandths(causal)[..., lower], "<u2"),  # (L, h, N (N + 1) / 2)
    }
