"""The chapters compute every example of the documents; the errata alone compares, and shows everything."""

import re

import pytest

from lib.sources import example_ids, recompute
from lib.sources.catalog import DATA
from lib.sources.errata import load_statements
from tests.trust.examples import problems
from tests.trust.made_up import code, page
from tests.trust.pages import chapters, read_page
from tests.trust.sources import rendered, stored_errata
from trust.notebooks import printed_text


def test_every_example_is_computed_in_a_tagged_cell_of_its_chapter():
    assert len(example_ids()) == 18
    found = problems([read_page(path) for path in chapters()])
    assert not found, "\n".join(found)


@pytest.mark.parametrize("chapter", sorted(load_statements()))
def test_a_chapter_speaks_of_the_documents_once_and_links_to_the_errata(chapter):
    pages = [read_page(path) for path in chapters() if path.name.startswith(chapter)]
    told = [block.text for page in pages for block in page.blocks]
    told += [f"{cell['source']}\n{printed_text(cell)}" for page in pages for cell in page.code_cells()]
    text = "\n".join(told)
    assert len(re.findall(r"\bnotas\b", text)) <= 1
    assert f"<errata-{chapter}>" in text


def test_the_errata_page_shows_every_document_and_statement():
    stored = stored_errata()
    missing = [view.partition("\n")[0] for view in rendered(DATA) if view not in stored]
    advice = "give it a cell with items() or figures(), then run make notebooks"
    assert not missing, f"errata.ipynb lacks what starts with {missing}: {advice}"


RIGHT = "produto: 0.540\nnormas ao quadrado: [0.790, 1.580]\nnormas: [0.889, 1.257]\ncosseno: 0.483"
SOURCE = "print(z_1 @ z_2)"


def found_on(source: str, printed: str, id: str = "02.4", name: str = "02_mlm.ipynb") -> list[str]:
    """The problems that concern one example, on a chapter of a single cell."""
    made_up = page(code("conta", source, printed, tags=(f"source:{id}",)))
    object.__setattr__(made_up, "name", name)
    return [problem for problem in problems([made_up]) if not problem.startswith("no cell is tagged")]


def test_a_cell_that_prints_every_figure_passes():
    assert found_on(SOURCE, RIGHT) == []
    rows = "\n".join(f"linha {i}: {row}" for i, row in enumerate(recompute("01.3")["pesos"].tolist(), 1))
    assert found_on("print(A)", f"raiz: 1.414\n{rows}", "01.3", "01_masking.ipynb") == []
    tokens = "par: ['O', 'cãozinho', 'late', 'muito'] em O cão ##zinho late muito"
    assert found_on("print(p)", tokens, "03.6", "03_bert_encoders.ipynb") == []


@pytest.mark.parametrize(
    ("source", "printed", "message"),
    [
        (SOURCE, "", "prints produto: 0.54"),
        (SOURCE, RIGHT.replace("0.540", "0.42"), "prints produto: 0.54"),
        (SOURCE, RIGHT.replace("0.483", "0.484"), "prints cosseno"),
        (SOURCE, RIGHT.replace("0.483", "0.5"), "prints cosseno"),
        (SOURCE, RIGHT.replace("1.257", "1257"), "prints norma_z2"),
        ("print('cosseno: 0.483')", RIGHT, "has cosseno typed in it"),
        ("print(0.48305)", RIGHT, "has cosseno typed in it"),
        ("print(compare('02.4', cosseno=c))", RIGHT, "['compare'] belong in the errata"),
        ("from lib.sources import judge", RIGHT, "['judge'] belong in the errata"),
    ],
)
def test_a_cell_that_does_not_compute_its_example_is_named(source, printed, message):
    found = found_on(source, printed)
    assert any(message in problem for problem in found), found


def test_a_tag_without_its_figures_or_in_another_chapter_is_named():
    full = code("conta", SOURCE, RIGHT, tags=("source:02.4",))
    empty = code("vazia", "z_1", "", tags=("source:02.4",))
    wrong = code("outra", SOURCE, RIGHT, tags=("source:07.1",))
    made_up = page(full, empty, wrong)
    found = "\n".join(problems([made_up]))
    assert "vazia: tagged source:02.4 and prints no figure of it" in found
    assert "outra: source:07.1 is no example of this chapter" in found
    assert "conta: source:02.4 is no example of this chapter" in found  # the page is not the second chapter
    assert "no cell is tagged source:01.1" in found
