"""The data on the source documents under test: a changed digit must give another errata page, or none."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from unittest.mock import patch

from lib.sources import catalog, errata
from tests.trust.pages import BOOK, read_page
from trust.notebooks import printed_text
from trust.tamper import Candidate, digits


def rendered(folder: Path) -> list[str]:
    """What the errata page shows, from the data in `folder`."""
    examples, statements = catalog.load_examples(folder), errata.load_statements(folder)
    with (
        patch.object(catalog, "_examples", lambda: examples),
        patch.object(errata, "_statements", lambda: statements),
    ):
        documents = sorted({id[:2] for id in examples})
        views = [errata.overview(), *map(errata.items, statements), *map(errata.figures, documents)]
        return [view.text for view in views]


def stored_errata() -> str:
    """What the errata page has stored."""
    return "\n".join(printed_text(cell) for cell in read_page(BOOK / "errata.ipynb").code_cells())


def source_candidates(stored: str) -> Iterator[Candidate]:
    """Digits in the data on the documents: it must no longer load, or give another errata page."""
    if not all(view in stored for view in rendered(catalog.DATA)):
        raise ValueError("errata.ipynb does not show what lib/sources says; run make notebooks first")
    for path in sorted(catalog.DATA.glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        comments = {i for m in re.finditer(r"^#.*$", text, re.MULTILINE) for i in range(*m.span())}
        for candidate in digits(f"lib/sources/data/{path.name}", text, partial(_notices, stored, path.name)):
            if candidate.at not in comments:
                yield candidate


def _notices(stored: str, name: str, text: str) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(catalog.DATA, Path(scratch) / "data"))
        (folder / name).write_text(text, encoding="utf-8")
        try:
            return not all(view in stored for view in rendered(folder))
        except Exception:
            return True  # the page cannot be made at all
