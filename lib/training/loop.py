"""The training loop: AdamW with warm-up and decay, clipping, evaluation, a log, a bar, checkpoints.

A `Trainer` holds what changes while training and makes one step at a time; `train` drives it, tells how it
goes, and saves. The learning rate is a function of the step, as the data are, so nothing else needs saving.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from lib import checks
from lib.files import write_atomically
from lib.progress import bar
from lib.training.checkpoint import Checkpoints
from lib.training.data import Batch, Source, seed_dropout
from lib.training.objectives import FLOOR_ROWS, Objective
from lib.training.optimizers import MOMENTS, Recipe, optimizers
from lib.training.processes import ALONE, World


@dataclass(frozen=True)
class StepResult:
    """What one step gave: the mean loss of each term over the whole batch, and the tokens it read."""

    losses: dict[str, float]
    tokens: int
    stop: bool  # some process of the group was asked to stop


class Trainer:
    """A model on its way: an objective, a source of batches, optimizers and the number of steps made."""

    def __init__(self, objective: Objective, source: Source, recipe: Recipe, world: World = ALONE):
        self.objective, self.source, self.recipe, self.world = objective, source, recipe, world
        self.net, self.parameters = world.wrap(objective), list(objective.parameters())
        self.optimizers = optimizers(objective, recipe)
        self.peaks = [optimizer.defaults["lr"] for optimizer in self.optimizers]
        self.step = 0

    def advance(self, stop: bool = False) -> StepResult:
        """Make one step; `stop` is passed on to all processes, so that they end at the same step."""
        if self.step >= self.recipe.steps:
            raise ValueError(f"training is over: all {self.recipe.steps} steps have been made")
        self.objective.train()
        batch = self.objective.draw(self.source, self.step)
        counts = self.objective.counts(batch).clamp(min=1)  # of the whole batch, not of this process' share
        for optimizer, peak in zip(self.optimizers, self.peaks, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = self.recipe.rate(self.step, peak)
        seed_dropout(self.source.seed, self.step, self.world.rank)
        sums = self.net(batch.share(self.world.rank, self.world.size))  # (terms,)
        # The group averages gradients; multiplied by its size, the average is a sum again.
        loss = (sums / counts.to(sums)).sum() * self.world.size
        for parameter in self.parameters:
            parameter.grad = None
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, self.recipe.clip)
        totals = self.world.total(torch.cat([sums.detach().double(), torch.tensor([float(stop)])]))
        means = totals[:-1] / counts
        if not means.isfinite().all():
            told = f"the loss is {means.tolist()} at step {self.step}"
            raise FloatingPointError(f"{told}: training diverged, so lower lr={self.recipe.lr}")
        for optimizer in self.optimizers:
            optimizer.step()
        self.step += 1
        losses = dict(zip(self.objective.terms, means.tolist(), strict=True))
        return StepResult(losses, int(batch.real.sum()), bool(totals[-1]))

    def state(self) -> dict[str, Tensor]:
        """Everything that a later run needs besides the settings: weights, moments, step."""
        tensors = {f"model.{name}": p.detach() for name, p in self.objective.named_parameters()}
        for name, p, state, _ in self._moments():
            tensors |= {f"optimizer.{name}.{key}": value for key, value in state.get(p, {}).items()}
        return tensors | {"step": torch.tensor(self.step)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on from a state of a trainer with the same settings."""
        parameters = dict(self.objective.named_parameters())
        wanted = {"step"} | {f"model.{name}" for name in parameters}
        step = int(tensors.get("step", torch.tensor(-1)))
        moments = list(self._moments()) if step > 0 else []
        wanted |= {f"optimizer.{name}.{key}" for name, _, _, keys in moments for key in keys}
        if wanted != tensors.keys():
            odd = sorted(wanted ^ tensors.keys())
            raise ValueError(f"tensors are not a state of this model: {odd[:3]} differ, {len(odd)} in all")
        with torch.no_grad():
            for name, p in parameters.items():
                p.copy_(tensors[f"model.{name}"])
            for optimizer in self.optimizers:
                optimizer.state.clear()
            for name, p, state, keys in moments:
                # A fresh copy lies in memory as the optimizer's own would: same kernels, same last digit.
                state[p] = {key: tensors[f"optimizer.{name}.{key}"].clone() for key in keys}
        self.step = step

    def _moments(self) -> Iterator[tuple[str, Tensor, dict, tuple[str, ...]]]:
        """Each weight with its name, the memory of its optimizer and what that holds of a weight."""
        names = {p: name for name, p in self.objective.named_parameters()}
        for optimizer in self.optimizers:
            for p in (p for group in optimizer.param_groups for p in group["params"]):
                yield names[p], p, optimizer.state, MOMENTS[type(optimizer)]


# Evaluation


@dataclass(frozen=True)
class HeldOut:
    """Batches that are never trained on, and what the best possible model loses on these very predictions."""

    batches: list[Batch]
    floors: dict[str, float] = field(default_factory=dict)  # for each term; none where it is not known

    @property
    def floor(self) -> float | None:
        """The floor of the whole loss, which is the sum of its terms."""
        return sum(self.floors.values()) if self.floors else None


def hold_out(objective: Objective, source: Source, batches: int) -> HeldOut:
    """The first `batches` exercises of a source that is not trained on; with the floor, for a grammar."""
    training = objective.training
    objective.eval()  # an evaluation asks at the final rate, training may ask more
    held = [objective.draw(source, i) for i in range(checks.integer("batches", batches, 1))]
    objective.train(training)
    grammar = getattr(source, "grammar", None)
    if grammar is None:
        return HeldOut(held)
    lost = [
        objective.floors(grammar, batch.rows(slice(i, i + FLOOR_ROWS)))
        for batch in held
        for i in range(0, len(batch.ids), FLOOR_ROWS)
    ]
    floors = {term: float(torch.cat([part[term] for part in lost]).mean()) for term in objective.terms}
    return HeldOut(held, floors)


@torch.no_grad()
def evaluate(objective: Objective, held_out: HeldOut, world: World = ALONE) -> dict[str, float]:
    """The mean loss of each term over the held-out batches, shared among the processes."""
    training = objective.training
    objective.eval()
    sums = torch.zeros(len(objective.terms), dtype=torch.float64)
    counts = torch.zeros_like(sums)
    for batch in held_out.batches:
        counts += objective.counts(batch)
        share = batch.share(world.rank, world.size)
        if len(share.ids):
            sums += objective(share).double()
    objective.train(training)
    return dict(zip(objective.terms, (world.total(sums) / counts).tolist(), strict=True))


# The loop


def rewind(log: Path, step: int) -> list[dict]:
    """Drop what was written after `step` steps, and what follows a damaged line; return the rest."""
    kept = [record for record in sound_records(log)[0] if record["step"] <= step]
    write_atomically(log, "".join(json.dumps(record) + "\n" for record in kept))
    return kept


def read_log(path: Path) -> list[dict]:
    """The records of a log, one JSON object a line; a last line without its end is not a record."""
    records, damaged = sound_records(path)
    if damaged:
        raise ValueError(f"{path} is damaged in line {damaged}: it must hold one JSON object with a step")
    return records


def sound_records(path: Path) -> tuple[list[dict], int | None]:
    """The records of a log up to the first damaged line, and the number of that line, if there is one."""
    records: list[dict] = []
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []  # a kill may cut the last one
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError:  # of JSON, or of UTF-8
            return records, number
        if not isinstance(record, dict) or not isinstance(record.get("step"), int):
            return records, number
        records.append(record)
    return records, None


def train(
    trainer: Trainer,
    *,
    held_out: HeldOut | None = None,
    evaluate_every: int | None = None,
    checkpoints: Checkpoints | None = None,
    save_every: int = 200,
    log: Path | None = None,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[dict], None] = lambda record: None,
    progress: bool = False,
) -> list[dict]:
    """Train to the last step of the recipe, or until `stop()`; returns the records of the `log`.

    They are one for each step and one for each evaluation: made to be plotted. `tell` is called with the
    record of every evaluation. Only the leading process writes and speaks.
    """
    world, steps = trainer.world, trainer.recipe.steps
    checks.integer("save_every", save_every, 1)
    every = checks.integer("evaluate_every", evaluate_every or steps, 1)
    log = log if world.leads else None
    records = rewind(log, trainer.step) if log else []
    progress_bar = bar(steps, "treino", done=trainer.step, shown=progress and world.leads)
    begin, tokens, score = time.perf_counter(), 0, ""

    def note(record: dict) -> None:
        records.append(record)
        if log:
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    while trainer.step < steps:
        done = trainer.advance(stop())
        tokens += done.tokens
        seconds = time.perf_counter() - begin
        note({"step": trainer.step, "lr": trainer.recipe.rate(trainer.step - 1), **done.losses})
        progress_bar.step(f"perda {sum(done.losses.values()):.3f}{score}, {tokens / seconds:,.0f} tokens/s")
        if held_out and (trainer.step % every == 0 or trainer.step == steps):
            losses = evaluate(trainer.objective, held_out, world)
            floor = {} if held_out.floor is None else {"floor": held_out.floor}
            score = f", avaliação {sum(losses.values()):.3f}"
            score += f" (piso {held_out.floor:.3f})" if floor else ""
            speed = {"seconds": round(seconds, 3), "tokens_per_second": round(tokens / seconds)}
            note({"step": trainer.step, **{f"held_out_{k}": v for k, v in losses.items()}, **floor, **speed})
            tell(records[-1])
        due = trainer.step % save_every == 0 or trainer.step == steps or done.stop
        if checkpoints and world.leads and due:
            checkpoints.save(trainer.state(), trainer.step)
        if done.stop:
            break
    progress_bar.close()
    return records
