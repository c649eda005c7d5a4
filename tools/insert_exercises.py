"""Write the exercises of `lib/exercises` into the chapters, and the teachers' page that lists them.

Usage: .venv/bin/python -m tools.insert_exercises [--check] [book/01_masking.ipynb ...]

The cells of a chapter's exercises have ids that start with `ex-NN-`. They are replaced as a whole, where they
stand, or appended to the end; everything else in the notebook stays as it is, and so do the outputs of a cell
whose source did not change. Running it twice changes nothing. Then execute the notebook (`make notebooks`).
With --check nothing is written: the exit code says whether everything is up to date.
"""

import re
import sys
from pathlib import Path

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell

from lib.exercises.answers import INVITATION
from lib.exercises.catalogue import CODE, FORMS, NUMBER, OPEN, Exercise, exercises, finish_line
from lib.exercises.workshop import PARTS
from lib.files import write_atomically
from tools.console import ROOT, arguments_of, fail, step

BOOK = ROOT / "book"
TEACHERS = BOOK / "teachers.md"
TABLE = re.compile(r"(?<=<!-- exercises -->\n).*?(?=<!-- /exercises -->)", re.DOTALL)
HEAD = "| exercício | tipo | minutos | objetivo | depende de |\n| --- | --- | --- | --- | --- |\n"
KINDS = {CODE: "código", NUMBER: "à mão", OPEN: "aberta"}
# The prose of the book spells out what no cell computed.
WORDS = {2: "dois", 3: "três", 5: "cinco", 6: "seis", 8: "oito", 10: "dez", 12: "doze", 15: "quinze"}

INTRODUCTION = """\
## Exercícios

Abra o capítulo com `make lab`, complete cada resposta onde está `...  # sua vez` e execute a célula: o
verificador diz se está certo e, se não estiver, com que engano a resposta se parece. Há dicas em três níveis,
e a solução vem dobrada; tente antes de abrir.{thread}"""
THREAD = """

As peças do seu próprio BERT são guardadas, à medida que são aceitas, em `meu_bert.py`, ao lado dos notebooks.
O arquivo está sempre completo: onde você não passou, vale a versão do curso, e cada peça diz de quem é."""
SHORT = " Se o tempo for\ncurto, faça só os exercícios marcados *Peça do seu BERT*."
FINISH = """\
### Linha de chegada

{what} A conta é feita sobre o seu `meu_bert.py`, com a versão do curso nas peças que faltarem."""


def pages_by_chapter() -> dict[int, list[Path]]:
    """The pages of each chapter with exercises, in order: its own notebook, and its sections in _toc.yml."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    files = [[page["file"] for page in (chapter, *chapter.get("sections", ()))] for chapter in chapters]
    return {
        int(pages[0][5:7]): [ROOT / f"{page}.ipynb" for page in pages]
        for pages in files
        if re.match("book/0[1-5]_", pages[0])
    }


PAGES = pages_by_chapter()
FILES = {chapter: pages[-1] for chapter, pages in PAGES.items()}  # the exercises close a chapter


def prefix(chapter: int) -> str:
    return f"ex-{chapter:02}-"


def cells(chapter: int) -> list[nbformat.NotebookNode]:
    """The cells of a chapter's exercises, without outputs."""
    start = prefix(chapter)
    thread = THREAD + (SHORT if any(e.name in PARTS for e in exercises(chapter)) else "")
    made = [
        new_markdown_cell(INTRODUCTION.format(thread=thread), id=f"{start}inicio"),
        new_code_cell(_imports(chapter), id=f"{start}preparo", metadata={"tags": ["hide-input"]}),
    ]
    for exercise in exercises(chapter):
        id = f"{start}{exercise.number}"
        made += [
            new_markdown_cell(_statement(exercise), id=f"{id}-enunciado"),
            _answer(exercise, f"{id}-resposta"),
            new_markdown_cell(_solution(exercise), id=f"{id}-solucao"),
        ]
    run = f"from lib.exercises.finish import linha_de_chegada\n\nlinha_de_chegada({chapter})"
    return [
        *made,
        new_markdown_cell(FINISH.format(what=finish_line(chapter)), id=f"{start}chegada"),
        new_code_cell(run, id=f"{start}chegada-codigo"),
    ]


def _answer(exercise: Exercise, id: str) -> nbformat.NotebookNode:
    if exercise.kind == OPEN:
        return new_markdown_cell(INVITATION, id=id)
    between = "\n" if exercise.kind == NUMBER else "\n\n"
    return new_code_cell(f"{exercise.stub()}{between}{exercise.check_name}({exercise.answer})", id=id)


def _imports(chapter: int) -> str:
    names = sorted(e.check_name for e in exercises(chapter) if e.kind != OPEN)
    lines = "".join(f"    {name},\n" for name in names)
    torch = "import torch\n"
    if any("nn." in e.stub() for e in exercises(chapter) if e.kind == CODE):
        torch += "from torch import nn\n"
    return f"import math\n\n{torch}\nfrom lib.exercises.chapter_{chapter:02} import (\n{lines})"


def _statement(exercise: Exercise) -> str:
    form = f"**{FORMS[exercise.form]}.** " if exercise.form else ""
    piece = "**Peça do seu BERT.** " if exercise.name in PARTS else ""
    return f"""\
```{{exercise}} {exercise.title}
:label: {exercise.label}

{piece}{form}**Ideia:** {exercise.goal}. **Tempo:** cerca de {WORDS[exercise.minutes]} minutos.

{exercise.statement.strip()}
```

```{{admonition}} Primeira dica
:class: tip dropdown
{exercise.first_hint}
```

```{{admonition}} Segunda dica
:class: tip dropdown
{exercise.second_hint}
```

```{{admonition}} Terceira dica
:class: tip dropdown
{exercise.third_hint}
```"""


def _solution(exercise: Exercise) -> str:
    body = exercise.solution.strip()
    if exercise.kind == CODE:
        body = f"```python\n{exercise.solution_code()}\n```"
    return (
        f"````{{solution}} {exercise.label}\n:label: sol-{exercise.label}\n:class: dropdown\n\n{body}\n````"
    )


def inserted(notebook: nbformat.NotebookNode, chapter: int) -> nbformat.NotebookNode:
    """The notebook with its exercises as the catalogue has them now."""
    old = {cell.id: cell for cell in notebook.cells if cell.id.startswith(prefix(chapter))}
    place = next((i for i, cell in enumerate(notebook.cells) if cell.id in old), len(notebook.cells))
    kept = [cell for cell in notebook.cells if cell.id not in old]
    new = cells(chapter)
    for cell in new:
        before = old.get(cell.id)
        if before is not None and (before.cell_type, before.source) == (cell.cell_type, cell.source):
            cell.update({**before, "metadata": {**before.metadata, **cell.metadata}})
    notebook.cells = kept[:place] + new + kept[place:]
    return notebook


def chapter_text(path: Path) -> str:
    if not (chapter := re.match("0([1-5])_", path.name)):
        fail(f"{path.name} is not a chapter with exercises: its name starts with 01_ to 05_.")
    return nbformat.writes(inserted(nbformat.read(path, as_version=4), int(chapter[1]))) + "\n"


def teachers_text(page: str) -> str:
    """The teachers' page with its tables made anew from the catalogue."""
    made = ""
    for chapter, (entry, *_) in PAGES.items():
        made += f"\n### {{doc}}`{entry.stem}`\n\n{HEAD}"
        for e in exercises(chapter):
            row = (
                f"{{ref}}`{e.label}` {e.title}",
                FORMS.get(e.form, KINDS[e.kind]).lower(),
                WORDS[e.minutes],
                e.goal,
                e.needs,
            )
            made += f"| {' | '.join(row)} |\n"
    return TABLE.sub(lambda _: made + "\n", page)


def main(arguments: list[str] | None = None) -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=[*FILES.values()])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args(arguments)
    texts = {path: chapter_text(path) for path in options.notebooks}
    texts[TEACHERS] = teachers_text(TEACHERS.read_text(encoding="utf-8"))
    stale = [path for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
    for path in stale:
        if not options.check:
            write_atomically(path, texts[path])
        step(f"{path.name}: {'not what the catalogue gives' if options.check else 'rewritten'}")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
