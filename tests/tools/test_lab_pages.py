"""A student's notebooks say what the built page says: labels, numbers, references, citations."""

import re
from functools import cache
from operator import attrgetter

import pytest
from bs4 import BeautifulSoup, Tag
from nbformat import NotebookNode

from tests.refusals import refuses
from tests.trust.sources import BOOK
from tools.lab.myst import parse
from tools.lab.notebooks import CODE_FOLDED, files, read_book
from tools.lab.numbers import KINDS, Cell, Numbers, Page
from tools.lab.plain import Plain

BOX = re.compile(rf"\*\*((?:{'|'.join(KINDS.values())}) [\d.]+)\*\* \((.*)\)")
SOLUTION = re.compile(r"<summary>(Solução para .*)</summary>")
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([\w-]+\.(?:ipynb|md)(?:#[^)]*)?)\)")
CODE = re.compile(r"(?ms)^(`{3,})[^`\n]*\n.*?^\1$")
COMPARED = attrgetter("source", "outputs", "execution_count")
PAGES = sorted(path.stem for path in BOOK.glob("*.ipynb"))


@cache
def student() -> tuple[dict[str, NotebookNode | str], Numbers]:
    book = read_book()
    return files(book), book.numbers


def text(name: str) -> str:
    """The Markdown of a page in the student's folder, without blocks of code."""
    content = student()[0][student()[1].pages[name].file]
    if not isinstance(content, str):
        content = "\n\n".join(c.source for c in content.cells if c.cell_type == "markdown")
    return CODE.sub("", content)


def plain(markdown: str) -> str:
    """What a reader sees of a title or of a link, without its formulas: the page has them as elements."""
    without = re.sub(r"<[^>]*>|\$[^$]*\$|[`*]", "", markdown)
    return " ".join(without.replace("\\", "").split())


def shown(element: Tag) -> str:
    for formula in element.select(".math"):
        formula.extract()
    return " ".join(element.get_text().replace("#", "").replace("\u2060", "").split())


@pytest.fixture(scope="module")
def built(book_dir):
    """The article of a built page, without what is no part of its text."""

    @cache
    def article(name: str) -> Tag:
        page = BeautifulSoup((book_dir / "book" / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        found = page.select_one("article.bd-article")
        assert found
        for aside in found.select(".headerlink, .toctree-wrapper, .cell_output, .cell_input, nav"):
            aside.decompose()
        return found

    return article


@pytest.mark.parametrize("name", PAGES)
def test_every_statement_and_exercise_has_the_label_the_number_and_the_title_of_the_page(name, built):
    there = [shown(title) for title in built(name).select(".proof > .admonition-title")]
    there += [shown(title) for title in built(name).select(".exercise > .admonition-title")]
    ours = BOX.findall(text(name))
    statements = [found for found in ours if not found[0].startswith("Exercício")]
    exercises = [found for found in ours if found[0].startswith("Exercício")]
    assert [f"{label} ({plain(title)})" for label, title in statements + exercises] == there
    solutions = [shown(title) for title in built(name).select(".solution .admonition-title")]
    assert [plain(title) for title in SOLUTION.findall(text(name))] == solutions


@pytest.mark.parametrize("name", PAGES)
def test_every_heading_and_every_formula_has_the_number_of_the_page(name, built):
    headings = [shown(heading) for heading in built(name).select("h1, h2, h3, h4, h5, h6")]
    assert [plain(line) for line in re.findall(r"(?m)^#+ (.*)$", text(name))] == headings
    formulas = [shown(number) for number in built(name).select(".eqno")]
    assert [f"({number})" for number in re.findall(r"\\tag\{(.*?)\}", text(name))] == formulas


@pytest.mark.parametrize("name", PAGES)
def test_every_reference_and_every_citation_reads_as_on_the_page(name, built):
    links = built(name).select("a.reference.internal")
    there = [shown(link) for link in links if not link.find_parent(class_="admonition-title")]
    assert [plain(label) for label, _ in LINK.findall(text(name))] == there
    read = plain(LINK.sub(r"\1", text(name)))
    for citation in built(name).select(".bibtex-citation"):
        assert shown(citation) in read


def test_every_link_leads_to_something_of_the_folder():
    given, numbers = student()
    for name in numbers.pages:
        for _, address in LINK.findall(text(name)):
            file, _, anchor = address.partition("#")
            aim = given[file]
            if not anchor:
                continue
            if isinstance(aim, str):
                assert f'<a id="{anchor}"></a>' in aim or anchor in labels_of(file), address
            else:
                assert anchor.removeprefix("cell-id=") in {cell.id for cell in aim.cells}, address


def labels_of(file: str) -> set[str]:
    """The labels of a page of Markdown."""
    return {label for label, place in student()[1].places.items() if place.address == f"{file}#{label}"}


def test_no_role_and_no_directive_is_left():
    for name in student()[1].pages:
        found = re.search(r"\{[\w:]+\}`|^ *[`:]{3,}\{|^\([\w-]+\)=|^:[\w-]+:", text(name), re.MULTILINE)
        assert not found, (name, found)


@pytest.mark.parametrize("name", PAGES)
def test_cells_outputs_tags_and_the_state_of_widgets_are_those_of_the_book(name):
    """What nbval proves of one holds for the other."""
    ours, book = student()[0][f"{name}.ipynb"], read_book().notebooks[name]
    assert isinstance(ours, NotebookNode)
    assert ours.metadata == book.metadata
    ids = {cell.id for cell in book.cells}
    statements = [cell for cell in ours.cells if cell.id not in ids]  # a cell each, for who follows a link
    assert all(f":label: {cell.id} " in cell.source.partition("\n")[0] for cell in statements)
    for mine, its in zip([cell for cell in ours.cells if cell.id in ids], book.cells, strict=True):
        assert mine.id == its.id
        if mine.cell_type == "code":
            assert COMPARED(mine) == COMPARED(its)
        kept = {key: value for key, value in mine.metadata.items() if key not in ("jupyter", "collapsed")}
        assert kept == its.metadata


def test_what_the_page_folds_is_folded():
    cells = {cell.id: cell for cell in student()[0]["01_masking.ipynb"].cells}
    tags = {id: set(cell.metadata.get("tags", ())) for id, cell in cells.items()}
    hidden = {id for id, cell in cells.items() if cell.metadata.get("jupyter", {}).get("source_hidden")}
    assert hidden == {id for id in tags if tags[id] & CODE_FOLDED}
    assert hidden and hidden < cells.keys()


# --- parts that no page has in just this way ----------------------------------------------------------------


def written(source: str) -> str:
    numbers = Numbers()
    numbers.add(Page("page", "page.ipynb", [Cell("one", list(parse(source)))], (7,)))
    return Plain(numbers).text(numbers.pages["page"].cells[0].parts)


def test_what_stands_inside_a_box_is_written_too():
    text = written(
        "````{admonition} Ache o `erro`\n:class: warning\nVeja {eq}`eq-a`.\n\n"
        "```{dropdown} Resposta de *quem*\nAqui.\n```\n````\n\n$$\na\n$$ (eq-a)"
    )
    assert "Veja [(7.1)](page.ipynb#cell-id=one)." in text and "**Ache o `erro`**" in text
    assert "<summary>Resposta de <em>quem</em></summary>\n\nAqui." in text
    assert text.endswith("$$\na\n\\tag{7.1}\n$$")


def test_code_is_left_alone():
    code = "```md\n{ref}`nada`\n(nada)=\n$$ (nada)\n```"
    assert written(code) == code


test_what_has_no_plain_form_stops_it = refuses(
    (lambda: written("{ref}`nada`"), "label nada"),
    (lambda: written("{abbr}`nada`"), "role abbr"),
    (lambda: written("```{figure} nada\n```"), "directive figure"),
    (lambda: written("```{tip}\nnunca fecha"), "never closed"),
)
