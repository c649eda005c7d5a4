"""Two processes under a real torchrun against one: the same gradients, the same curve."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lib.commands import main
from lib.training import OBJECTIVES, GrammarSource, Recipe, Trainer, read_log
from tests.toy import TOY, TOY_TEXT, toy_objective
from tools.console import ROOT

pytestmark = pytest.mark.slow
torch.set_num_threads(1)
# A batch that does not divide evenly: the two shares hold different numbers of sentences and of predictions.
BATCH, STEPS = 7, 30

# What each of the two runs: the command, and before it a step of every objective, whose gradients it keeps.
EACH = """
import sys
import torch
from lib.commands import main, train
from lib.training import OBJECTIVES
from tests.lib.training.test_processes import trainer_of

def after_a_step(options, world, command=train.train):
    assert world.size == 2
    for name in OBJECTIVES:
        trainer = trainer_of(name, world)
        trainer.advance()
        gradients = {n: p.grad for n, p in trainer.objective.named_parameters()}
        torch.save(gradients, f"{options.folder}-{name}-{world.rank}.pt")
    return command(options, world)

train.train = after_a_step
sys.exit(main())
"""


def trainer_of(name: str, *world) -> Trainer:
    torch.manual_seed(0)
    return Trainer(toy_objective(name), GrammarSource(TOY, BATCH, 0), Recipe(STEPS, 3e-3, clip=1e9), *world)


@pytest.fixture(scope="module")
def arguments(tmp_path_factory) -> list[str]:
    grammar = tmp_path_factory.mktemp("grammar") / "toy.txt"
    grammar.write_text(TOY_TEXT, encoding="utf-8")
    return ["--receita", "teste", "--gramatica", str(grammar), "--passos", str(STEPS), "--lote", str(BATCH),
            "--avaliar-a-cada", "10", "--salvar-a-cada", "10"]  # fmt: skip


@pytest.fixture(scope="module")
def two(tmp_path_factory, arguments) -> tuple[Path, str]:
    """The folder and the output of a run by two processes; torchrun takes a free port by itself."""
    folder = tmp_path_factory.mktemp("two") / "run"
    script = folder.with_name("each.py")
    script.write_text(EACH)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*launcher, str(script), "treinar", *arguments, "--pasta", str(folder)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.parametrize("name", OBJECTIVES)
def test_two_processes_compute_the_gradients_of_one(two, name):
    trainer = trainer_of(name)
    trainer.advance()
    both = [torch.load(f"{two[0]}-{name}-{rank}.pt", weights_only=True) for rank in (0, 1)]
    alone = {key: p.grad for key, p in trainer.objective.named_parameters()}
    torch.testing.assert_close(*both, rtol=0, atol=0)
    torch.testing.assert_close(both[0], alone, rtol=0, atol=1e-5)
    assert max(gradient.abs().max() for gradient in alone.values()) > 1e-3  # not all zero


def test_the_same_command_gives_the_same_curve_and_one_voice(tmp_path, arguments, two):
    folder, output = two
    assert output.count("Pronto: o modelo está em") == 1, "every process speaks"
    assert main(["treinar", *arguments, "--pasta", str(tmp_path / "one"), "--silencioso"]) == 0
    one, two = (read_log(run / "log.jsonl") for run in (tmp_path / "one", folder))
    assert len(one) == len(two) == STEPS + 3
    for ours, theirs in zip(one, two, strict=True):
        for key in {"mlm", "held_out_mlm", "floor", "lr"} & ours.keys():
            assert abs(ours[key] - theirs[key]) < 1e-5, f"step {ours['step']}: {key}"
    weights = [load_file(run / "modelo" / "model.safetensors") for run in (tmp_path / "one", folder)]
    for name in weights[0]:
        # Adam divides by the size of the gradient, so where that is almost zero a rounding error grows.
        assert (weights[0][name] - weights[1][name]).abs().mean() < 1e-4, name


def test_one_process_takes_over_from_two(tmp_path, arguments, two):
    """The number of processes is no part of a run: a checkpoint made by two serves one."""
    folder = shutil.copytree(two[0], tmp_path / "run")
    newest = sorted(folder.glob("checkpoint-*"))[-1]
    newest.unlink()
    assert main(["treinar", *arguments, "--pasta", str(folder), "--silencioso"]) == 0
    assert [r["step"] for r in read_log(folder / "log.jsonl") if "lr" in r] == list(range(1, STEPS + 1))
