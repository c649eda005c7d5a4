"""`python -m lib treinar`: that it learns, and that killing it changes nothing.

Runs are real processes. A fork server that has already imported the command starts them, so that a test can
afford to kill many.
"""

import errno
import json
import multiprocessing
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.distributed.run import get_args_parser

from lib.commands import main, train
from lib.commands.console import STOPPED
from lib.commands.material import material
from lib.encoder import Config
from lib.heads import CausalLM, MaskedLM, PairsLM
from lib.tokenizer import Tokenizer
from lib.training import OBJECTIVES, read_log
from lib.training.checkpoint import Checkpoints
from lib.training.recipes import PLANS
from lib.weights import load
from tests.lib.commands.conftest import TEXT
from tests.toy import TOY_TEXT
from tools.__main__ import MODELS
from tools.console import ROOT

FORKS = multiprocessing.get_context("forkserver")
# The first optimizer of a process imports torch._dynamo, which takes longer than these runs.
FORKS.set_forkserver_preload(["lib.commands.train", "torch._dynamo", "tests.lib.commands.test_train"])
STEPS = 120


def command(folder: Path, arguments: list[str], die: str | None = None) -> None:
    """What a child process does: the command, with its output in a file. `die` kills it in the middle."""
    torch.set_num_threads(1)
    output = os.open(folder.with_suffix(".out"), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if die:
        arm(die)
    sys.exit(main(["treinar", *arguments, "--pasta", str(folder)]))


def arm(die: str) -> None:
    """Let the process kill itself at the worst moments of writing its third checkpoint."""
    real, calls = os.replace, []

    def replace(source, target):
        if "checkpoint-" not in str(target):
            return real(source, target)
        calls.append(target)
        if len(calls) == 3 and die == "half written":
            os.truncate(source, os.path.getsize(source) // 2)
        if len(calls) == 3 and die in ("half written", "before the move"):
            os.kill(os.getpid(), signal.SIGKILL)
        real(source, target)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = replace


def start(folder: Path, *arguments: str, die: str | None = None):
    process = FORKS.Process(target=command, args=(folder, list(arguments), die))
    process.start()
    return process


def run(folder: Path, *arguments: str, die: str | None = None) -> int:
    process = start(folder, *arguments, die=die)
    process.join(120)
    assert process.exitcode is not None, "the command hangs"
    return process.exitcode


@pytest.fixture(scope="module")
def arguments(tmp_path_factory) -> list[str]:
    grammar = tmp_path_factory.mktemp("grammar") / "toy.txt"
    grammar.write_text(TOY_TEXT, encoding="utf-8")
    options = f"--passos {STEPS} --dropout 0.1 --lotes-de-avaliacao 1 --salvar-a-cada 5 --avaliar-a-cada 40"
    return ["--receita", "teste", "--gramatica", str(grammar), *options.split(), "--silencioso"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, arguments) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert run(folder, *arguments) == 0
    return folder


def assert_same_weights(folder: Path, other: Path) -> None:
    weights = (load_file(f / "modelo" / "model.safetensors") for f in (folder, other))
    torch.testing.assert_close(*weights, rtol=0, atol=0)


def assert_same_run(folder: Path, other: Path) -> None:
    """Bit-equal weights, and the same curve."""
    assert_same_weights(folder, other)
    curves = [[r for r in read_log(f / "log.jsonl") if "lr" in r] for f in (folder, other)]
    assert curves[0] == curves[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_moments_it_ends_with_the_same_bits(tmp_path, arguments, uninterrupted, seed):
    moments, folder, seen = random.Random(seed), tmp_path / "run", []
    while len(seen) < 4:
        process = start(folder, *arguments)
        before = len(seen) and seen[-1]
        # Once it has got further than before, a kill may come at any moment.
        while process.is_alive() and last_step(folder) <= before:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.15))
        process.kill()
        process.join()
        seen.append(last_step(folder))
        if process.exitcode == 0:
            break
    assert any(0 < step < STEPS for step in seen), f"no kill fell inside the run: {seen}"
    resumed(folder, arguments, uninterrupted)


def last_step(folder: Path) -> int:
    return max((int(p.name.split("-")[1]) for p in Checkpoints(folder, "").paths()), default=0)


def resumed(folder: Path, arguments: list[str], uninterrupted: Path) -> str:
    """What the command says when it goes on in the folder, to the same end."""
    assert run(folder, *arguments) == 0
    assert_same_run(folder, uninterrupted)
    return folder.with_suffix(".out").read_text()


MOMENTS = {"half written": 10, "before the move": 10, "after the move": 15}  # and the step that is left


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_while_writing_a_checkpoint_it_ends_with_the_same_bits(
    tmp_path, arguments, uninterrupted, moment
):
    folder = tmp_path / "run"
    assert run(folder, *arguments, die=moment) == -signal.SIGKILL
    assert last_step(folder) == MOMENTS[moment]
    resumed(folder, arguments, uninterrupted)


@pytest.mark.slow
def test_a_damaged_checkpoint_is_named_and_the_previous_used(tmp_path, arguments, uninterrupted):
    folder = tmp_path / "run"
    assert run(folder, *arguments, die="after the move") == -signal.SIGKILL
    newest = Checkpoints(folder, "").paths()[-1]
    newest.write_bytes(newest.read_bytes()[:-1] + b"\0\1")
    output = resumed(folder, arguments, uninterrupted)
    assert f"de outro treino: {newest.name}" in output
    assert "Continuando do passo 10." in output


@pytest.mark.slow
@pytest.mark.parametrize("polite", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path, arguments, uninterrupted, polite):
    folder = tmp_path / "run"
    # Checkpoints are so rare here that only the one made because of the signal can exist.
    rare = [*arguments[: arguments.index("--salvar-a-cada") + 1], "1000", *arguments[-3:]]
    process = start(folder, *rare)
    while process.is_alive() and not read_log(folder / "log.jsonl"):
        time.sleep(0.005)
    os.kill(process.pid, polite)
    process.join(60)
    assert process.exitcode == STOPPED
    assert 0 < last_step(folder) < STEPS
    told = folder.with_suffix(".out").read_text()
    assert f"repita o mesmo comando:\n  python -m lib treinar {shlex.join(rare)} --pasta {folder}\n" in told
    resumed(folder, rare, uninterrupted)


@pytest.mark.slow
def test_a_finished_run_stays_as_it_is_and_refuses_other_settings(uninterrupted, arguments, capsys):
    before = (uninterrupted / "modelo" / "model.safetensors").read_bytes()
    again = [*arguments, "--pasta", str(uninterrupted)]
    assert main(["treinar", *again]) == 0
    assert main(["treinar", *again, "--semente", "5"]) == 2
    assert "outro treino (diferem: --semente)" in capsys.readouterr().err
    assert (uninterrupted / "modelo" / "model.safetensors").read_bytes() == before


@pytest.mark.slow
def test_the_log_tells_the_floor(uninterrupted):
    told = [r for r in read_log(uninterrupted / "log.jsonl") if "floor" in r]
    assert [r["step"] for r in told] == [40, 80, 120]
    assert all(r["held_out_mlm"] > r["floor"] > 0 and r["tokens_per_second"] > 0 for r in told)
    assert told[-1]["held_out_mlm"] < told[0]["held_out_mlm"]


# One run per folder


@pytest.mark.slow
def test_a_folder_in_use_is_refused_and_the_run_in_it_goes_on(tmp_path, arguments, uninterrupted, capsys):
    folder = tmp_path / "run"
    process = start(folder, *arguments)
    while process.is_alive() and not read_log(folder / "log.jsonl"):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGSTOP)  # it holds the folder, however slow this test is
    assert main(["treinar", *arguments, "--pasta", str(folder)]) == 2
    told = capsys.readouterr().err
    os.kill(process.pid, signal.SIGCONT)
    process.join(120)
    assert f"está em uso: o processo {process.pid} da máquina" in told
    assert process.exitcode == 0
    assert_same_run(folder, uninterrupted)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"nada\n", b'{"lr": 1}\n', b"\xff\n", b"[]\n"])
def test_a_damaged_log_is_cut_and_the_checkpoint_serves(tmp_path, arguments, uninterrupted, damage):
    folder = tmp_path / "run"
    assert run(folder, *arguments, die="after the move") == -signal.SIGKILL
    lines = (folder / "log.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "log.jsonl").write_bytes(b"".join([*lines[:4], damage, *lines[4:]]))
    assert run(folder, *arguments) == 0
    output = folder.with_suffix(".out").read_text()
    assert "danificado na linha 5 e foi cortado ali" in output and "Continuando do passo 15." in output
    assert_same_weights(folder, uninterrupted)
    steps = [r["step"] for r in read_log(folder / "log.jsonl") if "lr" in r]
    assert steps == [*range(1, 5), *range(16, STEPS + 1)]


@pytest.mark.slow
def test_a_finished_run_is_made_longer_and_killed_meanwhile_ends_with_the_same_bits(
    tmp_path, arguments, uninterrupted, capsys
):
    longer, killed = (shutil.copytree(uninterrupted, tmp_path / name) for name in ("longer", "killed"))
    more = [*arguments, "--passos", str(STEPS + 30)]
    assert run(longer, *more) == 0
    told = longer.with_suffix(".out").read_text()
    assert f"Prolongando o treino de {STEPS} para {STEPS + 30} passos." in told
    steps = [r["step"] for r in read_log(longer / "log.jsonl") if "lr" in r]
    assert steps == list(range(1, STEPS + 31))
    assert run(killed, *more, die="half written") == -signal.SIGKILL
    assert last_step(killed) == STEPS + 10
    resumed(killed, more, longer)
    assert main(["treinar", *arguments, "--pasta", str(longer)]) == 2
    assert f"repita com --passos {STEPS + 30} ou mais" in capsys.readouterr().err


# A text of the user's


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["mlm", "mlm+nsp", "causal"])
def test_a_text_file_is_learnt(tmp_path, text, objective, capsys):
    folder = tmp_path / "run"
    options = (
        f"--receita teste --objetivo {objective} --vocabulario 150 --passos 60 --silencioso --pasta {folder}"
    )
    assert main(["treinar", str(text), *options.split()]) == 0
    told = [r for r in read_log(folder / "log.jsonl") if "tokens_per_second" in r]
    name = "held_out_causal" if objective == "causal" else "held_out_mlm"
    assert told[-1][name] < told[0][name] and "floor" not in told[-1]
    model, tokenizer = load(folder / "modelo")
    assert type(model) is {"mlm": MaskedLM, "mlm+nsp": PairsLM, "causal": CausalLM}[objective]
    ids = tokenizer.encode_batch(["O gato dorme."]).ids
    assert model(ids).shape == (*ids.shape, tokenizer.size)
    output = capsys.readouterr().out
    assert "→" in output and "passo 60" in output


def test_a_tokenizer_can_be_given(tmp_path, text):
    Tokenizer.train([TEXT], 120).save(tmp_path / "tokenizer.json")
    folder = tmp_path / "run"
    options = f"--receita teste --silencioso --pasta {folder} --tokenizador {tmp_path / 'tokenizer.json'}"
    assert main(["treinar", str(text), *options.split()]) == 0
    given = Tokenizer.load(tmp_path / "tokenizer.json")
    assert load(folder / "modelo").tokenizer.vocabulary == given.vocabulary


@pytest.mark.slow
def test_a_full_disk_is_told_and_leaves_the_last_checkpoint(
    tmp_path, arguments, uninterrupted, monkeypatch, capsys
):
    folder, real = tmp_path / "run", os.fsync
    calls = []

    def full(file):
        calls.append(file)
        if len(calls) > 12:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "the disk")
        real(file)

    monkeypatch.setattr(os, "fsync", full)
    assert main(["treinar", *arguments, "--pasta", str(folder)]) == 2
    assert "não consegui usar the disk: o disco está cheio" in capsys.readouterr().err
    assert not list(folder.glob(".*.writing"))
    assert last_step(folder) > 0
    monkeypatch.undo()
    resumed(folder, arguments, uninterrupted)


def test_a_folder_that_cannot_be_made_is_named(tmp_path, text, capsys):
    assert main(["treinar", str(text), "--receita", "teste", "--pasta", str(text / "run")]) == 2
    assert f"não consegui usar {text}" in capsys.readouterr().err


def options_of(*arguments, **changes):
    options = train.parse([str(argument) for argument in arguments])
    vars(options).update(changes)
    return options


def test_several_files_and_a_folder_are_read_as_one_text(tmp_path):
    paragraphs = TEXT.split("\n\n")
    (tmp_path / "livros" / "parte").mkdir(parents=True)
    files = tmp_path / "livros" / "a.txt", tmp_path / "livros" / "parte" / "b.txt"
    for file, part in zip(files, (paragraphs[:20], paragraphs[20:]), strict=True):
        file.write_text("\n\n".join(part), encoding="utf-8")
    (whole := tmp_path / "tudo.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "livros" / "capa.jpg").write_bytes(b"\xff\xd8")
    read = [material(options_of(*paths)).identity for paths in ([whole], files, [tmp_path / "livros"])]
    assert read[0] == read[1] == read[2]


def test_emoji_are_words(tmp_path):
    path = tmp_path / "emoji.txt"
    path.write_text("😀 😃 🎉😀 🎈.\n" * 60, encoding="utf-8")
    data = material(options_of(path))
    assert "😀" in data.tokenizer.vocabulary and data.source.vocabulary.is_ordinary(data.source.blocks).any()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_model_has_as_many_positions_as_are_used(text, objective):
    data = material(options_of(text, "--objetivo", objective, "--comprimento", "25"))
    drawn = OBJECTIVES[objective](Config(len(data.source.vocabulary), d=8, heads=1, layers=1, positions=99,
                                         causal=objective == "causal"))  # fmt: skip
    longest = [
        max(drawn.draw(source, i).ids.shape[1] for i in range(40)) for source in (data.source, data.held_out)
    ]
    assert longest[0] == data.positions and longest[1] <= data.positions


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["mlm", "mlm+nsp"])
def test_training_starts_from_a_model(tmp_path, text, masked, objective):
    """With a rate of almost nothing, what the model knew is still there."""
    options = f"--de {masked} --objetivo {objective} --passos 2 --lote 4 --taxa 1e-9 --silencioso"
    assert main(["treinar", str(text), *options.split(), "--pasta", str(tmp_path / "run")]) == 0
    (before, _), (after, _) = load(masked), load(tmp_path / "run" / "modelo")
    assert type(after) is OBJECTIVES[objective].kind
    same = before.state_dict()
    for name, tensor in after.state_dict().items():
        assert name not in same or torch.allclose(tensor, same[name], atol=1e-6), name
    assert after.encoder.config.dropout == before.encoder.config.dropout


@pytest.mark.slow
@pytest.mark.parametrize("units", ["palavras", "trechos"])
def test_whole_words_and_spans_are_hidden(tmp_path, text, units):
    options = f"--receita teste --vocabulario 90 --ocultar {units} --passos 20 --silencioso"
    assert main(["treinar", str(text), *options.split(), "--pasta", str(tmp_path / "run")]) == 0
    told = [r["held_out_mlm"] for r in read_log(tmp_path / "run" / "log.jsonl") if "held_out_mlm" in r]
    assert told[-1] < told[0]


def test_a_text_has_a_recipe_of_its_own_that_gives_a_bert():
    on_text, on_grammar = (train.plan_of(train.parse(given)) for given in (["livro.txt"], []))
    assert on_text == PLANS["texto"] and not on_text.pre_norm and on_grammar == PLANS["curso"]
    assert train.plan_of(train.parse(["livro.txt", "--receita", "curso"])) == PLANS["curso"]
    assert train.plan_of(train.parse(["livro.txt", "--ocultas-no-comeco", "0.4"])).hidden == (0.4, 0.15)


def test_no_option_begins_one_of_torchruns():
    theirs = [flag for action in get_args_parser()._actions for flag in action.option_strings]
    ours = [row[0].split()[0] for rows in train.OPTIONS.values() for row in rows]
    assert [o for o in ours if any(t.startswith(o) for t in theirs) and o.startswith("--")] == []


@pytest.mark.parametrize("name", ["masked", "pairs"])
def test_make_model_trains_what_is_committed(name):
    """The same objective, architecture and words; the weights themselves take minutes."""
    options = train.parse([*MODELS[name], "--pasta", name])
    settings = train.decided(options, data := material(options))
    model, tokenizer = load(ROOT / "lib" / "models" / name)
    assert type(model) is OBJECTIVES[options.objective].kind and options.half
    assert model.encoder.config == Config(**settings["config"])
    assert tokenizer.vocabulary == data.source.vocabulary


@pytest.mark.slow
def test_the_command_as_a_user_types_it(tmp_path, text):
    """One real `python -m`, with the bar that all other tests switch off."""
    folder = tmp_path / "run"
    typed = [sys.executable, "-m", "lib", "treinar", str(text), "--receita", "teste", "--pasta", str(folder)]
    done = subprocess.run([*typed, "--vocabulario", "150"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Pronto: o modelo está em .*; até [\d\s]+ MB de memória\.", done.stdout)
    assert "tokens/s" in done.stderr and "30/30" in done.stderr
    assert json.loads((folder / "settings.json").read_text())["objective"] == "mlm"
