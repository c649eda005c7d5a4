"""Each labelled statement of a chapter has a cell that checks it and a property test, and the sets agree.

A statement is a theorem, lemma, corollary, proposition, observation, remark or property in the prose. Its
label is the tag `statement:<label>` of a code cell of the same chapter, with an `assert` in it, and the mark
`@pytest.mark.statement("<label>")` of a test that hypothesis drives (`@given`).
"""

import ast
import re
from collections import Counter
from pathlib import Path

from tests.marks import marked
from tests.trust.pages import ROOT
from trust.notebooks import tags
from trust.pages import Page

DIRECTIVE = re.compile(
    r"^[ ]*(?:`{3,}|:{3,})\{prf:(theorem|lemma|corollary|proposition|observation|remark|property|conjecture|"
    r"criterion|axiom)\}(.*)$\n((?:^[ ]*:[\w-]+:.*$\n)*)",
    re.MULTILINE,
)
TAG = "statement:"


def labels_in_prose(page: Page) -> tuple[list[str], list[str]]:
    """The labels of a chapter's statements, and a problem for each statement without one."""
    labels, found = [], []
    for block in page.blocks:
        for kind, title, options in DIRECTIVE.findall(block.text):
            label = re.search(r":label:[ ]*(\S+)", options)
            if label:
                labels.append(label[1])
            else:
                found.append(f"{page.name}, {block.name}: the {kind} “{title.strip()}” has no :label:")
    return labels, found


def labels_of_cells(page: Page) -> tuple[list[str], list[str]]:
    """The labels that a chapter's code cells carry, and a problem for each such cell that asserts nothing."""
    labels, found = [], []
    for cell in page.code_cells():
        for tag in tags(cell):
            if tag.startswith(TAG):
                labels.append(tag.removeprefix(TAG))
                if not asserts(cell["source"]):
                    found.append(f"{page.name}, {cell['id']}: tagged {tag!r} and asserts nothing")
    return labels, found


def labels_of_tests(folder: Path) -> tuple[list[str], list[str]]:
    """The labels that property tests carry, and a problem for each marked test without @given or assert."""
    labels, found = [], []
    for label, path, test in marked("statement", folder):
        labels.append(label)
        driven = any(ast.unparse(d).partition("(")[0].endswith("given") for d in test.decorator_list)
        if not (driven and asserts(ast.unparse(ast.Module(test.body, [])))):
            found.append(f"{path.name}::{test.name}: marks a statement; it needs @given and an assert")
    return labels, found


def asserts(code: str) -> list[set[str]]:
    """For each assertion of some code that can fail, the names that it reads.

    An assertion is an `assert`, or a call of a function named so (`torch.testing.assert_close`).
    """
    found = []
    for node in ast.walk(ast.parse(plain_python(code))):
        checked = []
        if isinstance(node, ast.Assert):
            checked = [node.test]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1].startswith("assert_"):
            checked = node.args
        found.append({n.id for check in checked for n in ast.walk(check) if isinstance(n, ast.Name)})
    return [names for names in found if names]


def plain_python(code: str) -> str:
    """IPython's own lines (magics, shell) are not Python."""
    return "\n".join("" if re.match(r"\s*[%!]", line) else line for line in code.splitlines())


def problems(chapters: list[Page], folder: Path = ROOT / "tests") -> list[str]:
    """Everything that is wrong between the statements of the chapters, their cells and their tests."""
    tested, found = labels_of_tests(folder)
    everything: list[str] = []
    for page in chapters:
        stated, unlabelled = labels_in_prose(page)
        checked, hollow = labels_of_cells(page)
        everything += stated
        found += unlabelled + hollow
        found += [f"{page.name}: no code cell is tagged {TAG}{x}" for x in sorted(set(stated) - set(checked))]
        found += [f"{page.name}: no statement has the label {x}" for x in sorted(set(checked) - set(stated))]
    found += [f"no property test carries the mark of {x}" for x in sorted(set(everything) - set(tested))]
    found += [f"a test marks {x}, which no chapter states" for x in sorted(set(tested) - set(everything))]
    found += [f"the label {x} is used twice" for x, times in Counter(everything).items() if times > 1]
    return found
