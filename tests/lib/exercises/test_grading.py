"""Grading a folder: right, wrong, broken, hostile and huge notebooks, each on its own."""

import contextlib
import csv
import io
import os
import subprocess
import time

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_notebook

from lib.exercises import answers, grading
from lib.exercises.__main__ import main
from lib.exercises.answers import BLANK, BROKEN, NOT_FOUND, OLD, TO_READ, cells_of, grade_cells
from lib.exercises.catalogue import CODE, NUMBER, exercises
from lib.exercises.grading import Mark, Report, grade_notebook
from lib.exercises.student import RIGHT, TO_DO, WRONG
from lib.exercises.tables import write_csv, write_html
from tests.lib.exercises.processes import assert_ends
from tools.insert_exercises import cells

NUMBERS = {"weight_by_hand": "2 / 3", "allowed_pairs": "5050"}


def filled(chapter=1):
    """A student's notebook with every answer right."""
    notebook = new_notebook(cells=cells(chapter))
    found = {cell.id: cell for cell in notebook.cells}
    for exercise in exercises(chapter):
        cell = found[f"ex-{chapter:02}-{exercise.number}-resposta"]
        if exercise.kind == CODE:
            cell.source = cell.source.replace(exercise.stub(), exercise.solution_code())
        elif exercise.kind == NUMBER:
            cell.source = cell.source.replace("...  # sua vez: um número", NUMBERS[exercise.name])
        else:
            cell.source = "Na última posição a máscara não muda nada."
    return notebook


def answer_cell(notebook, number):
    return next(c for c in notebook.cells if c.id == f"ex-01-{number}-resposta")


def write(notebook, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return path


def marks(notebook):
    return {m.exercise: m for m in grade_cells(cells_of(nbformat.writes(notebook).encode()))}


def test_untouched_answers_are_to_do():
    found = marks(new_notebook(cells=cells(1)))
    assert [m.status for m in found.values()] == [TO_DO] * 6 + [BLANK]


def test_a_broken_cell_takes_only_its_own_exercise(monkeypatch):
    monkeypatch.setattr(answers, "CELL_SECONDS", 1)
    notebook = filled()
    answer_cell(notebook, 1).source = "def minha_mascara(n)\n    return 1"
    answer_cell(notebook, 2).source = "def minha_softmax(s):\n    return s\n\nwhile True:\n    pass"
    answer_cell(notebook, 3).source = "import sys\nsys.exit()\ndef mascara_do_lote(c, n):\n    return c"
    notebook.cells = [c for c in notebook.cells if c is not answer_cell(notebook, 4)]
    found = marks(notebook)
    assert "SyntaxError" in found["causal_mask"].detail and "a tempo" in found["softmax"].detail
    assert "SystemExit" in found["batch_mask"].detail and found["masked_weights"].status == NOT_FOUND
    assert {found[n].status for n in ("causal_mask", "softmax", "batch_mask")} == {BROKEN}
    assert found["allowed_pairs"].status == found["weight_by_hand"].status == RIGHT


def test_other_cells_are_used_and_a_wrong_answer_comes_with_its_hint():
    notebook = filled()
    answer_cell(notebook, 1).source = "%time\ndef minha_mascara(n):\n    return ajuda(n) == UM"
    helper = "UM = 1\nprint(open('não existe'))\ndef ajuda(n):\n    return torch.ones(n, n).tril()"
    notebook.cells.insert(0, new_code_cell("import torch\ntorch.ones(10**9, 10**9)"))
    notebook.cells.insert(2, new_code_cell(helper))
    wrong = "def mascara_do_lote(c, n):\n    return torch.ones(n, n).tril().bool().repeat(len(c), 1, 1)"
    answer_cell(notebook, 3).source = wrong
    found = marks(notebook)
    assert found["causal_mask"].status == RIGHT
    assert found["batch_mask"].status == WRONG and "Só a máscara causal" in found["batch_mask"].detail


def test_the_last_definition_counts_and_ids_are_not_needed():
    notebook = new_notebook(cells=[new_code_cell("import torch\ndef minha_mascara(n):\n    return 1")])
    notebook.cells.append(new_code_cell("def minha_mascara(n):\n    return torch.ones(n, n).tril().bool()"))
    found = marks(notebook)
    assert found["causal_mask"].status == RIGHT and found["softmax"].status == NOT_FOUND


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (b"", "vazio"),
        (b"  \n", "vazio"),
        (b"<html>", "não é um notebook, ou está cortado: o JSON quebra na linha 1"),
        (nbformat.writes(new_notebook(cells=cells(1))).encode()[:-50], "cortado: o JSON quebra na linha"),
        (b"[1, 2]", "não tem células"),
        (b'{"cells": 3}', "não tem células"),
        (b'{"cells": [3]}', "não é um objeto"),
        (b'{"cells": []}', "nenhum exercício"),
        (b'{"cells": [], "\\ud800": 1}', "nenhum exercício"),
        (b"[" * 100_000, "níveis demais"),
        (b'{"cells": ' + b"9" * 5000 + b"}", "em um número"),
        (b'{"cells": [{"cell_type": "code"}]}', "nenhum exercício"),
        ('{"cells": [], "título": "ção"}'.encode("latin-1"), "não está em UTF-8"),
        (b'{"worksheets": [{"cells": []}], "nbformat": 3}', OLD),
    ],
)
def test_what_is_no_notebook_is_named(file, problem):
    with pytest.raises(ValueError, match=problem):
        list(grade_cells(cells_of(file)))


def test_a_byte_order_mark_is_no_obstacle():
    file = nbformat.writes(filled()).encode()
    assert cells_of(b"\xef\xbb\xbf" + file) == cells_of(file)


@pytest.mark.slow
def test_many_cells_are_no_obstacle():
    notebook = filled()
    notebook.cells += [new_code_cell(f"x{i} = {i}", id=f"c{i}") for i in range(2000)]
    assert marks(notebook)["causal_mask"].status == RIGHT


DECOY = "isca.txt"
# What is done before the answers 1, 2 and 4, and what the teacher reads of it ("" where it does no harm).
HOSTILE = {
    "ends.ipynb": [
        ("import os\nos._exit(0)\n", "encerrou o processo"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "encerrou o processo"),
        ("%pip install x\n!true\nimport os\nos.read(0, 1) or exit()\n", "SystemExit"),
    ],
    "forges.ipynb": [
        ("hoard = [bytearray(2**33)]\n", "MemoryError"),
        (
            "import os\nfor n in range(3, 99):\n    try:\n"
            '        os.write(n, b\'{"mark": ["softmax", "certo", ""]}\\n{"problem": ""}\\n\')\n'
            "    except OSError:\n        pass\nos._exit(0)\n",
            "encerrou o processo",
        ),
        (f"import os\nos.remove({DECOY!r})\n", "FileNotFoundError"),
    ],
    "fine.ipynb": [
        ("print('{\"marks\": []}' * 10**6)\nimport os\nos.chdir('/')\n", ""),
        ("import os, sys\nsys.stdout.close()\nos.close(2)\n", ""),
        (
            "import lib.exercises.student as s, lib.exercises.values as v\n"
            "v.passes_for = s.passes_for = lambda *_: True\ntorch.allclose = lambda *_, **__: True\n"
            "s.Checker.judge = lambda *_: s.Verdict('certo', '', '')\n",
            "",
        ),
    ],
}


@pytest.mark.slow
def test_a_folder_of_hostile_notebooks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / DECOY).write_text("viva")
    write(filled(), tmp_path / "ana" / "01_masking.ipynb")
    (tmp_path / "ana" / "broken.ipynb").write_text("<html>", encoding="utf-8")
    for name, cells_before in HOSTILE.items():
        notebook = filled()
        for number, (code, _) in zip((1, 2, 4), cells_before, strict=True):
            answer_cell(notebook, number).source = code + answer_cell(notebook, number).source
        answer_cell(notebook, 3).source = "def mascara_do_lote(c, n):\n    return torch.ones(n, n)"
        write(notebook, tmp_path / name)
    write(filled(), tmp_path / ".ipynb_checkpoints" / "x.ipynb")
    unreadable(tmp_path / "unreadable")
    assert main(["grade", str(tmp_path), "--jobs=2", "--seconds=90", f"--out={tmp_path / 'out'}"]) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "grades.csv").read_text(encoding="utf-8"))))
    by_book = {name: [r for r in rows if r["notebook"] == name] for name in {r["notebook"] for r in rows}}
    assert len(by_book) == 2 + len(HOSTILE) + len(UNREADABLE), by_book.keys()
    assert [r["situação"] for r in by_book["ana/01_masking.ipynb"]] == [RIGHT] * 6 + [TO_READ]
    assert by_book["ana/01_masking.ipynb"][-1]["detalhe"].startswith("Na última")
    assert "não é um notebook" in by_book["ana/broken.ipynb"][0]["detalhe"]
    for name, problem in UNREADABLE.items():
        (row,) = by_book[f"unreadable/{name}"]
        assert row["situação"] == BROKEN and problem in row["detalhe"], row
    for name, cells_before in HOSTILE.items():
        first, second, wrong, fourth, *rest, _ = by_book[name]
        assert wrong["situação"] == WRONG and [r["situação"] for r in rest] == [RIGHT] * 2, name
        for row, (_, problem) in zip((first, second, fourth), cells_before, strict=True):
            assert row["situação"] == (BROKEN if problem else RIGHT) and problem in row["detalhe"], row
    assert (tmp_path / DECOY).read_text() == "viva"
    printed = capsys.readouterr()
    assert "ana/01_masking.ipynb: 6 of 6 right" in printed.out and "notebook" in printed.err
    page = (tmp_path / "out" / "grades.html").read_text(encoding="utf-8")
    assert all(name in page for name in HOSTILE) and "6 de 6" in page
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["grades.csv", "grades.html"]


UNREADABLE = {
    "folder.ipynb": "não é um arquivo comum",
    "gone.ipynb": "não existe",
    "loop.ipynb": "dá voltas",
    "huge.ipynb": "mais de 50 MB",
    "pipe.ipynb": "não é um arquivo comum",
}


def unreadable(folder):
    folder.mkdir()
    (folder / "folder.ipynb").mkdir()
    (folder / "gone.ipynb").symlink_to(folder / "nowhere")
    (folder / "loop.ipynb").symlink_to(folder / "loop.ipynb")
    (folder / "round").symlink_to(folder)
    os.mkfifo(folder / "pipe.ipynb")
    with open(folder / "huge.ipynb", "wb") as file:
        file.truncate(answers.LARGEST + 1)


NAMES = ["a b.ipynb", "ação.ipynb", "a\nb.ipynb", "=cmd|'!A0.ipynb", "<script>alert(1)<script>.ipynb"]


def tags(page):
    return {tag.name for tag in BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").find_all()}


def test_file_names_are_only_names(tmp_path, capsys):
    for name in (*NAMES, b"latin-\xe7.ipynb".decode(errors="surrogateescape")):
        (tmp_path / name).mkdir()  # refused before a process is started for it
    assert main(["grade", str(tmp_path), "--jobs", "2"]) == 0
    with open(tmp_path / "grades.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = {row["notebook"] for row in rows}
    assert names == {f"'{n}" if n.startswith("=") else n for n in NAMES} | {"latin-\\udce7.ipynb"}
    assert {row["detalhe"] for row in rows} == {"não é um arquivo comum"}
    assert "script" not in tags(tmp_path / "grades.html")
    assert len(capsys.readouterr().out.splitlines()) == len(rows)


STAYS = """
import os, time
if os.fork() == 0:
    os.setsid()
    with open({marker!r}, "a") as file:
        file.write(str(os.getpid()) + "\\n")
    time.sleep(600)
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
def minha_mascara(n):
    return 1
"""


@pytest.mark.slow
def test_a_notebook_out_of_time_leaves_no_process_behind(tmp_path, monkeypatch):
    marker, limited = tmp_path / "alive", subprocess.Popen.communicate

    def from_the_first_cell_on(process, file, timeout):
        """The time counts from there, however long a busy machine takes to get there."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            limited(process, file, timeout=0.1)
        deadline = time.monotonic() + 60
        while not (marker.exists() and marker.read_text().endswith("\n")):
            assert time.monotonic() < deadline, "the first cell never runs"
            time.sleep(0.05)
        return limited(process, timeout=timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", from_the_first_cell_on)
    notebook = filled()
    answer_cell(notebook, 1).source = STAYS.format(marker=str(marker))
    report = grade_notebook(write(notebook, tmp_path / "x.ipynb"), "x.ipynb", seconds=1)
    assert report.problem == "o notebook não terminou em 1 segundos"
    for pid in map(int, marker.read_text().split()):
        assert_ends(pid)


def test_a_half_written_answer_is_no_report():
    for answer in (b"", b"{", b"[1]\n", b"null\n", b'{"mark": 3}\n', b'{"problem"'):
        assert grading._report("x", 0, answer).problem
    kept = grading._report("x", 0, b'{"mark": ["softmax", "certo", ""]}\n{"ma')
    assert kept.marks == [Mark("softmax", RIGHT)] and kept.problem
    assert grading._report("x", 0, b'{"problem": ""}\n') == Report("x", [])


def test_the_tables_trust_nothing(tmp_path):
    evil = "<script>alert(1)</script>"
    reports = [
        Report(f"{evil}.ipynb", [Mark("softmax", WRONG, evil), Mark(evil, evil)], ""),
        Report("=1+1", [], "=2"),
    ]
    write_html(reports, tmp_path / "t.html")
    assert {"table", "details"} <= tags(tmp_path / "t.html") and "script" not in tags(tmp_path / "t.html")
    write_csv(reports, tmp_path / "t.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text(encoding="utf-8"))))
    assert rows[-1][0] == "'=1+1" and rows[-1][-1] == "'=2"
    assert rows[1][1:3] == ["1", "Uma softmax que não estoura"]


@pytest.mark.parametrize("arguments", [["grade", "nowhere"], ["grade", "."], ["grade"], []])
def test_bad_arguments_end_in_one_sentence(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    assert leaving.value.code == 2 and "error:" in capsys.readouterr().err


def test_the_open_answer_is_found_by_its_cell():
    notebook = [{"id": "ex-01-7-resposta", "kind": "markdown", "source": "texto"}]
    marks = {m.exercise: m for m in grade_cells(notebook)}
    assert marks["open_masking"] == Mark("open_masking", TO_READ, "texto")
    assert marks["softmax"].status == NOT_FOUND
