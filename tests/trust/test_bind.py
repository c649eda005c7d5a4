"""Ledgers are written where they belong, keep what holds, and name what nothing prints."""

import json

import nbformat
import pytest

from tests.trust.made_up import book, code, notebook, page, prose
from trust.bind import bind_page, write
from trust.ledger import problems
from trust.notebooks import Unusable
from trust.pages import Book

MADE = notebook(code("soma", "print(soma)", "soma 0.4551 de 4"), prose("t", "A soma é 0,46 de 4 ($i+1$)."))


def bound(book: Book, name: str) -> list[str]:
    made = book.page(book.settings.folder / name)
    orphans = bind_page(made, book.origins(made))
    write(book, made)
    return orphans


def test_binding_prefers_the_nearest_cell_keeps_what_holds_and_names_what_nothing_prints():
    made = page(
        code("longe", "print(4)", "4"),
        code("perto", "print(4)", "4 e 0.4551"),
        prose("texto", "São 4 tokens e 0,46; não 5."),
        code("depois", "print(4)", "4"),
    )
    block = made.blocks[0]
    for old, new in (("", "perto"), ("4 @ longe", "longe"), ("4 @ sumiu", "perto")):
        block.ledger = {"values": [old]}
        (orphan,) = bind_page(made, made.printed)
        assert orphan.endswith("texto: nothing prints '5' in “São 4 tokens e 0,46; não 5.”")
        assert block.ledger["values"] == [f"4 @ {new}", "0,46 @ perto", "5 @ ?"]
    (problem,) = problems(made, made.printed)
    assert "'5'" in problem


def test_a_bound_notebook_holds_and_is_not_written_again(tmp_path):
    made = book(tmp_path, {"a.ipynb": MADE}, 'language = "pt"')
    assert bound(made, "a.ipynb") == []
    again = made.page(tmp_path / "a.ipynb")
    assert problems(again, made.origins(again)) == []
    assert again.cells[1]["metadata"]["figures"] == {"values": ["0,46 @ soma", "4 @ soma"], "notation": "1"}
    nbformat.validate(nbformat.read(tmp_path / "a.ipynb", as_version=4))
    # Another program's formatting is left as it is, where there is nothing to say.
    text = json.dumps(json.loads((tmp_path / "a.ipynb").read_text(encoding="utf-8")), indent=4)
    (tmp_path / "a.ipynb").write_text(text, encoding="utf-8")
    bound(made, "a.ipynb")
    assert (tmp_path / "a.ipynb").read_text(encoding="utf-8") == text


def test_cells_without_ids_get_them(tmp_path):
    old = json.loads(nbformat.writes(MADE))
    for cell in old["cells"]:
        del cell["id"]
    made = book(tmp_path, {"a.ipynb": json.dumps(old | {"nbformat_minor": 2})}, 'language = "pt"')
    assert bound(made, "a.ipynb") == []
    again = nbformat.read(tmp_path / "a.ipynb", as_version=4)
    nbformat.validate(again)
    assert [cell.id for cell in again.cells] == ["cell-1", "cell-2"] and again.nbformat_minor == 5
    assert again.cells[1].metadata.figures["values"] == ["0,46 @ cell-1", "4 @ cell-1"]


def test_a_markdown_page_quotes_any_notebook(tmp_path):
    pages = {"deep/a.ipynb": MADE, "b.md": "A soma é 0,46.", "c.md": "Nada.", 'd "e".md': "São 4."}
    made = book(tmp_path, pages, 'language = "pt"\nledger = "marks.toml"')
    for name in ("b.md", "c.md", 'd "e".md'):
        assert bound(made, name) == []
    assert made.ledger() == {
        "b.md": {"values": ["0,46 @ deep/a.ipynb#soma"]},
        'd "e".md': {"values": ["4 @ deep/a.ipynb#soma"]},
    }
    again = made.page(tmp_path / "b.md")
    assert problems(again, made.origins(again)) == []


def test_an_old_format_and_a_damaged_ledger_are_refused(tmp_path):
    old = nbformat.v3.new_notebook(worksheets=[nbformat.v3.new_worksheet()])
    made = book(tmp_path, {"a.ipynb": nbformat.v3.writes_json(old), "b.md": "1", "figures.toml": "["})
    with pytest.raises(Unusable, match="is in nbformat 3, whose cells have no ids"):
        bound(made, "a.ipynb")
    with pytest.raises(Unusable, match="that is not TOML"):
        bound(made, "b.md")
