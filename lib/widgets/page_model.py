"""The model in the page: the course's masked model, run by the reader's browser on the reader's sentence.

`page_model` makes the widget, which is small: it carries what the model says of the first sentence. The model
comes at the first touch, from a script beside the book's pages, or from Python where there is a kernel.
`shown` is the twin: the same model in torch, and the exact posterior of `lib.corpus` beside it; `still`, the
first state as the script draws it, which a page shows before any script.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import zip_longest

import torch
import traitlets
from torch import Tensor

from lib.attention import Trace
from lib.corpus import PORTUGUESE, posterior
from lib.losses import entropy, kl
from lib.models import page_bundle
from lib.vocabulary import MASK, SPECIAL_TOKENS
from lib.widgets.base import CourseWidget, script_and_style

EXAMPLES = (
    "a goleira sujou a [MASK] nova à noite",
    "o rapaz puxou a [MASK] pequena no porto",
    "Pedro comprou a [MASK] bonita na loja",
    "a moça [MASK] a [MASK] no banco",
)
ROWS = 8
ALIKE = 3  # letters in common, and words to propose
HINTS = 3  # unknown words that hints are given for
EQUAL = 1e-6  # how near two probabilities are that only rounding tells apart
GAP = "____"
DECIMALS = 6  # of what a page carries of its first sentence
MASK_TOKEN = SPECIAL_TOKENS[MASK]
HIDE = "Clique em uma palavra para escondê-la."
NEVER = (
    "A gramática do curso nunca produz esta frase: "
    "o modelo responde, mas não há resposta exata com que comparar."
)
# Written out, since "\\s" is not the same set of characters in Python and in JavaScript.
WORD = re.compile("[^ \t\n\r\u00a0\u3000.,;:!?…]+")


@dataclass(frozen=True)
class Shown:
    """What the widget shows for one gap of a sentence, in float64."""

    tokens: list[str]
    gaps: list[int]  # positions of [MASK] among the tokens
    logits: Tensor  # (V,)
    exact: Tensor | None  # (V,), or None where the grammar never gives such a sentence
    weights: Tensor  # (N, N), of one head

    @property
    def model(self) -> Tensor:
        return self.logits.softmax(-1)  # (V,)

    @property
    def rows(self) -> list[int]:
        """The words to show: those that the model, or the exact posterior, finds likeliest."""
        best = self.model if self.exact is None else torch.maximum(self.model, self.exact)
        return best.argsort(descending=True, stable=True)[:ROWS].tolist()

    @property
    def exact_entropy(self) -> float | None:
        return None if self.exact is None else entropy(self.exact).item()

    @property
    def divergence(self) -> float | None:
        """KL(exact || model): what the model loses, in nats, for not being the exact posterior."""
        return None if self.exact is None else kl(self.exact, self.model).item()


class Refused(ValueError):
    """A sentence that the model cannot read; the message is the one that the page shows."""

    def __init__(self, message: str, unknown: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.unknown = unknown

    @property
    def hints(self) -> list[str]:
        """For the first unknown words, the known ones that begin like them."""
        near = {word: alike(word.lower()) for word in self.unknown[:HINTS]}
        return [f"Em vez de “{word}”: {', '.join(known)}?" for word, known in near.items() if known]


def shown(text: str, gap: int, layer: int, head: int) -> Shown:
    """Compute with `lib` what the widget shows; gaps count from 0, layers and heads from 1."""
    words = read(text)
    ids = PORTUGUESE.vocabulary.frame(words)
    gaps = [i for i, token in enumerate(ids) if token == MASK]
    if not 0 <= gap < len(gaps):
        raise ValueError(f"gap must lie between 0 and {len(gaps) - 1}, got {gap}")
    logits, weights, exact = _run(tuple(words))
    return Shown(
        [PORTUGUESE.vocabulary[i] for i in ids],
        gaps,
        logits[gaps[gap]],
        None if exact is None else exact[gaps[gap] - 1],
        weights[layer - 1][0, head - 1],
    )


@lru_cache(maxsize=8)
@torch.no_grad()
def _run(words: tuple[int, ...]) -> tuple[Tensor, list[Tensor], Tensor | None]:
    """Logits (N, V), weights of each layer (1, h, N, N), and the exact posterior (N - 2, V), if any."""
    model, ids = page_bundle.model(), torch.tensor([PORTUGUESE.vocabulary.frame(words)])
    hidden = model.encoder(ids, trace=(trace := Trace()))
    try:
        exact = posterior(PORTUGUESE, torch.tensor(words))
    except ValueError:
        exact = None
    return model.logits(hidden)[0], trace.weights, exact


def read(text: str) -> list[int]:
    """The ids of the words of a sentence with at least one [MASK], or a Refused that says what is wrong."""
    words = [MASK_TOKEN if word.upper() == MASK_TOKEN else word for word in WORD.findall(text)]
    longest = page_bundle.model().encoder.config.positions - 2
    if not words:
        raise Refused(f"Escreva uma frase com {MASK_TOKEN} no lugar de uma palavra.")
    if len(words) > longest:
        raise Refused(f"A frase tem {len(words)} palavras; o modelo lê no máximo {longest}.")
    ids = [_id(word) for word in words]
    if unknown := [word for word, i in zip(words, ids, strict=True) if i is None]:
        known = len(PORTUGUESE.vocabulary.ordinary_ids)
        raise Refused(
            f"O modelo só conhece {known} palavras; estas não: {' '.join(unknown)}. {HIDE}", unknown
        )
    if MASK not in ids:
        raise Refused(f"A frase está completa. {HIDE}")
    return [i for i in ids if i is not None]


def alike(word: str) -> list[str]:
    """The known words with the longest beginning in common with a word, of at least ALIKE letters."""
    known = [PORTUGUESE.vocabulary[i] for i in PORTUGUESE.vocabulary.ordinary_ids]
    near = [other for other in known if other[:ALIKE] == word[:ALIKE] and len(word) >= ALIKE]
    common = {
        other: next((k for k, pair in enumerate(zip_longest(word, other)) if len(set(pair)) > 1), len(word))
        for other in near
    }
    return sorted(near, key=lambda other: -common[other])[:ALIKE]


def _id(word: str) -> int | None:
    """A word as it is written, or in small letters, or with a capital; of the special tokens, only [MASK]."""
    for form in (word, word.lower(), word[:1].upper() + word[1:].lower()):
        i = PORTUGUESE.vocabulary.ids.get(form, 0)
        if i >= len(SPECIAL_TOKENS) or i == MASK:
            return i
    return None


class PageModel(CourseWidget):
    """The view: the sentence, the gap that is looked at, the head whose attention is drawn."""

    TITLE = "Que palavra está na lacuna?"
    INSTRUCTION = "Clique em uma palavra da frase para escondê-la, e em uma da lista para pô-la na lacuna."
    _esm, _css = script_and_style("page_model", "fields")

    title = traitlets.Unicode(TITLE).tag(sync=True)
    instruction = traitlets.Unicode(INSTRUCTION).tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    examples = traitlets.List(traitlets.Unicode()).tag(sync=True)
    gap = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(1).tag(sync=True)
    head = traitlets.Int(1).tag(sync=True)
    cell = traitlets.List(traitlets.Int(), [1, 0]).tag(sync=True)
    layers = traitlets.Int().tag(sync=True)
    heads = traitlets.Int().tag(sync=True)
    longest = traitlets.Int().tag(sync=True)
    kilobytes = traitlets.Int().tag(sync=True)
    opening = traitlets.Dict().tag(sync=True)

    def __init__(self, **state) -> None:
        super().__init__(**state)
        self.on_msg(self._answer)

    def _answer(self, _, content: dict, buffers: list) -> None:
        """A page with a kernel asks for the model here."""
        if content.get("wanted") == "model":
            self.send({"model": page_bundle.bundle()})

    def still(self) -> str:
        """The first state as HTML, in the elements that the script makes of it."""
        options = "".join(f"<option>{escape(text)}</option>" for text in self.examples)
        write = _field("Exemplo", f'<select aria-label="Exemplo">{options}</select>') + _field(
            "Outra frase",
            '<input type="text" aria-label="Frase com [MASK]" spellcheck="false" autocomplete="off" '
            f'value="{escape(self.text)}">',
        )
        answer = _answer(self.opening["gaps"][0]["rows"])
        folds = ("Que palavras o modelo conhece?", "Por dentro do modelo: incerteza e atenção")
        return (
            f'<div class="cw cw-panel cw-page-model" role="group" aria-label="{escape(self.title)}">'
            f'<p class="cw-title">{escape(self.title)}</p>'
            f'<p class="cw-instruction">{escape(self.instruction)}</p>'
            f'<p class="cw-sentence" role="group" aria-label="Frase">{_buttons(self.text)}</p>'
            f'<div class="cw-answer"><div class="cw-results">{answer}</div></div>'
            f'<div class="cw-write">{write}</div>'
            f"{''.join(f'<details><summary>{fold}</summary></details>' for fold in folds)}</div>"
        )


def _field(label: str, control: str) -> str:
    return f'<div class="cw-field"><span aria-hidden="true">{label}</span>{control}</div>'


def _buttons(text: str) -> str:
    """The sentence, each word a button; of the gaps, the first is looked at."""
    gaps = 0

    def button(found: re.Match) -> str:
        nonlocal gaps
        word = found[0]
        if word.upper() != MASK_TOKEN:
            return f'<button type="button">{escape(word)}</button>'
        gaps += 1
        pressed = str(gaps == 1).lower()
        return (
            f'<button type="button" class="cw-gap" aria-label="lacuna {gaps}" aria-pressed="{pressed}">'
            f"{GAP}</button>"
        )

    return WORD.sub(button, text)


def _answer(rows: Sequence[dict]) -> str:
    """What is said of a gap, in words and in bars."""
    exact = rows[0]["exact"] is not None
    said = (
        f"{_best('O modelo', rows, 'model')} {_best('A resposta exata', rows, 'exact') if exact else NEVER}"
    )
    columns = [("by-model", "model", "modelo"), ("by-grammar", "exact", "resposta exata")]
    longest = max(row[name] or 0.0 for row in rows for _, name, _ in columns)
    body = ""
    for row in rows:
        bars = "".join(
            f'<span class="cw-bar cw-{kind}" style="--cw-weight: {row[name]}"></span>'
            for kind, name, _ in columns
            if row[name] is not None
        )
        shares = "".join(f"<td>{_percentage(row[name])}</td>" for _, name, _ in columns)
        body += (
            f'<tr data-word="{row["id"]}">'
            f'<th scope="row"><button type="button">{escape(row["word"])}</button></th>'
            f'<td class="cw-bars" aria-hidden="true">{bars}</td>{shares}</tr>'
        )
    key = "".join(
        f'<li><span class="cw-bar cw-{kind}" aria-hidden="true"></span>{title}</li>'
        for kind, _, title in columns
    )
    return (
        f'<p class="cw-said" role="status">{escape(said)}</p>'
        '<table class="cw-numbers"><caption>O que havia na lacuna?</caption><thead><tr>'
        '<th scope="col">palavra</th><td></td><th scope="col">modelo, %</th><th scope="col">exato, %</th>'
        "</tr></thead>"
        f'<tbody style="--cw-longest: {longest}">{body}</tbody></table><ul class="cw-key">{key}</ul>'
    )


def _best(who: str, rows: Sequence[dict], name: str) -> str:
    most = max(row[name] for row in rows)
    row = next(row for row in rows if row[name] > most - EQUAL)
    return f"{who}: “{row['word']}”, {_percentage(row[name])}%."


def _percentage(x: float | None) -> str:
    return "—" if x is None else f"{100 * x:.1f}".replace(".", ",")


def _opening(text: str) -> dict:
    """What is shown of a sentence before the model is there: every gap, and the first of all heads."""
    first = shown(text, 0, 1, 1)
    gaps = [shown(text, k, 1, 1) for k in range(len(first.gaps))]
    return {
        "text": text,
        "tokens": first.tokens,
        "gaps": [_carried(gap) for gap in gaps],
        "weights": [[[[_rounded(w) for w in row] for row in first.weights.tolist()]]],
    }


def _carried(gap: Shown) -> dict:
    columns = {"model": gap.model, "exact": gap.exact}
    rows = [
        {"id": i, "word": PORTUGUESE.vocabulary[i]}
        | {name: None if column is None else _rounded(column[i].item()) for name, column in columns.items()}
        for i in gap.rows
    ]
    return {"rows": rows, "entropy": _rounded(gap.exact_entropy), "divergence": _rounded(gap.divergence)}


def _rounded(x: float | None) -> float | None:
    return None if x is None else round(x, DECIMALS)


def page_model(examples: Sequence[str] = EXAMPLES) -> PageModel:
    """The course's model on a sentence with [MASK]: the reader's own, or one of the examples."""
    if isinstance(examples, str) or not examples:
        raise ValueError(f"examples must be a sequence of at least one sentence, got {examples!r}")
    for text in examples:
        read(text)
    config = page_bundle.model().encoder.config
    return PageModel(
        text=examples[0],
        examples=list(examples),
        layers=config.layers,
        heads=config.heads,
        longest=config.positions - 2,
        kilobytes=round(len(page_bundle.script()) / 1000),
        opening=_opening(examples[0]),
    )
