"""What a stranger reads first agrees with itself: versions, licences, the two READMEs, the workflow."""

import re
import tomllib

import pytest
import yaml

from tools.__main__ import COMMANDS
from tools.console import ROOT
from tools.pdf import PDF

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
AUTHORS = "the authors of Do mascaramento ao BERT"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page: str) -> list[list[str]]:
    """The commands of each block of shell."""
    found = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    return [[line.partition("#")[0].strip() for line in block.splitlines()] for block in found]


def figures(page: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,]\d+)*", page))


def commands(page: str) -> set[str]:
    """The commands of a page: in blocks of shell, and between backticks."""
    said = re.findall(r"`((?:make|python3? -m|py -m) [^`]+)`", page)
    return {line for block in blocks(page) for line in block} | {*said} - {""}


def test_one_version_everywhere():
    version = PROJECT["version"]
    citation = yaml.safe_load(text("CITATION.cff"))
    newest = re.search(r"^## (\S+) \((\S+)\)$", text("CHANGELOG.md"), re.MULTILINE)
    assert newest, "CHANGELOG.md must open with a version and its date"
    assert (citation["version"], str(citation["date-released"])) == newest.groups()
    assert version == newest[1]


@pytest.mark.book
def test_every_page_shows_version_and_licence(book_dir):
    pages = sorted((book_dir / "book").glob("*.html"))
    assert pages
    for page in pages:
        shown = page.read_text(encoding="utf-8")
        assert f"versão {PROJECT['version']}" in shown and "CC BY 4.0" in shown, page.name


def test_licences_name_the_authors():
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["authors"] == [{"name": AUTHORS}] == PROJECT["authors"]
    assert AUTHORS in text("LICENSE") and text("LICENSE-TEXT").startswith("Attribution 4.0 International")
    for page in ("README.md", "LEIAME.md"):
        assert AUTHORS in " ".join(text(page).split())
        for name in ("LICENSE", "LICENSE-TEXT", "CITATION.cff"):
            assert f"]({name})" in text(page), f"{page} must link to {name}"


def test_both_readmes_give_the_same_commands_and_figures():
    readme, leiame = text("README.md"), text("LEIAME.md")
    known = commands(readme) | commands(text("CONTRIBUTING.md")) | commands(text("book/teachers.md"))
    assert commands(leiame) <= known, "LEIAME.md names a command that no other page explains"
    assert blocks(leiame)[0] == blocks(readme)[0] == ["make book", "make test"], "the two commands"
    assert figures(leiame) <= figures(readme) and {"3.11", "3.14"} <= figures(leiame)
    pictures = [re.findall(r"!\[.+\]\((.+)\)", page) for page in (readme, leiame)]
    assert pictures[0] == pictures[1] and all((ROOT / name).is_file() for name in pictures[0])


def test_every_command_that_a_page_names_exists():
    for page in ("README.md", "LEIAME.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        said = {c.split()[1] for c in commands(text(page)) if re.match("make [a-z]", c)}
        said |= {c.split()[3] for c in commands(text(page)) if re.match(r"py(thon3?)? -m tools [a-z]", c)}
        assert said <= COMMANDS.keys(), f"{page} names {sorted(said - COMMANDS.keys())}"
    named = {c.split()[1] for c in commands(text("CONTRIBUTING.md")) if c.startswith("make ")}
    assert COMMANDS.keys() - named <= {"help"}, (
        f"CONTRIBUTING.md leaves out {sorted(COMMANDS.keys() - named)}"
    )


def test_the_workflow_runs_the_gate_with_the_pythons_that_resolve():
    workflow = yaml.safe_load(text(".github/workflows/course.yml"))
    test = workflow["jobs"]["test"]
    assert any(step.get("run") == "bash .ci/run" for step in test["steps"])
    first, newest = re.findall(r"Python (3\.\d+) to (3\.\d+)", text("README.md"))[0]
    assert test["strategy"]["matrix"]["python"] == [first, newest]
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", ())]
    asked = {re.split(r" -m tools ", step["run"])[1] for step in steps if " -m tools " in step.get("run", "")}
    assert asked == {"pdf"} and any(PDF.name in step.get("run", "") for step in steps)
