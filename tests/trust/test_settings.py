"""The [tool.trust] table: found from below, with defaults, and with a sentence for each mistake."""

import pytest

from trust.settings import Settings, SettingsError, load


def table(folder, text):
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def test_a_bare_folder_needs_no_table(tmp_path):
    assert load(tmp_path) == Settings(tmp_path, tmp_path / "figures.toml")


def test_a_ledger_marks_the_folder_of_a_book(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "figures.toml").touch()
    assert load(tmp_path / "part").folder == tmp_path


def test_the_table_is_found_from_a_page_below(tmp_path):
    (tmp_path / "book").mkdir()
    page = tmp_path / "book" / "a.md"
    page.write_text("text", encoding="utf-8")
    table(tmp_path, '[tool.trust]\nfolder = "book"\nlanguage = "pt"\ndecimal = ","\ndiagrams = ["mermaid"]\n')
    folder = tmp_path / "book"
    assert load(page) == Settings(folder, folder / "figures.toml", "pt", ",", frozenset({"mermaid"}))


def test_a_project_without_the_table_is_passed_over(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    table(inner, "[project]\nname = 'x'\n")
    table(tmp_path, '[tool.trust]\nledger = "a.toml"\n')
    assert load(inner) == Settings(tmp_path, tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.trust]\nfolders = 1", "not 'folders'"),
        ("[tool.trust]\nfolder = 1", "folder of .* is a str"),
        ("[tool.trust]\nlanguage = 'xx'", "language of .* is one of en, pt"),
        ("[tool.trust]\ndecimal = ';'", "',' or '.'"),
        ("[tool.trust", "cannot be read"),
    ],
)
def test_a_mistake_is_named(tmp_path, text, message):
    table(tmp_path, text)
    with pytest.raises(SettingsError, match=message):
        load(tmp_path)
