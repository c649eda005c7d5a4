"""Nothing of others' is in the built book, or installed for it, without its notice."""

import importlib.metadata
import json
import shutil

import pytest
from bs4 import BeautifulSoup

from lib.corpus.porttinari import ATTRIBUTION
from tools import notices
from tools.console import ROOT
from tools.setup_venv import requirement_lines

KEPT = json.loads(notices.TAKEN.read_text(encoding="utf-8"))
NAMED = {title for notice in KEPT["notices"] for title in notice["packages"]}


def test_every_package_of_the_scripts_and_fonts_has_its_notice():
    held = {" ".join(spec.rsplit("@", 1)) for specs in KEPT["holders"].values() for spec in specs}
    stale = (notices.vendored().keys() | held) ^ NAMED
    assert not stale, f"run `.venv/bin/python -m tools.notices`: {sorted(stale)}"
    assert all(len(notice["text"]) > 500 for notice in KEPT["notices"])


def test_what_holds_others_work_is_of_the_version_that_was_looked_into():
    mermaid = {title for title in notices.vendored() if title.startswith("mermaid ")}
    assert KEPT["holders"].keys() == mermaid | notices.WITHIN.keys()
    for title in notices.WITHIN:
        name, version = title.split()
        assert importlib.metadata.version(name) == version, f"look into {name}, then change WITHIN"


def test_weights_and_corpora_are_attributed():
    lines = requirement_lines(ROOT / "requirements-data.txt")
    assert {line.partition("==")[0] for line in lines} == notices.DATA.keys()
    assert ATTRIBUTION in notices.DATA["dante-corpora"]


@pytest.mark.book
def test_every_file_of_the_book_comes_from_somebody_known(book_dir, tmp_path):
    found = notices.carried(book_dir)
    assert "scripts/bootstrap.js" in found
    assert [name for name, packages in found.items() if "?" in packages] == []
    strange = tmp_path / "_static" / "scripts" / "strange.js"
    strange.parent.mkdir(parents=True)
    strange.touch()
    assert notices.carried(tmp_path) == {"scripts/strange.js": {"?"}}


@pytest.mark.book
def test_the_page_names_each_package_with_a_text(book_dir):
    page = BeautifulSoup((book_dir / notices.PAGE).read_text(encoding="utf-8"), "html.parser")
    shown = {
        name.strip(): part.pre.text
        for part in page.find_all("details")
        for name in part.summary.text.split(",")
    }
    python = set().union(*notices.carried(book_dir).values()) | notices.DATA.keys()
    assert shown.keys() == NAMED | {f"{name} {importlib.metadata.version(name)}" for name in python}
    assert all(len(text) > 500 for text in shown.values()), {n for n, t in shown.items() if len(t) <= 500}


def test_a_package_without_a_licence_is_not_passed_over(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "index.js").touch()
    tarball = shutil.make_archive(str(tmp_path / "bare"), "gztar", tmp_path, "package")
    with pytest.raises(SystemExit, match="bare brings no licence along"):
        notices.notice_in(tmp_path / tarball, "bare")
