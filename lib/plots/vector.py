"""A plot as an SVG that follows the theme: small, the same bytes each time, its text still text.

Matplotlib's SVG is written again. Each colour becomes an attribute, as the light theme has it, so that any
program draws it; a rule for each, which counts more than an attribute, gives the colour of the theme in use.
By itself the picture follows the theme of what shows it, on a ground of its own that keeps it readable where
that is not told. The book's page takes it in (`book/_ext/course_plots.py`).
"""

import io
import re
import xml.etree.ElementTree as ET
from html import escape

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from lib.plots.palette import GROUND, PALETTE

NAMESPACE = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
WIDER = 1.35  # where there is more room than on a phone
FAMILY = "'Source Sans',system-ui,'Segoe UI',Roboto,'Helvetica Neue',sans-serif"
SIZE = "12"
MEASURES = {"d", "transform", "x", "y", "width", "height", "stroke-width", "stroke-dasharray"}
KEPT = MEASURES | {"fill", "stroke", "opacity", "fill-opacity", "id", "clip-path", "href", "patternUnits"}
KEPT |= {"text-anchor", "font-size", "font-weight", "font-style"}
# What an element has unless it says otherwise; "fill" is black, which is no colour of the palette.
USUAL = {"stroke": "none", "opacity": "1", "font-size": SIZE, "text-anchor": "start"}
IN_THE_DARK = dict(PALETTE.values())

Uses = set[tuple[str, str]]  # of a colour: as "fill" or as "stroke"


class Picture(Figure):
    """A figure that a notebook stores as a vector picture."""

    def _ipython_display_(self) -> None:
        from IPython.display import display  # which only a notebook needs

        display({"image/svg+xml": svg(self), "text/plain": repr(self)}, raw=True)


def svg(fig: Figure) -> str:
    """The picture; a colour that is not of the palette is a mistake."""
    drawn = io.BytesIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "course"}):
        fig.savefig(drawn, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    root = ET.fromstring(drawn.getvalue())
    for group in root.iter(f"{NAMESPACE}g"):
        if group.attrib.pop("id", "") == "patch_1":  # the ground
            group.clear()
    names = {e.attrib["id"]: f"p{i}" for i, e in enumerate(e for e in root.iter() if "id" in e.attrib)}
    uses: Uses = {("fill", GROUND)}
    body = "".join(_written(child, names, uses) for child in root)
    width, height = (round(72 * side) for side in fig.get_size_inches())
    rules = "".join(
        f'[{kind}="{light}"]{{{kind}:light-dark({light},{IN_THE_DARK[light]})}}'
        for kind, light in sorted(uses)
        if IN_THE_DARK[light] != light
    )
    size = f'viewBox="0 0 {width} {height}" width="{round(WIDER * width)}" height="{round(WIDER * height)}"'
    look = f'font-family="{FAMILY}" font-size="{SIZE}" stroke-linejoin="round"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>'
        f"<style>svg:root{{color-scheme:light dark}}{rules}</style>"
        f'<rect class="ground" width="100%" height="100%" fill="{GROUND}"/>{body}</svg>\n'
    )


def _written(element: ET.Element, names: dict[str, str], uses: Uses) -> str:
    """An element and what is in it, without what says nothing."""
    tag = element.tag.removeprefix(NAMESPACE)
    if tag in ("metadata", "style"):
        return ""
    said = _attributes(element, names)
    for kind in ("fill", "stroke"):
        if (colour := said.get(kind, "")).startswith("#"):
            if colour not in IN_THE_DARK:
                raise ValueError(f"{colour} is no colour of the palette in lib/plots/palette.py")
            uses.add((kind, colour))
    inside = escape(element.text or "", quote=False) if tag in ("text", "tspan") else ""
    inside += "".join(_written(child, names, uses) for child in element)
    if tag == "g" and not (inside and said):
        return inside
    if tag == "defs" or (said.get("fill") == "none" and "stroke" not in said):
        return f"<defs>{inside}</defs>" if inside else ""
    written = "".join(f' {name}="{value}"' for name, value in said.items())
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def _attributes(element: ET.Element, names: dict[str, str]) -> dict[str, str]:
    """What an element says, its style included: rounded, and with short names."""
    said = dict(element.attrib)
    for part in said.pop("style", "").split(";"):
        name, _, value = part.strip().partition(": ")
        said |= _font(value) if name == "font" else {name: value}
    if HREF in said:
        said["href"] = f"#{names[said.pop(HREF)[1:]]}"
    if "id" in said:
        said["id"] = names[said["id"]]
    for name, value in said.items():
        if name in MEASURES:
            said[name] = _rounded(value)
        elif value.startswith("url(#"):
            said[name] = f"url(#{names[value[5:-1]]})"
    return {
        name: value.removesuffix("px")
        for name, value in said.items()
        if name in KEPT and USUAL.get(name) != value.removesuffix("px") and not value.startswith("rotate(-0 ")
    }


def _font(value: str) -> dict[str, str]:
    """Size, weight and slant; the family is that of the page."""
    size = re.search(r"([\d.]+)px", value)
    said = {"font-size": f"{float(size[1]):g}"} if size else {}
    if re.search(r"\b(bold|[6-9]00)\b", value):
        said["font-weight"] = "bold"
    if re.search("italic|oblique", value):
        said["font-style"] = "italic"
    return said


def _rounded(text: str) -> str:
    """Every number to a tenth of a pixel, and no more room around it than it needs."""
    text = re.sub(r"-?\d+\.\d+", lambda n: f"{round(float(n[0]), 1) + 0.0:g}", " ".join(text.split()))
    return re.sub(r" ?([MLQCz]) ?", r"\1", text)
