"""`tools.blank_project`: what a student gets holds every cell that she runs, and nothing of the example's."""

import nbformat
import pytest

from lib.exercises.answers import INVITATION
from lib.exercises.project import criteria
from tools.blank_project import PAGE, blank, main


def test_the_blank_notebook_asks_and_does_not_answer(tmp_path):
    main(["--into", str(tmp_path / "meu")])
    page = nbformat.read(PAGE, as_version=4)
    given = nbformat.read(tmp_path / "meu" / PAGE.name, as_version=4)
    nbformat.validate(given)
    code, ours = ([c.source for c in n.cells if c.cell_type == "code"] for n in (given, page))
    assert code == ours
    found = {c.id: c for c in given.cells}
    assert {found[c.cell].source for c in criteria()} == {INVITATION}
    assert not any(c.get("outputs") or "figures" in c.metadata for c in given.cells)
    left_out = {c.id for c in page.cells} - found.keys()
    assert left_out and all(id.endswith("-exemplo") for id in left_out)


def test_what_was_begun_is_not_written_over(tmp_path):
    main(["--into", str(tmp_path)])
    (tmp_path / PAGE.name).write_text("minhas respostas", encoding="utf-8")
    with pytest.raises(SystemExit, match="perhaps with answers"):
        main(["--into", str(tmp_path)])
    assert (tmp_path / PAGE.name).read_text(encoding="utf-8") == "minhas respostas"


def test_a_page_without_a_criterion_is_not_made_blank():
    with pytest.raises(ValueError, match="projeto-pergunta-resposta"):
        blank(nbformat.v4.new_notebook())
