"""A chapter reaches, with its own cells, the verdicts that the errata page shows."""

import pytest

from lib.sources import compare, example_ids, judge
from lib.sources.catalog import DATA
from tests.trust.made_up import code, page
from tests.trust.pages import chapters, read_page
from tests.trust.sources import rendered, stored_errata
from trust.notebooks import printed_text
from trust.pages import Page


def missing_verdicts(page: Page, document: str) -> list[str]:
    """Figures of a document whose verdict the page does not print as the errata does."""
    shown = "\n".join(printed_text(cell) for cell in page.code_cells())
    return [
        f"{page.name}: no cell prints the verdict on {v.figure.name} of {id}, as compare() gives it:\n{v}"
        for id in example_ids()
        if id.startswith(f"{document}.")
        for v in judge(id).verdicts
        if str(v) not in shown
    ]


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.name)
def test_the_chapter_prints_every_verdict_on_its_document(path):
    found = missing_verdicts(read_page(path), path.name[:2])
    assert not found, "\n".join(found)


def test_the_errata_page_shows_every_document_and_statement():
    stored = stored_errata()
    missing = [card.partition("\n")[0] for card in rendered(DATA) if card not in stored]
    advice = "give it a cell with figure_cards() or statement_cards(), then run make notebooks"
    assert not missing, f"errata.ipynb lacks the cards that start with {missing}: {advice}"


def test_another_verdict_in_the_chapter_is_noticed():
    right = "\n".join(str(judge(id)) for id in example_ids() if id.startswith("04."))
    assert missing_verdicts(page(code("c", "print(c)", right)), "04") == []
    wrong = right.replace(str(judge("04.1")["perda"]), str(compare("04.1", perda=0.5)["perda"]))
    (found,) = missing_verdicts(page(code("c", "print(c)", wrong)), "04")
    assert "perda of 04.1" in found
