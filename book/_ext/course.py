"""The course's Sphinx extension: a book that needs no network and whose statements read well.

Each function mends one thing that the packages around it do otherwise; its docstring says which and why.
What concerns words alone is in `course_words`, references in `course_bibliography`, formulas in
`course_formulas`, plots in `course_plots`, the search in `course_search`, what a page loads in
`course_assets`.
"""

import os
import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import course_assets
import course_bibliography
import course_formulas
import course_plots
import course_search
import course_words
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx_proof.directive import ProofDirective
from sphinx_proof.domain import ProofDomain
from sphinx_proof.nodes import proof_node


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


def make_ids_unique(app: Sphinx, doctree: nodes.document) -> None:
    """Statements, exercises and solutions give their content one id for all of a page; an id is unique."""
    for section in doctree.findall(nodes.section):
        if section["ids"] in (["proof-content"], ["exercise-content"], ["solution-content"]):
            section["ids"] = [f"{section.parent['label']}-content"]


def label_ids_of_outputs(app: Sphinx, doctree: nodes.document) -> None:
    """Rows of the errata are HTML that a cell shows; their ids become labels, so that -W checks the links."""
    for output in doctree.findall(nodes.raw):
        for name in re.findall(r'<tr id="(errata-[\w-]+)"', output.astext()):
            title = name.removeprefix("errata-").replace("-", ".")
            app.env.get_domain("std").note_hyperlink_target(name, app.env.docname, name, title)


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


def show_version(app: Sphinx, config) -> None:
    """The version of the project stands in one place, and every page shows it."""
    project = Path(app.srcdir) / "pyproject.toml"
    config.release = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]


def link_to_the_repository(app: Sphinx, config) -> None:
    """Buttons to see, edit and launch a page, if it is said where the book lives: no address is invented."""
    if address := os.environ.get("BOOK_REPOSITORY"):
        # The theme knows hosts by these names. Any other is taken for GitHub's program, as the workflow is.
        known = [name for name in ("gitlab", "bitbucket") if name in urlsplit(address).netloc]
        config.html_theme_options |= {
            "repository_url": address,
            "repository_provider": (known or ["github"])[0],
            "repository_branch": os.environ.get("BOOK_BRANCH", "main"),
            "use_repository_button": True,
            "use_edit_page_button": True,
            "launch_buttons": {"binderhub_url": "https://mybinder.org", "notebook_interface": "jupyterlab"},
        }


def replace_brands(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """The mark of a host would bring a whole font of brands into every page: a branch says it as well."""
    for button in context["header_buttons"]:
        for each in (button, *button.get("buttons", ())):
            each["icon"] = re.sub(r"^fab fa-\w+", "fas fa-code-branch", each["icon"])


def setup(app: Sphinx) -> dict:
    for extension in ("sphinx_book_theme", "sphinx_proof", "sphinxcontrib.mermaid"):
        app.setup_extension(extension)
    ProofDomain.directives["proof"] = Demonstration
    app.connect("config-inited", unhook_remote_scripts, priority=900)
    app.connect("config-inited", show_version)
    app.connect("config-inited", link_to_the_repository)
    app.connect("html-page-context", replace_brands, priority=900)  # when the theme has made its buttons
    app.connect("doctree-read", make_ids_unique)
    app.connect("doctree-read", label_ids_of_outputs)
    course_words.setup(app)
    course_search.setup(app)
    course_assets.setup(app)
    course_bibliography.setup(app)
    course_formulas.setup(app)
    course_plots.setup(app)
    return {"version": "1.0", "parallel_read_safe": True, "parallel_write_safe": True}
