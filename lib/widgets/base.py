"""What every widget of the course shares: its JavaScript and style put together, and a checkable repr.

**Code.** A widget is a Python class plus `<name>.js` and `<name>.css` beside it; what the widgets have in
common is in `base.js` and `base.css`. All of them are real files, and the `.js` ones real ES modules. A
static page has no server to import from, so `source` joins base and widget into one text when the class is
defined: it drops the widget's `import ... from "./base.js"` and the `export` keyword of shared declarations.

**Repr.** nbval compares text outputs, not widget views. So the text of a widget is its fingerprint,
`MaskExplorer(dados sha256=0123456789abcdef)`: the first 16 hexadecimal digits of the SHA-256 of the state
that its class declares (data, position of the controls, JavaScript and CSS), as `fingerprint` computes it
from the live state or from the one that a notebook stores. A notebook whose stored state is not what the code
makes today has another fingerprint, even if all that changed is the JavaScript.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets

_FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=function |class |const )", re.MULTILINE)

# Keys that any anywidget carries: model and view names, layout, tooltip. They say nothing about the data.
_COMMON_KEYS = frozenset(anywidget.AnyWidget.class_trait_names(sync=True))


def script_and_style(name: str, *shared: str) -> tuple[str, str]:
    """The (JavaScript, CSS) of widget `name`, each with the shared part in front, free of imports.

    `shared` names what the widget has in common with only some others: code, a style sheet or both.
    `script_and_style(name, "fields")`.
    """
    parts = [part for part in shared if (_FOLDER / f"{part}.js").is_file()]
    sheets = [part for part in shared if (_FOLDER / f"{part}.css").is_file()]
    if missing := set(shared) - {*parts, *sheets}:
        raise ValueError(f"shared must name .js or .css files of this folder, got {sorted(missing)}")
    common = _read("base.js") + "".join(_code(part, _imported(part)) for part in parts)
    code = _EXPORT.sub("", common) + _code(name, ["base", *parts])
    return code, "".join(_read(f"{sheet}.css") for sheet in ("base", *sheets, name))


def fingerprint(state: dict[str, Any]) -> str:
    """16 hexadecimal digits of the SHA-256 of a widget's state, without what all widgets have in common."""
    declared = {key: value for key, value in state.items() if key not in _COMMON_KEYS}
    text = json.dumps(declared, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class CourseWidget(anywidget.AnyWidget):
    """An anywidget whose repr is the fingerprint of its state."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dados sha256={fingerprint(self.get_state())})"


class Panel(ipywidgets.VBox):
    """Controls above the widget that they drive. It reads as that widget in text outputs."""

    def __init__(self, widget: CourseWidget, controls: Sequence[ipywidgets.Widget]) -> None:
        box = ipywidgets.Box(controls)
        box.add_class("cw-controls")
        super().__init__([box, widget])
        self.add_class("cw-panel")
        self.widget = widget
        self.controls = controls

    def __repr__(self) -> str:
        return repr(self.widget)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _imported(part: str) -> list[str]:
    """A shared part may use the base, and nothing else."""
    return ["base"] if _IMPORT.search(_read(f"{part}.js")) else []


def _code(name: str, imports: list[str]) -> str:
    text = _read(f"{name}.js")
    own = _IMPORT.sub("", text)
    if sorted(_IMPORT.findall(text)) != sorted(imports) or re.search(r"^import ", own, re.MULTILINE):
        raise ValueError(
            f"{name}.js must import once from each of {imports}, and from nothing else: "
            "a static page has no server"
        )
    return own
