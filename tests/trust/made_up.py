"""Small made-up notebooks, good and bad, for the tests of the checks themselves."""

from pathlib import Path

from tests.trust.pages import Page, notebook_page


def code(
    id: str, source: str, printed: str = "", *, tags: tuple[str, ...] = (), picture: bool = False, **metadata
):
    """A code cell with what it printed, and a picture if asked for."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    if picture:
        data = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480 with 1 Axes>"}
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    return {
        "cell_type": "code",
        "id": id,
        "metadata": {"tags": list(tags), **metadata},
        "source": source,
        "outputs": outputs,
        "execution_count": 1,
    }


def prose(id: str, text: str, *values: str, notation: str = ""):
    """A Markdown cell with its ledger."""
    ledger = {"values": list(values)} if values else {}
    ledger |= {"notation": notation} if notation else {}
    return {
        "cell_type": "markdown",
        "id": id,
        "metadata": {"figures": ledger} if ledger else {},
        "source": text,
    }


def notebook(*cells: dict) -> dict:
    """A notebook of the given cells."""
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def page(*cells: dict) -> Page:
    """The page of a made-up notebook."""
    return notebook_page(Path("99_made_up.ipynb"), notebook(*cells))
