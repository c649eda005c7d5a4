"""A task that shows what depth and width buy: follow two links in a row.

A sentence holds a question, "from a?", and n facts, "a leads to b", one for each symbol and in no order. The
answer to one hop is b; to two hops, the symbol to which b leads. Nothing can be memorised: the facts are a
fresh random permutation each time.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from lib import checks
from lib.attention import attention

SYMBOLS, BATCH, HELD_OUT = 6, 64, 4000


def accuracy(*, layers: int, d: int, hops: int = 2, steps: int = 500, seed: int = 0) -> float:
    """Train a bidirectional stack of `layers` layers of width `d`; return the accuracy on fresh sentences."""
    for name, value in {"layers": layers, "d": d, "hops": hops, "steps": steps}.items():
        checks.integer(name, value, 1)
    g = torch.Generator().manual_seed(seed)

    def weights(*shape: int) -> Tensor:
        return torch.randn(shape, generator=g, dtype=torch.float32).mul_(d**-0.5).requires_grad_()

    tables = [weights(SYMBOLS, d) for _ in range(3)]  # question, start of a fact, end of a fact
    stack = [[weights(d, d) for _ in range(4)] for _ in range(layers)]
    out = weights(d, SYMBOLS)
    learnt = [*tables, *(w for layer in stack for w in layer), out]
    optimizer = torch.optim.AdamW(learnt, 0.01, weight_decay=0, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(steps):
        question, facts, answer = sentences(BATCH, hops, g)
        loss = F.cross_entropy(_logits(question, facts, tables, stack, out), answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        question, facts, answer = sentences(HELD_OUT, hops, g)
        found = _logits(question, facts, tables, stack, out).argmax(-1)
    return (found == answer).double().mean().item()


def sentences(n: int, hops: int, g: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Questions (n,), facts (n, SYMBOLS) where facts[:, a] is where a leads, and answers (n,)."""
    facts = torch.rand(n, SYMBOLS, generator=g, dtype=torch.float32).argsort(-1)
    question = torch.randint(SYMBOLS, (n,), generator=g)
    answer = question
    for _ in range(hops):
        answer = facts.gather(1, answer[:, None])[:, 0]
    return question, facts, answer


def _logits(question: Tensor, facts: Tensor, tables: list[Tensor], stack: list, out: Tensor) -> Tensor:
    asks, starts, ends = tables
    # Without positions attention does not see the order, so listing the facts by symbol gives nothing away.
    x = torch.cat([asks[question][:, None], starts + ends[facts]], 1)  # (B, 1 + SYMBOLS, d)
    for w_q, w_k, w_v, w_f in stack:
        x = x + attention(x @ w_q, x @ w_k, x @ w_v)[0]
        x = x + torch.tanh(x @ w_f)
    return x[:, 0] @ out  # (B, SYMBOLS), read at the question
