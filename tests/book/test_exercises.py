"""The exercises in the notebooks are the catalogue's; student notebooks are whole without the solutions."""

import operator
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lib.exercises.catalogue import CHAPTERS, CODE, OPEN, all_exercises, exercises
from tests.trust.pages import numerals
from tools.insert_exercises import BOOK, FILES, TEACHERS, cells, inserted, main
from tools.lab.start import START
from tools.student import main as student
from tools.student import without_solutions


def test_the_chapters_and_the_teachers_page_hold_what_the_catalogue_gives():
    assert main(["--check"]) == 0, "run tools.insert_exercises"
    page = TEACHERS.read_text(encoding="utf-8")
    assert all(f"{{ref}}`{e.label}`" in page for e in all_exercises())


def test_the_teachers_page_claims_no_figure():
    """It has no cells, so it says it in words; the exercises' own figures are bound as any prose's."""
    assert not numerals(TEACHERS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_shows_its_statement_three_hints_and_its_solution(chapter):
    found = {cell.id: cell.source for cell in cells(chapter)}
    for exercise in exercises(chapter):
        id = f"ex-{chapter:02}-{exercise.number}"
        statement, answer, solution = (found[f"{id}-{part}"] for part in ("enunciado", "resposta", "solucao"))
        assert all(part in statement for part in (f":label: {exercise.label}", "**Ideia:**", "**Tempo:**"))
        assert statement.count(":class: tip dropdown") == 3
        assert solution.startswith(f"````{{solution}} {exercise.label}\n") and ":class: dropdown" in solution
        if exercise.kind == CODE:
            assert exercise.solution_code() in solution and exercise.solution_code() not in answer
        if exercise.kind != OPEN:
            assert answer.endswith(f"{exercise.check_name}({exercise.answer})")


def test_what_an_exercise_needs_is_there():
    """A section of some chapter, or an exercise that comes before."""
    prose = "\n".join(
        "".join(cell.source)
        for path in BOOK.glob("0*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
    )
    # The title of a chapter's page is a section of the chapter.
    sections = {line.lstrip("# ") for line in prose.splitlines() if line.startswith("#")}
    earlier: set[str] = set()
    for exercise in all_exercises():
        for need in exercise.needs.split("; "):
            kind, _, what = need.partition(" ")
            known = {"seção": sections, "exercício": earlier, "todo": {"o capítulo"}}[kind]
            assert what in known, f"{exercise.name} needs {need}"
        earlier.add(exercise.title)


def test_inserting_again_writes_only_the_changed_cells_anew_and_keeps_the_rest():
    notebook = new_notebook(cells=[new_markdown_cell("antes", id="a"), new_code_cell("x = 1", id="b")])
    once = inserted(notebook, 1)
    once.cells.append(new_markdown_cell("depois", id="c"))
    ids = [c.id for c in once.cells]
    kept, changed = (once.cells[ids.index(f"ex-01-{n}-resposta")] for n in (1, 2))
    right, changed.source = changed.source, "outra coisa"
    kept.outputs = changed.outputs = [nbformat.v4.new_output("stream", text="✎")]
    twice = {c.id: c for c in inserted(nbformat.reads(nbformat.writes(once), as_version=4), 1).cells}
    assert [*twice] == ids and ids[:2] == ["a", "b"] and ids[-1] == "c"
    assert twice[kept.id].outputs == kept.outputs
    assert twice[changed.id].source == right and twice[changed.id].outputs == []


def test_the_tool_writes_only_what_is_stale(tmp_path, capsys):
    path = tmp_path / "03_made_up.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=[])), encoding="utf-8")
    assert main(["--check", str(path)]) == 1 and "ex-03" not in path.read_text(encoding="utf-8")
    assert main([str(path)]) == 0 and main(["--check", str(path)]) == 0
    assert '"id": "ex-03-inicio"' in path.read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="not a chapter"):
        main([str(tmp_path / "errata.ipynb")])


@pytest.fixture(scope="module")
def for_students(tmp_path_factory):
    folder = tmp_path_factory.mktemp("student")
    student([f"--into={folder}"])
    return folder


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_student_notebook_is_its_chapter_without_the_solutions(chapter, for_students):
    """Every code cell is the chapter's, with its output: what nbval proves of one holds for the other."""
    folders = (BOOK, for_students)
    book, given = (nbformat.read(f / FILES[chapter].name, as_version=4).cells for f in folders)
    computed = ([(c.id, c.source, c.outputs) for c in n if c.cell_type == "code"] for n in (given, book))
    assert operator.eq(*computed)
    solutions = {f"ex-{chapter:02}-{e.number}-solucao" for e in exercises(chapter)}
    assert {c.id for c in book} - {c.id for c in given} == solutions
    text = "".join(c.source for c in given)
    shown = [e.solution_code() for e in exercises(chapter) if e.kind == CODE]
    assert "Solução" not in text and not any(code in text for code in shown)


RUN = """
import lib, nbformat, sys
assert lib.__file__.startswith(sys.argv[1]), lib.__file__
for path in sys.argv[2:]:
    names = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and cell.id.startswith("ex-"):
            exec(cell.source, names)
"""


@pytest.mark.slow
def test_the_folder_for_students_works_by_itself(for_students):
    """Its own `lib` runs the exercises of its notebooks; no solution is left in it."""
    notebooks = sorted(for_students.glob("*.ipynb"))
    command = [sys.executable, "-c", RUN, str(for_students), *map(str, notebooks)]
    done = subprocess.run(command, cwd=for_students, text=True, capture_output=True, timeout=120)
    checked = [e for e in all_exercises() if e.kind != OPEN]
    assert done.returncode == 0 and done.stdout.count("✎ Sua vez") == len(checked), done.stderr
    everything = "".join(p.read_text(encoding="utf-8") for p in for_students.rglob("*.py"))
    solved = [e.answer for e in checked if e.kind == CODE and f"def {e.answer}(" in everything]
    assert solved == []
    assert "solução vem dobrada" not in "".join(p.read_text(encoding="utf-8") for p in notebooks)
    there = {p.name for p in for_students.iterdir()}
    assert {"LEIAME.md", "requirements.txt", "requirements-data.txt", START, ".jupyter"} <= there
    assert "-e ." not in (for_students / "requirements.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_exercises_of_a_chapter_run_without_the_rest_of_it(chapter, capsys):
    notebook, names = without_solutions(inserted(new_notebook(cells=[]), chapter), chapter), {}
    for cell in (c for c in notebook.cells if c.cell_type == "code"):
        exec(cell.source, names)
    invitations = capsys.readouterr().out.count("✎ Sua vez: complete")
    assert invitations == sum(e.kind != OPEN for e in exercises(chapter))


def test_a_chapter_without_exercises_gives_no_student_notebook():
    with pytest.raises(ValueError, match="has no exercises"):
        without_solutions(new_notebook(cells=[]), 1)
