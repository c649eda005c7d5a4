"""Every value in the book's prose has its origin; and the check notices when one has not."""

import copy
import json
import re

import pytest

from tests.trust.bind import bind_page, write
from tests.trust.made_up import code, notebook, page, prose
from tests.trust.pages import pages, read_page
from tests.trust.prose import Fact, bibliography, fact_problems, facts, problems, used_origins


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_every_value_in_the_prose_was_printed_or_is_a_cited_fact(path):
    found = problems(read_page(path))
    assert not found, "\n".join(found)


def test_every_fact_is_cited_and_used():
    used = {origin for path in pages() for origin in used_origins(read_page(path))}
    found = fact_problems(used, facts(), bibliography())
    assert not found, "\n".join(found)


GOOD = (
    code("soma", "print(soma)", "soma 0.4551 de 4"),
    prose("texto", "A soma é 0,46 em $N = 4$ tokens ($i+1$).", "0,46 @ soma", "4 @ soma", notation="1"),
)


def test_good_prose_passes():
    assert problems(page(*GOOD), {"soma": page(*GOOD).printed()["soma"]}) == []


@pytest.mark.parametrize(
    ("text", "ledger", "message"),
    [
        (
            "A soma é 0,47 em $N = 4$ tokens ($i+1$).",
            None,
            "says '0,47'; the ledger expects '0,46', from 'soma'",
        ),
        ("A soma é 0,46 em $N = 4$ tokens ($i+2$).", None, "indices, exponents and marks are '2'"),
        ("A soma é 0,46 em $N = 4$ tokens ($i+1$), ou 9.", None, "'9' in “.*” has no origin"),
        ("A soma é 0,46 em $i+1$.", None, "the ledger has '4', which is no longer in the prose"),
        (
            None,
            {"values": ["0,46 @ outra", "4 @ soma"], "notation": "1"},
            "from 'outra', which does not exist",
        ),
        (None, {"values": ["0,46 @ ?", "4 @ soma"], "notation": "1"}, "from '\\?', which does not exist"),
        (None, {"values": ["0,46 @ soma", "5 @ soma"], "notation": "1"}, "says '4'; the ledger expects '5'"),
        (None, {"values": ["0,46 @ soma", "4 @ soma"]}, "indices, exponents and marks"),
        (None, {"valores": []}, "unknown keys"),
        (None, {}, "'0,46' in “.*” has no origin"),
    ],
)
def test_bad_prose_is_named(text, ledger, message):
    cells = copy.deepcopy(GOOD)
    if text:
        cells[1]["source"] = text
    if ledger is not None:
        cells[1]["metadata"]["figures"] = ledger
    (found,) = problems(page(*cells))
    assert re.search(message, found), found


def test_a_cell_that_prints_something_else_is_noticed():
    (found,) = problems(page(code("soma", "print(soma)", "soma 0.4449 de 4"), GOOD[1]))
    assert "'0,46'" in found and "does not print it at that precision" in found


def test_alternative_texts_are_prose():
    cell = code("figura", "plot()", picture=True, mystnb={"image": {"alt": "São 7 barras."}})
    (found,) = problems(page(cell))
    assert "'7' in “São 7 barras.” has no origin" in found


def test_binding_prefers_the_nearest_cell_and_keeps_what_holds():
    cells = [
        code("longe", "print(4)", "4"),
        code("perto", "print(4)", "4 e 0.4551"),
        prose("texto", "São 4 tokens e 0,46."),
        code("depois", "print(4)", "4"),
    ]
    made = page(*cells)
    assert bind_page(made) == []
    assert made.blocks[0].ledger["values"] == ["4 @ perto", "0,46 @ perto"]
    made.blocks[0].ledger["values"][0] = "4 @ longe"
    assert bind_page(made) == [] and made.blocks[0].ledger["values"][0] == "4 @ longe"
    made.blocks[0].ledger["values"][0] = "4 @ sumiu"
    assert bind_page(made) == [] and made.blocks[0].ledger["values"][0] == "4 @ perto"
    assert problems(made) == []


def test_binding_says_what_nothing_prints():
    made = page(code("soma", "print(1)", "1"), prose("texto", "São 5 tokens."))
    (orphan,) = bind_page(made)
    assert "nothing prints '5' in “São 5 tokens.”" in orphan
    assert problems(made)


def test_bound_notebooks_survive_writing(tmp_path):
    path = tmp_path / "99_made_up.ipynb"
    cells = copy.deepcopy(GOOD)
    cells[1]["metadata"] = {}
    path.write_text(json.dumps(notebook(*cells)), encoding="utf-8")
    made = read_page(path)
    bind_page(made)
    write(made)
    assert problems(read_page(path)) == []
    assert read_page(path).cells[1]["metadata"]["figures"]["values"] == ["0,46 @ soma", "4 @ soma"]


def test_a_cell_without_an_id_is_refused():
    cell = prose("texto", "olá")
    del cell["id"]
    with pytest.raises(ValueError, match="stable id"):
        page(cell)


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        (Fact("110", "tamanho"), "either cite or file"),
        (Fact("110", "tamanho", cite="ninguem2000"), "not in references.bib"),
        (Fact("3.11", "versão", file="pyproject.toml", contains="requires 3.11 exactly"), "does not say"),
        (Fact("9.99", "versão", file="pyproject.toml", contains=">=3.11"), "does not say"),
        (Fact("3.11", "versão", file="pyproject.toml", contains=">=3.11"), "no page uses it"),
    ],
)
def test_bad_facts_are_named(fact, message):
    found = fact_problems(set(), {"x": fact}, "@book{alguem2001,\n}")
    assert any(message in problem for problem in found), found


def test_good_facts_pass():
    known = {
        "a": Fact("110 milhões", "tamanho", cite="alguem2001"),
        "b": Fact("3.11", "versão", file="pyproject.toml", contains=">=3.11"),
    }
    assert fact_problems({"fact:a", "fact:b"}, known, "@book{alguem2001,\n}") == []
