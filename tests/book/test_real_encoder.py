"""The chapters that show a real encoder show the reader's own, where she names one, and by its name."""

import ast

import nbformat
import pytest

from tests.trust.pages import ROOT

SHOWN = "MiniLM"
CODE = {
    path.stem: [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    for path in sorted((ROOT / "book").glob("*.ipynb"))
}
OPEN = [name for name, cells in CODE.items() if any("real_encoder()" in source for source in cells)]


@pytest.mark.parametrize("name", OPEN)
def test_no_cell_gives_the_name_of_the_model_that_is_installed(name):
    """It is asked for, with real_encoder_name(); only a comparison with it may write it."""
    for source in CODE[name]:
        tree = ast.parse(source)
        compared = {
            id(node) for each in ast.walk(tree) if isinstance(each, ast.Compare) for node in ast.walk(each)
        }
        written = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in compared
        ]
        assert not [text for text in written if SHOWN in text], source
