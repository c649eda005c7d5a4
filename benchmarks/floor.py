"""How close to the exact floor a model comes in three minutes on two cores, and how transformers compares.

`python -m benchmarks.floor` trains a masked and a causal model on the Portuguese grammar, three seeds each,
and prints by how much their held-out loss exceeds what the exact posterior loses on the same predictions.
Then it trains transformers' BertForMaskedLM and ours from the same weights, on the same batches, with the
same optimizer and schedule, a few steps of each in turn, and prints both losses and the ratio of the times.
The result is kept in FLOOR.md, and for the appendix in floor.json.
"""

import argparse
import json
import math
import os
import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import transformers

from benchmarks.measure import ratio, table
from lib.corpus import PORTUGUESE, SPECIALS, ambiguous_words
from lib.corruption import BERT_CHANNEL, Channel
from lib.encoder import Config
from lib.training import GrammarSource, HeldOut, Masked, NextWord, Recipe, Trainer, evaluate, hold_out
from lib.training.descent import adamw
from lib.weights import masked_lm_from

BUDGET = 180  # seconds
MARGIN = 0.97  # of the budget is planned with
REPLAN = 20  # steps after which the clock is read
T_95 = {2: 12.706, 3: 4.303, 5: 2.776}  # Student's t for an interval over so many seeds
BLOCK = 10  # steps of one model before it is the other's turn
EXAMINATION = -2  # seed of the held-out sentences; runs have seeds from 0
EXAMINED = 128  # batches of them: the excess is small beside the chance in which words are asked
RESULTS = Path(__file__).with_name("FLOOR.md")


@dataclass(frozen=True)
class Plan:
    """One model to be trained within the budget, and how near to the floor it must come."""

    name: str
    target: float  # excess over the floor, as a share
    batch: int
    lr: float
    steps: int = 5000  # with a budget, a first guess
    d: int = 64
    layers: int = 2
    heads: int = 4
    d_ff: int | None = None
    pre_norm: bool = False
    beta_2: float = 0.999
    muon: float | None = None
    # Shares of words hidden in the first and in the last step. More of them teach more from each sentence.
    hidden: tuple[float, float] = (0.15, 0.15)
    # What becomes of them. As many random words as kept ones, as in the examination, or the best answer
    # would be another; more of both teach sooner that a word in sight is most often right.
    lessons: Channel = BERT_CHANNEL

    @property
    def config(self) -> Config:
        return Config(
            len(PORTUGUESE),
            d=self.d,
            layers=self.layers,
            heads=self.heads,
            positions=48,
            d_ff=self.d_ff,
            pre_norm=self.pre_norm,
            dropout=0.0,
            causal=self.name == "causal",
            pooler=False,
        )

    @property
    def recipe(self) -> Recipe:
        return Recipe(self.steps, self.lr, beta_2=self.beta_2, muon=self.muon)

    def trainer(self, seed: int) -> Trainer:
        """A trainer with fresh weights that depend on the seed alone."""
        torch.manual_seed(seed)
        first, last = self.hidden
        objective = (
            NextWord(self.config)
            if self.config.causal
            else Masked(self.config, last, self.lessons, early=(first, self.steps))
        )
        return Trainer(objective, GrammarSource(PORTUGUESE, self.batch, seed), self.recipe)

    def examination(self, batches: int) -> HeldOut:
        """Sentences that are never trained on, 15% of their words through 80/10/10, whatever the lessons."""
        objective = NextWord(self.config) if self.config.causal else Masked(self.config)
        return hold_out(objective, GrammarSource(PORTUGUESE, 256, EXAMINATION), batches)


PLANS = (
    Plan(
        "mlm",
        target=0.03,
        batch=512,
        lr=1.5e-2,
        d_ff=128,
        pre_norm=True,
        beta_2=0.98,
        muon=0.05,
        hidden=(0.6, 0.3),
        lessons=Channel(mask=0.6, random=0.2, keep=0.2),
    ),
    Plan("causal", target=0.02, batch=128, lr=4e-3),
)
# transformers normalises after each sum and has one activation between two matrices of 4 d: so does this one.
COMPARED = Plan("mlm", target=0.03, batch=256, lr=1e-3, steps=300, d=128, layers=2, heads=4)


def main() -> None:
    options = parse()
    torch.set_num_threads(options.threads)
    texts = [
        f"{os.cpu_count()} cores, {options.threads} threads; load average {os.getloadavg()[0]:.1f}.\n"
        f"The grammar: {len(PORTUGUESE) - len(SPECIALS)} words, {len(PORTUGUESE.topics)} topics, "
        f"{len(ambiguous_words(PORTUGUESE))} words of more than one sense.\n"
    ]
    results = []
    for plan in PLANS:
        if options.only in (None, plan.name):
            plan = quick(plan) if options.quick else plan
            results.append(near_the_floor(plan, options.seeds, options.quick))
            print(results[-1], flush=True)
    texts.extend(map(str, results))
    if options.only in (None, "transformers"):
        plan = quick(COMPARED) if options.quick else COMPARED
        texts.append(against_transformers(plan, options.seeds))
        print(texts[-1], flush=True)
    if not options.quick and options.only is None:
        RESULTS.write_text("# Results of `python -m benchmarks.floor`\n\n" + "\n".join(texts))
        data = [result.data() for result in results]
        RESULTS.with_name("floor.json").write_text(json.dumps(data, indent=1) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.floor", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that everything runs")
    parser.add_argument("--only", choices=("mlm", "causal", "transformers"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, choices=sorted(T_95), default=3)
    return parser.parse_args()


def quick(plan: Plan) -> Plan:
    return replace(plan, steps=5, batch=8)


def spend(trainer: Trainer, seconds: float) -> None:
    """Train for so long: the number of steps, and with it the schedule, follows the clock.

    A plan made beforehand would trust the machine to stay as fast as it was for a moment.
    """
    start = time.perf_counter()
    while trainer.step < trainer.recipe.steps:
        trainer.advance()
        if trainer.step % REPLAN == 0:
            spent = time.perf_counter() - start
            steps = int(trainer.step * max(1.0, seconds / spent))
            trainer.recipe = replace(trainer.recipe, steps=steps)
            if isinstance(trainer.objective, Masked):  # hides fewer words as it goes
                trainer.objective.early = (trainer.objective.early[0], steps)


@dataclass(frozen=True)
class Result:
    """What the seeds of one plan gave."""

    plan: Plan
    losses: list[float]
    floor: float
    seconds: list[float]
    steps: list[int]

    @property
    def excesses(self) -> list[float]:
        return [loss / self.floor - 1 for loss in self.losses]

    @property
    def mean(self) -> float:
        return statistics.mean(self.excesses)

    @property
    def half(self) -> float:
        """Half of the 95% interval over seeds."""
        n = len(self.losses)
        return T_95[n] * statistics.stdev(self.excesses) / math.sqrt(n)

    def data(self) -> dict:
        return {
            "exercise": self.plan.name,
            "excess": self.mean,
            "half": self.half,
            "seconds": max(self.seconds),
            "target": self.plan.target,
        }

    def __str__(self) -> str:
        plan = self.plan
        rows = [
            [str(seed), f"{loss:.4f}", f"{self.floor:.4f}", f"{excess:.2%}", str(steps), f"{spent:.0f}"]
            for seed, (loss, excess, steps, spent) in enumerate(
                zip(self.losses, self.excesses, self.steps, self.seconds, strict=True)
            )
        ]
        met = "met" if self.mean <= plan.target else "MISSED"
        in_time = "yes" if max(self.seconds) <= BUDGET else "NO"
        return (
            f"## {plan.name}: d={plan.d}, {plan.layers} blocks, steps of {plan.batch} sentences\n\n"
            + table(["seed", "held-out loss", "exact floor", "excess", "steps", "seconds"], rows)
            + f"\n- excess over the floor: {self.mean:.2%} ± {self.half:.2%} (95%, {len(rows)} seeds); "
            + f"target {plan.target:.0%}: {met}\n- within {BUDGET} s: {in_time}\n"
        )


def near_the_floor(plan: Plan, seeds: int, quick: bool) -> Result:
    """Train with every seed, and measure the held-out loss beside its floor, and the time taken."""
    held_out = plan.examination(1 if quick else EXAMINED)
    losses, seconds, steps = [], [], []
    for seed in range(seeds):
        trainer = plan.trainer(seed)
        start = time.perf_counter()
        spend(trainer, MARGIN * BUDGET)
        seconds.append(time.perf_counter() - start)
        steps.append(trainer.step)
        losses.append(evaluate(trainer.objective, held_out)[plan.name])
    return Result(plan, losses, held_out.floor, seconds, steps)


class Reference:
    """transformers' BertForMaskedLM as shipped, trained as our `Trainer` trains."""

    def __init__(self, plan: Plan, seed: int):
        torch.manual_seed(seed)
        config = transformers.BertConfig(
            vocab_size=len(PORTUGUESE),
            hidden_size=plan.d,
            num_hidden_layers=plan.layers,
            num_attention_heads=plan.heads,
            intermediate_size=4 * plan.d,
            max_position_embeddings=48,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        self.model = transformers.BertForMaskedLM._from_config(config, attn_implementation="sdpa")
        self.recipe = plan.recipe
        self.optimizer = adamw(self.model, self.recipe)

    def advance(self, step: int, batch) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.rate(step)
        self.optimizer.zero_grad()
        self.model(input_ids=batch.ids, attention_mask=batch.real.long(), labels=batch.labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimizer.step()

    @torch.no_grad()
    def evaluate(self, held_out) -> float:
        self.model.eval()
        total = count = 0.0
        for batch in held_out.batches:
            here = int((batch.labels != -100).sum())
            out = self.model(input_ids=batch.ids, attention_mask=batch.real.long(), labels=batch.labels)
            total, count = total + float(out.loss) * here, count + here
        return total / count


def same_start(plan: Plan, seed: int) -> tuple[Reference, Trainer]:
    """The reference with fresh weights, and our trainer with the same."""
    reference, trainer = Reference(plan, seed), plan.trainer(seed)
    start = masked_lm_from(reference.model.config.to_dict(), reference.model.state_dict())
    trainer.objective.model.load_state_dict(start.state_dict())
    return reference, trainer


def against_transformers(plan: Plan, seeds: int) -> str:
    """The same training twice, a few steps of each in turn: the two losses, and the ratio of the times.

    In turn, so that a slow moment of the machine falls on both. Not step by step: each would find the caches
    filled by the other, which happens to nobody who trains one model.
    """
    rows, ours, theirs, times = [], [], [], {"ours": [], "theirs": []}
    for seed in range(seeds):
        (reference, trainer), held_out = same_start(plan, seed), plan.examination(8)
        for first in range(0, plan.steps, BLOCK):
            steps = range(first, min(first + BLOCK, plan.steps))
            begin = time.perf_counter()
            for _ in steps:
                trainer.advance()
            middle = time.perf_counter()
            for step in steps:
                # The reference pays for drawing the batch too, as a user of it would.
                reference.advance(step, trainer.objective.draw(trainer.source, step))
            times["ours"].append(middle - begin)
            times["theirs"].append(time.perf_counter() - middle)
        ours.append(evaluate(trainer.objective, held_out)["mlm"])
        theirs.append(reference.evaluate(held_out))
        rows.append([str(seed), f"{ours[-1]:.4f}", f"{theirs[-1]:.4f}", f"{ours[-1] - theirs[-1]:+.4f}"])
    noise = statistics.stdev(theirs)
    gap = abs(statistics.mean(ours) - statistics.mean(theirs))
    faster = ratio(times["theirs"], times["ours"])
    return (
        f"## Against BertForMaskedLM as shipped: {plan.steps} steps, same start, batches and schedule\n\n"
        + table(["seed", "our loss", "theirs", "difference"], rows)
        + f"\n- mean difference {gap:.4f}, standard deviation over seeds {noise:.4f}: "
        + f"{'within' if gap <= noise else 'BEYOND'} seed noise\n"
        + f"- times as fast, {BLOCK} steps of each in turn: {faster}; "
        + f"target 2: {'met' if faster.median >= 2 else 'MISSED'}\n"
    )


if __name__ == "__main__":
    main()
