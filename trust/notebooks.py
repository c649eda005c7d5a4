"""Notebooks as they come: of any format, whole or damaged. What cannot be used is said in a sentence."""

import copy
import html
import json
import re
from pathlib import Path
from typing import Any

LARGEST = 100_000_000  # bytes
UNSEEN_HTML = re.compile(r"(?is)<(script|style|svg)\b.*?</\1\s*>|<!--.*?-->|</?[a-z][^>]*>")
Cell = dict[str, Any]


class Unusable(Exception):
    """A file that cannot be read as a page; the message says what is wrong and what was expected."""


def text_of(path: Path) -> str:
    """The text of a file, with lines that end in one character."""
    try:
        if path.stat().st_size > LARGEST:
            size = path.stat().st_size / 1e6
            raise Unusable(f"has {size:.0f} MB; a page of at most {LARGEST / 1e6:.0f} MB was expected")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise Unusable("is not UTF-8 text, which was expected") from None
    except OSError as problem:
        raise Unusable(f"cannot be read: {problem.strerror}") from None
    if text.startswith("version https://git-lfs"):
        raise Unusable("is a pointer of Git LFS; the file itself was expected (git lfs pull)")
    return text


def load(path: Path) -> dict[str, Any]:
    """A notebook's JSON, in nbformat 4."""
    text = text_of(path)
    if not text.strip():
        raise Unusable("is empty; the JSON of a notebook was expected")
    try:
        notebook = json.loads(text)
    except ValueError as problem:
        raise Unusable(f"is not JSON, as a notebook is: {problem}") from None
    except RecursionError:
        raise Unusable("is JSON nested too deeply for a notebook") from None
    return current(notebook)


def current(notebook: Any) -> dict[str, Any]:
    """The same notebook in nbformat 4, each cell with all that a cell should have."""
    version = notebook.get("nbformat") if isinstance(notebook, dict) else None
    if not isinstance(version, int):
        raise Unusable("is JSON without a number `nbformat`; a notebook was expected")
    if version > 4:
        raise Unusable(f"is in nbformat {version}; at most 4 is known")
    if version < 4:
        import nbformat  # only here: it takes seconds to import
        from nbformat import reader

        try:
            notebook = nbformat.convert(reader.reads(json.dumps(notebook)), 4)
        except Exception as problem:  # whatever a damaged old file makes nbformat raise
            raise Unusable(f"is in nbformat {version} and cannot be brought to 4: {problem!r}") from None
        for cell in notebook["cells"]:
            cell.pop("id", None)  # nbformat makes one up, another each time
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise Unusable("has no list of cells; a notebook was expected")
    metadata, minor, ids = notebook.get("metadata"), notebook.get("nbformat_minor"), set()
    return {
        **notebook,
        "nbformat_minor": max(5, minor) if isinstance(minor, int) else 5,
        "metadata": metadata if isinstance(metadata, dict) else {},
        "cells": [_cell(cell, number, ids) for number, cell in enumerate(cells, 1)],
    }


def _cell(cell: Any, number: int, ids: set[str]) -> Cell:
    """One cell; without an id of its own, it is named by its number."""
    if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
        raise Unusable(f"has a cell, number {number}, without a type")
    metadata, outputs, id = cell.get("metadata"), cell.get("outputs"), cell.get("id")
    id = id if isinstance(id, str) and id not in ids else f"cell-{number}"
    ids.add(id)
    return {
        **cell,
        "id": id,
        "metadata": metadata if isinstance(metadata, dict) else {},
        "source": _joined(cell.get("source")).replace("\r\n", "\n").replace("\r", "\n"),
        **({"outputs": _outputs(outputs)} if cell["cell_type"] == "code" else {}),
    }


def _outputs(outputs: Any) -> list[Any]:
    """The outputs of a cell, with each text in one string."""
    outputs = copy.deepcopy(outputs) if isinstance(outputs, list) else []
    for holder, key in (place for output in outputs for place in text_places(output)):
        holder[key] = _joined(holder.get(key))
    return outputs


def _joined(text: Any) -> str:
    """A text that may be stored as a list of lines."""
    return "".join(part for part in (text if isinstance(text, list) else [text]) if isinstance(part, str))


def text_places(output: Any) -> list[tuple[dict[str, Any], str]]:
    """Where the texts of an output are: a dictionary, and a key of it."""
    if not isinstance(output, dict):
        return []
    if output.get("output_type") == "stream":
        return [(output, "text")]
    data = output.get("data")
    return [(data, key) for key in sorted(data) if key.startswith("text/")] if isinstance(data, dict) else []


def tags(cell: Cell) -> list[str]:
    """The tags of a cell."""
    found = cell["metadata"].get("tags", [])
    return [tag for tag in found if isinstance(tag, str)] if isinstance(found, list) else []


def printed_text(cell: Cell) -> str:
    """All that a reader sees a code cell print; the fallback of a picture is not seen."""
    return "\n".join(
        html.unescape(UNSEEN_HTML.sub(" ", holder[key])) if key == "text/html" else holder[key]
        for output in cell["outputs"]
        for holder, key in text_places(output)
        if not any(other.startswith("image/") for other in holder)
    )


def descriptions(cell: Cell) -> str:
    """Alternative texts and captions that a code cell's metadata gives to its pictures."""
    found: list[str] = []

    def walk(value: Any, key: str = "") -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                walk(inner, name)
        elif key in ("alt", "caption"):
            found.append(str(value))

    walk(cell["metadata"].get("mystnb", {}))
    return "\n\n".join(found)
