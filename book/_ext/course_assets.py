"""What a page loads, and when: one style sheet, scripts that wait for the text, the rest when it is wanted.

The theme loads every sheet and script of every extension before the first word is shown. Here the text comes
first; `course.js` asks for the code of widgets and diagrams when one comes near the screen, and for that of
menus when one is opened. A page shows all its text without any script.
"""

import hashlib
import json
import re
from pathlib import Path

import course_styles
from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinxcontrib.mermaid import mermaid

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
# What the theme loads before the sheets of extensions (its webpack-macros.html), and behind the page.
THEME_SHEETS = ["styles/theme.css", "styles/pydata-sphinx-theme.css"]
THEME_SCRIPT = "scripts/pydata-sphinx-theme.js"
# Sphinx's own, of which nothing is used once the search is ours, and tabs, of which the book has none.
UNUSED = {f"{name}.js" for name in ("documentation_options", "doctools", "sphinx_highlight", "translations")}
UNUSED.add("design-tabs.js")
# Scripts that show something and are not on the pages of `order_assets`, or only later.
WORKING = ("course.js", "search.js", "mermaid-draw.js", "vendor/bundles/widgets.js")
# The class that the script of menus gives: it names hundreds that it never gives.
GIVEN = "show"
SUMMARY = 155  # characters of a page's description, which search engines show


def show_first_states(app: Sphinx, doctree: nodes.document) -> None:
    """A widget that gives its first state as HTML is preceded by it: of the two, one would be shown."""
    for bundle in doctree.findall(nodes.container):
        if bundle.get("nb_element") != "mime_bundle":
            continue
        by_type = {shown["mime_type"]: shown for shown in bundle.children}
        if VIEW in by_type and "text/html" in by_type:
            still = by_type["text/html"][0]
            still["classes"] = []  # with any, it would stand in a box of its own
            by_type[VIEW].insert(0, still)


def order_assets(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """No script before the text; what only some reader needs is named on the tag of course.js, not loaded."""

    def address(*names: str) -> str:
        return " ".join(context["pathto"](f"_static/{name}", resource=True) for name in names)

    later = {"data-menus": address("scripts/bootstrap.js")}
    if doctree is not None and doctree.next_node(mermaid) is not None:
        later["data-diagrams"] = address("vendor/bundles/mermaid.js", "mermaid-draw.js")
    scripts = context["script_files"]
    for script in scripts:
        if script.attributes.get("type") == STATE:
            later["data-widgets"] = (
                f"{write_state(app, pagename, script)} {address('vendor/bundles/widgets.js')}"
            )
    kept = [each for each in scripts if each.attributes.get("type") != STATE and name_of(each) not in UNUSED]
    for script in kept:
        if script.filename:
            script.attributes["defer"] = "defer"
    scripts[:] = kept
    app.course_scripts = {name_of(script) for script in kept if script.filename}
    app.add_js_file("course.js", loading_method="defer", **later)
    context["description"] = description(doctree)
    sheets = [name_of(sheet) for sheet in context["css_files"]]
    if getattr(app, "course_sheets", sheets) != sheets:
        raise ExtensionError(f"{pagename} has other style sheets than the pages before it: {sheets}")
    app.course_sheets = sheets


def description(doctree: nodes.document | None) -> str:
    """The first words of a page."""
    paragraph = doctree.next_node(nodes.paragraph) if doctree is not None else None
    words = " ".join(paragraph.astext().split()) if paragraph is not None else "Um curso executável."
    return words if len(words) <= SUMMARY else f"{words[:SUMMARY].rpartition(' ')[0]} …"


def name_of(asset) -> str:
    """The name of its file below _static; nothing for what stands within the page."""
    return str(asset.filename or "").removeprefix("_static/")


def write_state(app: Sphinx, pagename: str, script) -> str:
    """Keep the state of a page's widgets in a script beside it, and return its address from the page.

    In the page it would be read before the text; and a page on the disk can load a script, but no data.
    """
    path = Path(app.outdir, f"{pagename}.widgets.js")
    path.parent.mkdir(parents=True, exist_ok=True)
    state = json.dumps(json.loads(script.attributes["body"]), ensure_ascii=False, separators=(",", ":"))
    path.write_text(f"globalThis.courseWidgets = {state};\n", encoding="utf-8")
    return path.name


# --- the finished files


def finish_files(app: Sphinx, problem: Exception | None) -> None:
    """Write the sheet, when it is known what the pages hold; give each picture its size."""
    if problem is not None or app.builder.format != "html":
        return
    output = Path(app.outdir)
    found = (path for path in sorted(output.rglob("*.html")) if "_static" not in path.parts)
    pages = {path: path.read_text(encoding="utf-8") for path in found}
    known = course_styles.Known()
    for page in pages.values():
        known.add_page(page)
    scripts = (output / "_static" / name for name in sorted({*app.course_scripts, *WORKING}))
    for script in [*output.glob("book/*.widgets.js"), *scripts]:
        known.add_words(script.read_text(encoding="utf-8"))
    known.add_words(GIVEN)
    sheet = course_styles.bundle(output / "_static", [*THEME_SHEETS, *app.course_sheets], known)
    (output / "_static" / "book.css").write_text(sheet, encoding="utf-8")
    version = hashlib.sha256(sheet.encode()).hexdigest()[:8]
    for path, page in pages.items():
        page = page.replace('_static/book.css"', f'_static/book.css?v={version}"')
        parts = re.split(r"(<img [^>]*>)", page)
        parts[1::2] = [sized(tag, path.parent) for tag in parts[1::2]]
        path.write_text("".join(parts), encoding="utf-8")


def sized(tag: str, folder: Path) -> str:
    """The tag of a picture that keeps its place while it is not there, and is fetched when it comes near."""
    source = re.search(r'src="([^"?:]+\.png)"', tag)
    size = ""
    if source and "width=" not in tag:
        with Image.open(folder / source[1]) as picture:
            size = 'width="{}" height="{}" '.format(*picture.size)
    return tag.replace("<img ", f'<img loading="lazy" decoding="async" {size}', 1)


def setup(app: Sphinx) -> None:
    app.add_js_file(THEME_SCRIPT)
    app.connect("doctree-read", show_first_states)
    app.connect("html-page-context", order_assets, priority=900)  # when all have added theirs
    app.connect(
        "build-finished", finish_files, priority=600
    )  # when the words of the pages are as they will be
