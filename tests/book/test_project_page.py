"""The final project on a text that the page has never seen: the same cells, one of them changed."""

import ast
from types import SimpleNamespace

import matplotlib
import nbformat
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from lib.commands.console import Refusal
from lib.exercises.project import criteria, rubric
from lib.project.sizes import EVENING, EXAMPLE, TINY
from lib.weights import load
from tests.lib.project.made_up import sentences, write_folder
from tests.trust.pages import read_page
from tools.blank_project import EXAMPLE as OF_THE_EXAMPLE
from tools.blank_project import PAGE

SETTINGS = "ajustes"
NOTEBOOK = nbformat.read(PAGE, as_version=4)
CELLS = {cell.id: cell for cell in NOTEBOOK.cells}


def run(settings: dict, until: str = "") -> SimpleNamespace:
    """The names that the page's code leaves, with some of the settings changed."""
    names: dict = {}
    matplotlib.use("Agg")
    try:
        for cell in (cell for cell in NOTEBOOK.cells if cell.cell_type == "code"):
            exec(compile(cell.source, cell.id, "exec"), names)
            if cell.id == SETTINGS:
                unknown = settings.keys() - names.keys()
                assert not unknown, f"the settings have no {unknown}"
                names.update(settings)
            if cell.id == until:
                break
    finally:
        matplotlib.pyplot.close("all")
    return SimpleNamespace(**names)


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("tarefa") / "opinioes.csv"
    rows = (f"{s};{'pergunta' if i % 2 else 'resposta'}\n" for i, s in enumerate(sentences(80, seed=9)))
    path.write_text("texto;rotulo\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("own_task", [False, True], ids=["tags", "classes"])
def test_it_runs_from_end_to_end_on_a_text_of_ones_own(tmp_path, csv, own_task):
    text = write_folder(tmp_path / "textos")
    folder = tmp_path / "meu_bert"
    own = {"TEXTO": text, "FONTE": "inventado", "TAMANHO": TINY, "PASTA": folder}
    found = run(own | ({"TAREFA": csv} if own_task else {}))
    assert found.cartao["fonte"] == "inventado" and found.texto.lessons
    assert len(found.bert.values) == len(found.com.values) == 3
    for name in ("modelo", "tarefa"):
        assert {p.name for p in (folder / name).iterdir()} >= {"config.json", "tokenizer.json"}
    theirs = AutoModelForMaskedLM.from_pretrained(folder / "modelo")
    batch = AutoTokenizer.from_pretrained(folder / "modelo")(found.prova, padding=True, return_tensors="pt")
    real = batch["attention_mask"].bool()
    with torch.no_grad():
        ours = load(folder / "modelo").model(batch["input_ids"], real)
        assert (theirs(**batch).logits - ours)[real].abs().max() < 1e-5
    card = (folder / "modelo" / "README.md").read_text(encoding="utf-8")
    assert "inventado" in card and "## Limites" in card


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("", "está vazio"), ("Duas palavras.", "são precisas pelo menos"), (None, "não está em UTF-8")],
)
def test_a_text_that_cannot_be_used_ends_in_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "livro.txt"
    path.write_bytes("maçã".encode("latin-1") if content is None else content.encode())
    with pytest.raises(Refusal, match=sentence) as refused:
        run({"TEXTO": path}, until="dados")
    assert "\n" not in str(refused.value)


def test_everything_that_a_student_changes_is_in_one_cell():
    assigned = [n.targets[0].id for n in ast.parse(CELLS[SETTINGS].source).body if isinstance(n, ast.Assign)]
    assert assigned == ["TEXTO", "FONTE", "LICENCA", "TAREFA", "PASTA", "TAMANHO", "SEMENTES"]
    assert EXAMPLE.plan.steps < EVENING.plan.steps and EXAMPLE.vocabulary < EVENING.vocabulary


def test_each_criterion_is_asked_for_before_its_answer():
    order = [cell.id for cell in NOTEBOOK.cells]
    places = [order.index(criterion.cell) for criterion in criteria()]
    assert places == sorted(places)
    boxes = [i for i, cell in enumerate(NOTEBOOK.cells) if "No seu caderno: " in cell.source]
    assert [place - 1 for place in places] == boxes, "each answer stands right below its box"
    titles = [CELLS[order[i]].source.partition("No seu caderno: ")[2].partition("\n")[0] for i in boxes]
    assert titles == [c.title[0].lower() + c.title[1:] for c in criteria()]


def test_the_rubric_of_the_page_is_that_of_the_grader():
    (output,) = CELLS["rubrica"].outputs
    assert output.data["text/markdown"] == rubric()
    assert sum(c.points for c in criteria()) == 10


def test_only_answers_and_cells_of_the_example_tell_its_results():
    """In the blank notebook no sentence may carry a number that was measured on other data."""
    own = {criterion.cell for criterion in criteria()}
    for block in read_page(PAGE).blocks:
        if block.ledger.get("values"):
            assert block.name in own or block.name.endswith(OF_THE_EXAMPLE), block.name
