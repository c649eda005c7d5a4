"""Notebooks of every format and in every state: read, or refused with a sentence."""

import nbformat
import pytest
from nbformat import v3
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from trust import notebooks
from trust.notebooks import Unusable, load, printed_text, tags

GOOD = nbformat.writes(new_notebook(cells=[new_markdown_cell("Text.")]))
OLD_CELLS = [
    v3.new_heading_cell("Title 7", level=2),
    v3.new_code_cell("1 + 1", outputs=[v3.new_output("pyout", "2", prompt_number=1)]),
]
OLD = v3.writes_json(v3.new_notebook(worksheets=[v3.new_worksheet(cells=OLD_CELLS)]))


def stored(folder, content):
    path = folder / "page.ipynb"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("{", "is not JSON, as a notebook is: .*line 1"),
        (GOOD[:-10], "is not JSON"),
        ("<<<<<<< HEAD\n" + GOOD, "is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "without a number `nbformat`"),
        ("{}", "without a number `nbformat`"),
        ('{"nbformat": 4}', "no list of cells"),
        ('{"nbformat": 9, "cells": []}', "is in nbformat 9"),
        ('{"nbformat": 3, "worksheets": 1}', "is in nbformat 3 and cannot be brought to 4"),
        ('{"nbformat": 4, "cells": [1]}', "a cell, number 1, without a type"),
        ("version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(tmp_path, content, message):
    with pytest.raises(Unusable, match=message):
        load(stored(tmp_path, content))


def test_a_file_that_is_too_large_or_missing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "LARGEST", 10)
    with pytest.raises(Unusable, match="MB; a page of at most"):
        load(stored(tmp_path, GOOD))
    with pytest.raises(Unusable, match="cannot be read: No such file"):
        load(tmp_path / "none.ipynb")


def test_an_old_notebook_is_brought_to_the_present_format(tmp_path):
    heading, code = load(stored(tmp_path, OLD))["cells"]
    assert heading["source"] == "## Title 7" and code["source"] == "1 + 1"
    assert printed_text(code) == "2"
    assert [heading["id"], code["id"]] == ["cell-1", "cell-2"], "without ids, cells are named by number"


def test_a_careless_notebook_is_made_whole():
    cells = [
        {"cell_type": "markdown", "id": "a", "source": ["one\r\n", "two"]},
        {"cell_type": "code", "id": "a", "metadata": [], "outputs": None},
        {"cell_type": "code", "metadata": {"tags": ["x", 1]}, "outputs": [7, {"output_type": "stream"}]},
        {"cell_type": "unheard-of", "source": 5},
    ]
    first, second, third, last = notebooks.current({"nbformat": 4, "cells": cells})["cells"]
    assert first["source"] == "one\ntwo" and last["source"] == ""
    assert [cell["id"] for cell in (first, second, third)] == ["a", "cell-2", "cell-3"]
    assert printed_text(second) == printed_text(third) == "" and tags(third) == ["x"] and tags(second) == []


def test_a_reader_sees_text_and_tables_but_not_their_markup():
    table = "<style>td {width: 9px}</style><table><tr><td id='r1'>0.5</td></tr></table>&lt;"
    picture = {"image/png": "aGk=", "text/plain": "<Figure size 640x480>"}
    cell = new_code_cell(
        outputs=[
            new_output("stream", text="one 1\n"),
            new_output("display_data", data={"text/html": table, "application/json": {"a": 3}}),
            new_output("display_data", data=picture),
            new_output("error", ename="E", evalue="4", traceback=["5"]),
        ]
    )
    assert printed_text(cell).split() == ["one", "1", "0.5", "<"]
