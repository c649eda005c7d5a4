"""Causal attention written out against the fused kernel, and generation with a cache against without."""

from argparse import Namespace
from dataclasses import asdict

import torch

from benchmarks.figures import ratio, table
from benchmarks.measure import interleaved, peak_memory_mb
from lib.attention import attention, causal_mask, fused_attention
from lib.encoder import Config
from lib.generation import generate
from lib.heads import CausalLM

HEADS, D_K = 8, 64
WRITTEN_OUT, FUSED = "written out", "fused"
RECOMPUTED, CACHED = "recomputed", "cached"


def measure_attention(options: Namespace) -> dict:
    """softmax(Q K^T + M) V, which builds the N x N matrix, against the kernel that never does."""
    runs = []
    for n in (64,) if options.quick else (512, 1024, 2048, 4096):
        q, k, v = torch.randn(3, 1, HEADS, n, D_K, generator=torch.Generator().manual_seed(n))
        mask = causal_mask(n)
        torch.testing.assert_close(fused_attention(q, k, v, causal=True), attention(q, k, v, mask)[0])
        ways = {
            WRITTEN_OUT: lambda _, a=(q, k, v, mask): attention(*a),
            FUSED: lambda _, a=(q, k, v): fused_attention(*a, causal=True),
        }
        seconds = interleaved(ways, options.rounds)
        memory = {name: peak_memory_mb(_once, n, name) for name in (WRITTEN_OUT, FUSED)}
        runs.append({"n": n, "seed": n, "seconds": seconds, "memory": memory})
    return {"heads": HEADS, "d_k": D_K, "runs": runs}


def _once(n: int, name: str):
    q, k, v = torch.randn(3, 1, HEADS, n, D_K)
    fused_attention(q[:, :, :1], k[:, :, :1], v[:, :, :1], causal=True)  # load the kernels
    attention(q[:, :, :1], k[:, :, :1], v[:, :, :1])
    if name == FUSED:
        return lambda: fused_attention(q, k, v, causal=True)
    return lambda: attention(q, k, v, causal_mask(n))


def show_attention(values: dict) -> str:
    rows = []
    for run in values["runs"]:
        gain = ratio(run["seconds"][WRITTEN_OUT], run["seconds"][FUSED])
        memory = [f"{run['memory'][name]:,.1f}" for name in (WRITTEN_OUT, FUSED)]
        rows.append([str(run["n"]), str(gain), *memory])
    title = f"## Causal attention, {values['heads']} heads, d_k={values['d_k']}\n\n"
    return title + table(["N", "fused: times as fast", "written out, MB", "fused, MB"], rows)


def attention_bars(values: dict) -> dict[str, float]:
    return {
        f"causal attention, N={run['n']}": ratio(run["seconds"][WRITTEN_OUT], run["seconds"][FUSED]).median
        for run in values["runs"]
    }


def measure_generation(options: Namespace) -> dict:
    """The same tokens, with and without the keys and values of the past at hand."""
    torch.manual_seed(0)
    config = Config(8_000, d=256, layers=4, heads=4, segments=0, pad_id=None, causal=True, pooler=False)
    model, prompt = CausalLM(config).eval(), torch.ones(1, 1, dtype=torch.long)
    runs = []
    for n in (8,) if options.quick else (64, 128, 256, 511):
        if not torch.equal(generate(model, prompt, n), generate(model, prompt, n, cached=False)):
            raise ValueError(f"with and without the cache, {n} tokens differ")
        ways = {
            RECOMPUTED: lambda _, n=n: generate(model, prompt, n, cached=False),
            CACHED: lambda _, n=n: generate(model, prompt, n),
        }
        runs.append({"tokens": n, "seconds": interleaved(ways, min(options.rounds, 5))})
    return {"config": asdict(config), "seed": 0, "runs": runs}


def show_generation(values: dict) -> str:
    config = values["config"]
    rows = [
        [str(run["tokens"]), str(ratio(run["seconds"][RECOMPUTED], run["seconds"][CACHED]))]
        for run in values["runs"]
    ]
    size = f"d={config['d']} L={config['layers']} V={config['vocab_size']}"
    title = f"## Generation, {size}, one sentence, greedy\n\n"
    return title + table(["new tokens", "with the cache: times as fast"], rows)


def generation_bars(values: dict) -> dict[str, float]:
    return {
        f"KV cache, {run['tokens']} tokens": ratio(run["seconds"][RECOMPUTED], run["seconds"][CACHED]).median
        for run in values["runs"]
    }
