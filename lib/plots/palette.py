"""The colours of the plots, by role, in the light theme and in the dark one: those of the widgets."""

import re
from collections.abc import Mapping
from pathlib import Path

SHEET = Path(__file__).parents[1] / "widgets" / "base.css"


def _of_the_widgets() -> dict[str, tuple[str, str]]:
    """The colours that widgets have for each role, in the light theme and in the dark one."""
    light, dark = re.findall(r"\{(.*?)\}", SHEET.read_text(encoding="utf-8"), re.DOTALL)[:2]
    in_the_dark = dict(re.findall(r"--cw-([\w-]+): (#[0-9a-f]{6})", dark))
    return {name: (c, in_the_dark[name]) for name, c in re.findall(r"--cw-([\w-]+): (#[0-9a-f]{6})", light)}


def mixed(share: float, colour: tuple[str, str], ground: tuple[str, str]) -> tuple[str, str]:
    """A `share` of a colour on a ground, in each theme."""
    pairs = (
        zip(bytes.fromhex(c[1:]), bytes.fromhex(g[1:]), strict=True)
        for c, g in zip(colour, ground, strict=True)
    )
    light, dark = ("#" + bytes(round(share * c + (1 - share) * g) for c, g in pair).hex() for pair in pairs)
    return light, dark


_WIDGETS = _of_the_widgets()
_GROUND, _ACCENT = _WIDGETS["surface"], _WIDGETS["focus"]
_SECOND = ("#a8480f", "#f2b07b")  # where two things are compared, which no widget does with colour
# By role, in the light theme and in the dark one. Plots are drawn in the light one; `vector` adds the other.
PALETTE: Mapping[str, tuple[str, str]] = {
    **{role: _WIDGETS[role] for role in ("surface", "text", "muted", "line", "focus")},
    "second": _SECOND,
    "pale": mixed(0.12, _ACCENT, _GROUND),
    "half": mixed(0.4, _ACCENT, _GROUND),
    "warm": mixed(0.14, _SECOND, _GROUND),
    "half-second": mixed(0.4, _SECOND, _GROUND),
    # Figures on a cell that is mixed from "surface" and "focus": weak, between, and strong.
    "on-low": ("#010101", "#ffffff"),
    "on-middle": ("#000001", "#000001"),
    "on-high": ("#fffffe", "#000000"),
}
LIGHT = {role: light for role, (light, _) in PALETTE.items()}
GROUND, INK, QUIET, RULE = (LIGHT[role] for role in ("surface", "text", "muted", "line"))
ACCENT, WARNING, PALE, WARM = (LIGHT[role] for role in ("focus", "second", "pale", "warm"))


def luminance(colour: str) -> float:
    """Of a colour as "#rrggbb", by WCAG."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def rgb(colour: str) -> list[float]:
    return [c / 255 for c in bytes.fromhex(colour[1:])]


def contrast(one: str, other: str) -> float:
    """Between two colours, by WCAG: from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def ink(share: float) -> str:
    """The role's colour that is readable, in both themes, on a cell with a `share` of the strong colour."""
    cell = mixed(share, _ACCENT, _GROUND)
    roles = ("on-low", "on-middle", "on-high")
    lowest = {role: min(map(contrast, PALETTE[role], cell)) for role in roles}
    return LIGHT[max(roles, key=lambda role: lowest[role])]
