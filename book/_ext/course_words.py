"""Portuguese in every label of the built book, accessible names included.

Most labels have a translation catalogue; what the packages hard-code is rewritten in the finished files.
`tests/book/test_built_book.py` fails if English is left, so a new release that says something new is noticed.
"""

import re
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from sphinx.application import Sphinx
from sphinx.locale import translators

LOCALE = Path(__file__).resolve().parent.parent / "_locale" / "pt_BR" / "LC_MESSAGES"

# (pattern, replacement) on every finished page.
PAGE_EDITS = [
    # Hard-coded English.
    ('title="Toggle primary sidebar"', 'title="Alternar barra lateral" aria-label="Alternar barra lateral"'),
    ('title="Toggle secondary sidebar"', 'title="Alternar sumário" aria-label="Alternar sumário"'),
    ('aria-label="Main"', 'aria-label="Sumário do livro"'),
    ('aria-label="Page"', 'aria-label="Nesta página"'),
    (r"(Mostrar|Ocultar) source\b", r"\1 o código"),
    (r"(Mostrar|Ocultar) outputs?\b", r"\1 a saída"),
    (r"(Mostrar|Ocultar) content\b", r"\1 a célula"),
    # A name that differs from the text that is seen confuses who speaks to the computer: the text is enough.
    (' aria-label="Toggle hidden content"', ""),
    (r'(<button class="btn search-button-field[^>]*) aria-label="[^"]*"', r"\1"),
    (r'(<i class="theme-switch [^>]*) title="[^"]*"', r"\1"),
    # The arrow that unfolds the pages of a chapter has no text at all.
    (r'<summary>(?=<span class="toctree-toggle")', '<summary aria-label="Páginas do capítulo">'),
    # The logo and the search button lie outside every landmark.
    ('id="pst-primary-sidebar"', 'id="pst-primary-sidebar" role="region" aria-label="Barra lateral"'),
    # Invalid roles of the bibliography, whose titles are in English and should be read as such.
    ('<div role="list" class="citation-list">', '<div class="citation-list">'),
    (r'(<div class="citation" id="[^"]*") role="doc-biblioentry"', r'\1 lang="en"'),
]
# sphinx-copybutton has neither Portuguese nor a setting for it.
COPY_BUTTON_EDITS = [
    ("'Copy'", "'Copiar'"),
    ("'Copy to clipboard'", "'Copiar para a área de transferência'"),
    ("'Copied!'", "'Copiado!'"),
    ("'Failed to copy'", "'Não foi possível copiar'"),
]
# A button that unfolds is called what it unfolds, in the page's own words: "Primeira dica".
TOGGLE_BUTTON_EDITS = [
    ("Toggle hidden content", '${item.querySelector(".admonition-title").textContent.trim()}'),
]


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


def edit(path: Path, edits: list[tuple[str, str]]) -> None:
    text = path.read_text(encoding="utf-8")
    for pattern, replacement in edits:
        text = re.sub(pattern, replacement, text)
    path.write_text(text, encoding="utf-8")


def finish_files(app: Sphinx, problem: Exception | None) -> None:
    """Rewrite, after the build, what no setting and no catalogue reaches."""
    if problem is not None or app.builder.format != "html":
        return
    output = Path(app.outdir)
    for page in output.rglob("*.html"):
        edit(page, PAGE_EDITS)
    edit(output / "_static" / "copybutton.js", COPY_BUTTON_EDITS)
    edit(output / "_static" / "togglebutton.js", TOGGLE_BUTTON_EDITS)
    (output / "_static" / "scripts" / "fontawesome.js").unlink(missing_ok=True)


def setup(app: Sphinx) -> None:
    for catalog in ("sphinx", "booktheme"):
        prefer_our_words(app, catalog)
    app.connect("build-finished", finish_files)
