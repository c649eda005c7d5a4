"""Causal attention written out against the fused kernel, and generation with a cache against without."""

import torch

from benchmarks.measure import interleaved, peak_memory_mb, ratio, table
from lib.attention import attention, causal_mask, fast_attention
from lib.encoder import Config
from lib.generation import generate
from lib.heads import CausalLM

HEADS, D_K = 8, 64


def run_attention(quick: bool, rounds: int) -> tuple[str, dict[str, float]]:
    """softmax(Q K^T + M) V, which builds the N x N matrix, against the kernel that never does."""
    rows, bars = [], {}
    for n in (64,) if quick else (512, 1024, 2048, 4096):
        q, k, v = torch.randn(3, 1, HEADS, n, D_K, generator=torch.Generator().manual_seed(n))
        mask = causal_mask(n)
        torch.testing.assert_close(fast_attention(q, k, v, causal=True), attention(q, k, v, mask)[0])
        seconds = interleaved(
            {
                "written out": lambda _, a=(q, k, v, mask): attention(*a),
                "fused": lambda _, a=(q, k, v): fast_attention(*a, causal=True),
            },
            rounds,
        )
        faster = ratio(seconds["written out"], seconds["fused"])
        memory = [f"{peak_memory_mb(_once, n, fused):,.1f}" for fused in (False, True)]
        rows.append([str(n), str(faster), *memory])
        bars[f"causal attention, N={n}"] = faster.median
    title = f"### Causal attention, {HEADS} heads, d_k={D_K}\n\n"
    return title + table(["N", "fused: times as fast", "written out, MB", "fused, MB"], rows), bars


def _once(n: int, fused: bool):
    q, k, v = torch.randn(3, 1, HEADS, n, D_K)
    fast_attention(q[:, :, :1], k[:, :, :1], v[:, :, :1], causal=True)  # load the kernels
    attention(q[:, :, :1], k[:, :, :1], v[:, :, :1])
    return (
        (lambda: fast_attention(q, k, v, causal=True))
        if fused
        else lambda: attention(q, k, v, causal_mask(n))
    )


def run_generation(quick: bool, rounds: int) -> tuple[str, dict[str, float]]:
    """The same tokens, with and without the keys and values of the past at hand."""
    torch.manual_seed(0)
    config = Config(8_000, d=256, layers=4, heads=4, segments=0, pad_id=None, causal=True, pooler=False)
    model, prompt = CausalLM(config).eval(), torch.ones(1, 1, dtype=torch.long)
    rows, bars = [], {}
    for n in (8,) if quick else (64, 128, 256, 511):
        if not torch.equal(generate(model, prompt, n), generate(model, prompt, n, cached=False)):
            raise ValueError(f"with and without the cache, {n} tokens differ")
        seconds = interleaved(
            {
                "recomputed": lambda _, n=n: generate(model, prompt, n, cached=False),
                "cached": lambda _, n=n: generate(model, prompt, n),
            },
            rounds,
        )
        faster = ratio(seconds["recomputed"], seconds["cached"])
        rows.append([str(n), str(faster)])
        bars[f"KV cache, {n} tokens"] = faster.median
    title = "### Generation, d=256 L=4 V=8000, one sentence, greedy\n\n"
    return title + table(["new tokens", "with the cache: times as fast"], rows), bars
