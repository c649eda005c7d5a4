"""Left-to-right generation, and the cache that makes it affordable.

Under a causal mask the past never changes: the keys and values of a token are the same whatever follows
it. So a new token needs one query, one key and one value, and finds those of the past in the cache. A
bidirectional encoder has no such cache: each new token would change every vector before it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from lib import checks
from lib.attention import fused_attention
from lib.encoder import Block, Encoder, check_inputs
from lib.heads import CausalLM
from lib.vocabulary import PAD

COLDEST = 1e-6  # below it, logits over temperature leave float32; 0 asks for the same, the likeliest token


class Cache:
    """Keys and values of every block for the tokens read so far; room for `size` tokens is taken once."""

    def __init__(self, encoder: Encoder, batch: int, size: int) -> None:
        if not checks.instance("encoder", encoder, Encoder).config.causal:
            raise ValueError("encoder must be causal: a past that a new token changes cannot be kept")
        checks.integer("batch", batch, 0)
        checks.integer("size", size, 0)
        config, like = encoder.config, encoder.embeddings.token.weight
        shape = (config.layers, batch, config.heads, size, config.d // config.heads)
        self.k, self.v = like.new_empty(shape), like.new_empty(shape)
        self.length = 0

    @torch.no_grad()
    def read(self, encoder: Encoder, ids: Tensor) -> Tensor:
        """Hidden states of the new tokens `ids` (B, n), which attend to those in the cache and join them."""
        expected = (len(self.k), self.k.shape[1])
        if checks.tensor("ids", ids).dim() != 2 or (len(encoder.blocks), len(ids)) != expected:
            got = f"{len(encoder.blocks)} blocks and ids of shape {tuple(ids.shape)}"
            raise ValueError(f"the cache is for {expected[0]} blocks and {expected[1]} sentences, got {got}")
        old, new = self.length, self.length + ids.shape[1]
        if old and ids.shape[1] != 1:
            raise ValueError(f"ids must be one new token a sentence after the first read, got {ids.shape[1]}")
        if new > self.k.shape[-2]:
            raise ValueError(f"the cache has room for {self.k.shape[-2]} tokens, and this would be {new}")
        positions = torch.arange(old, new).expand(ids.shape)
        check_inputs(encoder, ids, positions=positions)
        x = encoder.embeddings(ids, positions=positions)  # (B, n, d)
        for block, k, v in zip(encoder.blocks, self.k, self.v, strict=True):
            assert isinstance(block, Block)  # nn.ModuleList does not say what it holds
            a, z = block.attention, block.prepare(x)
            k[:, :, old:new], v[:, :, old:new] = a.split(a.W_K(z)), a.split(a.W_V(z))  # (B, h, n, d_k)
            # One new token may see all there is; only the first read needs the triangle.
            heads = fused_attention(a.split(a.W_Q(z)), k[:, :, :new], v[:, :, :new], causal=old == 0)
            x = block.finish(x, a.W_O(a.merge(heads)))
        self.length = new
        return checks.finite(encoder.norm(x), "hidden states")


@torch.no_grad()
def generate(
    model: CausalLM,
    ids: Tensor,
    new: int,
    *,
    cached: bool = True,
    temperature: float = 0.0,
    generator: torch.Generator | None = None,
    never: Sequence[int] = (),
    end: int | None = None,
) -> Tensor:
    """`ids` (B, N) and `new` tokens after them; temperature 0 takes the likeliest token, otherwise it draws.

    No token of `never` is written. After the token `end` a row goes on with [PAD]. `cached=False` computes
    everything again for each token: the same result, for comparison.
    """
    encoder = checks.instance("model", model, CausalLM).encoder
    check_inputs(encoder, ids)
    if ids.shape[1] < 1:
        raise ValueError(f"ids must have shape (B, N) with N >= 1, got {tuple(ids.shape)}")
    longest = encoder.config.max_length
    if (size := ids.shape[1] + checks.integer("new", new, 0) - 1) > longest:  # the last is not read again
        raise ValueError(f"{size + 1} tokens in all, but there are positions for {longest} before the last")
    if checks.number("temperature", temperature, 0):
        checks.generator(generator)
        if temperature < COLDEST:
            raise ValueError(f"temperature must be 0 or at least {COLDEST}, got {temperature}")
    if encoder.training:
        raise ValueError("model must be in evaluation mode to generate: call model.eval() first")
    cache = Cache(encoder, len(ids), max(size, 0))
    for _ in range(new):
        fresh = ids if cache.length == 0 else ids[:, -1:]
        last = (cache.read(encoder, fresh) if cached else encoder(ids))[:, -1]  # (B, d)
        logits = checks.finite(model.logits(last), "logits")  # (B, V)
        logits = logits.index_fill(1, torch.tensor(never, dtype=torch.long), -torch.inf)
        if temperature:
            token = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
        else:
            token = logits.argmax(-1, keepdim=True)
        if end is not None:
            token = token.masked_fill((ids[:, -1:] == end) | (ids[:, -1:] == PAD), PAD)
        ids = torch.cat((ids, token), 1)
    return ids
