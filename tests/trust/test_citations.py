"""Citations in the pages and entries in the bibliography."""

import re

import pytest

from tests.trust.pages import BOOK, pages, read_page

KEYS = re.findall(r"^@\w+\{([^,\s]+),", (BOOK / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
CITE = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")


@pytest.mark.guards("01.s28", "02.s60", "03.s58", "04.s22", "05.s2", "05.s48", "05.s49")
def test_every_citation_is_in_the_bibliography():
    blocks = [(path.name, block) for path in pages() for block in read_page(path).blocks]
    cited = [
        (key.strip(), f"{name}, {block.name}")
        for name, block in blocks
        for keys in CITE.findall(block.text)
        for key in keys.split(",")
    ]
    missing = [(key, place) for key, place in cited if key not in KEYS]
    assert cited and not missing, f"not in references.bib: {missing}"


def test_no_key_is_defined_twice():
    assert len(KEYS) == len(set(KEYS)), sorted(key for key in KEYS if KEYS.count(key) > 1)
