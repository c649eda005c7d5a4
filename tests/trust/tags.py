"""What nbval does not compare is tagged, cell by cell, and stands beside an assertion on what it shows.

nbval compares text and skips pictures. So a cell with a picture carries `nbval-ignore-output`, no other cell
does, and the cell or the next code cell has an `assert` that reads a name which the cell uses too. Switches
that silence more than one output (skipping a cell, comments, notebook metadata) are not allowed.
"""

import ast
import builtins
import re

from tests.trust.statements import asserts, plain_python
from trust.comparison import IGNORE
from trust.notebooks import tags
from trust.pages import Page

FORBIDDEN_TAGS = {"nbval-skip", "pytest-validate-ignore-output", "skip-execution"}
COMMENT = re.compile(r"(?m)^\s*#+\s*(?:NBVAL_(?:IGNORE_OUTPUT|SKIP)|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$")


def has_picture(cell: dict) -> bool:
    """True where a stored output is a picture."""
    return any(key.startswith("image/") for output in cell["outputs"] for key in output.get("data", {}))


def names(code: str) -> set[str]:
    """The variables that some code shows: no imports, no builtins, nothing that only an assert reads."""
    tree = ast.parse(plain_python(code))
    asserted = {id(n) for check in ast.walk(tree) if isinstance(check, ast.Assert) for n in ast.walk(check)}
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    imported = {alias.asname or alias.name for statement in imports for alias in statement.names}
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in asserted}
    return read - imported - set(dir(builtins))


def problems(page: Page, notebook_metadata: dict) -> list[str]:
    """Every output of a notebook that escapes both nbval and an assertion."""
    switches = [key for key in notebook_metadata if "nbval" in key]
    found = [f"{page.name}: notebook metadata {key!r} switches checks off" for key in switches]
    cells = page.code_cells()
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        place = f"{page.name}, {cell['id']}"
        if bad := FORBIDDEN_TAGS & set(tags(cell)):
            found.append(f"{place}: the tag {sorted(bad)} is not allowed")
        if COMMENT.search(cell["source"]):
            found.append(f"{place}: a comment switches nbval off; use the tag {IGNORE}")
        if has_picture(cell) != (IGNORE in tags(cell)):
            found.append(f"{place}: {IGNORE} goes with a picture, and only with one")
        if has_picture(cell) or IGNORE in tags(cell):
            checks = asserts(cell["source"]) + (asserts(following["source"]) if following else [])
            if not any(names(cell["source"]) & check for check in checks):
                found.append(f"{place}: nothing asserts what the picture shows, here or in the next cell")
    return found
