"""Plots of notebooks stand in the page itself, where they follow its theme and its font.

A cell's pictures are one plot: its panels share the text that is said instead of it, and stand side by side where
there is room (course.css).
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
    count = 0
    for output in doctree.findall(lambda node: "cell_output" in getattr(node, "attributes", {}).get("classes", ())):
        images = [image for image in output.findall(nodes.image) if image["uri"].endswith(SVG)]
        pictures = []
        for count, image in enumerate(images, count + 1):
            _, path = app.env.relfn2path(image["uri"], app.env.docname)
            picture = Path(path).read_text(encoding="utf-8").strip()
            pictures.append(re.sub(r'((?: id="|url\(#|href="#))(p\d+)', rf"\1plot{count}-\2", picture))
        if images:
            width = re.search(r'viewBox="0 0 (\d+)', pictures[0])[1]
            alt = html.escape(images[0]["alt"])
            opening = f'<div class="plot" role="img" aria-label="{alt}" style="--width: {width}px">'
            images[0].replace_self(plot(html="\n".join([opening, *pictures, "</div>\n"])))
            for image in images[1:]:
                image.parent.remove(image)


def visit(translator: SphinxTranslator, node: plot) -> None:
    translator.body.append(node["html"])


def depart(translator: SphinxTranslator, node: plot) -> None:
    """All of it is written by `visit`."""


def setup(app: Sphinx) -> None:
    app.add_node(plot, html=(visit, depart))
    app.connect("doctree-read", take_in_plots, priority=400)
