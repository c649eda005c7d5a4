"""Citations in the pages and entries in the bibliography."""

import re

import pytest

from tests.trust.pages import BOOK, pages, read_page

BIBLIOGRAPHY = (BOOK / "references.bib").read_text(encoding="utf-8")
CITE = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")


def cited() -> dict[str, list[str]]:
    """Where each key is cited."""
    found: dict[str, list[str]] = {}
    for path in pages():
        for block in read_page(path).blocks:
            for keys in CITE.findall(block.text):
                for key in keys.split(","):
                    found.setdefault(key.strip(), []).append(f"{path.name}, {block.name}")
    return found


@pytest.mark.guards("01.s28", "02.s60", "03.s58", "04.s22", "05.s2", "05.s48", "05.s49")
def test_every_citation_is_in_the_bibliography():
    known = set(re.findall(r"^@\w+\{([^,\s]+),", BIBLIOGRAPHY, re.MULTILINE))
    missing = {key: places for key, places in cited().items() if key not in known}
    assert cited() and not missing, f"not in references.bib: {missing}"


def test_no_key_is_defined_twice():
    keys = re.findall(r"^@\w+\{([^,\s]+),", BIBLIOGRAPHY, re.MULTILINE)
    assert len(keys) == len(set(keys)), sorted(k for k in keys if keys.count(k) > 1)
