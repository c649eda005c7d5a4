"""The space of senses: the vectors of an ambiguous word in eight sentences, before and after z-scoring.

`sense_space` runs MiniLM once; the page carries the vectors of the word (half precision), the mean and the
deviation of each dimension over all tokens of the sentences, and the anisotropy of those tokens. Cosines,
neighbours and the projection are computed in the page. `shown` is the twin, from the same numbers.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
import traitlets
from ipywidgets import Dropdown
from torch import Tensor

from lib.attention import Trace
from lib.experiments.word_senses import Separation, cosines, separation
from lib.geometry import anisotropy, project, standardize
from lib.weights import real_encoder
from lib.widgets.base import CourseWidget, Panel, encoded, in_range, one_of, picker, script_and_style, slider

SCALES = {"cru": "Como saem do modelo", "z": "Com z-score"}
DECIMALS = 6  # of the anisotropy that the page carries


@dataclass(frozen=True)
class Word:
    """An ambiguous word, the names of its two senses, and sentences with it: first sense, then second."""

    text: str
    senses: tuple[str, str]
    sentences: tuple[str, ...]

    @property
    def labels(self) -> list[int]:
        half = len(self.sentences) // 2
        return [0] * half + [1] * (len(self.sentences) - half)


WORDS = (
    Word(
        "bank",
        ("dinheiro", "margem"),
        (
            "She opened a savings account at the bank.",
            "The bank raised the interest rate again.",
            "He asked the bank for a loan.",
            "The bank refused my credit card.",
            "They fished from the bank of the river.",
            "The bank was covered with wet grass.",
            "We sat on the bank and watched the boats.",
            "The flood washed away the muddy bank.",
        ),
    ),
    Word(
        "banco",
        ("dinheiro", "assento"),
        (
            "o banco aprovou o empréstimo",
            "ela abriu uma conta no banco",
            "o banco aumentou os juros",
            "ele pagou a dívida no banco",
            "ela sentou no banco da praça",
            "o banco de madeira quebrou",
            "pintaram o banco do jardim",
            "o gato dorme no banco da varanda",
        ),
    ),
)


@dataclass(frozen=True)
class Vectors:
    """What the page carries for one word in one layer."""

    occurrences: Tensor  # (M, d), float64 values that half precision can hold
    mean: Tensor  # (d,), over all tokens of the sentences
    deviation: Tensor  # (d,)
    anisotropy: dict[str, float]  # by scale, over all tokens, pairs from different sentences


@dataclass(frozen=True)
class Shown:
    """What the widget shows: the plane, the cosines, and what they say of the two senses."""

    plane: Tensor  # (M, 2)
    cosines: Tensor  # (M, M)
    separation: Separation
    anisotropy: float

    def neighbours(self, i: int) -> list[int]:
        """The other occurrences, nearest first."""
        order = self.cosines[i].argsort(descending=True, stable=True).tolist()
        return [j for j in order if j != i]


def shown(word: int, layer: int, scale: str) -> Shown:
    """Compute with `lib` what the widget shows for WORDS[word]; layer 0 is the embeddings."""
    one_of("scale", scale, SCALES)
    in_range("word", word, 0, len(WORDS) - 1)
    in_range("layer", layer, 0, layer_count() - 1)
    carried = _vectors(word)[layer]
    vectors = carried.occurrences
    if scale == "z":
        vectors = (vectors - carried.mean) / carried.deviation
    cosine = cosines(vectors)
    return Shown(
        project(vectors),
        cosine,
        separation(cosine, torch.tensor(WORDS[word].labels)),
        carried.anisotropy[scale],
    )


def layer_count() -> int:
    """How many layers there are to show, the embeddings among them."""
    return len(_vectors(0))


class SenseSpace(CourseWidget):
    """The view: each control sets one number here; `chosen` is the occurrence whose neighbours are listed."""

    TITLE = "O espaço dos sentidos"
    INSTRUCTION = "Mude a camada e escolha uma frase para ver os seus vizinhos."
    _esm, _css = script_and_style("sense_space", "fields")

    words = traitlets.List(traitlets.Dict()).tag(sync=True)
    scales = traitlets.List(traitlets.Unicode(), list(SCALES)).tag(sync=True)
    word_index = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    scale_index = traitlets.Int(0).tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True)


def sense_space(*, word: int = 0, layer: int | None = None, scale: str = "cru") -> Panel:
    """MiniLM's vectors of *bank*, in its own language, and of *banco*, in one that it never learnt."""
    last = layer_count() - 1
    layer = last if layer is None else layer
    shown(word, layer, scale)  # refuses what is out of bounds
    widget = SenseSpace(
        words=[_packed(k) for k in range(len(WORDS))],
        word_index=word,
        layer=layer,
        scale_index=one_of("scale", scale, SCALES),
    )
    controls = [
        picker(Dropdown, widget, "word_index", "Palavra", [each.text for each in WORDS]),
        slider(widget, "layer", "Camada", 0, last),
        picker(Dropdown, widget, "scale_index", "Vetores", SCALES.values()),
    ]
    return Panel(widget, controls)


@lru_cache
@torch.no_grad()
def _vectors(word: int) -> tuple[Vectors, ...]:
    """One `Vectors` per layer, the embeddings first. In float64, so that every processor rounds alike."""
    encoder, tokenizer = real_encoder()
    encoder = encoder.double()
    found, tokens = [], []
    for sentence in WORDS[word].sentences:
        encoding = tokenizer.encode(sentence)
        place = next(w for w in encoding.words if w.text.lower() == WORDS[word].text)
        encoder(torch.tensor([encoding.ids]), trace=(trace := Trace()))
        hidden = torch.cat(trace.hidden)  # (L + 1, N, d)
        found.append(hidden[:, place.start : place.stop].mean(1))  # (L + 1, d)
        tokens.append(hidden)
    contexts = torch.cat([torch.full((t.shape[1],), k) for k, t in enumerate(tokens)])  # (T,)
    occurrences, tokens = torch.stack(found, 1), torch.cat(tokens, 1)  # (L + 1, M, d), (L + 1, T, d)
    return tuple(
        Vectors(
            occurrences[k].half().double(),
            t.mean(0).float().double(),
            t.std(0, correction=0).float().double(),
            {
                "cru": round(anisotropy(t, contexts), DECIMALS),
                "z": round(anisotropy(standardize(t), contexts), DECIMALS),
            },
        )
        for k, t in enumerate(tokens)
    )


def _packed(word: int) -> dict:
    layers = _vectors(word)
    stacked = {name: torch.stack([getattr(v, name) for v in layers]) for name in ("mean", "deviation")}
    return {
        "text": WORDS[word].text,
        "senses": list(WORDS[word].senses),
        "labels": WORDS[word].labels,
        "sentences": list(WORDS[word].sentences),
        "occurrences": encoded(torch.stack([v.occurrences for v in layers]), "<f2"),
        **{name: encoded(values, "<f4") for name, values in stacked.items()},
        "anisotropy": [v.anisotropy for v in layers],
    }
