"""The base of the widgets: composed source, and the shared JavaScript run by Node."""

import math
import re
import subprocess
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.attention import softmax as lib_softmax
from lib.widgets import base
from tests.lib.widgets.cases.page import half_unit, read_number
from tests.lib.widgets.shared import run_node
from tools.fetch_vendor import find_program

FOLDER = Path(base.__file__).parent
SCRIPTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js"))}
WIDGETS = [name for name, text in SCRIPTS.items() if "export default" in text]


def call_base(function: str, calls: list[list]) -> list:
    """Call a function of base.js in Node, once per list of arguments."""
    return run_node(SCRIPTS["base"], f"given.map((each) => {function}(...each))", calls)


@pytest.mark.parametrize("name", WIDGETS)
def test_source_is_one_self_contained_module(name, tmp_path):
    esm, css = base.script_and_style(name)
    module = tmp_path / "widget.mjs"
    module.write_text(esm, encoding="utf-8")
    subprocess.run([find_program("node"), "--check", str(module)], check=True)
    from_elsewhere = r"(?m)^\s*import\b|\bimport\(|\brequire\(|https?://|url\(|@import"
    assert not re.search(from_elsewhere, esm + css)
    [exported] = re.findall(r"^export .*", esm, re.MULTILINE)
    assert re.fullmatch(r"export default \{ render: rendererOf\(\w+View\) \};", exported)


MOTION_WELCOME = re.compile(r"(?m)^@media \(prefers-reduced-motion: no-preference\) \{\n(?:  .*\n)*\}\n")
TIMERS = {"player.js": 1, "page_model.js": 1}  # one plays on when asked, the other waits for a kernel


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.[cj]s*")), ids=lambda path: path.name)
def test_no_widget_moves_by_itself_or_talks_to_the_console(path):
    """Whoever asks for less motion gets none: styles move only where it is welcome, scripts never do."""
    text = MOTION_WELCOME.sub("", path.read_text(encoding="utf-8"))
    moving = r"\b(transition|animation|animate|smooth|requestAnimationFrame|setInterval|console)\b"
    assert not re.findall(moving, text)
    assert len(re.findall(r"\bsetTimeout\(", text)) == TIMERS.get(path.name, 0)


def script_of(folder, monkeypatch, **files):
    """The script of a widget whose files, in a folder of their own, are these."""
    for name, text in {"widget": "export default {};\n", **files}.items():
        (folder / f"{name}.js").write_text(text)
    (folder / "widget.css").write_text("")
    monkeypatch.setattr(base, "_FOLDER", folder)
    return base.script_and_style("widget")[0]


def test_what_is_imported_stands_once_and_before_its_users(tmp_path, monkeypatch):
    code = script_of(
        tmp_path,
        monkeypatch,
        base="export const a = 1;\n",
        tables='import { a } from "./base.js";\nexport const b = a;\n',
        widget='import { b } from "./tables.js";\nimport { a } from "./base.js";\nexport default { a, b };\n',
    )
    assert code == "const a = 1;\nconst b = a;\nexport default { a, b };\n"


@pytest.mark.parametrize(
    "line", ['import a from "./base.js";', 'import { a } from "three";', 'import "./a.js";']
)
def test_an_import_that_a_static_page_cannot_follow_is_refused(line, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"widget\.js must import only names from files beside it"):
        script_of(tmp_path, monkeypatch, widget=f"{line}\nexport default {{}};\n")


def test_a_style_sheet_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match=r"sheets must name \.css files of this folder, got \['nowhere'\]"):
        base.script_and_style("quiz", "nowhere")


@settings(max_examples=8)
@given(
    st.lists(
        st.lists(st.floats(-1e5, 1e5) | st.just(-math.inf), min_size=1, max_size=9), min_size=40, max_size=40
    )
)
def test_softmax_is_that_of_lib(rows):
    calls = [[["-inf" if x == -math.inf else x for x in row]] for row in rows]
    for row, result in zip(rows, call_base("softmax", calls), strict=True):
        expected = lib_softmax(torch.tensor(row, dtype=torch.float64))
        assert result["weights"] == pytest.approx(expected.tolist(), abs=1e-14)


def test_numbers_have_a_decimal_comma_and_a_true_minus():
    cases = {
        (0.5, 3): "0,500",
        (-0.5, 2): "−0,50",
        (-0.0001, 2): "0,00",
        (0, 2): "0,00",
        (1234.5, 1): "1234,5",
        (2_500_000, 2): "2,5·10⁶",
        (-2_500_000, 2): "−2,5·10⁶",
        ("-inf", 3): "−∞",
    }
    assert call_base("formatNumber", [list(case) for case in cases]) == list(cases.values())
    assert call_base("formatNumber", [[3.14e-7, 4, {"tiny": True}], [3.14e-7, 4]]) == ["3,1·10⁻⁷", "0,0000"]


@settings(max_examples=8)
@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.integers(0, 6)), min_size=50, max_size=50))
def test_numbers_are_rounded_to_the_digits_shown(cases):
    for (x, _), text in zip(cases, call_base("formatNumber", [list(case) for case in cases]), strict=True):
        assert abs(read_number(text) - x) <= half_unit(text) * (1 + 1e-9), (x, text)


def test_keys_move_in_a_grid_of_3_by_4_and_stop_at_its_border():
    moves = {
        **{("ArrowUp", (1, 1)): [0, 1], ("ArrowDown", (1, 1)): [2, 1]},
        **{("ArrowLeft", (1, 1)): [1, 0], ("ArrowRight", (1, 1)): [1, 2]},
        **{("Home", (1, 1)): [1, 0], ("End", (1, 1)): [1, 3]},
        **{("Control+Home", (1, 1)): [0, 0], ("Control+End", (1, 1)): [2, 3]},
        **{("PageUp", (1, 1)): [0, 1], ("PageDown", (1, 1)): [2, 1]},
        **{("a", (1, 1)): None, ("Tab", (1, 1)): None},
        **{("ArrowUp", (0, 0)): [0, 0], ("ArrowLeft", (0, 0)): [0, 0]},
        **{("ArrowDown", (2, 3)): [2, 3], ("ArrowRight", (2, 3)): [2, 3]},
    }
    calls = [[{"key": key.removeprefix("Control+"), "ctrlKey": "+" in key}, at, 3, 4] for key, at in moves]
    assert dict(zip(moves, call_base("moveInGrid", calls), strict=True)) == moves
