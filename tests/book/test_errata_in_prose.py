"""What the documents announce or misspell, and the book has or spells right: guards of the errata."""

import re

import pytest

from tests.trust.pages import BOOK, chapters, pages, read_page
from trust.notebooks import descriptions


@pytest.mark.guards("03.s63")
def test_training_and_uses_have_their_chapters_and_each_ends_with_what_to_keep():
    for number, part in (("02", "mask_tokens"), ("05", "fine_tune")):
        chapter = [read_page(path) for path in chapters() if path.name.startswith(number)]
        assert any(part in cell["source"] for page in chapter for cell in page.code_cells())
        assert any("## Para levar" in block.text for page in chapter for block in page.blocks)


@pytest.mark.guards("05.s51")
def test_both_attentions_are_drawn_side_by_side():
    for name in ("02_mlm", "03_bert_encoders"):
        described = [descriptions(cell).lower() for cell in read_page(BOOK / f"{name}.ipynb").code_cells()]
        assert any("causal" in text and "bidirecional" in text for text in described)


@pytest.mark.guards("02.s66", "03.s65")
@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_no_page_misspells_what_the_documents_do(path):
    text = "\n".join(block.text for block in read_page(path).blocks)
    wrong = r"(?i)autogress\w*|auto-?regressiv[oa]\w*|\bescaler\b|\bquea\b|auto-atenç|\bcorrect[ao]\b"
    assert not re.findall(wrong, text)
