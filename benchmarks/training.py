"""One step of MLM training (forward, backward, AdamW) against transformers' BertForMaskedLM as shipped.

Beside it stand what else a user might pick: the same model under torch.compile, and ModernBERT.
"""

import time
from argparse import Namespace
from dataclasses import asdict, dataclass
from functools import partial

import torch
import transformers
from torch import Tensor
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.figures import ratio, table, verdict
from benchmarks.measure import interleaved, peak_memory_mb
from lib.encoder import Config
from lib.heads import MaskedLM
from lib.training.shortcuts import fast_mlm_loss, hidden_at, tied_table

DROPOUT = 0.1


@dataclass(frozen=True)
class Case:
    """A size of model and batch."""

    d: int
    layers: int
    heads: int
    vocab_size: int
    batch: int
    length: int = 128

    def __str__(self) -> str:
        return f"d={self.d} L={self.layers} V={self.vocab_size} b={self.batch}"

    @property
    def config(self) -> Config:
        return Config(
            self.vocab_size, d=self.d, layers=self.layers, heads=self.heads, pooler=False, dropout=DROPOUT
        )


CASES = (Case(128, 2, 2, 8_000, 32), Case(256, 4, 4, 30_522, 16), Case(768, 2, 12, 30_522, 8))
QUICK = (Case(32, 2, 2, 200, 4, length=16),)
# What is asked: against transformers as shipped, the same with half padding, against the control.
TARGETS = dict(zip(CASES, ((3.5, 7.0, 1.3), (2.7, 5.5, 1.1), (2.5, 4.5, 1.2)), strict=True))

REFERENCE = "transformers, as shipped"
COMPILED = "transformers, under torch.compile"
MODERN = "transformers, ModernBERT of as many parameters"
CONTROL = "control: transformers, its head at the selected only"
EQUAL = "control: ours, equal work"
LOGITS = "ours, logits at the selected only"
LAST = "ours, and the last block at the selected only"
TIED = "ours, and one gradient for the tied table"
PACKED = "ours, and packed instead of padded"


def measure(options: Namespace) -> dict:
    """Seconds of every variant in every round, and what else the figures are made of."""
    peak, cases = matmul_peak(options.quick), []
    for case in QUICK if options.quick else CASES:
        steps = [measure_steps(case, padded, options) for padded in (False, True)]
        measured = () if options.quick else (REFERENCE, TIED)
        memory = {name: peak_memory_mb(_two_steps, case, name) for name in measured}
        cases.append({"case": asdict(case), "steps": steps, "memory": memory})
    return {"peak": peak, "cases": cases}


def matmul_peak(quick: bool) -> float:
    """The most multiply-and-add operations a second that a square product reaches here, in FLOP/s."""
    best = 0.0
    for n in (256,) if quick else (1024, 1536, 2048):
        a, b = torch.randn(2, n, n)
        for _ in range(2 if quick else 8):
            start = time.perf_counter()
            torch.matmul(a, b)
            best = max(best, 2 * n**3 / (time.perf_counter() - start))
    return best


def measure_steps(case: Case, padded: bool, options: Namespace) -> dict:
    seeds = range(options.rounds + 1)
    batches = [make_batch(case, padded, seed) for seed in seeds]
    losses = variants(case)
    if not padded:
        del losses[PACKED]
    if not options.quick:  # a compiler takes longer than all the rest
        compiled = reference_model(case.config)
        losses[COMPILED] = compiled, partial(_shipped, torch.compile(compiled))
    steps = {name: Step(model, loss) for name, (model, loss) in losses.items()}
    first = {name: step.first(batches[0]) for name, step in steps.items()}
    flops = {name: step.flops(batches[0]) for name, step in steps.items() if name != COMPILED}
    if COMPILED in steps:
        flops[COMPILED] = flops[REFERENCE]  # the same products; to count them would leave compiled code
    turns = {name: lambda r, step=step: step(*batches[r]) for name, step in steps.items()}
    seconds = interleaved(turns, options.rounds)
    tokens = sum(int(mask.sum()) for *_, mask in batches[1:])
    found = {"first": first, "flops": flops, "seconds": seconds}
    return {"padded": padded, "seeds": list(seeds), "tokens": tokens} | found


class Step:
    """Forward, backward and fused AdamW: the same for every variant."""

    def __init__(self, model: torch.nn.Module, loss) -> None:
        self.loss = loss
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def __call__(self, *batch: Tensor) -> None:
        self.optimizer.zero_grad()
        self.loss(*batch).backward()
        self.optimizer.step()

    def first(self, batch: tuple[Tensor, ...]) -> float:
        """Seconds of the first step, with all that is set up on the way to it."""
        start = time.perf_counter()
        self(*batch)
        return time.perf_counter() - start

    def flops(self, batch: tuple[Tensor, ...]) -> int:
        """Products and sums of the matrix multiplications that a step executes."""
        with FlopCounterMode(display=False) as counter:
            self(*batch)
        return counter.get_total_flops()


def variants(case: Case) -> dict:
    """Name -> (model, loss of (ids, labels, mask)). Each variant trains a model of its own."""
    theirs, control = (reference_model(case.config) for _ in range(2))
    modern = modern_model(case.config)
    plain, logits, last, tied, packed = (MaskedLM(case.config) for _ in range(5))
    return {
        REFERENCE: (theirs, partial(_shipped, theirs)),
        MODERN: (modern, partial(_shipped, modern)),
        CONTROL: (control, partial(_control, control)),
        EQUAL: (plain, plain.loss),
        LOGITS: (logits, partial(_logits_only, logits)),
        LAST: (last, partial(_last_block, last)),
        TIED: (tied, partial(_one_gradient, tied)),
        PACKED: (packed, partial(fast_mlm_loss, packed)),
    }


def reference_model(config: Config) -> transformers.BertForMaskedLM:
    """transformers' model of this size, as shipped."""
    theirs = transformers.BertConfig(
        vocab_size=config.vocab_size,
        hidden_size=config.d,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        intermediate_size=config.d_ff,
        max_position_embeddings=config.positions,
        hidden_dropout_prob=config.dropout,
        attention_probs_dropout_prob=config.dropout,
    )
    return transformers.AutoModelForMaskedLM.from_config(theirs, attn_implementation="sdpa")


def modern_model(config: Config) -> transformers.ModernBertForMaskedLM:
    """transformers' ModernBERT with as many layers, heads and weights in a layer, and the same dropout."""
    theirs = transformers.ModernBertConfig(
        vocab_size=config.vocab_size,
        hidden_size=config.d,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        intermediate_size=2 * config.d_ff // 3,  # its feed-forward has three matrices, ours two
        max_position_embeddings=config.positions,
        embedding_dropout=config.dropout,
        attention_dropout=config.dropout,
        mlp_dropout=config.dropout,
        pad_token_id=config.pad_id,
        **dict.fromkeys(
            ("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id")
        ),  # its own are larger
    )
    return transformers.AutoModelForMaskedLM.from_config(theirs, attn_implementation="sdpa")


def _shipped(model, ids: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    return model(ids, attention_mask=mask.long(), labels=labels).loss


def _control(model, ids: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    hidden, selected = model.bert(ids, attention_mask=mask.long()).last_hidden_state, labels != -100
    return F.cross_entropy(model.cls(hidden[selected]), labels[selected])


def _logits_only(model: MaskedLM, ids: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    return _at_selected(model, model.encoder(ids, mask)[labels != -100], labels)


def _last_block(model: MaskedLM, ids: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    return _at_selected(model, hidden_at(model.encoder, ids, labels != -100, mask, packed=False), labels)


def _one_gradient(model: MaskedLM, ids: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    selected, tied = labels != -100, tied_table(model)
    hidden = hidden_at(model.encoder, ids, selected, mask, packed=False, table=tied)
    return tied.loss(model.head.transform(hidden), model.head.bias, labels[selected]) / len(hidden)


def _at_selected(model: MaskedLM, hidden: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(model.logits(hidden), labels[labels != -100])


def make_batch(case: Case, padded: bool, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random ids, 15% of the real ones labelled; padded: lengths spread evenly from 1 to the longest."""
    g = torch.Generator().manual_seed(seed)
    shape = (case.batch, case.length)
    lengths = (
        torch.linspace(1, case.length, case.batch).round() if padded else torch.full(shape[:1], case.length)
    )
    mask = torch.arange(case.length) < lengths[torch.randperm(case.batch, generator=g)][:, None]
    ids = torch.randint(5, case.vocab_size, shape, generator=g).masked_fill(~mask, 0)
    selected = (torch.rand(shape, generator=g) < 0.15) & mask
    selected[mask.sum(1).argmax(), 0] = True
    return ids, ids.masked_fill(~selected, -100), mask


def _two_steps(case: Case, name: str):
    make, loss = (reference_model, _shipped) if name == REFERENCE else (MaskedLM, _one_gradient)
    model = make(case.config)
    step, batch = Step(model, partial(loss, model)), make_batch(case, False, 0)
    return lambda: (step(*batch), step(*batch))


def show(values: dict) -> str:
    """One table for each case, without padding and with, and the verdicts on it."""
    sections = [f"## Training step\n\nMatrix-multiply peak {values['peak'] / 1e9:.0f} GFLOP/s.\n"]
    for measured in values["cases"]:
        case, memory = Case(**measured["case"]), measured["memory"]
        sections += [show_steps(case, steps, values["peak"]) for steps in measured["steps"]]
        if memory:
            sections.append(
                f"Peak memory of two steps without padding, beyond the loaded model: "
                f"transformers {memory[REFERENCE]:,.0f} MB, ours {memory[TIED]:,.0f} MB\n"
            )
    return "\n".join(sections)


def show_steps(case: Case, steps: dict, peak: float) -> str:
    seconds, tokens, rounds = steps["seconds"], steps["tokens"], len(steps["seconds"][REFERENCE])
    rows = []
    for name, spent in seconds.items():
        gains = [str(ratio(seconds[reference], spent)) for reference in (REFERENCE, CONTROL)]
        share_of_peak = f"{steps['flops'][name] * rounds / sum(spent) / peak:.0%}"
        first = f"{steps['first'][name]:.1f}"
        rows.append([name, *gains, f"{tokens / sum(spent):,.0f}", share_of_peak, first])
    share = 1 - tokens / (rounds * case.batch * case.length)
    title = f"### {case}, sequence {case.length}, {share:.0%} padding\n\n"
    gained, used = ["times as fast as shipped", "as the control"], ["real tokens/s", "of the matmul peak"]
    header = ["variant", *gained, *used, "first step, s"]
    return title + table(header, rows) + show_verdicts(case, steps)


def show_verdicts(case: Case, steps: dict) -> str:
    if case not in TARGETS:
        return ""
    shipped, padded, control = TARGETS[case]
    asked = {REFERENCE: ("transformers as shipped", padded if steps["padded"] else shipped)}
    if not steps["padded"]:  # the control is held to its target where both sides have the same tokens to read
        asked[CONTROL] = ("the control", control)
    text = "\n"
    for reference, (name, target) in asked.items():
        median = gain(steps, reference)
        text += f"- against {name}: {median:.2f}, target {target}: {verdict(median >= target)}\n"
    return text


def gain(steps: dict, reference: str = REFERENCE) -> float:
    """How many times as fast as a reference our fastest variant is."""
    fastest = PACKED if steps["padded"] else TIED
    return ratio(steps["seconds"][reference], steps["seconds"][fastest]).median


def bars(values: dict) -> dict[str, float]:
    return {
        f"{Case(**measured['case'])}, {'half padding' if steps['padded'] else 'no padding'}": gain(steps)
        for measured in values["cases"]
        for steps in measured["steps"]
    }
