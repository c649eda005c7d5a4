"""The same numbers for less work: what an encoder need not compute, and this module does not.

A masked language model is graded at the 15% of positions that were selected, and at no other. So:

1. **Logits only where there is a label.** The unembedding costs d V products a token, more than a whole
   block of BERT-base (12 d^2) once V > 12 d. The loss never reads the other 85% of it.
2. **The last block only where there is a label.** Its keys and values are needed everywhere, because the
   selected positions attend to all; its queries, output and feed-forward are not.
3. **No padding.** Sentences are laid end to end in rows, and a mask keeps them from seeing each other.
4. **One gradient for the tied table.** E reads the tokens and scores them, so it has two gradients of V d
   numbers to be added up; but the first is zero except in the rows that were read (`lib.training.tied`).

None of this is an approximation: loss and gradients are those of `MaskedLM.loss`, and a test holds them
together. With dropout, the same distribution is drawn in another order.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from lib import checks
from lib.attention import causal_mask
from lib.encoder import Block, Encoder, check_inputs
from lib.heads import MaskedLM
from lib.losses import IGNORE_INDEX
from lib.training.tied import TiedTable
from lib.vocabulary import PAD, pad


def fast_mlm_loss(
    model: MaskedLM, ids: Tensor, labels: Tensor, mask: Tensor | None = None, segments: Tensor | None = None
) -> Tensor:
    """`model.loss(ids, labels, mask, segments)`, several times faster."""
    checks.labels_of(ids, labels, model.encoder.config.vocab_size, IGNORE_INDEX)
    selected = labels != IGNORE_INDEX  # (B, N)
    if not selected.any():
        raise ValueError(f"labels select no position: all {labels.numel()} are {IGNORE_INDEX}")
    table = tied_table(model)
    hidden = hidden_at(model.encoder, ids, selected, mask, segments, table=table)  # (M, d)
    total = table.loss(model.head.transform(hidden), model.head.bias, labels[selected])
    return checks.finite(total / len(hidden), "logits")


def tied_table(model: MaskedLM) -> TiedTable:
    """The model's token table, for one step."""
    token = model.encoder.embeddings.token
    return TiedTable(token.weight, token.padding_idx)


def hidden_at(
    encoder: Encoder,
    ids: Tensor,
    selected: Tensor,
    mask: Tensor | None = None,
    segments: Tensor | None = None,
    *,
    packed: bool = True,
    table: TiedTable | None = None,
) -> Tensor:
    """`encoder(ids, mask, segments)[selected]`, (M, d), without computing the rest of the last block.

    `mask` is (B, N) or (B, 1, N), the real tokens; every selected position must be one of them.
    `packed=False` keeps the padding, to measure what packing alone is worth. With a `table`, tokens are read
    from it, and its `loss` must follow.
    """
    allowed = check_inputs(encoder, ids, mask, segments)  # None, or (B, 1, 1, N)
    real = _real_tokens(ids, selected, mask)  # (B, N)
    if not selected.any():
        return encoder.embeddings.token.weight.new_empty(0, encoder.config.d)
    positions, order = encoder.embeddings.count(ids), None
    if packed and allowed is not None:
        source = pack(real)  # (R, T)
        at, hole, sentence = source.clamp(min=0), source < 0, source // ids.shape[1]
        # Holes form a "sentence" of their own, -1: nobody reads them, and no query is left without keys.
        allowed = (sentence[:, :, None] == sentence[:, None, :])[:, None]  # (R, 1, T, T)
        ids, positions = ids.flatten()[at], positions.expand(ids.shape).flatten()[at]
        segments = None if segments is None else segments.flatten()[at]
        selected = selected.flatten()[at] & ~hole
        order = source[selected].argsort()  # back from the order of the rows to that of the batch
    causal, read = encoder.config.causal, table.read if table else encoder.embeddings.token
    x = encoder.embeddings.place(read(ids), segments, positions)  # (R, T, d)
    for block in encoder.blocks[:-1]:
        x = block(x, allowed, causal)
    last = checks.instance("the last block", encoder.blocks[-1], Block)
    hidden = checks.finite(encoder.norm(block_at(last, x, selected, allowed, causal)), "hidden states")
    return hidden if order is None else hidden.index_select(0, order)


def block_at(block: Block, x: Tensor, selected: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """`block(x, mask, causal)[selected]`, (M, d), with queries at the selected positions only."""
    counts = selected.sum(1, keepdim=True)  # (B, 1)
    most = int(counts.max())  # rows with fewer are filled up, and the filling is dropped below
    at = selected.byte().argsort(dim=1, descending=True, stable=True)[:, :most]  # (B, S)
    rows = torch.arange(len(x))[:, None]  # (B, 1)
    if causal:
        lower = causal_mask(x.shape[1])[None, None]  # (1, 1, N, N)
        mask = lower if mask is None else mask & lower
    if mask is not None:
        mask = mask.expand(len(x), 1, x.shape[1], -1)[rows, :, at].transpose(1, 2)  # (B, 1, S, N)
    z = block.prepare(x)  # (B, N, d)
    queries = rows_at(z, rows * x.shape[1] + at).view(*at.shape, -1)  # (B, S, d)
    attended = block.attention(z, mask, queries=queries)  # (B, S, d)
    places, filled = selected.flatten().nonzero(), (torch.arange(most) < counts).flatten().nonzero()
    return block.finish(rows_at(x, places), rows_at(attended, filled))  # (M, d)


def rows_at(x: Tensor, places: Tensor) -> Tensor:
    """Rows of x (B, N, d) by their places in the flattened batch, (M, d).

    The same as an index in brackets, but the gradient of `index_select` takes a twentieth of the time.
    """
    return x.flatten(0, 1).index_select(0, places.flatten())


SHORT = 64  # a row this long still spends most of its time outside the attention


def pack(real: Tensor) -> Tensor:
    """Lay the real tokens of a batch (B, N) end to end in rows, with as few holes as can be had cheaply.

    The result (R, T) says which position of the flattened batch stands at each place, -1 in the holes.
    Rows may be up to a quarter longer than the longest sentence, where that leaves fewer holes. Of short
    sentences they may hold several: a token then attends to more others, which costs little beside 12 d^2.
    """
    lengths = real.sum(1).tolist()
    longest, tokens = max(lengths), sum(lengths)
    # (size of the rows, their width, how many, where each sentence starts)
    best: tuple[float, int, int, list[int]] = (math.inf, 0, 0, [])
    several = [longest * k for k in (4, 3, 2) if longest * k <= SHORT]
    enough = 1.06 if several else 1.02  # beyond this another try costs more than it saves
    wider = sorted({longest + longest * extra // 32 for extra in range(9)})
    for width in several + wider:
        rows, starts = best_fit(lengths, width)
        if rows * width < best[0]:
            best = rows * width, width, rows, starts
        if best[0] <= enough * tokens:
            break
    _, width, rows, starts = best
    packed = torch.full((rows * width,), -1)
    places = torch.tensor(starts)[:, None] + real.cumsum(1) - 1  # (B, N), of use where real
    packed[places[real]] = torch.arange(real.numel()).view(real.shape)[real]
    return packed.view(rows, width)  # (R, T)


def best_fit(lengths: Sequence[int], width: int) -> tuple[int, list[int]]:
    """How many rows of `width` it takes, and where each sentence starts, counting through all rows.

    Longest first, each sentence goes to the row in which it leaves the least room.
    """
    rows, starts = 0, [0] * len(lengths)
    gaps: list[tuple[int, int]] = []  # (room left, where it starts), sorted
    for b in sorted(range(len(lengths)), key=lambda b: -lengths[b]):
        fits = bisect_left(gaps, (lengths[b], 0))
        if fits == len(gaps):
            gaps.append((width, rows * width))
            rows += 1
        room, starts[b] = gaps.pop(fits)
        insort(gaps, (room - lengths[b], starts[b] + lengths[b]))
    return rows, starts


@torch.no_grad()
def encode_all(encoder: Encoder, sentences: Sequence[Tensor], budget: int = 512) -> list[Tensor]:
    """Hidden states (N_i, d) of many sentences (vectors of ids), in the order given.

    A batch padded to its longest sentence wastes the rest; sentences of like length waste little, and
    as many are taken at a time as fit in `budget` tokens, so that the activations stay in the cache.
    """
    if encoder.training:
        raise ValueError("encoder must be in evaluation mode, without dropout: call encoder.eval() first")
    for i, ids in enumerate(sentences):
        if not isinstance(ids, Tensor) or ids.dim() != 1:
            raise TypeError(f"sentences must hold vectors of ids, one per sentence; number {i} is {ids!r}")
    out: list[Tensor] = [torch.empty(0)] * len(sentences)
    lengths = torch.tensor([len(s) for s in sentences])
    for batch in batches_by_tokens(lengths.tolist(), budget):
        ids = pad([sentences[i] for i in batch], encoder.config.pad_id or PAD)  # (b, n)
        mask = torch.arange(ids.shape[1]) < lengths[batch][:, None]
        hidden = encoder(ids, mask)
        for i, h in zip(batch, hidden, strict=True):
            out[i] = h[: len(sentences[i])]
    return out


def batches_by_tokens(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Groups of sentence numbers, shortest first, whose padded size stays within `budget` tokens.

    A sentence that is longer than the budget goes alone.
    """
    checks.integer("budget", budget, 1)
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and (len(batch) + 1) * lengths[i] > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _real_tokens(ids: Tensor, selected: Tensor, mask: Tensor | None) -> Tensor:
    real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask.reshape(-1, ids.shape[1])
    if mask is not None and real.shape != ids.shape:
        raise ValueError(f"mask must mark the real tokens, (B, N) or (B, 1, N), got {tuple(mask.shape)}")
    checks.tensor("selected", selected, checks.BOOLEAN, ids.shape)
    if (selected & ~real).any():
        raise ValueError("selected must lie on real tokens only; it also marks padding")
    return real  # (B, N)
