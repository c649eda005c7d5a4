"""The comparison of what a notebook stores with what its code gives today.

nbval compares outputs; two things escape it, and are compared here: the state of widgets, which a page
shows without a kernel, and the texts of cells whose output it is told to ignore.
"""

import json
import re
from types import SimpleNamespace

import nbformat
from nbval.plugin import IPyNbCell, coalesce_streams

from lib.widgets.base import fingerprint
from tests.trust.pages import tags
from tests.trust.tags import IGNORE
from tools.execute_notebooks import WIDGET_STATE
from trust import tolerance

# What nbval itself does not compare: see `IPyNbFile.skip_compare` in its plugin.
SKIPPED = (
    "metadata",
    "traceback",
    "prompt_number",
    "output_type",
    "name",
    "execution_count",
    "application/vnd.jupyter.widget-view+json",
    "image/png",
    "image/jpeg",
)


class _Comparison:
    """nbval's own comparison of outputs, without a pytest session around it."""

    compare_outputs = IPyNbCell.compare_outputs
    sanitize = IPyNbCell.sanitize
    parent = SimpleNamespace(skip_compare=SKIPPED, sanitize_patterns={})
    colors = SimpleNamespace(FAIL="", OKBLUE="", ENDC="")

    def format_output_compare(self, key: str, left: str, right: str) -> None:
        self.comparison_traceback.append(key)


def nbval_accepts(stored: dict, fresh: dict) -> bool:
    """nbval's verdict on a stored code cell, given the same cell executed afresh."""
    # How a stream is cut into pieces is an accident of timing; nbval joins them before it compares.
    old, new = (coalesce_streams(_joined(cell)) for cell in (stored, fresh))
    new = tolerance.settled_outputs(new, old, tolerance.declared(stored))
    return bool(_Comparison().compare_outputs(new, old))


def _joined(cell: dict) -> list:
    """Outputs as nbformat gives them in memory: multi-line texts in one string."""
    return [nbformat.from_dict(_in_one_string(output)) for output in cell["outputs"]]


def _in_one_string(output: dict) -> dict:
    if output["output_type"] == "stream":
        return {**output, "text": "".join(output["text"])}
    data = {k: "".join(v) if isinstance(v, list) else v for k, v in output.get("data", {}).items()}
    return {**output, "data": data} if "data" in output else dict(output)


def ignored_text_problems(stored: dict, fresh: dict) -> list[str]:
    """Texts in cells that nbval ignores: they must be what the code gives, too."""
    pairs = zip(stored["cells"], fresh["cells"], strict=True)
    return [
        f"{old['id']}: nbval ignores this cell, and its stored text is not what the code gives"
        for old, new in pairs
        if old["cell_type"] == "code" and IGNORE in tags(old) and not nbval_accepts(old, new)
    ]


def widget_state(notebook: dict) -> dict:
    """The widgets' models that a notebook stores."""
    return notebook["metadata"].get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})


def widget_problems(stored: dict, fresh: dict) -> list[str]:
    """Widget models that are not what the code gives, and fingerprints in the text that no model has."""
    old, new = widget_state(stored), widget_state(fresh)
    found = [
        f"widget {id}: the stored state is not what the code gives; run make notebooks"
        for id in sorted(old.keys() | new.keys())
        if old.get(id) != new.get(id)
    ]
    stored_prints = {fingerprint(model["state"]) for model in old.values()}
    shown = set(re.findall(r"dados sha256=([0-9a-f]{16})", json.dumps(stored["cells"])))
    return found + [f"no stored widget has the fingerprint {x}" for x in sorted(shown - stored_prints)]
