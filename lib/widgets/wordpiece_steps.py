"""WordPiece step by step: the reader types, and sees every look into a real vocabulary.

`wordpiece_steps` makes the widget from one tokenizer or several. `shown` is its twin: the tokenizer's own
normalisation and splitting, then `lib.tokenizer.greedy_wordpiece`, which keeps the steps.
"""

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import tokenizers as library
import traitlets
from ipywidgets import Dropdown

from lib.tokenizer import LONGEST_WORD, Lookup, Pieces, Tokenizer, greedy_wordpiece
from lib.vocabulary import SPECIAL_TOKENS
from lib.widgets.base import CourseWidget, Panel, picker, script_and_style

MAX_WORDS = 16
UNTOLD = "…"  # a word that is still being cut
_SPECIAL = re.compile("(" + "|".join(map(re.escape, SPECIAL_TOKENS)) + ")")


@dataclass(frozen=True)
class Shown:
    """What the widget shows for a text, the chosen word of it, and the number of steps taken."""

    words: list[str]  # as the tokenizer reads them: normalised, split at spaces and punctuation
    tokens: list[str]
    ids: list[int]
    pieces: Pieces  # of the chosen word
    step: int  # how many looks were taken; 0 if there is nothing to look up
    before: list[str]  # the tokens of the words before the chosen one
    after: list[str]

    @property
    def attempts(self) -> list[Lookup]:
        """The looks from the place of the last one, up to it."""
        taken = self.pieces.steps[: self.step]
        return [look for look in taken if look.start == taken[-1].start]

    @property
    def found(self) -> list[str]:
        return [look.piece for look in self.pieces.steps[: self.step] if look.found]

    @property
    def told(self) -> list[str]:
        """The tokens as far as the steps have told them: of the chosen word, the pieces that were found."""
        if self.step == len(self.pieces.steps):
            return self.tokens
        return [*self.before, *self.found, UNTOLD, *self.after]


def shown(text: str, tokenizer: Tokenizer, word: int = 0, step: int = 0) -> Shown:
    """Compute with `lib` what the widget shows; `step` 0 stands for all steps."""
    words = words_of(text, tokenizer)
    if not 1 <= len(words) <= MAX_WORDS:
        raise ValueError(f"text must hold 1 to {MAX_WORDS} words, got {len(words)}")
    if not 0 <= word < len(words):
        raise ValueError(f"word must lie in 0..{len(words) - 1}, got {word}")
    vocabulary = set(tokenizer.vocabulary)
    cuts = [_cut(w, vocabulary) for w in words]
    tokens = _tokens_of(cuts)
    last = len(cuts[word].steps)
    if not 0 <= step <= last:
        raise ValueError(f"step must lie in 0..{last}, got {step}")
    ids = [tokenizer.vocabulary.id_of(token) for token in tokens]
    before, after = (_tokens_of(part) for part in (cuts[:word], cuts[word + 1 :]))
    return Shown(words, tokens, ids, cuts[word], step or last, before, after)


def _tokens_of(cuts: Sequence[Pieces]) -> list[str]:
    return [token for cut in cuts for token in cut.tokens]


def words_of(text: str, tokenizer: Tokenizer) -> list[str]:
    """What the tokenizer makes of a text before it looks into its vocabulary; special tokens stay whole."""
    pipeline = _pipeline(tokenizer)
    words = []
    for part in _SPECIAL.split(text):
        if part in SPECIAL_TOKENS:
            words.append(part)
        else:
            normal = pipeline.normalizer.normalize_str(part)
            words += [word for word, _ in pipeline.pre_tokenizer.pre_tokenize_str(normal)]
    return words


def _cut(word: str, vocabulary: set[str]) -> Pieces:
    return Pieces([word], []) if word in SPECIAL_TOKENS else greedy_wordpiece(word, vocabulary)


class WordPieceSteps(CourseWidget):
    """The view: `readers` holds each tokenizer's vocabulary and what it does to a text beforehand."""

    TITLE = "WordPiece, passo a passo"
    INSTRUCTION = "Escreva uma palavra, aposte onde ela será cortada e toque os passos."
    _esm, _css = script_and_style("wordpiece_steps", "fields")

    readers = traitlets.List(traitlets.Dict()).tag(sync=True)
    reader_index = traitlets.Int(0).tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    word = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)  # 0: all of them
    max_words = traitlets.Int(MAX_WORDS).tag(sync=True)
    longest_word = traitlets.Int(LONGEST_WORD).tag(sync=True)


def wordpiece_steps(tokenizers: Tokenizer | Mapping[str, Tokenizer], text: str = "rapidamente") -> Panel:
    """The widget, at its first step, for one tokenizer, or for several by the names that the reader sees."""
    if isinstance(tokenizers, Tokenizer):
        tokenizers = {f"{tokenizers.size} itens": tokenizers}
    if not tokenizers or not all(isinstance(t, Tokenizer) for t in tokenizers.values()):
        raise TypeError(f"tokenizers must be a Tokenizer or a mapping of names to them, got {tokenizers!r}")
    shown(text, next(iter(tokenizers.values())))
    widget = WordPieceSteps(readers=[_reader(t) for t in tokenizers.values()], text=text, step=1)
    return Panel(widget, [picker(Dropdown, widget, "reader_index", "Vocabulário", tokenizers)])


def _reader(tokenizer: Tokenizer) -> dict:
    """A tokenizer as the page needs it."""
    saved = json.loads(_pipeline(tokenizer).to_str())["normalizer"]
    steps = saved["normalizers"] if saved["type"] == "Sequence" else [saved]
    *before, bert = steps
    if bert["type"] != "BertNormalizer" or [step["type"] for step in before] not in ([], ["NFC"]):
        raise ValueError(f"tokenizers must normalise as BERT does, after NFC or nothing, got {saved}")
    strip = bert["lowercase"] if bert["strip_accents"] is None else bert["strip_accents"]
    return {
        "vocabulary": tokenizer.vocabulary,
        "nfc": bool(before),
        "lowercase": bert["lowercase"],
        "strip_accents": strip,
    }


@lru_cache(maxsize=8)
def _pipeline(tokenizer: Tokenizer) -> library.Tokenizer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        tokenizer.save(path)
        return library.Tokenizer.from_file(str(path))
