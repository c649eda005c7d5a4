"""Citations in the pages and entries in the bibliography."""

import re

import pytest

from tests.trust.pages import BOOK, notebooks, pages, read_page

KEYS = re.findall(r"^@\w+\{([^,\s]+),", (BOOK / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
CITE = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")


def cited(paths):
    """Each key that some pages cite, with the place."""
    blocks = [(path.name, block) for path in paths for block in read_page(path).blocks]
    return [
        (key.strip(), f"{name}, {block.name}")
        for name, block in blocks
        for keys in CITE.findall(block.text)
        for key in keys.split(",")
    ]


@pytest.mark.guards("01.s28", "01.s33", "02.s60", "03.s58", "04.s22", "05.s2", "05.s48", "05.s49")
def test_citations_and_bibliography_are_the_same_works():
    found = cited(pages())
    missing = [(key, place) for key, place in found if key not in KEYS]
    assert found and not missing, f"not in references.bib: {missing}"
    assert not (unused := set(KEYS) - {key for key, _ in found}), f"never cited: {sorted(unused)}"


@pytest.mark.guards("03.s60", "03.s61")
def test_what_rests_on_a_work_cites_it_in_the_notebooks():
    works = {"radford2018improving", "lewis2020bart", "raffel2020exploring", "clark2020electra"}
    assert works <= {key for key, _ in cited(notebooks())}


def test_no_key_is_defined_twice():
    assert len(KEYS) == len(set(KEYS)), sorted(key for key in KEYS if KEYS.count(key) > 1)


def test_every_work_can_be_reached():
    text = (BOOK / "references.bib").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^@\w+\{([^,\s]+),(.*?)^\}", text, re.MULTILINE | re.DOTALL))
    assert list(entries) == KEYS
    lost = [key for key, fields in entries.items() if not re.search(r"\n +(doi|eprint|url) += \{", fields)]
    assert not lost, f"without an address: {lost}"
