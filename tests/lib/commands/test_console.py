"""How the commands speak: what can be typed again, and why the system would not."""

import errno
import os
import shlex

import pytest

from lib.commands import console

ARGUMENTS = ["treinar", "meus livros/a 'b' $c.txt", "--taxa", "0.1"]


def test_the_command_to_repeat_is_quoted_for_the_shell(monkeypatch):
    assert shlex.split(console.typed(ARGUMENTS)) == ["python", "-m", "lib", *ARGUMENTS]
    with monkeypatch.context() as windows:
        windows.setattr(os, "name", "nt")
        told = console.typed(ARGUMENTS)
    assert told == """python -m lib treinar "meus livros/a 'b' $c.txt" --taxa 0.1"""


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES, errno.ENOSPC, errno.EIO])
def test_the_cause_of_a_failure_is_in_portuguese(number, capsys):
    def fails(_):
        raise OSError(number, os.strerror(number), "arquivo.txt")

    assert console.run(fails, []) == console.REFUSED
    told = capsys.readouterr().err
    assert told.startswith("erro: não consegui usar arquivo.txt: ") and os.strerror(number) not in told


def test_a_file_without_a_name_is_not_called_none(capsys):
    def fails(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert console.run(fails, []) == console.REFUSED
    assert capsys.readouterr().err == "erro: não consegui ler ou gravar um arquivo: o disco está cheio.\n"


def test_too_little_memory_is_told_and_a_fault_of_ours_is_not_hidden(capsys):
    def fails(_):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")

    assert console.run(fails, []) == console.REFUSED
    assert "a memória desta máquina não basta" in capsys.readouterr().err
    with pytest.raises(RuntimeError, match="a fault"):
        console.run(lambda _: (_ for _ in ()).throw(RuntimeError("a fault")), [])


def test_what_nobody_foresaw_ends_in_a_sentence_too(capsys):
    def fails(_):
        raise ValueError("d must be a multiple of heads")

    assert console.run(fails, []) == console.REFUSED
    told = capsys.readouterr().err
    assert told.startswith("erro: isto não pode ser usado")
    assert told.endswith(": d must be a multiple of heads\n")


def test_a_number_is_read_with_a_point_or_a_comma():
    read = console.between(0, 1, "de 0 a 1")
    assert read("0.25") == read("0,25") == 0.25


def test_in_a_group_of_processes_one_speaks(monkeypatch, capsys):
    monkeypatch.setenv("RANK", "1")
    assert console.tell("erro: nada", 2) == 2
    assert capsys.readouterr().err == ""
