"""Buttons that lead to the book's repository, only where it is said which that is."""

from types import SimpleNamespace

import pytest

from tools.console import ROOT


@pytest.fixture
def course(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    return __import__("course")


def options(course, monkeypatch, **told: str) -> dict:
    for name in ("BOOK_REPOSITORY", "BOOK_BRANCH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    config = SimpleNamespace(html_theme_options={"toc_title": "Nesta página"})
    course.link_to_the_repository(None, config)
    return config.html_theme_options


def test_without_an_address_there_is_no_button(course, monkeypatch):
    assert options(course, monkeypatch) == {"toc_title": "Nesta página"}
    assert options(course, monkeypatch, BOOK_REPOSITORY="") == {"toc_title": "Nesta página"}


def test_an_address_gives_buttons_to_see_edit_and_launch(course, monkeypatch):
    found = options(course, monkeypatch, BOOK_REPOSITORY="https://forge.example/a/b", BOOK_BRANCH="next")
    assert (found["repository_url"], found["repository_branch"]) == ("https://forge.example/a/b", "next")
    assert found["use_edit_page_button"] and found["launch_buttons"]["binderhub_url"]
    assert found["toc_title"] == "Nesta página"
