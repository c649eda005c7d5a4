"""What every widget of the course shares: JavaScript and style put together, controls, and a checkable repr.

**Code.** A widget is a Python class plus `<name>.js` and `<name>.css` beside it; what the widgets have in
common is in `base.js` and `base.css`. All of them are real files, and the `.js` ones real ES modules. A
static page has no server to import from, so `script_and_style` joins a widget and what it imports into one
text when the class is defined: it drops the `import` lines and the `export` keyword of shared declarations.

**Repr.** nbval compares text outputs, not widget views. So the text of a widget is its fingerprint,
`MaskExplorer(dados sha256=0123456789abcdef)`: the first 16 hexadecimal digits of the SHA-256 of the state
that its class declares (data, position of the controls, JavaScript and CSS), as `fingerprint` computes it
from the live state or from the one that a notebook stores. A notebook whose stored state is not what the code
makes today has another fingerprint, even if all that changed is the JavaScript.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anywidget
import ipywidgets
from ipywidgets import Dropdown, IntSlider, SelectionSlider, jslink
from torch import Tensor

Picker = TypeVar("Picker", Dropdown, SelectionSlider)

_FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=function |class |const )", re.MULTILINE)

# Keys that any anywidget carries: model and view names, layout, tooltip. They say nothing about the data.
_COMMON_KEYS = frozenset(anywidget.AnyWidget.class_trait_names(sync=True))


def script_and_style(name: str, *sheets: str) -> tuple[str, str]:
    """The (JavaScript, CSS) of widget `name`: one text each, which imports nothing.

    The code is that of every file which `<name>.js` imports, each once and before its users. The style is
    that of the base, of each such file that has one, of the further `sheets`, and the widget's own.
    """
    files: list[str] = []
    _collect(f"{name}.js", files)
    styles = ["base", *(Path(file).stem for file in files[:-1]), *sheets, name]
    found = [style for style in dict.fromkeys(styles) if (_FOLDER / f"{style}.css").is_file()]
    if missing := sorted({*sheets, name} - {*found}):
        raise ValueError(f"sheets must name .css files of this folder, got {missing}")
    *shared, own = (_IMPORT.sub("", _read(file)) for file in files)
    return _EXPORT.sub("", "".join(shared)) + own, "".join(_read(f"{style}.css") for style in found)


def fingerprint(state: dict[str, Any]) -> str:
    """16 hexadecimal digits of the SHA-256 of a widget's state, without what all widgets have in common."""
    declared = {key: value for key, value in state.items() if key not in _COMMON_KEYS}
    text = json.dumps(declared, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class CourseWidget(anywidget.AnyWidget):
    """An anywidget whose repr is the fingerprint of its state; its frame says what it is and what to do."""

    TITLE: str = ""
    INSTRUCTION: str = ""
    _css: Any  # anywidget's

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dados sha256={fingerprint(self.get_state())})"

    def still(self) -> str:
        """The first state as HTML, for pages whose scripts have not come; nothing if the widget has none."""
        return ""

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = super()._repr_mimebundle_(**options)
        if bundle and (still := self.still()):
            style = f"<style>{self._css}</style>"
            bundle[0]["text/html"] = f'<div class="cw-still">{style}{still}</div>'
        return bundle


class Panel(ipywidgets.VBox):
    """The frame of a widget: title, instruction, controls. It reads as that widget in text outputs."""

    def __init__(self, widget: CourseWidget, controls: Sequence[ipywidgets.Widget]) -> None:
        box = ipywidgets.Box(controls)
        box.add_class("cw-controls")
        title, instruction = ipywidgets.Label(widget.TITLE), ipywidgets.Label(widget.INSTRUCTION)
        title.add_class("cw-title")
        instruction.add_class("cw-instruction")
        super().__init__([title, instruction, box, widget])
        self.add_class("cw-panel")
        self.widget = widget
        self.controls = controls

    def __repr__(self) -> str:
        return repr(self.widget)


# In a page there is no Python to listen: the links live in the browser, on numbers, never on labels.


def picker(
    kind: type[Picker], widget: CourseWidget, trait: str, title: str, labels: Iterable[object]
) -> Picker:
    """A list or a slider of labels, linked to an index of the widget."""
    control = kind(options=[str(x) for x in labels], index=getattr(widget, trait), description=title)
    jslink((control, "index"), (widget, trait))
    return control


def slider(widget: CourseWidget, trait: str, title: str, least: int, most: int) -> IntSlider:
    """A slider of integers, linked to one of the widget."""
    control = IntSlider(value=getattr(widget, trait), min=least, max=most, description=title)
    jslink((control, "value"), (widget, trait))
    return control


# --- what a widget asks of its arguments


def one_of(name: str, value: str, choices: Iterable[str]) -> int:
    """The place of `value` among the choices."""
    if value not in (known := list(choices)):
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return known.index(value)


def in_range(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}, got {value!r}")


def check_words(name: str, words: Sequence[str]) -> None:
    if isinstance(words, str) or not all(isinstance(word, str) and word for word in words):
        raise TypeError(f"{name} must be a sequence of non-empty strings, got {words!r}")


def encoded(values: Tensor, dtype: str) -> str:
    """Numbers as a page carries them: the bytes of `dtype`, as text."""
    return base64.b64encode(values.numpy().astype(dtype).tobytes()).decode()


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _collect(file: str, files: list[str]) -> None:
    """Add to `files` what `file` imports, then `file` itself."""
    text = _read(file)
    if re.search(r"^import ", _IMPORT.sub("", text), re.MULTILINE):
        raise ValueError(
            f'{file} must import only names from files beside it, as in import {{ a }} from "./base.js": '
            "a static page has no server"
        )
    for imported in _IMPORT.findall(text):
        if imported not in files:
            _collect(imported, files)
    files.append(file)
