"""How many parameters a model has, part by part, from its configuration alone.

The closed forms are what a reader derives with pencil and paper; the tests hold them equal to the sum over
the real modules. Llama 3 is here only to be counted: its blocks differ (grouped queries, a gated
feed-forward, RMSNorm, no biases, an unembedding of its own), so it has a configuration of its own.
"""

from dataclasses import dataclass, fields, replace
from typing import Self

from torch import nn

from lib import checks
from lib.encoder import Config


@dataclass(frozen=True)
class Count:
    """Parameters per part. `a - b` says in which part two models differ."""

    token_embeddings: int = 0
    position_embeddings: int = 0
    segment_embeddings: int = 0
    attention: int = 0
    feed_forward: int = 0
    norms: int = 0
    pooler: int = 0
    head: int = 0

    @property
    def embeddings(self) -> int:
        return self.token_embeddings + self.position_embeddings + self.segment_embeddings

    @property
    def total(self) -> int:
        return sum(self.parts().values())

    def parts(self) -> dict[str, int]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __sub__(self, other: Self) -> Self:
        theirs = other.parts()
        return type(self)(**{name: n - theirs[name] for name, n in self.parts().items()})


def count(model: Config | nn.Module, *, mlm_head: bool = False) -> Count:
    """Parameters of a model, part by part; of a configuration, those of `Encoder(config)`, with those that
    the MLM head adds if `mlm_head`.

    The head's unembedding is the token table again (tied), so it is not counted twice. Nothing here reads
    `config.causal`: hiding the future adds and removes no parameter.
    """
    config = getattr(getattr(model, "encoder", model), "config", model)
    config = checks.instance("model", config, Config, 'a model, or preset("bert-base"), for instance')
    parts = count_encoder(config, checks.flag("mlm_head", mlm_head))
    if not isinstance(model, nn.Module):
        return parts
    everything = sum(p.numel() for p in model.parameters())
    return replace(parts, head=everything - count_encoder(config, False).total)


def count_encoder(config: Config, mlm_head: bool) -> Count:
    d, d_ff, layers = config.d, config.d_ff, config.layers
    norm = 2 * d  # a gain and a bias per number
    norms = 2 * layers + config.embedding_norm + config.pre_norm
    return Count(
        token_embeddings=config.vocab_size * d,
        position_embeddings=config.positions * d,
        segment_embeddings=config.segments * d,
        attention=layers * 4 * (d * d + d),  # W_Q, W_K, W_V, W_O and their biases
        feed_forward=layers * (d * d_ff + d_ff + d_ff * d + d),
        norms=norms * norm,
        pooler=(d * d + d) * config.pooler,
        head=(d * d + d + norm + config.vocab_size) * mlm_head,  # transform, its norm, a bias per entry
    )


@dataclass(frozen=True)
class LlamaConfig:
    """The sizes that decide the parameters of a Llama 3 model (Grattafiori 2024, table 3)."""

    d: int
    layers: int
    heads: int
    d_ff: int
    kv_heads: int = 8
    vocab_size: int = 128_256

    def __post_init__(self) -> None:
        for part in fields(self):
            checks.integer(part.name, getattr(self, part.name), 1)
        if self.d % self.heads or self.heads % self.kv_heads:
            got = f"d={self.d}, heads={self.heads}, kv_heads={self.kv_heads}"
            raise ValueError(f"d must be divisible by heads and heads by kv_heads, got {got}")


LLAMA_3 = {
    "llama-3-8b": LlamaConfig(d=4_096, layers=32, heads=32, d_ff=14_336),
    "llama-3-70b": LlamaConfig(d=8_192, layers=80, heads=64, d_ff=28_672),
    "llama-3-405b": LlamaConfig(d=16_384, layers=126, heads=128, d_ff=53_248),
}


def count_llama(config: LlamaConfig) -> Count:
    """Parameters of a Llama 3 model. Positions are rotations of Q and K: they have no table."""
    checks.instance("config", config, LlamaConfig)
    d, d_k = config.d, config.d // config.heads
    return Count(
        token_embeddings=config.vocab_size * d,
        attention=config.layers * (2 * d * d + 2 * d * config.kv_heads * d_k),  # W_Q, W_O; W_K, W_V shared
        feed_forward=config.layers * 3 * d * config.d_ff,  # gate, up and down
        norms=(2 * config.layers + 1) * d,  # RMSNorm has a gain and no bias
        head=config.vocab_size * d,  # not tied to the token table
    )
