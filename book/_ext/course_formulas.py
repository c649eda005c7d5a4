"""Formulas typeset when the book is built, as MathML: a page needs no script to show them.

One run of Node sets all formulas of the book, before the pages are written. What is not TeX is a warning,
which fails the build, with its page and its text.
"""

import json
import subprocess
import sys
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

NODE = Path(sys.executable).with_name("node")
TYPESETTER = Path(__file__).resolve().parents[2] / "tools" / "formulas.mjs"
Formula = tuple[str, bool]  # its TeX, and whether it stands on a line of its own
# Chromium may break a line between a formula and the comma after it; this character forbids it.
WORD_JOINER = "\u2060"
CLOSING = tuple(".,;:!?)]”»…%–-")
logger = logging.getLogger(__name__)


def formula(node: nodes.math | nodes.math_block) -> Formula:
    """The formula as TeX sees it; a block's paragraphs, and lines that nothing aligns yet, are aligned."""
    if isinstance(node, nodes.math):
        return node.astext(), False
    parts = [part.strip() for part in node.astext().split("\n\n") if part.strip()]
    if len(parts) > 1 or (r"\\" in parts[0] and r"\begin{" not in parts[0]):
        return r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}", True
    return parts[0], True


def typeset(formulas: list[Formula]) -> list[dict[str, str]]:
    """What `tools/formulas.mjs` answers for each."""
    done = subprocess.run([NODE, TYPESETTER], input=json.dumps(formulas), text=True, capture_output=True)
    if done.returncode:
        raise ExtensionError(f"the formulas were not typeset: {done.stderr}")
    return json.loads(done.stdout)


def typeset_book(app: Sphinx, env) -> None:
    """Set every formula of every page, each once."""
    pages: dict[Formula, str] = {}  # the first page where each stands
    for page in sorted(env.found_docs):
        doctree = env.get_doctree(page)
        for kind in (nodes.math, nodes.math_block):
            for node in doctree.findall(kind):
                pages.setdefault(formula(node), page)
    answers = dict(zip(pages, typeset([*pages]), strict=True)) if pages else {}
    for (tex, _display), answer in answers.items():
        if "problem" in answer:
            said = " ".join(f"{tex} ({answer['problem']})".split())
            logger.warning("this formula is not TeX: %s", said, location=pages[tex, _display])
    app.formulas = {its: answer.get("mathml", escape(its[0])) for its, answer in answers.items()}


def write_inline(writer, node: nodes.math) -> None:
    after = node.next_node(descend=False, siblings=True)
    joined = isinstance(after, nodes.Text) and after.startswith(CLOSING)
    tag = writer.starttag(node, "span", "", CLASS="math notranslate nohighlight")
    writer.body.append(f"{tag}{writer.builder.app.formulas[formula(node)]}</span>{WORD_JOINER * joined}")
    raise nodes.SkipNode


def write_block(writer, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate nohighlight"))
    writer.body.append(f'<div class="formula">{writer.builder.app.formulas[formula(node)]}</div>')
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, _("Link to this equation"))
        writer.body.append("</span>")
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    app.connect("env-updated", typeset_book)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
