"""A student's folder: what she changed is never written over, and a newer version is announced beside it."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.lab import __main__ as lab
from tools.lab import extensions
from tools.lab.folder import Folder
from tools.lab.notebooks import Book
from tools.lab.numbers import Numbers
from tools.lab.start import START

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3 (deste computador)"}}
PAGE, NEWER = "01_pagina.ipynb", "01_pagina-versao-nova.ipynb"


def version(text: str) -> nbformat.NotebookNode:
    return new_notebook(cells=[new_markdown_cell(text, id="a"), new_code_cell("1 + 1", id="b")])


@pytest.fixture
def start(tmp_path, monkeypatch, capsys):
    """Starts the course with a book of one page, which reads so; what was said, and the folder."""
    monkeypatch.setattr(lab, "read_book", lambda: Book([], Numbers(), {}))

    def started(text: str, kernel: dict = KERNEL) -> tuple[str, Folder]:
        monkeypatch.setattr(lab, "files", lambda book: {PAGE: version(text), "glossario.md": "palavras\n"})
        monkeypatch.setattr(lab.server, "kernel", lambda: kernel)
        folder = lab.prepare(tmp_path)
        return capsys.readouterr().out, folder

    return started


def read(tmp_path, name: str) -> str:
    return nbformat.read(tmp_path / name, as_version=4).cells[0].source


def change(tmp_path, name: str, text: str) -> None:
    notebook = nbformat.read(tmp_path / name, as_version=4)
    notebook.cells[0].source = text
    nbformat.write(notebook, tmp_path / name)


@pytest.fixture
def restart(start, tmp_path):
    """Starts the course again, where she has changed the page."""
    start("um")
    change(tmp_path, PAGE, "meu")
    return start


def test_the_first_start_gives_everything_and_the_next_one_changes_nothing(start, tmp_path):
    said, _ = start("um")
    assert "your own copy" in said
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.is_file()}
    assert {path.name for path in before} == {PAGE, "glossario.md", START}
    assert start("um")[0] == ""
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.is_file()}


def test_what_she_did_not_change_gives_way_to_a_newer_version(start, tmp_path):
    start("um")
    said, folder = start("dois")
    assert read(tmp_path, PAGE) == "dois" and folder.offers() == [] and "newer version" in said


def test_what_she_changed_stays_and_the_newer_version_is_announced_beside_it(restart, tmp_path):
    hers = (tmp_path / PAGE).read_bytes()
    assert restart("um")[0] == ""
    said, folder = restart("dois")
    assert (tmp_path / PAGE).read_bytes() == hers and read(tmp_path, NEWER) == "dois"
    assert f"{PAGE} is as you left it" in said and NEWER in said
    assert f"[{NEWER}]({NEWER})" in (tmp_path / START).read_text(encoding="utf-8")
    assert restart("dois")[0] == "", "she is told once"
    restart("três")
    assert (tmp_path / PAGE).read_bytes() == hers and read(tmp_path, NEWER) == "três"
    assert folder.offers() == [NEWER]


def test_a_newer_version_in_which_she_writes_is_hers_too(restart, tmp_path):
    restart("dois")
    change(tmp_path, NEWER, "meu também")
    _, folder = restart("três")
    assert [read(tmp_path, name) for name in (PAGE, NEWER)] == ["meu", "meu também"]
    assert folder.offers() == ["01_pagina-versao-nova-2.ipynb", NEWER]
    assert read(tmp_path, folder.offers()[0]) == "três"


def test_a_newer_version_that_she_removes_does_not_come_back(restart, tmp_path):
    restart("dois")
    (tmp_path / NEWER).unlink()
    restart("dois")
    assert not (tmp_path / NEWER).exists()


def test_a_page_that_she_removes_comes_back_as_the_book_has_it(restart, tmp_path):
    (tmp_path / PAGE).unlink()
    restart("um")
    assert read(tmp_path, PAGE) == "um"


def test_a_file_that_was_there_before_is_hers(start, tmp_path):
    (tmp_path / PAGE).write_text("nada disso", encoding="utf-8")
    start("um")
    assert (tmp_path / PAGE).read_text(encoding="utf-8") == "nada disso" and read(tmp_path, NEWER) == "um"


def test_another_python_is_no_other_version(restart, tmp_path):
    restart("um", {"kernelspec": {"name": "python3", "display_name": "outro"}})
    assert not (tmp_path / NEWER).exists()


def test_jupyterlab_has_nothing_to_write_and_trusts_what_it_shows(start, tmp_path):
    """What the kernel says of a notebook is in it; and its outputs are drawn, because it is signed."""
    _, folder = start("um")
    notebook = nbformat.read(tmp_path / PAGE, as_version=4)
    assert notebook.metadata["kernelspec"] == KERNEL["kernelspec"]
    assert folder.notary().check_signature(notebook)
    notebook.cells[1].source = "outra coisa"
    assert not folder.notary().check_signature(notebook)


def test_the_kernel_is_told_as_jupyterlab_writes_it():
    told = lab.server.kernel()
    assert told["kernelspec"]["name"] == "python3" and told["language_info"]["version"]


def test_where_the_signatures_are_is_said_the_same_to_jupyterlab(start, tmp_path):
    _, folder = start("um")
    config = json.loads((folder.private / "jupyter_server_config.json").read_text(encoding="utf-8"))
    notary = folder.notary()
    for name, place in config["NotebookNotary"].items():
        assert (tmp_path / place).samefile(getattr(notary, name))


def test_code_for_widgets_that_says_something_else_is_not_served(tmp_path, monkeypatch):
    """A newer version of it would be as hurried as before, and nobody would know."""
    monkeypatch.setitem(extensions.CHANGES, "anywidget", ("not there", ""))
    with pytest.raises(RuntimeError, match="the installed anywidget does not say not there"):
        extensions.copy_patient(tmp_path)
