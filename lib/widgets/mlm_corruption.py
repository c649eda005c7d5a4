"""The corruption of masked language modelling on the reader's own sentence, drawn again and again.

`mlm_corruption` makes the widget. `shown` is its twin: it calls `lib.corruption.mask_tokens` with a
`torch.Generator`. The JavaScript carries the same generator (the Mersenne Twister), so that a seed gives the
same corruption in the page and in Python.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import traitlets
from ipywidgets import SelectionSlider

from lib.corpus import PORTUGUESE
from lib.corruption import Channel, mask_tokens
from lib.losses import IGNORE_INDEX
from lib.vocabulary import SPECIAL_TOKENS, Vocabulary
from lib.widgets.base import CourseWidget, Panel, in_range, picker, script_and_style

PERCENTAGES = tuple(range(0, 101, 5))
MAX_WORDS = 48
MAX_DRAWS = 1000
# Written out, since "\\s" is not the same set of characters in Python and in JavaScript.
SPACES = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
WORD = re.compile(f"[.,;:!?…]|[^{SPACES}.,;:!?…]+")


@dataclass(frozen=True)
class Tally:
    """Of `among` tokens, `times` met this fate; `expected` is the probability of it."""

    times: int
    among: int
    expected: float

    @property
    def frequency(self) -> float | None:
        return self.times / self.among if self.among else None


@dataclass(frozen=True)
class Shown:
    """What the widget shows: the last draw, token by token, and what all draws add up to."""

    tokens: list[str]
    seen: list[str]
    labels: list[str | None]  # the word to predict, None where the loss looks away
    selected: Tally
    masked: Tally
    swapped: Tally
    same: Tally

    @property
    def counted(self) -> list[int]:
        """The positions that count in the loss."""
        return [i for i, label in enumerate(self.labels) if label is not None]


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a sentence."""
    return WORD.findall(text)


def shown(
    text: str, vocabulary: Sequence[str], rate: int, mask: int, random: int, first_seed: int, draws: int
) -> Shown:
    """Corrupt the sentence with the seeds first_seed, first_seed + 1, ...; all shares are percentages."""
    _check_shares(rate, mask, random)
    if not 1 <= draws <= MAX_DRAWS:
        raise ValueError(f"draws must lie in 1..{MAX_DRAWS}, got {draws}")
    words = _checked_words(text)
    # A word that the vocabulary lacks joins it: the reader's sentence is never [UNK].
    tokens = Vocabulary(dict.fromkeys([*SPECIAL_TOKENS, *vocabulary, *words]))
    channel = Channel(mask / 100, random / 100, (100 - mask - random) / 100)
    ids = torch.tensor([tokens.frame([tokens.ids[word] for word in words])])  # (1, N)
    fates = torch.zeros(4, dtype=torch.long)  # selected, [MASK], another word, the same
    for seed in range(first_seed, first_seed + draws):
        generator = torch.Generator().manual_seed(seed)
        noisy, labels = mask_tokens(ids, tokens, rate=rate / 100, channel=channel, generator=generator)
        selected, masked, same = labels != IGNORE_INDEX, noisy == tokens.mask_id, noisy == ids
        fates += torch.stack(
            [(selected & fate).sum() for fate in (selected, masked, ~masked & ~same, same)]
        )  # (4,)
    times = fates.tolist()
    expected = _expected(channel, tokens)
    return Shown(
        [tokens[i] for i in ids[0].tolist()],
        [tokens[i] for i in noisy[0].tolist()],
        [None if i == IGNORE_INDEX else tokens[i] for i in labels[0].tolist()],
        Tally(times[0], draws * int(tokens.is_ordinary(ids).sum()), rate / 100),
        *(Tally(n, times[0], p) for n, p in zip(times[1:], expected, strict=True)),
    )


def _expected(channel: Channel, tokens: Vocabulary) -> tuple[float, float, float]:
    """P([MASK]), P(another word) and P(the same word) of a selected word."""
    word = tokens.ordinary_ids[0]
    seen = channel.likelihood(torch.arange(len(tokens)), word, tokens)  # (V,)
    mask, same = seen[tokens.mask_id].item(), seen[word].item()
    return mask, max(0.0, seen[tokens.ordinary_ids].sum().item() - same), same


class MLMCorruption(CourseWidget):
    """The view: the sentence, the positions of the sliders and how many seeds were drawn so far."""

    TITLE = "Corrompa uma frase"
    INSTRUCTION = "Sorteie, mude as fatias ou escreva a sua frase; a tabela compara o visto com o esperado."
    _esm, _css = script_and_style("mlm_corruption", "fields")

    text = traitlets.Unicode().tag(sync=True)
    vocabulary = traitlets.List(traitlets.Unicode()).tag(sync=True)
    percentages = traitlets.List(traitlets.Int(), list(PERCENTAGES)).tag(sync=True)
    rate_index = traitlets.Int().tag(sync=True)
    mask_index = traitlets.Int().tag(sync=True)
    random_index = traitlets.Int().tag(sync=True)
    first_seed = traitlets.Int(0).tag(sync=True)
    draws = traitlets.Int(1).tag(sync=True)
    max_words = traitlets.Int(MAX_WORDS).tag(sync=True)
    max_draws = traitlets.Int(MAX_DRAWS).tag(sync=True)


def mlm_corruption(
    text: str = "A menina viu o banco da praça e sentou.",
    vocabulary: Sequence[str] | None = None,
    *,
    rate: int = 15,
    mask: int = 80,
    random: int = 10,
    seed: int = 2,
) -> Panel:
    """The widget for one sentence; a random word comes from `vocabulary`, by default the course's grammar."""
    _checked_words(text)
    _check_shares(rate, mask, random)
    in_range("seed", seed, 0, 2**31 - 1)
    vocabulary = list(PORTUGUESE.vocabulary if vocabulary is None else vocabulary)
    if not all(isinstance(word, str) and word for word in vocabulary):
        raise TypeError("vocabulary must hold non-empty strings")
    widget = MLMCorruption(
        text=text,
        vocabulary=[word for word in dict.fromkeys(vocabulary) if word not in SPECIAL_TOKENS],
        rate_index=PERCENTAGES.index(rate),
        mask_index=PERCENTAGES.index(mask),
        random_index=PERCENTAGES.index(random),
        first_seed=seed,
    )
    titles = {"rate_index": "Selecionar", "mask_index": "Vira [MASK]", "random_index": "Vira outra"}
    labels = [f"{percentage}%" for percentage in PERCENTAGES]
    controls = [picker(SelectionSlider, widget, trait, title, labels) for trait, title in titles.items()]
    return Panel(widget, controls)


def _check_shares(rate: int, mask: int, random: int) -> None:
    for name, value in {"rate": rate, "mask": mask, "random": random}.items():
        if value not in PERCENTAGES:
            raise ValueError(f"{name} must be a percentage in steps of 5, 0 to 100, got {value!r}")
    if mask + random > 100:
        raise ValueError(f"mask + random must be at most 100, got {mask} + {random}")


def _checked_words(text: str) -> list[str]:
    words = words_of(text)
    if not 1 <= len(words) <= MAX_WORDS:
        raise ValueError(f"text must hold 1 to {MAX_WORDS} words, got {len(words)}")
    return words
