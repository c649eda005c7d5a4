"""A bar is seen while work is done, in a terminal and in a real kernel, and leaves nothing behind."""

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from lib.progress import bar, in_notebook, track

SLOW = """
import lib.progress
lib.progress.REDRAW_SECONDS = 0
print("antes")
for k in lib.progress.track(range(3), "treino <1>"):
    pass
print("depois")
"""


def test_items_pass_through_a_bar_on_the_terminal(capsys):
    assert not in_notebook()
    assert list(track("abc", "treino")) == ["a", "b", "c"]
    printed = capsys.readouterr()
    assert printed.out == "" and "treino" in printed.err and "3/3" in printed.err


def test_a_bar_that_is_not_shown_counts_in_silence(capsys):
    with bar(5, "treino", done=2, shown=False) as counted:
        counted.step("perda 1.0")
    assert counted.done == 3 and capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_in_a_notebook_the_bar_moves_and_leaves_no_trace():
    notebook = new_notebook(cells=[new_code_cell(SLOW)])
    client, drawn = NotebookClient(notebook, kernel_name="python3"), []
    take = client.process_message

    def watch(message, cell, index):
        if "text/html" in message["content"].get("data", {}):
            drawn.append(message["content"]["data"]["text/html"])
        return take(message, cell, index)

    client.process_message = watch
    client.execute()
    assert [f'value="{k}"' in page for k, page in enumerate(drawn)] == [True] * 4
    assert all('max="3"' in page and 'aria-label="treino &lt;1&gt;"' in page for page in drawn)
    assert "cerca de" not in drawn[0] and "cerca de 0 s" in drawn[3]
    assert [output["text"] for output in nbformat.from_dict(notebook).cells[0].outputs] == ["depois\n"]
