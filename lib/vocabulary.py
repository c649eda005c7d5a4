"""The vocabulary: tokens and their ids, the special ones, and how sentences are laid out for a model.

    one sentence     [CLS] a_1 ... a_n [SEP]                          segment 0
    two sentences    [CLS] a_1 ... a_n [SEP] b_1 ... b_m [SEP]        segments 0 and 1, from b_1 on
    many             rows of one length: [PAD] fills up the shorter ones, on the right

>>> vocabulary = Vocabulary([*SPECIAL_TOKENS, "a", "manga", "madura"])
>>> vocabulary.frame([5, 6, 7])
[2, 5, 6, 7, 3]
>>> [vocabulary[i] for i in vocabulary.frame([5, 6], [7])]
['[CLS]', 'a', 'manga', '[SEP]', 'madura', '[SEP]']
"""

from collections.abc import Container, Iterable, Sequence
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from lib import checks

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# Their ids where they come first, as in every vocabulary that the course makes (published ones differ).
PAD, UNK, CLS, SEP, MASK = range(len(SPECIAL_TOKENS))
ROBERTA_TOKENS = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")  # the same five in RoBERTa and those after it
CONTINUES = "##"  # marks a piece that continues a word


def special_tokens_of(tokens: Container[str]) -> tuple[str, ...]:
    """Which of the two ways to write the special tokens these have."""
    return ROBERTA_TOKENS if "[CLS]" not in tokens and "<mask>" in tokens else SPECIAL_TOKENS


class Vocabulary(tuple[str, ...]):
    """The tokens in the order of their ids: `vocabulary[i]` is the token with id i."""

    def __new__(cls, tokens: Iterable[str]) -> "Vocabulary":
        checks.several("tokens", tokens, Iterable, "strings in the order of their ids")
        vocabulary = super().__new__(cls, tokens)
        if odd := [token for token in vocabulary if not isinstance(token, str) or not token]:
            raise ValueError(f"tokens must be strings of at least one character, got {odd[0]!r}")
        if len(vocabulary.ids) < len(vocabulary):
            twice = next(token for i, token in enumerate(vocabulary) if token in vocabulary[:i])
            raise ValueError(f"tokens of a vocabulary must be listed once each, got {twice!r} twice")
        if not len(vocabulary.ordinary_ids):
            raise ValueError(f"tokens of a vocabulary must not all be special, got {list(vocabulary)}")
        return vocabulary

    @classmethod
    def of_size(cls, size: int) -> "Vocabulary":
        """The special tokens and nameless others, `size` in all: for experiments with numbers alone."""
        checks.integer("size", size, len(SPECIAL_TOKENS) + 1)
        return cls([*SPECIAL_TOKENS, *(f"w{i}" for i in range(len(SPECIAL_TOKENS), size))])

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each token."""
        return {token: i for i, token in enumerate(self)}

    def id_of(self, token: str) -> int:
        if checks.instance("token", token, str) not in self.ids:
            raise KeyError(f"token {token!r} is not in the vocabulary of {len(self)} tokens")
        return self.ids[token]

    @cached_property
    def special_tokens(self) -> tuple[str, ...]:
        """[PAD], [UNK], [CLS], [SEP], [MASK], or how RoBERTa writes them."""
        return special_tokens_of(self.ids)

    @property
    def pad_id(self) -> int:
        return self.id_of(self.special_tokens[PAD])

    @property
    def unk_id(self) -> int:
        return self.id_of(self.special_tokens[UNK])

    @property
    def cls_id(self) -> int:
        return self.id_of(self.special_tokens[CLS])

    @property
    def sep_id(self) -> int:
        return self.id_of(self.special_tokens[SEP])

    @property
    def mask_id(self) -> int:
        return self.id_of(self.special_tokens[MASK])

    @cached_property
    def special_ids(self) -> tuple[int, ...]:
        """The ids of the special tokens, in the order of `special_tokens`."""
        return tuple(self.ids[token] for token in self.special_tokens if token in self.ids)

    @cached_property
    def is_special(self) -> Tensor:
        """(V,) True at the special tokens."""
        return torch.tensor([token in self.special_tokens for token in self], dtype=torch.bool)

    @cached_property
    def continues(self) -> Tensor:
        """(V,) True at the pieces that continue a word."""
        return torch.tensor([token.startswith(CONTINUES) for token in self], dtype=torch.bool)

    @cached_property
    def ordinary_ids(self) -> Tensor:
        """The ids of the others: what may be hidden, and what a random replacement is drawn from."""
        return (~self.is_special).nonzero().squeeze(-1)

    def is_ordinary(self, ids: Tensor) -> Tensor:
        """True where `ids` (..., N) holds a token that is not special."""
        checks.ids("ids", ids, len(self))
        return ~self.is_special[ids.long()]

    def word_ids(self, ids: Tensor) -> Tensor:
        """The number of the word that each piece of `ids` (..., N) belongs to, counted along each row."""
        checks.ids("ids", ids, len(self))
        return (~self.continues[ids.long()]).cumsum(-1)

    # Framing and padding

    def frame(self, first: Sequence[int], second: Sequence[int] | None = None) -> list[int]:
        """[CLS] first [SEP], or [CLS] first [SEP] second [SEP]."""
        row = [self.cls_id, *first, self.sep_id]
        return row if second is None else [*row, *second, self.sep_id]

    def frame_rows(self, words: Tensor) -> Tensor:
        """[CLS] w_1 ... w_n [SEP] [PAD]..., (B, N + 2), from padded rows of words (B, N)."""
        rows, lengths = len(words), (words != self.pad_id).sum(1)
        first, last = words.new_full((rows, 1), self.cls_id), words.new_full((rows, 1), self.pad_id)
        framed = torch.cat([first, words, last], 1)
        framed[torch.arange(rows), lengths + 1] = self.sep_id
        return framed

    def pad(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Rows of different lengths as one tensor (B, N), and where its real tokens are (B, N)."""
        ids = pad([torch.tensor(row) for row in rows], self.pad_id)
        lengths = torch.tensor([len(row) for row in rows])
        return ids, torch.arange(ids.shape[1]) < lengths[:, None]

    def trim(self, rows: Tensor) -> Tensor:
        """Rows (B, N) without the columns that are padding in all of them."""
        return rows[:, : int((rows != self.pad_id).sum(1).max())]


def segments(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """0 for [CLS] first [SEP], 1 for second [SEP]."""
    return [0] * (len(first) + 2) + [1] * (len(second) + 1)


def pad(rows: Sequence[Tensor], value: int) -> Tensor:
    """Vectors of different lengths as rows of one tensor, filled up with `value` on the right."""
    return pad_sequence(list(rows), batch_first=True, padding_value=value)
