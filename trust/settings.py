"""The `[tool.trust]` table of a project's pyproject.toml, which says how a book writes its numbers.

README.md shows one. All of it is optional, and so is the table.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trust.languages import LANGUAGES

LEDGER = "figures.toml"
KINDS = {"folder": str, "language": str, "decimal": str, "ledger": str, "diagrams": list}


class SettingsError(ValueError):
    """The table is not as described; the message says where and why."""


@dataclass(frozen=True)
class Settings:
    """Where a book is, and how it writes numbers; an empty language or mark is found out page by page."""

    folder: Path
    ledger: Path
    language: str = ""
    decimal: str = ""
    diagrams: frozenset[str] = frozenset()


def load(start: Path) -> Settings:
    """The settings of the project around a folder or a file; those of a bare folder where it has none."""
    start = start.resolve()
    inside = start if start.is_dir() else start.parent
    for folder in (inside, *inside.parents):
        path = folder / "pyproject.toml"
        if path.is_file() and (table := _table(path)) is not None:
            return _settings(path, table)
        if (folder / LEDGER).is_file():
            return Settings(folder, folder / LEDGER)
    return Settings(inside, inside / LEDGER)


def _table(path: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("trust")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise SettingsError(f"{path} cannot be read: {problem}") from problem


def _settings(path: Path, table: dict[str, Any]) -> Settings:
    for key, value in table.items():
        kind = KINDS.get(key)
        if kind is None:
            raise SettingsError(f"{path}: [tool.trust] knows {', '.join(KINDS)}, and not {key!r}")
        if not isinstance(value, kind):
            raise SettingsError(f"{path}: {key} of [tool.trust] is a {kind.__name__}, and not {value!r}")
    language, decimal = table.get("language", ""), table.get("decimal", "")
    if language and language not in LANGUAGES:
        raise SettingsError(f"{path}: language of [tool.trust] is one of {', '.join(LANGUAGES)}")
    if decimal not in ("", ",", "."):
        raise SettingsError(f"{path}: decimal of [tool.trust] is ',' or '.', and not {decimal!r}")
    folder = (path.parent / table.get("folder", ".")).resolve()
    ledger = path.parent / table["ledger"] if "ledger" in table else folder / LEDGER
    return Settings(folder, ledger, language, decimal, frozenset(table.get("diagrams", [])))
