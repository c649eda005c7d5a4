"""Buttons that lead to the book's repository, only where it is said which that is."""

import os
import re
import subprocess
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont

from tools.console import ROOT
from tools.environment import program


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


@pytest.mark.parametrize(
    ("address", "provider"),
    [
        ("https://github.com/gitlab-fans/b", "github"),
        ("https://gitlab.com/a/b", "gitlab"),
        ("https://bitbucket.org/a/b", "bitbucket"),
        ("https://forge.example/a/b", "github"),
    ],
)
def test_every_host_is_taken_for_one_that_the_theme_knows(address, provider, course, monkeypatch):
    found = options(course, monkeypatch, BOOK_REPOSITORY=address)
    assert found["repository_provider"] == provider


@pytest.mark.slow
def test_a_page_with_buttons_is_built_and_its_icons_are_in_the_small_font(tmp_path):
    """On a host that nobody knows, as the public workflow builds it; one page, because each has the same."""
    toc = tmp_path / "_toc.yml"
    toc.write_text("format: jb-book\nroot: book/library\n", encoding="utf-8")
    command = [program("jupyter-book"), "build", ".", "--toc", toc, "--path-output", tmp_path]
    told = {**os.environ, "BOOK_REPOSITORY": "https://forge.example/a/b"}
    done = subprocess.run(command, cwd=ROOT, env=told, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    html = tmp_path / "_build" / "html"
    page = BeautifulSoup((html / "book" / "library.html").read_text(encoding="utf-8"), "html.parser")
    links = " ".join(link["href"] for link in page.select(".article-header-buttons a[href]"))
    for part in ("/a/b ", "/a/b/edit/main/book/library.ipynb", "lab/tree/book/library.ipynb"):
        assert part in f"{links} ", links
    sheet = (html / "_static" / "book.css").read_text(encoding="utf-8")
    drawn = TTFont(ROOT / "book" / "_static" / "vendor" / "icons" / "solid.woff").getBestCmap()
    names = {name for icon in page.select(".article-header-buttons i") for name in icon["class"]}
    icons = {name for name in names if name.startswith("fa-")} - {"fa-solid", "fa-lg"}
    assert {"fa-rocket", "fa-code-branch"} <= icons
    for name in icons:
        sign = re.search(rf"\.{name}:before\b[^}}]*content:\"(.)\"", sheet)
        assert sign and ord(sign[1]) in drawn, f"{name} would come from the theme's whole font"


def test_an_address_gives_buttons_to_see_edit_and_launch(course, monkeypatch):
    found = options(course, monkeypatch, BOOK_REPOSITORY="https://forge.example/a/b", BOOK_BRANCH="next")
    assert (found["repository_url"], found["repository_branch"]) == ("https://forge.example/a/b", "next")
    assert found["use_edit_page_button"] and found["launch_buttons"]["binderhub_url"]
    assert found["toc_title"] == "Nesta página"
