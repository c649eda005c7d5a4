"""Two processes under a real torchrun against one: the same gradients, the same curve."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lib import pretrain
from lib.training import GrammarSource, Recipe, Trainer, read_log
from tests.toy import TOY, TOY_TEXT, toy_objective
from tools.console import ROOT

torch.set_num_threads(1)
# A batch that does not divide evenly: the two shares hold different numbers of sentences and of predictions.
BATCH, STEPS = 7, 30

FIRST_GRADIENTS = """
import sys
import torch
from lib.training import joined
from tests.lib.training.test_processes import trainer_of
with joined() as world:
    assert world.size == 2
    for name in sys.argv[2:]:
        trainer = trainer_of(name, world)
        trainer.advance()
        gradients = {n: p.grad for n, p in trainer.objective.named_parameters()}
        torch.save(gradients, f"{sys.argv[1]}/{name}-{world.rank}.pt")
"""


def trainer_of(name: str, *world) -> Trainer:
    torch.manual_seed(0)
    return Trainer(toy_objective(name), GrammarSource(TOY, BATCH, 0), Recipe(STEPS, 3e-3, clip=1e9), *world)


def torchrun(*arguments: str) -> subprocess.CompletedProcess:
    """`torchrun --standalone` takes a free port of this machine by itself."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*launcher, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done


def test_two_processes_compute_the_gradients_of_one(tmp_path):
    script = tmp_path / "gradients.py"
    script.write_text(FIRST_GRADIENTS)
    names = ["mlm", "mlm+nsp", "causal"]
    torchrun(str(script), str(tmp_path), *names)
    for name in names:
        trainer = trainer_of(name)
        trainer.advance()
        both = [torch.load(tmp_path / f"{name}-{rank}.pt", weights_only=True) for rank in (0, 1)]
        alone = {key: p.grad for key, p in trainer.objective.named_parameters()}
        torch.testing.assert_close(*both, rtol=0, atol=0)
        torch.testing.assert_close(both[0], alone, rtol=0, atol=1e-5)
        assert max(gradient.abs().max() for gradient in alone.values()) > 1e-3  # not all zero


@pytest.fixture(scope="module")
def arguments(tmp_path_factory) -> list[str]:
    grammar = tmp_path_factory.mktemp("grammar") / "toy.txt"
    grammar.write_text(TOY_TEXT, encoding="utf-8")
    return ["--preset", "teste", "--grammar", str(grammar), "--steps", str(STEPS), "--batch", str(BATCH),
            "--evaluate-every", "10", "--save-every", "10"]  # fmt: skip


@pytest.fixture(scope="module")
def two(tmp_path_factory, arguments) -> tuple[Path, str]:
    """The folder and the output of a run by two processes."""
    folder = tmp_path_factory.mktemp("two") / "run"
    return folder, torchrun("-m", "lib.pretrain", *arguments, "--folder", str(folder)).stdout


def test_the_same_command_gives_the_same_curve_and_one_voice(tmp_path, arguments, two):
    folder, output = two
    assert output.count("Pronto: o modelo está em") == 1, "every process speaks"
    assert pretrain.main([*arguments, "--folder", str(tmp_path / "one"), "--quiet"]) == 0
    one, two = (read_log(run / "log.jsonl") for run in (tmp_path / "one", folder))
    assert len(one) == len(two) == STEPS + 3
    for ours, theirs in zip(one, two, strict=True):
        for key in {"mlm", "held_out_mlm", "floor", "lr"} & ours.keys():
            assert abs(ours[key] - theirs[key]) < 1e-5, f"step {ours['step']}: {key}"
    weights = [load_file(run / "model" / "model.safetensors") for run in (tmp_path / "one", folder)]
    for name in weights[0]:
        # Adam divides by the size of the gradient, so where that is almost zero a rounding error grows.
        assert (weights[0][name] - weights[1][name]).abs().mean() < 1e-4, name


def test_one_process_takes_over_from_two(tmp_path, arguments, two):
    """The number of processes is no part of a run: a checkpoint made by two serves one."""
    folder = shutil.copytree(two[0], tmp_path / "run")
    newest = sorted(folder.glob("checkpoint-*"))[-1]
    newest.unlink()
    assert pretrain.main([*arguments, "--folder", str(folder), "--quiet"]) == 0
    assert [r["step"] for r in read_log(folder / "log.jsonl") if "lr" in r] == list(range(1, STEPS + 1))
