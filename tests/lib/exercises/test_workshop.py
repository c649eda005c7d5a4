"""`meu_bert.py`: what is kept and by whom, what is refused, and that it always is a whole program."""

import random
import subprocess
import sys

import pytest

from lib.exercises import workshop
from lib.exercises.catalogue import named
from lib.exercises.finish import loaded
from lib.exercises.student import RIGHT, checker_of
from lib.exercises.workshop import ASSEMBLY, PARTS, PIECES, course_file, definitions, hers, keep, parts
from tests.lib.exercises.cells import run_cell

IMPORTS = "import math\n\nimport torch\nfrom torch import nn\n\n\n"
MASK = "import torch\n\n\ndef mascara_causal(n):\n    # minha\n    return torch.ones(n, n).tril() > 0\n"
SOFTMAX = '''\
import numpy as np
import torch.nn.functional as F
from functools import partial as parcial

UM = 1


def _maior(s):
    """Cuidado com o eixo."""
    return s.amax(-1, keepdim=True) * UM


def softmax_estavel(s):
    """A minha."""
    soma = parcial(F.normalize, p=1, dim=-1)
    assert np.isfinite(UM)
    return soma((s - _maior(s)).exp())
'''


@pytest.fixture
def file(tmp_path):
    return tmp_path / "meu_bert.py"


def kept(name, source, file, **options):
    """What the student reads when this cell's answer to an exercise is accepted."""
    return keep(name, run_cell(source)[named(name).answer], path=file, **options)


def another(part):
    """The cell of a student who answers as the course does, with a remark of her own."""
    first, *rest = part.solution_code().splitlines()
    place = next(i for i, line in enumerate(rest) if line.rstrip().endswith('"""'))
    indent = "    # com as minhas palavras"
    return "\n".join([first, *rest[: place + 1], indent, *rest[place + 1 :]])


def test_the_file_begins_whole_and_every_piece_is_the_courses():
    text = course_file()
    assert "0 de 12 peças suas" in text and len(PIECES) == 12 and hers(text) == []
    assert [*definitions(text)] == [part.answer for part in parts()] + [*ASSEMBLY]
    module = loaded(text)
    assert all(hasattr(module, part.answer) for part in parts()) and "lib" not in vars(module)
    assert 180 <= len(text.splitlines()) <= 280, "about two hundred lines"
    assert "lib." not in text and "import lib" not in text


def test_the_file_is_laid_out_as_the_project_is(file):
    file.write_text(course_file(), encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--check", "--line-length=110", str(file)]
    done = subprocess.run(command, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_accepted_answer_is_kept_with_what_it_needs(file):
    assert "1 de 12 peças suas." in kept("softmax", SOFTMAX, file)
    text = file.read_text(encoding="utf-8")
    for line in (
        "import numpy as np",
        "import torch.nn.functional as F",
        "from functools import partial as parcial",
    ):
        assert text.count(f"\n{line}\n") == 1
    assert (
        text.index("UM = 1")
        < text.index("def _maior")
        < text.index("# Peça 3, softmax: sua\ndef softmax_estavel")
    )
    assert '"""Cuidado com o eixo."""' in text and "■□□□□□□□□□□□ 1 de 12 peças suas" in text
    assert text.count("do curso\n") == len(PARTS) - 1
    assert [piece.title for piece in hers(text)] == ["softmax"]
    assert loaded(text).softmax_estavel(loaded(text).torch.zeros(1, 4)).tolist() == [[0.25] * 4]


def test_a_local_name_is_not_the_variable_of_the_notebook_that_is_called_so(file):
    cell = """\
import math
from typing import Optional
import torch
from torch import Tensor

i = x = torch.randn(3)
n, _linhas = 7, {1: 2}
NADA = -math.inf


def mascara_causal(n: int) -> Optional[Tensor]:
    i = torch.arange(n)
    linhas = [x for x in i.tolist() if x > NADA]
    return torch.tensor(linhas, dtype=torch.long)[:, None] >= i
"""
    assert "Guardada" in kept("causal_mask", cell, file)
    text = file.read_text(encoding="utf-8")
    assert 'NADA = float("-inf")\n' in text and "from torch import Tensor\n" in text
    assert "from typing import Optional\n" in text
    assert {*definitions(text)} == {"NADA", *definitions(course_file())}
    told = kept("causal_mask", cell.replace(">= i", ">= x"), file, replace=True)
    assert "usa x, que só existe no seu notebook" in told and file.read_text(encoding="utf-8") == text


def test_a_piece_of_two_parts_is_hers_when_both_are(file):
    assert "0 de 12" in (told := kept("causal_mask", MASK, file)) and "falta mascara_do_lote" in told
    assert "1 de 12 peças suas." in kept("batch_mask", IMPORTS + another(named("batch_mask")), file)


def test_every_order_leads_to_the_same_twelve_pieces_and_every_stage_is_a_program(file):
    order = random.Random(0).sample(parts(), len(PARTS))
    for part in order:
        kept(part.name, IMPORTS + another(part), file)
        module = loaded(file.read_text(encoding="utf-8"))
        assert all(hasattr(module, p.answer) for p in parts()), part.name
    text = file.read_text(encoding="utf-8")
    assert "12 de 12 peças suas" in text and "do curso\n" not in text
    assert text.count("# com as minhas palavras") == len(PARTS)
    assert [*definitions(text)] == [*definitions(course_file())], "where each stood"


def test_an_answer_like_the_courses_is_hers_all_the_same(file):
    kept("softmax", IMPORTS + named("softmax").solution_code(), file)
    assert "1 de 12" in file.read_text(encoding="utf-8")


def test_what_is_hers_is_changed_only_when_she_says_so(file):
    kept("causal_mask", MASK, file)
    before = file.read_text(encoding="utf-8")
    again = MASK.replace("> 0", "== 1")
    told = kept("causal_mask", again, file)
    assert (
        "check_causal_mask(mascara_causal, trocar=True)" in told
        and file.read_text(encoding="utf-8") == before
    )
    assert "Guardada" in kept("causal_mask", MASK, file) and file.read_text(encoding="utf-8") == before
    assert "Guardada" in kept("causal_mask", again, file, replace=True)
    assert file.read_text(encoding="utf-8") == before.replace("> 0", "== 1")


def test_what_she_edited_by_hand_is_hers(file):
    """In a part that was the course's, in a helper, between the parts, and in the head."""
    kept("softmax", SOFTMAX, file)
    text = file.read_text(encoding="utf-8").replace(
        "i = torch.arange(n)\n", "i = torch.arange(n)  # meu\n", 1
    )
    text = text.replace("import math\n", "import math  # de casa\nimport os\n").replace(
        "UM = 1\n", "UM = 1.0\n"
    )
    text = text.replace("# Peça 9", "# uma nota\n\n\n# Peça 9", 1) + "\n\nTAMANHO = 32\n"
    file.write_text(text, encoding="utf-8")
    assert "já está lá, escrita por você" in kept("causal_mask", MASK, file)
    assert "UM já está lá" in kept("softmax", SOFTMAX.replace("A minha", "A outra"), file)
    assert file.read_text(encoding="utf-8") == text
    kept("cross_entropy", IMPORTS + another(named("cross_entropy")), file)
    now = file.read_text(encoding="utf-8")
    for mine in (
        "# meu\n",
        "import math  # de casa\nimport os\n",
        "UM = 1.0\n",
        "# uma nota\n",
        "TAMANHO = 32\n",
    ):
        assert mine in now


def test_a_part_that_she_deleted_or_moved_finds_its_place(file):
    text = course_file()
    found = definitions(text)["softmax_estavel"]
    lines = text.splitlines()
    del lines[found.first : found.end]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    kept("softmax", SOFTMAX, file)
    order = [*definitions(file.read_text(encoding="utf-8"))]
    assert order.index("mascara_do_lote") < order.index("softmax_estavel") < order.index("atencao")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("softmax_estavel = lambda s: s.softmax(-1)", "precisa se chamar softmax_estavel"),
        ("from lib.attention import softmax\n\ndef softmax_estavel(s):\n    return softmax(s)", "do curso"),
        ("import lib.attention as a\n\ndef softmax_estavel(s):\n    return a.softmax(s)", "do curso"),
        (
            "frases = {1: 2}\n\ndef softmax_estavel(s):\n    return frases[s]",
            "usa frases, que só existe no seu",
        ),
    ],
)
def test_what_cannot_stand_alone_is_not_kept_and_why_is_said(file, source, why):
    told = kept("softmax", source, file)
    assert told.startswith("  Não guardei em meu_bert.py") and why in told and not file.exists()


def test_a_file_that_is_no_program_is_left_alone(file):
    file.write_text("def quebrado(:\n", encoding="utf-8")
    assert "não é Python na linha 1" in kept("softmax", SOFTMAX, file)
    file.write_text("x = 1 / 0\n", encoding="utf-8")
    assert "ZeroDivisionError" in kept("softmax", SOFTMAX, file)
    assert file.read_text(encoding="utf-8") == "x = 1 / 0\n"
    file.write_bytes("# Não é UTF-8\n".encode("latin-1"))
    assert "não está em UTF-8" in kept("softmax", SOFTMAX, file)
    file.write_text(course_file(), encoding="utf-8-sig")  # as some editors save it
    assert "Guardada" in kept("softmax", SOFTMAX, file)


def test_only_an_accepted_answer_in_a_notebook_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    part = named("softmax")
    check = checker_of(part)
    for source in (IMPORTS + part.stub(), "def softmax_estavel(s):\n    return s"):
        check(run_cell(source)["softmax_estavel"])
    assert not [*tmp_path.iterdir()] and "Guard" not in capsys.readouterr().out
    assert check.verdict(part.function()).mistake == "" and not [*tmp_path.iterdir()]
    checker_of(named("shift"))(run_cell(IMPORTS + named("shift").solution_code())["deslocar"])
    assert not [*tmp_path.iterdir()], "no part of the file"
    check(run_cell(SOFTMAX)["softmax_estavel"])
    assert "1 de 12" in capsys.readouterr().out and [p.name for p in tmp_path.iterdir()] == ["meu_bert.py"]


def test_an_answer_builds_on_the_parts_before_it_whatever_its_notebook_holds():
    """A wrong part beside it, or none, is none of its business; and the notebook keeps what it had."""
    names = run_cell(IMPORTS + "def atencao(*_):\n    return 1\n\n\n" + named("heads").solution_code())
    assert checker_of(named("heads")).verdict(names["Cabecas"]).status == RIGHT
    assert names["atencao"]() == 1 and "separar_cabecas" not in names
    assert "def Bloco" not in workshop.steps_before(named("heads"))


def test_without_the_published_solutions_the_file_holds_what_is_hers(file, monkeypatch):
    monkeypatch.setattr(workshop, "course_version", lambda part: "")
    kept("softmax", SOFTMAX, file)
    text = file.read_text(encoding="utf-8")
    assert [*definitions(text)] == ["UM", "_maior", "softmax_estavel", *ASSEMBLY] and "1 de 12" in text


def test_the_git_of_the_project_ignores_it():
    done = subprocess.run(["git", "check-ignore", "book/meu_bert.py"], capture_output=True)
    assert done.returncode == 0
