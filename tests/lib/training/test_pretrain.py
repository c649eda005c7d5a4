"""The command `python -m lib.pretrain`: what it refuses, and that killing it changes nothing.

Runs are real processes. A fork server that has already imported the command starts them, so that a test can
afford to kill many.
"""

import errno
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lib import pretrain
from lib.tokenizer import Tokenizer
from lib.training import read_log
from lib.training.checkpoint import Checkpoints
from lib.weights import load
from tests.toy import TOY_TEXT
from tools.console import ROOT

FORKS = multiprocessing.get_context("forkserver")
# The first optimizer of a process imports torch._dynamo, which takes longer than these runs.
FORKS.set_forkserver_preload(["lib.pretrain", "torch._dynamo", "tests.lib.training.test_pretrain"])
STEPS = 120
TEXT = "\n\n".join(
    f"O gato número {i} dorme na casa. A gata {i} viu o rato ontem, e o rato correu." for i in range(60)
)


def command(folder: Path, arguments: list[str], die: str | None = None) -> None:
    """What a child process does: the command, with its output in a file. `die` kills it in the middle."""
    torch.set_num_threads(1)
    output = os.open(folder.with_suffix(".out"), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if die:
        arm(die)
    sys.exit(pretrain.main([*arguments, "--folder", str(folder)]))


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
    return ["--preset", "teste", "--grammar", str(grammar), "--steps", str(STEPS), "--dropout", "0.1",
            "--evaluate-batches", "1", "--save-every", "5", "--evaluate-every", "40", "--quiet"]  # fmt: skip


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, arguments) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert run(folder, *arguments) == 0
    return folder


def assert_same_run(folder: Path, other: Path) -> None:
    """Bit-equal weights, and the same curve."""
    weights = (load_file(f / "model" / "model.safetensors") for f in (folder, other))
    torch.testing.assert_close(*weights, rtol=0, atol=0)
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
    assert f"Checkpoint recusado: {newest.name}" in output
    assert "Continuando do passo 10." in output


@pytest.mark.slow
@pytest.mark.parametrize("polite", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path, arguments, uninterrupted, polite):
    folder = tmp_path / "run"
    # Checkpoints are so rare here that only the one made because of the signal can exist.
    rare = [*arguments[: arguments.index("--save-every") + 1], "1000", *arguments[-3:]]
    process = start(folder, *rare)
    while process.is_alive() and not read_log(folder / "log.jsonl"):
        time.sleep(0.005)
    os.kill(process.pid, polite)
    process.join(60)
    assert process.exitcode == pretrain.STOPPED
    assert 0 < last_step(folder) < STEPS
    assert "repita o mesmo comando" in folder.with_suffix(".out").read_text()
    resumed(folder, rare, uninterrupted)


@pytest.mark.slow
def test_a_finished_run_stays_as_it_is_and_refuses_other_settings(uninterrupted, arguments, capsys):
    before = (uninterrupted / "model" / "model.safetensors").read_bytes()
    again = [*arguments, "--folder", str(uninterrupted)]
    assert pretrain.main(again) == 0
    assert pretrain.main([*again, "--seed", "5"]) == 2
    assert "outro treinamento (diferem: seed)" in capsys.readouterr().err
    assert (uninterrupted / "model" / "model.safetensors").read_bytes() == before


@pytest.mark.slow
def test_the_log_tells_the_floor(uninterrupted):
    told = [r for r in read_log(uninterrupted / "log.jsonl") if "floor" in r]
    assert [r["step"] for r in told] == [40, 80, 120]
    assert all(r["held_out_mlm"] > r["floor"] > 0 and r["tokens_per_second"] > 0 for r in told)
    assert told[-1]["held_out_mlm"] < told[0]["held_out_mlm"]


# A text of the user's


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "gatos.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["mlm", "mlm+nsp", "causal"])
def test_a_text_file_is_learnt(tmp_path, text, objective, capsys):
    folder = tmp_path / "run"
    options = f"--preset teste --objective {objective} --vocab-size 150 --steps 60 --quiet --folder {folder}"
    assert pretrain.main([str(text), *options.split()]) == 0
    told = [r for r in read_log(folder / "log.jsonl") if "tokens_per_second" in r]
    name = "held_out_causal" if objective == "causal" else "held_out_mlm"
    assert told[-1][name] < told[0][name] and "floor" not in told[-1]
    tokenizer = Tokenizer.load(folder / "model" / "tokenizer.json")
    model, saved = load(folder / "model")
    assert saved.vocabulary == (words := tokenizer.vocabulary)
    ids = tokenizer.encode_batch(["O gato dorme."]).ids
    assert model(ids).shape == (*ids.shape, len(words))
    output = capsys.readouterr().out
    assert "→" in output and "passo 60" in output


def test_a_tokenizer_can_be_given(tmp_path, text):
    Tokenizer.train([TEXT], 120).save(tmp_path / "tokenizer.json")
    folder = tmp_path / "run"
    options = f"--preset teste --quiet --folder {folder} --tokenizer {tmp_path / 'tokenizer.json'}"
    assert pretrain.main([str(text), *options.split()]) == 0
    given = Tokenizer.load(tmp_path / "tokenizer.json")
    assert load(folder / "model").tokenizer.vocabulary == given.vocabulary


BAD = {
    "empty": (b"", "está vazio"),
    "blank": (b" \n\n\t ", "está vazio"),
    "tiny": (b"duas palavras", "tem só 2 palavras"),
    "latin-1": (TEXT.encode("latin-1"), "byte 0xFA na posição 8 (linha 1)"),
    "cut": (TEXT.encode() + b"\n\xc3", f"byte 0xC3 na posição {len(TEXT.encode()) + 1} (linha 120)"),
    "utf-16": (TEXT.encode("utf-16"), "parece UTF-16"),
    "utf-16, no mark": (("a cat and a dog " * 50).encode("utf-16-le"), "byte nulo na posição 1"),
    "binary": (bytes(range(256)) * 9, "binário"),
    "one word": (b"palavra", "tem só uma palavra"),
    "only controls": (b"\x01 \x02 " * 200, "nenhuma palavra"),
    "only zero-width spaces": (("\u200b " * 200).encode(), "nenhuma palavra"),
    "no pairs": (b"uma palavra e outra sem ponto " * 40, "pares de frases", "--objective", "mlm+nsp"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_text_is_refused_with_one_sentence_before_anything_is_written(tmp_path, kind, capsys):
    content, sentence, *options = BAD[kind]
    path = tmp_path / "ruim.txt"
    path.write_bytes(content)
    assert pretrain.main([str(path), "--folder", str(tmp_path / "run"), *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("erro: ") and sentence in error and (options or str(path) in error)
    assert not (tmp_path / "run").exists()


def test_special_tokens_in_a_text_are_not_read_as_such(tmp_path):
    tokenizer = Tokenizer.train([TEXT], 120)
    ids = pretrain.tokenized(["O gato [PAD] viu [SEP] a [MASK] casa."], tokenizer)[0]
    assert ids == pretrain.tokenized(["O gato viu a casa."], tokenizer)[0]


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
    assert pretrain.main([*arguments, "--folder", str(folder)]) == 2
    assert "não consegui gravar em the disk: No space left" in capsys.readouterr().err
    assert not list(folder.glob(".*.writing"))
    assert last_step(folder) > 0
    monkeypatch.undo()
    resumed(folder, arguments, uninterrupted)


def test_a_folder_that_cannot_be_made_is_named(tmp_path, text, capsys):
    assert pretrain.main([str(text), "--preset", "teste", "--folder", str(text / "run")]) == 2
    assert f"não consegui gravar em {text}" in capsys.readouterr().err


def test_help_is_in_portuguese(capsys):
    with pytest.raises(SystemExit) as end:
        pretrain.main(["--help"])
    told = capsys.readouterr().out
    assert end.value.code == 0 and told.startswith("uso: python -m lib.pretrain")
    assert not any(word in told for word in ("usage", "options", "positional", "show this"))


def test_a_missing_text_and_a_folder_are_refused(tmp_path, capsys):
    for path in (tmp_path / "nada.txt", tmp_path):
        assert pretrain.main([str(path)]) == 2
        assert str(path) in capsys.readouterr().err


def test_a_text_with_a_byte_order_mark_and_windows_lines_is_read(tmp_path):
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert not pretrain.read_text(path).startswith("\ufeff")
    assert pretrain.paragraphs_of(pretrain.read_text(path)) == pretrain.paragraphs_of(TEXT)


def test_paragraphs_keep_every_word_in_order():
    for text in (TEXT, "palavra " * 500, "uma linha\noutra linha\n" * 80):
        words = [w for d in pretrain.paragraphs_of(text) for s in d for w in s.split()]
        assert words == text.split()


def test_the_split_is_fixed_and_disjoint():
    documents = pretrain.paragraphs_of(TEXT)
    training, out = pretrain.split(documents)
    assert pretrain.split(documents) == (training, out)
    assert len(out) == 3 and sorted(training + out) == sorted(documents)


def test_bad_options_are_refused(tmp_path, text, capsys):
    for options, message in (
        (["--vocab-size", "10"], "caracteres diferentes"),
        (["--tokenizer", str(text)], "o tokenizador"),
        (["--lr", "1e38"], "o treinamento divergiu; diminua a taxa de aprendizado"),
    ):
        code = pretrain.main([str(text), "--preset", "teste", "--folder", str(tmp_path / "r"), *options])
        assert code == 2 and message in capsys.readouterr().err
    for options, message in (
        (["--width", "15"], "--width 15 deve ser divisível por --heads 2"),
        (["--steps", "0"], "--steps: deve ser um inteiro de pelo menos 1; veio '0'"),
        (["--steps", "dez"], "veio 'dez'"),
        (["--seed", "-1"], "--seed"),
        (["--lr", "nan"], "--lr: deve ser um número maior que 0"),
        (["--dropout", "1"], "--dropout: deve ser um número de 0 até menos que 1"),
        (["--grammar", str(text)], "não os dois"),
    ):
        with pytest.raises(SystemExit) as end:
            pretrain.main([str(text), "--preset", "teste", *options])
        assert end.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["masked", "pairs"])
def test_make_model_trains_what_is_committed(name):
    """The same objective, architecture and words; the weights themselves take minutes."""
    recipe = re.search(
        rf"-m lib\.pretrain (.*--folder _build/runs/{name})\n", (ROOT / "Makefile").read_text()
    )
    options = pretrain.parse(recipe[1].split())
    options.evaluate_batches = 1
    settings = pretrain.decided(options, data := pretrain.material(options))
    committed = json.loads((ROOT / "lib" / "models" / name / "config.json").read_text(encoding="utf-8"))
    assert committed["objective"] == options.objective and committed["config"] == settings["config"]
    assert committed["words"] == list(data.source.vocabulary) and options.half


@pytest.mark.slow
def test_the_command_as_a_user_types_it(tmp_path, text):
    """One real `python -m`, with the bar that all other tests switch off."""
    folder = tmp_path / "run"
    typed = [sys.executable, "-m", "lib.pretrain", str(text), "--preset", "teste", "--folder", str(folder)]
    done = subprocess.run([*typed, "--vocab-size", "150"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Pronto: o modelo está em" in done.stdout
    assert "tokens/s" in done.stderr and "30/30" in done.stderr
    assert json.loads((folder / "settings.json").read_text())["objective"] == "mlm"
