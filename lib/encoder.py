"""The Transformer encoder, from configuration to hidden states, in the order in which the data flows.

    ids (B, N) -> Embeddings -> Block x L -> hidden (B, N, d) -> Pooler -> (B, d)

One argument, `causal`, turns the bidirectional encoder of BERT into the left-to-right decoder of GPT: the
weights, their number and every other line stay the same. `Trace` collects scores, attention maps and hidden
states when asked; without it nothing of the kind is computed. Letters are those of the papers: B sentences,
N tokens, d the width of the model, h heads of d_k = d / h numbers, L blocks, V entries in the vocabulary.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lib import checks
from lib.attention import MultiHeadAttention, Trace
from lib.dropout import Dropout

ACTIVATIONS = {
    "gelu": nn.GELU(),
    "gelu_tanh": nn.GELU(approximate="tanh"),  # what GPT-1 computes: a cheaper curve, 5e-4 away at most
    "relu": nn.ReLU(),
}
FOUR_D: Any = None  # stands for 4 d, as in every published model of the course, until d is known


@dataclass(frozen=True)
class Config:
    """Everything that decides the shape of a model. `replace(config, causal=True)` makes a variant."""

    vocab_size: int
    d: int = 768
    layers: int = 12
    heads: int = 12
    d_ff: int = FOUR_D
    positions: int = 512  # rows of the position table
    segments: int = 2  # rows of the segment table; 0: the model has none
    causal: bool = False
    pre_norm: bool = False
    embedding_norm: bool = True
    pooler: bool = True
    activation: str = "gelu"
    dropout: float = 0.1
    norm_eps: float = 1e-12
    pad_id: int | None = 0
    count_real_positions: bool = False  # RoBERTa: padding takes row pad_id, real tokens the rows after it

    def __post_init__(self) -> None:
        if self.d_ff is FOUR_D and isinstance(self.d, int):
            object.__setattr__(self, "d_ff", 4 * self.d)
        _check_config(self)

    @property
    def first_position(self) -> int:
        """Row of the position table that the first token takes."""
        return self.pad_id + 1 if self.count_real_positions and self.pad_id is not None else 0

    @property
    def max_length(self) -> int:
        """The longest sequence, in tokens."""
        return self.positions - self.first_position


class Embeddings(nn.Module):
    """Which token, in which segment, at which position: three tables, one sum."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.d, padding_idx=config.pad_id)
        self.segment = nn.Embedding(config.segments, config.d) if config.segments else None
        self.position = nn.Embedding(config.positions, config.d)
        self.norm = nn.LayerNorm(config.d, config.norm_eps) if config.embedding_norm else nn.Identity()
        self.dropout = Dropout(config.dropout)

    def forward(self, ids: Tensor, segments: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        return self.place(self.token(ids), segments, self.count(ids) if positions is None else positions)

    def place(self, x: Tensor, segments: Tensor | None, positions: Tensor) -> Tensor:
        """Token vectors (B, N, d) with segment and position added, normalised."""
        if self.segment is not None:
            x = x + (self.segment.weight[0] if segments is None else self.segment(segments))
        x = x + self.position(positions + self.config.first_position)
        return self.dropout(self.norm(x))

    def count(self, ids: Tensor) -> Tensor:
        """0, 1, 2, ... along each sentence; RoBERTa counts the real tokens only and puts padding at -1."""
        if not self.config.count_real_positions:
            return torch.arange(ids.shape[1], device=ids.device)[None]  # (1, N), the same for all
        real = ids != self.config.pad_id
        return real.cumsum(1) * real - 1  # (B, N)


class FeedForward(nn.Module):
    """W_2 f(W_1 x + b_1) + b_2, at each position by itself."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.W_1 = nn.Linear(config.d, config.d_ff)
        self.f = ACTIVATIONS[config.activation]
        self.W_2 = nn.Linear(config.d_ff, config.d)

    def forward(self, x: Tensor) -> Tensor:
        return self.W_2(self.f(self.W_1(x)))  # (..., d) -> (..., d_ff) -> (..., d)


class Block(nn.Module):
    """Attention, then feed-forward, each added to what came in (residual) and normalised.

    BERT and GPT-1 normalise after the sum (post-norm). `pre_norm` normalises what enters each part instead:
    the sum then runs through the network untouched, so deep stacks train without a warm-up (Xiong 2020).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.pre_norm = config.pre_norm
        self.attention = MultiHeadAttention(config.d, config.heads, config.dropout)
        self.norm_1 = nn.LayerNorm(config.d, config.norm_eps)
        self.feed_forward = FeedForward(config)
        self.norm_2 = nn.LayerNorm(config.d, config.norm_eps)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, causal: bool = False, trace: Trace | None = None
    ) -> Tensor:
        return self.finish(x, self.attention(self.prepare(x), mask, causal, trace))

    def prepare(self, x: Tensor) -> Tensor:
        """What the attention reads."""
        return self.norm_1(x) if self.pre_norm else x

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """All that follows the attention: it works position by position, on any subset of them."""
        x = x + self.dropout(attended)
        if self.pre_norm:
            return x + self.dropout(self.feed_forward(self.norm_2(x)))
        x = self.norm_1(x)
        return self.norm_2(x + self.dropout(self.feed_forward(x)))


class Pooler(nn.Module):
    """One vector for the sentence: tanh(W h + b) of the first token, [CLS]."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.W = nn.Linear(config.d, config.d)

    def forward(self, hidden: Tensor) -> Tensor:
        checks.vectors("hidden", hidden, "(B, N, d)", self.W)
        if hidden.shape[1] == 0:
            raise ValueError("hidden must hold at least one token, [CLS], to pool; got 0 tokens")
        return checks.finite(torch.tanh(self.W(hidden[:, 0])), "pooled vectors")  # (B, N, d) -> (B, d)


class Encoder(nn.Module):
    """Embeddings and L blocks; `pooler` is kept apart, since only some heads read it."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = checks.instance("config", config, Config, 'use preset("bert-base"), for instance')
        self.embeddings = Embeddings(config)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        # With pre-norm nothing has normalised the last sum yet.
        self.norm = nn.LayerNorm(config.d, config.norm_eps) if config.pre_norm else nn.Identity()
        self.pooler = Pooler(config) if config.pooler else None
        self.apply(initialise)

    def forward(
        self,
        ids: Tensor,
        mask: Tensor | None = None,
        segments: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        causal: bool | None = None,
        trace: Trace | None = None,
    ) -> Tensor:
        """Hidden states (B, N, d).

        `mask` is boolean, True where attention is allowed: (B, N) marks the real tokens of each sentence,
        (B, N, N) decides for every pair (query, key). `causal` overrides the configuration for this call.
        """
        mask = check_inputs(self, ids, mask, segments, positions, trace)
        causal = self.config.causal if causal is None else checks.flag("causal", causal)
        x = self.embeddings(ids, segments, positions)
        if trace is not None:
            trace.hidden.append(x)
        for block in self.blocks:
            x = block(x, mask, causal, trace)
            if trace is not None:
                trace.hidden.append(x)
        return checks.finite(self.norm(x), "hidden states")


def initialise(module: nn.Module) -> None:
    """BERT's start: normal weights of standard deviation 0.02, zero biases, a zero row for padding."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
    if isinstance(module, nn.Embedding) and module.padding_idx is not None:
        nn.init.zeros_(module.weight.data[module.padding_idx])


def check_inputs(
    encoder: Encoder,
    ids: Tensor,
    mask: Tensor | None = None,
    segments: Tensor | None = None,
    positions: Tensor | None = None,
    trace: Trace | None = None,
) -> Tensor | None:
    """Refuse what cannot be encoded, and return the mask as (B, 1, N or 1, N), ready for every head."""
    config = encoder.config
    for name, value in {"mask": mask, "segments": segments, "positions": positions}.items():
        if value is not None:
            checks.tensor(name, value)
    if not isinstance(ids, Tensor):
        told = f"got {type(ids).__name__}: a text is read by lib.use.encode(model, tokenizer, text)"
        raise TypeError(f"ids must be a tensor of shape (B, N), as in torch.tensor([encoding.ids]), {told}")
    if ids.dim() != 2:
        raise ValueError(f"ids must have shape (B, N), one row per sentence, got {tuple(ids.shape)}")
    if positions is None and ids.shape[1] > config.max_length:
        raise ValueError(
            f"ids has {ids.shape[1]} tokens a sentence, but the model has positions for {config.max_length}: "
            f"shorten the text, or build it with positions={ids.shape[1] + config.first_position}"
        )
    _require_ids("ids", ids, ids.shape, config.vocab_size, "vocab_size")
    if segments is not None and not config.segments:
        raise ValueError("segments must be None: this model has no segment embeddings (segments=0)")
    if segments is not None:
        _require_ids("segments", segments, ids.shape, config.segments, "segments")
    if positions is not None:
        _require_ids("positions", positions, ids.shape, config.max_length, "max_length")
    if trace is not None and checks.instance("trace", trace, Trace).hidden:
        raise ValueError("trace holds a run already: pass a new Trace() to each call")
    if trace is not None and encoder.training and config.dropout:
        raise ValueError("trace needs encoder.eval(): with dropout the maps are not those of the formula")
    return None if mask is None else _for_every_head(mask, *ids.shape)


def _for_every_head(mask: Tensor, b: int, n: int) -> Tensor | None:
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean, True where allowed, got {mask.dtype}: use .bool()")
    if mask.dim() == 2 and mask.shape == (b, n):
        mask = mask[:, None, :]  # (B, 1, N)
    elif mask.dim() != 3 or mask.shape[0] not in (1, b) or mask.shape[1] not in (1, n) or mask.shape[2] != n:
        raise ValueError(
            f"mask must have shape (B, N) = {(b, n)}, the real tokens, or (B, N, N) = {(b, n, n)}, "
            f"the allowed pairs; got {tuple(mask.shape)}"
        )
    # Attention without a mask is the faster call, and a mask that hides nothing is no mask.
    return None if mask.all() else mask[:, None]  # (B, 1, N or 1, N)


def _require_ids(name: str, ids: Tensor, shape: torch.Size, size: int, size_name: str) -> None:
    if ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be integers (torch.long), got {ids.dtype}")
    if ids.shape != shape:
        raise ValueError(f"{name} must have the shape of ids, {tuple(shape)}, got {tuple(ids.shape)}")
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < size:
        got = f"values from {int(ids.min())} to {int(ids.max())}"
        raise ValueError(f"{name} must lie between 0 and {size - 1} ({size_name}={size}), got {got}")


def _check_config(config: Config) -> None:
    for name in ("causal", "pre_norm", "embedding_norm", "pooler", "count_real_positions"):
        checks.flag(name, getattr(config, name))
    for name in ("vocab_size", "d", "layers", "heads", "d_ff", "positions", "segments"):
        checks.integer(name, getattr(config, name), least=0 if name == "segments" else 1)
    if config.d % config.heads:
        raise ValueError(
            f"d must be divisible by heads, so that every head gets d / heads numbers; got d={config.d} "
            f"and heads={config.heads}: change one, for instance heads={math.gcd(config.d, config.heads)}"
        )
    checks.one_of("activation", config.activation, ACTIVATIONS)
    checks.number("dropout", config.dropout, 0, below=1)
    checks.number("norm_eps", config.norm_eps, above=0, below=1)
    if config.pad_id is not None and checks.integer("pad_id", config.pad_id, 0) >= config.vocab_size:
        raise ValueError(f"pad_id must be an id below vocab_size={config.vocab_size}, got {config.pad_id!r}")
    if config.count_real_positions and config.pad_id is None:
        raise ValueError("count_real_positions needs a pad_id to tell real tokens from padding; got None")
    if config.max_length < 1:
        raise ValueError(f"positions must exceed {config.first_position}, got {config.positions}")
