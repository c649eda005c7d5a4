"""Grading notebooks: right, wrong, broken and huge ones, each on its own, and the tables of a class."""

import csv
import io
import os
import shutil
import socket
import unicodedata

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lib.exercises import answers, grading, isolation
from lib.exercises import sandbox as sandboxes
from lib.exercises.__main__ import BY_HAND, main
from lib.exercises.answers import (
    BLANK,
    BROKEN,
    INVITATION,
    NOT_FOUND,
    OLD,
    TO_READ,
    Mark,
    cells_of,
    grade_cells,
)
from lib.exercises.classes import CHANGED, Hand, csv_of, hands_csv, hands_from, owner, pupils
from lib.exercises.grading import Report
from lib.exercises.isolation import NoReply
from lib.exercises.outline import write_outline
from lib.exercises.pages import class_page, file_names, student_page
from lib.exercises.project import PROJECT, criteria
from lib.exercises.sandbox import NoSandbox, warm_process
from lib.exercises.student import RIGHT, TO_DO, WRONG
from tests.lib.exercises.notebooks import answer_cell, filled, needs_bwrap, write
from tools.insert_exercises import cells

NOWHERE = isolation.Remote(socket.socket())  # for what needs no process


@pytest.fixture(scope="module")
def sandbox():
    with warm_process() as warm:
        yield warm


def marks(notebook, sandbox, seconds=60.0):
    return {
        m.exercise: m for m in grade_cells(cells_of(nbformat.writes(notebook).encode()), sandbox, seconds)
    }


@needs_bwrap
def test_untouched_answers_are_to_do(sandbox):
    found = marks(new_notebook(cells=cells(1)), sandbox)
    assert [m.status for m in found.values()] == [TO_DO] * 8 + [BLANK]


@needs_bwrap
@pytest.mark.parametrize("chapter", range(1, 6))
def test_right_answers_are_right_in_the_sandbox(chapter, sandbox):
    found = marks(filled(chapter), sandbox)
    assert [m.status for m in found.values()] == [RIGHT] * (len(found) - 1) + [TO_READ], found


@needs_bwrap
def test_a_broken_cell_takes_only_its_own_exercise(sandbox, monkeypatch):
    monkeypatch.setattr(answers, "CELL_SECONDS", 2.0)
    notebook = filled()
    answer_cell(notebook, 1).source = "def mascara_causal(n)\n    return 1"
    answer_cell(notebook, 2).source = "def softmax_estavel(s):\n    return s\n\nwhile True:\n    pass"
    answer_cell(notebook, 3).source = "import sys\nsys.exit()\ndef mascara_do_lote(c, n):\n    return c"
    notebook.cells = [c for c in notebook.cells if c is not answer_cell(notebook, 4)]
    answer_cell(notebook, 5).source = "import os\nmeu_peso = 1\nos._exit(0)"
    found = marks(notebook, sandbox)
    told = {"causal_mask": "SyntaxError", "softmax": "a tempo", "batch_mask": "SystemExit"}
    for name, text in (told | {"weight_by_hand": "encerrou o processo"}).items():
        assert found[name].status == BROKEN and text in found[name].detail, found[name]
    assert found["attention"].status == NOT_FOUND and found["changed_outputs"].status == RIGHT


@needs_bwrap
def test_other_cells_are_used_and_a_wrong_answer_comes_with_its_hint(sandbox):
    notebook = filled()
    answer_cell(notebook, 1).source = "%time\ndef mascara_causal(n):\n    return ajuda(n) == UM"
    helper = "UM = 1\nprint(open('não existe'))\ndef ajuda(n):\n    return torch.ones(n, n).tril()"
    notebook.cells.insert(0, new_code_cell("import torch\ntorch.ones(10**9, 10**9)"))
    notebook.cells.insert(2, new_code_cell(helper))
    wrong = "def mascara_do_lote(c, n):\n    return torch.ones(n, n).tril().bool().repeat(len(c), 1, 1)"
    answer_cell(notebook, 3).source = wrong
    found = marks(notebook, sandbox)
    assert found["causal_mask"].status == RIGHT
    mark = found["batch_mask"]
    assert mark[:2] == ("batch_mask", WRONG) and mark.mistake == "so_causal" and "Só a máscara" in mark.detail


@needs_bwrap
def test_a_broken_class_is_named_as_a_broken_function_is(sandbox):
    notebook = filled(3)
    cell = next(c for c in notebook.cells if c.cell_type == "code" and "class Bloco" in c.source)
    cell.source = "class Bloco(nn.Module)\n    pass"
    mark = marks(notebook, sandbox)["block"]
    assert mark.status == BROKEN and "SyntaxError" in mark.detail, mark


@needs_bwrap
def test_a_check_with_all_that_it_takes_does_nothing_while_grading(sandbox):
    notebook = filled()
    answer_cell(notebook, 1).source += "\nfrom lib.exercises.chapter_01 import check_causal_mask"
    answer_cell(notebook, 1).source += "\ncheck_causal_mask(mascara_causal, trocar=True)"
    assert marks(notebook, sandbox)["causal_mask"].status == RIGHT


@needs_bwrap
def test_the_course_is_there_as_names_and_constants_only(sandbox):
    modules = {"losses": "IGNORE_INDEX", "plots": "anything", "attention": "softmax"}
    uses = "".join(f"from lib.{module} import {name}\n" for module, name in modules.items())
    with sandbox.fork() as notebook:
        assert notebook.ask("run", uses + "assert IGNORE_INDEX == -100", True, seconds=10) == ""
        assert "softmax é do curso" in notebook.ask("run", "softmax(1)", True, seconds=10)


@needs_bwrap
def test_the_last_definition_counts_and_ids_are_not_needed(sandbox):
    """Notebooks of format 4.4 have none: an open answer is found by the statement before it."""
    notebook = filled()
    answer_cell(notebook, 1).source = "import torch\ndef mascara_causal(n):\n    return 1"
    notebook.cells.append(new_code_cell("def mascara_causal(n):\n    return torch.ones(n, n).tril().bool()"))
    for cell in notebook.cells:
        del cell["id"]
    notebook.nbformat_minor = 4
    found = marks(notebook, sandbox)
    assert [m.status for m in found.values()] == [RIGHT] * 8 + [TO_READ]
    assert found["open_masking"].detail == "Na última posição a máscara não muda nada."


@needs_bwrap
def test_a_notebook_out_of_time_keeps_what_it_had(sandbox):
    notebook = filled()
    notebook.cells.append(new_code_cell("import time\nwhile True:\n    time.sleep(60)"))
    with pytest.raises(NoReply):
        marks(notebook, sandbox, seconds=1.0)


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (b"", "vazio"),
        (b"  \n", "vazio"),
        (b"<html>", "não é um notebook: o JSON quebra na linha 1"),
        (
            nbformat.writes(new_notebook(cells=cells(1))).encode()[:-50],
            "o JSON quebra na linha [0-9]+, como em um arquivo cortado",
        ),
        (b"[1, 2]", OLD),
        (b'{"cells": 3}', OLD),
        (b'{"cells": [3]}', OLD),
        (b'{"cells": []}', "nenhum exercício"),
        (b'{"cells": [' + b"{}," * 10_000 + b"{}]}", "objetos demais"),
        (b'{"cells": [' + b"{}," * 2_000_000 + b"{}]}", "objetos demais"),
        (b'{"cells": [], "\\ud800": 1}', "nenhum exercício"),
        (b"[" * 100_000, "objetos demais"),
        (b'{"cells": ' + b"9" * 5000 + b"}", "em um número"),
        (b'{"cells": [{"cell_type": "code"}]}', "nenhum exercício"),
        ('{"cells": [], "título": "ção"}'.encode("latin-1"), "não está em UTF-8"),
        (b'{"worksheets": [{"cells": []}], "nbformat": 3}', OLD),
    ],
)
def test_what_is_no_notebook_is_named(file, problem):
    with pytest.raises(ValueError, match=problem):
        list(grade_cells(cells_of(file), NOWHERE, 1.0))


def test_a_byte_order_mark_is_no_obstacle():
    file = nbformat.writes(filled()).encode()
    assert cells_of(b"\xef\xbb\xbf" + file) == cells_of(file)


@needs_bwrap
@pytest.mark.slow
def test_many_cells_are_no_obstacle(sandbox):
    notebook = filled()
    notebook.cells += [new_code_cell(f"x{i} = {i}", id=f"c{i}") for i in range(2000)]
    assert marks(notebook, sandbox)["causal_mask"].status == RIGHT


UNREADABLE = {
    "folder.ipynb": "não é um arquivo comum",
    "gone.ipynb": "é um atalho",
    "huge.ipynb": "mais de 50 MB",
    "pipe.ipynb": "não é um arquivo comum",
    "broken.ipynb": "não é um notebook",
}


def unreadable(folder):
    folder.mkdir()
    (folder / "folder.ipynb").mkdir()
    (folder / "gone.ipynb").symlink_to(folder / "nowhere")
    (folder / "round").symlink_to(folder)
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "broken.ipynb").write_text("<html>", encoding="utf-8")
    with open(folder / "huge.ipynb", "wb") as file:
        file.truncate(grading.LARGEST + 1)


def table(path):
    """As Excel in Portuguese opens it: UTF-8 by its mark, semicolons, a decimal comma."""
    file = path.read_bytes()
    assert file.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(file.decode("utf-8-sig"), newline=""), delimiter=";"))


@needs_bwrap
@pytest.mark.slow
def test_a_class_is_graded_twice_with_marks_by_hand_in_between(tmp_path, capsys):
    class_, out = tmp_path / "turma", tmp_path / "saida"
    for chapter, name in ((1, "01_masking.ipynb"), (2, "02_mlm.ipynb")):
        write(filled(chapter), class_ / "ana" / name)
    wrong = filled()
    answer_cell(wrong, 1).source = "def mascara_causal(n):\n    return ~torch.ones(n, n).tril().bool()"
    write(wrong, class_ / "bia_01_masking.ipynb")
    unreadable(class_ / "caio")
    grade = ["grade", str(class_), f"--out={out}"]
    assert main(grade) == 0
    told = capsys.readouterr()
    assert "8 cadernos de 3 estudantes" in told.out and "corrigindo" in told.err
    ana, bia, caio = table(out / "notas.csv")
    assert (ana["estudante"], ana["Capítulo 1"], ana["Capítulo 2"], ana["Total"]) == ("ana", "8", "9", "17")
    assert (bia["1.1 A máscara, sem laços"], bia["Capítulo 1"], bia["Total"]) == ("0", "7", "7")
    assert caio["Total"] == "0" and all(problem in caio["Observações"] for problem in UNREADABLE.values())
    page = (out / "retornos" / "bia.html").read_text(encoding="utf-8")
    assert "A máscara está invertida" in page and "Esperado" in page
    overview = BeautifulSoup((out / "turma.html").read_text(encoding="utf-8"), "html.parser")
    first = overview.find_all("table")[1].tbody.tr.get_text(" ")
    assert "A máscara, sem laços" in first and "1 de 2" in first and "invertida" in first

    rows = table(out / BY_HAND)
    assert {(r["estudante"], r["questão"].split()[0]) for r in rows} >= {
        ("ana", "1.9"),
        ("ana", "2.10"),
        ("bia", "1.9"),
    }
    for row in rows:  # as Excel saves them: Windows' own encoding, lines and comma
        if row["estudante"] == "ana":
            row["pontos"], row["comentário"] = (
                ("0,5", "Boa ideia; falta o exemplo.") if row["resposta"] else ("3", "")
            )
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, rows[0].keys(), delimiter=";")
    writer.writeheader(), writer.writerows(rows)
    (out / BY_HAND).write_bytes(text.getvalue().encode("cp1252"))
    changed = filled()
    answer_cell(changed, 9).source = "Outra resposta."
    write(changed, class_ / "ana" / "01_masking.ipynb")
    shutil.rmtree(class_ / "caio")
    assert main(grade) == 0
    ana, bia = table(out / "notas.csv")
    assert (ana["Capítulo 1"], ana["Capítulo 2"], ana[PROJECT], ana["Total"]) == ("8,5", "9,5", "3", "21")
    kept = {(r["estudante"], r["questão"].split()[0]): r for r in table(out / BY_HAND)}
    assert kept["ana", "1.9"]["pontos"] == "0,5" and kept["ana", "1.9"]["aviso"] == CHANGED
    assert kept["ana", "2.10"]["aviso"] == "" and kept["caio", "Projeto"]["pontos"] == ""
    assert "Boa ideia; falta o exemplo." in (out / "retornos" / "ana.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (b"", "falta a coluna 'estudante'"),
        (b"estudante;pontos\n", "falta a coluna"),
        ("estudante;questão;pontos;comentário\na;b;dez;\n".encode(), "na linha 2, pontos é 'dez'"),
        ("estudante;questão;pontos;comentário\n\na;b;-1;\n".encode(), "na linha 3, pontos é '-1'"),
        ('estudante;questão;pontos;comentário\na;b;1;"'.encode() + b"x" * 200_000, "quebra depois da linha"),
    ],
)
def test_marks_by_hand_that_cannot_be_read_end_in_a_sentence_and_are_kept(tmp_path, capsys, file, problem):
    write(filled(), tmp_path / "ana.ipynb")
    (tmp_path / "correcao").mkdir()
    (tmp_path / "correcao" / BY_HAND).write_bytes(file)
    with pytest.raises(SystemExit):
        main(["grade", str(tmp_path)])
    assert problem in capsys.readouterr().err and (tmp_path / "correcao" / BY_HAND).read_bytes() == file


@pytest.mark.parametrize(
    ("path", "who"),
    [
        ("ana/01_masking.ipynb", "ana"),
        ("Ana Lima_123_assignsubmission_file_/x/02_mlm.ipynb", "Ana Lima_123_assignsubmission_file_"),
        ("ana_lima_01_masking.ipynb", "ana_lima"),
        ("ana.ipynb", "ana"),
        ("01_masking.ipynb", "01_masking"),
    ],
)
def test_the_folder_or_the_file_says_who(path, who):
    assert owner(path) == who


def test_the_best_of_two_notebooks_counts():
    reports = [Report(f"ana/{i}.ipynb", [Mark("softmax", s)]) for i, s in enumerate((WRONG, RIGHT, TO_DO))]
    assert pupils(reports)[0].marks["softmax"].status == RIGHT


def project(**written):
    """The notebook of a project, with what was written for some of the criteria."""
    texts = {c.cell: written.get(c.name, INVITATION) for c in criteria()}
    return new_notebook(cells=[new_markdown_cell(text, id=id) for id, text in texts.items()])


def test_a_project_is_marked_by_criteria_beside_what_was_written(tmp_path):
    write(project(pergunta="Quem fala?", erros="As siglas."), tmp_path / "ana" / "06_project.ipynb")
    write(filled(), tmp_path / "bia" / "01_masking.ipynb")
    grade = ["grade", str(tmp_path), "--unsafe"]
    assert main(grade) == 0
    by_hand, marks = tmp_path / "correcao" / BY_HAND, tmp_path / "correcao" / "notas.csv"
    rows = [row for row in table(by_hand) if PROJECT in row["questão"]]
    asked = [c.question for c in criteria()]
    assert [r["questão"] for r in rows if r["estudante"] == "ana"] == asked == sorted(asked)
    assert [r["resposta"] for r in rows if r["resposta"]] == ["Quem fala?", "As siglas."]
    assert [r["questão"] for r in rows if r["estudante"] == "bia"] == [PROJECT]
    assert {r[PROJECT] for r in table(marks)} == {""} and table(marks)[0]["Observações"] == ""

    hands = hands_from(by_hand.read_bytes())
    given = {asked[0]: Hand(1, "Clara."), asked[5]: Hand(1.5, "Faltou testar a causa.")}
    hands |= {("ana", question): hand for question, hand in given.items()}
    by_hand.write_bytes(hands_csv(hands | {("bia", PROJECT): Hand(7)}))
    assert main(grade) == 0
    ana, bia = table(marks)
    assert (ana[PROJECT], ana["Total"]) == ("2,5", "2,5") and (bia[PROJECT], bia["Total"]) == ("7", "15")
    page = (tmp_path / "correcao" / "retornos" / "ana.html").read_text(encoding="utf-8")
    assert "Projeto final: 2,5 pontos" in page and "Faltou testar a causa." in page


def test_no_criterion_gets_more_than_it_is_worth():
    most = criteria()[0]
    file = hands_csv({("ana", most.question): Hand(most.points)})
    assert hands_from(file)["ana", most.question].points == most.points
    with pytest.raises(ValueError, match="o critério vale até 1"):
        hands_from(hands_csv({("ana", most.question): Hand(most.points + 0.5)}))


EVIL = "<script>alert(1)</script>"


def test_the_pages_and_tables_trust_nothing():
    names = [EVIL, "=1+1", "a\nb", b"latin-\xe7".decode(errors="surrogateescape"), "a/../b", "A", "a", "nul"]
    names += ["Jos\u00e9", "Jose\u0301", "\U0001d54f" * 63, "\u0905" * 85]
    mark = Mark("softmax", WRONG, EVIL, "valor")
    class_ = pupils([Report(f"{name}.ipynb", [mark], EVIL) for name in names])
    pages = file_names(class_)
    assert len({unicodedata.normalize("NFD", page.casefold()) for page in pages.values()}) == len(class_)
    assert all(len(page.encode()) < 200 and page.lower() != "nul.html" for page in pages.values())
    assert all(set(page) & set("/\\:\n<>|") == set() for page in pages.values())
    for page in (class_page(class_, {}, pages), *(student_page(p, [], {}) for p in class_)):
        assert "script" not in {tag.name for tag in BeautifulSoup(page, "html.parser").find_all()}
    evil = ["=1+1", "+1", "-1", "@a", "\t=1", " =1", "'=1", "'texto", 'plain; "x"']
    written = csv_of([["estudante", "questão", "pontos", "comentário"], *[[e, e, "", e] for e in evil]])
    assert b"\n=" not in written and b";=" not in written and written.count(b"'=1+1") == 3
    assert [key[0] for key in hands_from(written)] == evil


def test_a_failure_of_the_grading_itself_is_one_notebooks(tmp_path, monkeypatch):
    def fails(*_):
        raise RecursionError

    monkeypatch.setattr(grading, "grade_cells", fails)
    report = grading.grade_notebook(write(filled(), tmp_path / "ana.ipynb"), "ana.ipynb", NOWHERE)
    assert report == Report("ana.ipynb", [], "a correção deste notebook falhou com RecursionError")


@pytest.mark.parametrize("arguments", [["grade", "nowhere"], ["grade", "."], ["grade"], []])
def test_bad_arguments_end_in_one_sentence(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    assert leaving.value.code == 2 and "erro:" in capsys.readouterr().err


def test_without_bubblewrap_the_teacher_is_told_what_to_do(tmp_path, monkeypatch, capsys):
    write(filled(), tmp_path / "ana.ipynb")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["grade", str(tmp_path)])
    told = capsys.readouterr().err
    assert "apt-get install bubblewrap" in told and "--unsafe" in told and "permissões" in told


def test_a_sandbox_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho bwrap: No permissions to create namespace >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(broken))
    with pytest.raises(Exception, match=r"No permissions to create namespace.*--unsafe"), warm_process():
        pass


@needs_bwrap
def test_a_sandbox_whose_notebooks_do_not_start_is_named(monkeypatch):
    """Where the system forbids spaces within spaces, every answer would be taken for broken."""

    def forbidden(folder):
        write_outline(folder)
        worker = folder / "lib" / "exercises" / "worker.py"
        worker.write_text(worker.read_text().replace("NAMESPACES = ", "NAMESPACES = 1 | "))

    monkeypatch.setattr(sandboxes, "write_outline", forbidden)
    with pytest.raises(NoSandbox, match=r"unshare: .*apparmor_restrict_unprivileged_userns"), warm_process():
        pass


@pytest.mark.slow
def test_unsafe_grades_without_a_sandbox(tmp_path):
    write(filled(), tmp_path / "ana.ipynb")
    assert main(["grade", str(tmp_path), "--unsafe"]) == 0
    (ana,) = table(tmp_path / "correcao" / "notas.csv")
    assert ana["Total"] == "8"
