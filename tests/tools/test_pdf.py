"""The book on paper: every page in its order, with numbers that lead there, and nothing of this machine."""

import subprocess
import sys
import unicodedata

import pytest
from pypdf import PdfReader

from tools import pdf
from tools.console import ROOT

pytestmark = [pytest.mark.book, pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def printed(tmp_path_factory, book_dir):
    # By a process of its own: the tests' browser has the only loop that this one may have.
    file = tmp_path_factory.mktemp("pdf") / "book.pdf"
    command = [sys.executable, "-m", "tools.pdf", "--into", str(file)]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=900)
    assert done.returncode == 0, done.stderr
    book = PdfReader(file)
    assert f"{len(book.pages)} pages" in done.stdout
    return book


def test_every_page_has_a_bookmark_that_leads_to_its_title(printed):
    marks = [mark for mark in printed.outline if not isinstance(mark, list)]
    assert len(marks) == 2 + len(pdf.entries())
    starts = [printed.get_destination_page_number(mark) for mark in marks]
    assert starts == sorted(starts) and starts[:2] == [0, 1]
    for mark, start in zip(marks[2:], starts[2:], strict=True):
        shown = "".join(printed.pages[start].extract_text().split())
        assert "".join(mark.title.split())[:20] in shown, mark.title


def test_the_contents_and_the_foot_of_each_sheet_give_the_same_numbers(printed):
    marks = [mark for mark in printed.outline if not isinstance(mark, list)][2:]
    starts = [printed.get_destination_page_number(mark) + 1 for mark in marks]
    text = " ".join(page.extract_text() for page in printed.pages[1 : starts[0] - 1])
    contents = "".join(unicodedata.normalize("NFKC", text).split())  # ligatures
    for mark, start in zip(marks, starts, strict=True):
        assert f"{''.join(mark.title.split())}{start}" in contents, mark.title
        assert printed.pages[start - 1].extract_text().split()[-1] == str(start)


def test_no_link_leads_to_the_machine_that_printed(printed):
    notes = (note.get_object() for page in printed.pages for note in page.get("/Annots", []))
    found = [note.get("/A", {}).get("/URI", "") for note in notes]
    assert found and not [uri for uri in found if "127.0.0.1" in uri or uri.startswith("file:")]
    assert str(ROOT) not in str(printed.metadata)
