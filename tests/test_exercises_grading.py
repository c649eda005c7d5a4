"""Grading a folder: right, wrong, broken, hostile and huge notebooks, each on its own."""

import csv
import io
import time
from html.parser import HTMLParser

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lib.exercises import answers, grading
from lib.exercises.__main__ import main
from lib.exercises.answers import BLANK, BROKEN, NOT_FOUND, TO_READ, grade_cells, read_cells
from lib.exercises.catalogue import CODE, NUMBER, exercises
from lib.exercises.grading import Mark, Report, grade_notebook
from lib.exercises.student import RIGHT, TO_DO, WRONG, Checker
from lib.exercises.tables import write_csv, write_html
from tools.insert_exercises import cells

NUMBERS = {"weight_by_hand": "2 / 3", "allowed_pairs": "5050"}


@pytest.fixture(autouse=True)
def loud_checkers():
    """Grading silences the calls inside notebooks; in this process it must not stay so."""
    yield
    Checker.silent = False


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


def marks(notebook, tmp_path):
    return {m.exercise: m for m in grade_cells(read_cells(write(notebook, tmp_path / "aluno.ipynb")))}


def test_right_answers_are_right(tmp_path):
    found = marks(filled(), tmp_path)
    assert [m.status for m in found.values()] == [RIGHT] * 6 + [TO_READ]
    assert found["open_masking"].detail.startswith("Na última")


def test_untouched_answers_are_to_do(tmp_path):
    found = marks(new_notebook(cells=cells(1)), tmp_path)
    assert [m.status for m in found.values()] == [TO_DO] * 6 + [BLANK]


def test_a_wrong_answer_comes_with_its_hint(tmp_path):
    notebook = filled()
    answer_cell(notebook, 1).source = "def minha_mascara(n):\n    return torch.ones(n, n).triu(1).bool()"
    mark = marks(notebook, tmp_path)["causal_mask"]
    assert mark.status == WRONG and "invertida" in mark.detail


def test_a_broken_cell_takes_only_its_own_exercise(tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "CELL_SECONDS", 1)
    notebook = filled()
    answer_cell(notebook, 1).source = "def minha_mascara(n)\n    return 1"
    answer_cell(notebook, 2).source = "def minha_softmax(s):\n    return s\n\nwhile True:\n    pass"
    answer_cell(notebook, 3).source = "import sys\nsys.exit()\ndef mascara_do_lote(c, n):\n    return c"
    notebook.cells = [c for c in notebook.cells if c is not answer_cell(notebook, 4)]
    found = marks(notebook, tmp_path)
    assert "SyntaxError" in found["causal_mask"].detail and "a tempo" in found["softmax"].detail
    assert "SystemExit" in found["batch_mask"].detail and found["masked_weights"].status == NOT_FOUND
    assert {found[n].status for n in ("causal_mask", "softmax", "batch_mask")} == {BROKEN}
    assert found["allowed_pairs"].status == found["weight_by_hand"].status == RIGHT


def test_helpers_constants_and_magics_in_other_cells_are_used(tmp_path):
    notebook = filled()
    answer_cell(notebook, 1).source = "%time\ndef minha_mascara(n):\n    return ajuda(n) == UM"
    helper = "UM = 1\nprint(open('não existe'))\ndef ajuda(n):\n    return torch.ones(n, n).tril()"
    notebook.cells.insert(0, new_code_cell("import torch\ntorch.ones(10**9, 10**9)"))
    notebook.cells.insert(2, new_code_cell(helper))
    assert marks(notebook, tmp_path)["causal_mask"].status == RIGHT


def test_the_last_definition_counts_and_ids_are_not_needed(tmp_path):
    notebook = new_notebook(cells=[new_code_cell("import torch\ndef minha_mascara(n):\n    return 1")])
    notebook.cells.append(new_code_cell("def minha_mascara(n):\n    return torch.ones(n, n).tril().bool()"))
    found = marks(notebook, tmp_path)
    assert found["causal_mask"].status == RIGHT and found["softmax"].status == NOT_FOUND


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "não é um caderno"),
        ("{", "não é um caderno"),
        ("[1, 2]", "não tem células"),
        ('{"cells": 3}', "não tem células"),
        ('{"cells": [3]}', "não é um objeto"),
        ('{"cells": []}', "nenhum exercício"),
        ("[" * 100_000, "não é um caderno"),
        ('{"cells": [{"cell_type": "code"}]}', "nenhum exercício"),
    ],
)
def test_what_is_no_notebook_is_named(tmp_path, text, problem):
    path = tmp_path / "x.ipynb"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=problem):
        grade_cells(read_cells(path))


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "x.ipynb"
    with open(path, "wb") as file:
        file.truncate(answers.LARGEST + 1)
    with pytest.raises(ValueError, match="mais de 50 MB"):
        read_cells(path)


HOSTILE = {
    "exits.ipynb": ("import os\nos._exit(0)\n", "sem resultado"),
    "kills.ipynb": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "sinal 9"),
    "memory.ipynb": ("hoard = [bytearray(2**33)]\n", None),
    "prints.ipynb": ("print('{\"marks\": []}' * 10**6)\n", None),
}


def test_a_folder_of_hostile_notebooks(tmp_path, capsys):
    write(filled(), tmp_path / "ana" / "01_masking.ipynb")
    (tmp_path / "ana" / "broken.ipynb").write_text("<html>", encoding="utf-8")
    for name, (code, _) in HOSTILE.items():
        notebook = filled()
        answer_cell(notebook, 2).source = code + answer_cell(notebook, 2).source
        write(notebook, tmp_path / name)
    (tmp_path / ".ipynb_checkpoints").mkdir()
    write(filled(), tmp_path / ".ipynb_checkpoints" / "x.ipynb")
    (tmp_path / "gone.ipynb").symlink_to(tmp_path / "nowhere")
    assert (
        main(["grade", str(tmp_path), "--jobs", "2", "--seconds", "90", "--out", str(tmp_path / "out")]) == 0
    )
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "grades.csv").read_text(encoding="utf-8"))))
    by_book = {name: [r for r in rows if r["caderno"] == name] for name in {r["caderno"] for r in rows}}
    assert len(by_book) == 3 + len(HOSTILE), by_book.keys()
    assert [r["situação"] for r in by_book["ana/01_masking.ipynb"]] == [RIGHT] * 6 + [TO_READ]
    assert "não é um caderno" in by_book["ana/broken.ipynb"][0]["detalhe"]
    assert by_book["gone.ipynb"][0]["situação"] == BROKEN
    for name, (_, problem) in HOSTILE.items():
        if problem:
            assert problem in by_book[name][0]["detalhe"], name
    memory = {r["exercício"]: r["situação"] for r in by_book["memory.ipynb"]}
    assert memory["Uma softmax que não estoura"] == BROKEN and memory["A máscara, sem laços"] == RIGHT
    assert {r["situação"] for r in by_book["prints.ipynb"]} == {RIGHT, TO_READ}
    assert "ana/01_masking.ipynb: 6 of 6 right" in capsys.readouterr().out
    page = (tmp_path / "out" / "grades.html").read_text(encoding="utf-8")
    assert all(name in page for name in HOSTILE) and "6 de 6" in page


STAYS = """
import os, time
if os.fork() == 0:
    os.setpgid(0, 0)
    while True:
        open({marker!r}, "w").write(str(time.time()))
        time.sleep(0.1)
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
def minha_mascara(n):
    return 1
"""


def test_a_notebook_out_of_time_leaves_no_process_behind(tmp_path):
    marker = tmp_path / "alive"
    notebook = filled()
    answer_cell(notebook, 1).source = STAYS.format(marker=str(marker))
    report = grade_notebook(write(notebook, tmp_path / "x.ipynb"), "x.ipynb", seconds=15)
    assert "não terminou em 15 segundos" in report.problem and marker.exists()
    last = marker.read_text()
    time.sleep(0.5)
    assert marker.read_text() == last


def test_a_forged_or_half_written_answer_is_no_report():
    for answer in (b"", b"{", b"[1]", b"null", b'{"marks": 3}', b'{"marks": [3]}'):
        assert grading._report("x", 0, answer).problem
    assert (
        grading._report("x", -9, b"").problem
        == "o processo do caderno terminou sem resultado (morto pelo sinal 9)"
    )


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)


def test_the_tables_trust_nothing(tmp_path):
    evil = "<script>alert(1)</script>"
    reports = [
        Report(f"{evil}.ipynb", [Mark("softmax", WRONG, evil), Mark(evil, evil)], ""),
        Report("=1+1", [], "=2"),
    ]
    write_html(reports, tmp_path / "t.html")
    parser = Tags()
    parser.feed((tmp_path / "t.html").read_text(encoding="utf-8"))
    assert "script" not in parser.tags and {"table", "details"} <= parser.tags
    write_csv(reports, tmp_path / "t.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text(encoding="utf-8"))))
    assert (
        rows[-1][0] == "'=1+1"
        and rows[-1][-1] == "'=2"
        and rows[1][1:3] == ["1", "Uma softmax que não estoura"]
    )


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
