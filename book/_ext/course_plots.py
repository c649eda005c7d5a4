"""Plots of notebooks stand in the page itself, where they follow its theme and its font.

A cell's pictures are the panels of one plot: they share the text that is said instead of them, and stand side
by side where there is room (course.css).
"""

import html
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxTranslator

SVG = ".svg"


class plot(nodes.General, nodes.Element):
    """The pictures of a cell, as HTML."""


def take_in_plots(app: Sphinx, doctree: nodes.document) -> None:
    """Before pictures are collected as files; an id is made unique within the page."""
    taken = 0
    for output in [*doctree.findall(nodes.container)]:
        if "cell_output" not in output["classes"]:
            continue
        images = [image for image in output.findall(nodes.image) if image["uri"].endswith(SVG)]
        panels = []
        for image in images:
            taken += 1
            _, path = app.env.relfn2path(image["uri"], app.env.docname)
            panel = Path(path).read_text(encoding="utf-8").strip()
            panels.append(re.sub(r'((?: id="|url\(#|href="#))(p\d+)', rf"\1plot{taken}-\2", panel))
        if images:
            width = re.search(r'viewBox="0 0 (\d+)', panels[0])[1]
            alt = html.escape(images[0]["alt"])
            opening = f'<div class="plot" role="img" aria-label="{alt}" style="--width: {width}px">'
            images[0].replace_self(plot(html="\n".join([opening, *panels, "</div>\n"])))
            for image in images[1:]:
                image.parent.remove(image)


def visit(translator: SphinxTranslator, node: plot) -> None:
    translator.body.append(node["html"])


def depart(translator: SphinxTranslator, node: plot) -> None:
    """All of it is written by `visit`."""


def setup(app: Sphinx) -> None:
    app.add_node(plot, html=(visit, depart))
    app.connect("doctree-read", take_in_plots, priority=400)
