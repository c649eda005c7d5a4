"""The comparison of what a notebook stores with what its code gives today.

nbval compares outputs; two things escape it, and are compared here: the state of widgets, which a page
shows without a kernel, and the texts of cells whose output it is told to ignore.
"""

import json
import re
from types import SimpleNamespace
from typing import Any

import nbformat
from nbval.plugin import IPyNbCell, coalesce_streams

from trust import tolerance
from trust.notebooks import Cell, tags

IGNORE = "nbval-ignore-output"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
REFERENCE = re.compile(r"(?<=IPY_MODEL_)[0-9a-f]+")
PICTURES = ("image/png", "image/jpeg", "image/svg+xml")
Widgets = tuple[list[int | None], dict[str, str]]  # the views in cells, and all models as text
# What nbval itself does not compare: see `IPyNbFile.skip_compare` in its plugin. A drawing is a picture,
# too: where a training's curve lies depends on the processor, and the cell asserts what it shows.
SKIPPED = ("metadata", "traceback", "prompt_number", "output_type", "name", "execution_count", WIDGET_VIEW)


class _Comparison:
    """nbval's own comparison of outputs, without a pytest session around it."""

    compare_outputs = IPyNbCell.compare_outputs
    sanitize = IPyNbCell.sanitize
    parent = SimpleNamespace(skip_compare=(*SKIPPED, *PICTURES), sanitize_patterns={})
    colors = SimpleNamespace(FAIL="", OKBLUE="", ENDC="")
    comparison_traceback: list[str]

    def format_output_compare(self, key: str, left: str, right: str) -> None:
        self.comparison_traceback.append(key)


def nbval_accepts(stored: Cell, fresh: Cell) -> bool:
    """nbval's verdict on a stored code cell, given the same cell executed afresh."""
    # How a stream is cut into pieces is an accident of timing; nbval joins them before it compares.
    old, new = (coalesce_streams([*map(nbformat.from_dict, cell["outputs"])]) for cell in (stored, fresh))
    new = tolerance.settled_outputs(new, old, tolerance.declared(stored))
    return bool(_Comparison().compare_outputs(new, old))  # pyright: ignore[reportArgumentType]


def ignored_text_problems(stored: dict[str, Any], fresh: dict[str, Any]) -> list[str]:
    """Texts in cells that nbval ignores: they must be what the code gives, too."""
    pairs = zip(stored["cells"], fresh["cells"], strict=True)
    return [
        f"{old['id']}: nbval ignores this cell, and its stored text is not what the code gives"
        for old, new in pairs
        if old["cell_type"] == "code" and IGNORE in tags(old) and not nbval_accepts(old, new)
    ]


def widget_state(notebook: dict[str, Any]) -> dict[str, Any]:
    """The widgets' models that a notebook stores."""
    return notebook["metadata"].get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})


def widget_problems(stored: dict[str, Any], fresh: dict[str, Any]) -> list[str]:
    """Widgets that are not what the code gives, whatever ids they were given."""
    return widget_differences(numbered_widgets(stored), numbered_widgets(fresh))


def widget_differences(stored: Widgets, fresh: Widgets) -> list[str]:
    """The same, for widgets that have been numbered."""
    (old_views, old), (new_views, new) = stored, fresh
    found = [
        f"widget {id}: the stored state is not what the code gives; execute the notebook"
        for (id, text), other in zip(old.items(), [*new.values(), *[""] * len(old)], strict=False)
        if text != other
    ]
    if (more := len(new) - len(old)) > 0:
        found.append(f"{more} widgets that the code gives are not stored; execute the notebook")
    if not found and old_views != new_views:
        found.append("a cell shows another widget than the one that its code gives; execute the notebook")
    return found


def numbered_widgets(notebook: dict[str, Any]) -> Widgets:
    """The widgets that cells show, and all models as text, numbered as they are met: ids are random."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    views = [view["model_id"] for o in outputs if (view := o.get("data", {}).get(WIDGET_VIEW))]
    models = widget_state(notebook).items()
    texts = {id: json.dumps(model, sort_keys=True, ensure_ascii=False) for id, model in models}
    numbers: dict[str, int] = {}

    def text(id: str) -> str:
        return REFERENCE.sub(lambda match: str(numbers.get(match[0])), texts[id])

    ahead = views[::-1]
    while ahead or len(numbers) < len(texts):
        # What no cell shows, such as a link between two widgets, is told apart by what it refers to.
        id = ahead.pop() if ahead else min(texts.keys() - numbers.keys(), key=text)
        if id in texts and id not in numbers:
            numbers[id] = len(numbers)
            ahead += REFERENCE.findall(texts[id])[::-1]
    return [numbers.get(id) for id in views], {id: text(id) for id in numbers}
