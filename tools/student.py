"""Write a folder for students that works by itself: the notebooks without solutions, and `lib`.

Usage: .venv/bin/python -m tools.student [--into FOLDER]   (`make student`)

The notebooks are those that `make lab` gives; of them only the cells with a solution go. The stubs and their
stored outputs stay, so that the notebooks pass nbval. Of `lib` the solutions go, but for those that a checker
itself compares with.
"""

import ast
import re
import shutil
from pathlib import Path

import nbformat

from tools.blank_project import PAGE, blank
from tools.console import ROOT, arguments_of, fail, step
from tools.insert_exercises import FILES, prefix
from tools.lab.folder import Folder
from tools.lab.notebooks import files, read_book
from tools.lab.start import START, start_page

REQUIREMENTS = ("requirements.txt", "requirements-data.txt")
SOLUTION = re.compile(r"(?ms)^solution = (?:(\"\"\"|\'\'\').*?\1|.*?)\n")
FOLDED = re.compile(r"\s+Há dicas em três níveis,\s+e a solução vem dobrada; tente antes de abrir\.")
UNFOLDED = """ Há dicas em três níveis.

A resposta se escreve com Python e torch: na correção, as funções de `lib` não estão à mão."""
READ_ME = """\
# Exercícios de Do mascaramento ao BERT

Esta pasta se basta: os cadernos, o pacote `lib` que eles usam e a lista do que instalar. No Linux, com Python
3.11 ou mais novo, abra um terminal nesta pasta e escreva:

    python3 -m venv .venv
    .venv/bin/pip install -r requirements.txt
    .venv/bin/pip install --no-deps -r requirements-data.txt
    JUPYTER_CONFIG_DIR=.jupyter .venv/bin/jupyter lab

O JupyterLab abre, em português, na página que diz por onde começar. Complete cada resposta onde está
`...  # sua vez` e execute a célula: o verificador responde. Devolva os cadernos com os nomes que eles têm, em
uma pasta com o seu nome. As peças aceitas do seu BERT ficam em `meu_bert.py`, aqui mesmo.
"""


def without_solutions(notebook: nbformat.NotebookNode, chapter: int) -> nbformat.NotebookNode:
    """The notebook without the solutions; an error if it has no exercises to begin with."""
    solutions = [c for c in notebook.cells if c.id.startswith(prefix(chapter)) and c.id.endswith("-solucao")]
    if not solutions:
        raise ValueError(f"chapter {chapter} has no exercises: run `python -m tools.insert_exercises` first")
    notebook.cells = [cell for cell in notebook.cells if cell not in solutions]
    for cell in (cell for cell in notebook.cells if cell.id == f"{prefix(chapter)}inicio"):
        cell.source = FOLDED.sub(UNFOLDED, cell.source)
    return notebook


def for_student(name: str, notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A notebook of the book as it is handed out."""
    if name == PAGE.stem:
        return blank(notebook)
    chapter = next((chapter for chapter, path in FILES.items() if path.stem == name), None)
    return without_solutions(notebook, chapter) if chapter else notebook


def copy_lib(folder: Path) -> None:
    """The package, without the solutions of the exercises."""
    shutil.copytree(ROOT / "lib", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    exercises = folder / "exercises"
    for text in (exercises / "texts").glob("chapter_*.toml"):
        text.write_text(SOLUTION.sub("", text.read_text(encoding="utf-8")), encoding="utf-8")
    for path in (exercises / "solutions").glob("chapter_*.py"):
        checker = ast.parse((exercises / path.name).read_text(encoding="utf-8"))
        imports = [node for node in ast.walk(checker) if isinstance(node, ast.ImportFrom)]
        solutions = [node for node in imports if (node.module or "").startswith("lib.exercises.solutions")]
        used = {alias.name for node in solutions for alias in node.names}
        tree = ast.parse(path.read_text(encoding="utf-8"))
        tree.body = [n for n in tree.body if getattr(n, "name", "") in used or not _is_of_solutions(n)]
        path.write_text(ast.unparse(tree) + "\n", encoding="utf-8")


def _is_of_solutions(node: ast.stmt) -> bool:
    """A solution, or the import of one from another chapter."""
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("lib.exercises.solutions")
    return isinstance(node, ast.FunctionDef | ast.ClassDef)


def main(arguments: list[str] | None = None) -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "_build" / "student")
    folder = parser.parse_args(arguments).into
    folder.mkdir(parents=True, exist_ok=True)
    try:
        book = read_book(change=for_student)
    except ValueError as problem:
        fail(f"{problem}.")
    given = Folder(folder)
    for name, content in {**files(book), START: start_page(book, [])}.items():
        given.place(name, content)
    given.remember()
    copy_lib(folder / "lib")
    for name in REQUIREMENTS:
        # The course's own package is the folder `lib` itself.
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(line for line in lines if line != "-e .\n"), encoding="utf-8")
    (folder / "LEIAME.md").write_text(READ_ME, encoding="utf-8")
    step(f"{folder}: {len(given.written)} pages, lib, {', '.join(REQUIREMENTS)} and LEIAME.md")
    for hers, newer in given.beside.items():
        step(f"{hers} was changed there: the present one is beside it, in {newer}")


if __name__ == "__main__":
    main()
