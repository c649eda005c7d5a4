"""The course's Sphinx extension: a book that needs no network and speaks Portuguese in every label.

Each function mends one thing that the packages around it do otherwise; its docstring says which and why.
"""

from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.locale import translators
from sphinx_proof.directive import ProofDirective
from sphinx_proof.domain import ProofDomain
from sphinx_proof.nodes import proof_node
from sphinxcontrib.mermaid import mermaid

LOCALE = Path(__file__).resolve().parent.parent / "_locale" / "pt_BR" / "LC_MESSAGES"
COPY_BUTTON = {
    "'Copy'": "'Copiar'",
    "'Copy to clipboard'": "'Copiar para a área de transferência'",
    "'Copied!'": "'Copiado!'",
    "'Failed to copy'": "'Não foi possível copiar'",
}


def prefer_our_words(app: Sphinx, catalog: str) -> None:
    """Put our translations before those of Sphinx and the theme, which miss or mistranslate some labels."""
    compiled = BytesIO()
    with open(LOCALE / f"{catalog}.po", "rb") as source:
        write_mo(compiled, read_po(source))
    compiled.seek(0)
    ours = GNUTranslations(compiled)
    theirs = translators.get(("general", catalog))
    if theirs is not None:
        ours.add_fallback(theirs)
    translators["general", catalog] = ours
    if catalog == "sphinx":
        app.translator = ours  # the templates ask this object, not the table


class Demonstration(ProofDirective):
    """`prf:proof` in Portuguese; the original also breaks a proof that opens with a formula or a list."""

    def run(self) -> list[nodes.Node]:
        box = nodes.admonition(classes=["proof", *self.options.get("class", [])])
        self.state.nested_parse(self.content, self.content_offset, box)
        label = nodes.strong(text="Demonstração.")
        if box.children and isinstance(box[0], nodes.paragraph):
            box[0].insert(0, [label, nodes.Text(" ")])
        else:
            box.insert(0, nodes.paragraph("", "", label))
        proof = proof_node()
        proof += box
        return [proof]


def drop_repeated_ids(app: Sphinx, doctree: nodes.document) -> None:
    """sphinx-proof gives the same id to every statement of a page; an id must be unique."""
    for section in doctree.findall(nodes.section):
        if section["ids"] == ["proof-content"]:
            section["ids"] = []


def disconnect(app: Sphinx, event: str, module: str, *names: str) -> None:
    """Unhook another extension's handlers; one that is no longer there must be noticed, not ignored."""
    for name in names:
        found = [
            listener.id
            for listener in app.events.listeners[event]
            if (listener.handler.__module__, listener.handler.__name__) == (module, name)
        ]
        if not found:
            raise ExtensionError(f"{module}.{name} is not connected to {event}: update book/_ext/course.py")
        for identifier in found:
            app.disconnect(identifier)


def unhook_remote_scripts(app: Sphinx, config) -> None:
    """sphinx-thebe is unused and fails on every page; the mermaid extension would load from a CDN."""
    disconnect(app, "env-before-read-docs", "sphinx_thebe", "init_thebe_default_config", "init_thebe_core")
    disconnect(app, "doctree-resolved", "sphinx_thebe", "update_thebe_context")
    disconnect(app, "html-page-context", "sphinxcontrib.mermaid", "install_js")


def add_mermaid_where_used(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Only a page with a diagram pays for mermaid's megabytes."""
    if doctree is not None and doctree.next_node(mermaid) is not None:
        app.add_js_file("vendor/mermaid/mermaid.min.js", loading_method="defer")
        app.add_js_file("mermaid-draw.js", loading_method="defer")


def translate_copy_button(app: Sphinx, problem: Exception | None) -> None:
    """sphinx-copybutton has no Portuguese and no setting for it: its script is rewritten after the build."""
    if problem is not None or app.builder.format != "html":
        return
    script = Path(app.outdir) / "_static" / "copybutton.js"
    text = script.read_text(encoding="utf-8")
    for english, portuguese in COPY_BUTTON.items():
        if english not in text:
            raise ExtensionError(f"copybutton.js has no {english} any more: update book/_ext/course.py")
        text = text.replace(english, portuguese, 1)
    script.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    for extension in ("sphinx_book_theme", "sphinx_proof", "sphinxcontrib.mermaid"):
        app.setup_extension(extension)
    for catalog in ("sphinx", "booktheme"):
        prefer_our_words(app, catalog)
    ProofDomain.directives["proof"] = Demonstration
    app.connect("config-inited", unhook_remote_scripts, priority=900)
    app.connect("doctree-read", drop_repeated_ids)
    app.connect("html-page-context", add_mermaid_where_used)
    app.connect("build-finished", translate_copy_button)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
