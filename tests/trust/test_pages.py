"""A folder of pages: what belongs to it, and what may stand behind a value."""

from tests.trust.made_up import book, code, notebook, page, prose
from trust.conventions import Convention
from trust.settings import Settings


def test_pages_are_found_below_and_what_tools_leave_is_not(tmp_path):
    names = ["a.ipynb", "deep/b.ipynb", "z.md", "c.md"]
    others = ["_build/x.md", ".git/x.md", "d/.ipynb_checkpoints/x.ipynb", "node_modules/x.md", "e.txt"]
    made = book(tmp_path, {name: "" for name in names + others})
    assert [made.name(path) for path in made.paths()] == ["a.ipynb", "deep/b.ipynb", "c.md", "z.md"]


def test_a_page_that_cannot_be_read_is_no_origin_and_stops_nobody(tmp_path):
    made = book(tmp_path, {"bad.ipynb": "{", "a.ipynb": notebook(code("c", "print(4)", "4")), "b.md": "4"})
    assert made.origins(made.page(tmp_path / "b.md")).keys() == {"a.ipynb#c"}


def test_alternative_texts_and_captions_of_pictures_are_prose():
    spoken = {"image": {"alt": "Seven bars."}, "figure": {"caption": "A caption."}}
    (block,) = page(code("c", "plot()", picture=True, mystnb=spoken)).blocks
    assert block.text == "Seven bars.\n\nA caption."


def test_settings_decide_how_a_page_writes_and_otherwise_the_page(tmp_path):
    cells = (prose("t", "The mean is 0.5 of the sum."), code("c", "1"))
    assert page(*cells).convention == Convention(",", "pt")
    bare = Settings(tmp_path, tmp_path / "figures.toml")
    assert page(*cells, settings=bare).convention == Convention(".", "en")
