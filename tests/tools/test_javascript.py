"""Linter, formatter and type checker of our JavaScript: they find nothing here, and find what is wrong."""

import subprocess
from pathlib import Path

import pytest

from tools.console import ROOT
from tools.fetch_vendor import find_program

pytestmark = pytest.mark.slow
FOLDERS = ("lib/widgets", "book/_static", "tools/bundles", "tools")
CHECKED = "// @ts-check\n"
CLEAN = f"""{CHECKED}export const half = (x) => x / 2;
export const page = () => document.querySelector("main");
"""
WIDGET = "lib/widgets/{}.js"
# Code, what is said of it, and where it stands if not in a widget.
WRONG = [
    ("export const x = y;", "no-undef"),
    ("const x = 1;", "no-unused-vars"),
    ("export const f = (x) => x == 1;", "eqeqeq"),
    ("export const f = (x) => eval(x);", "no-eval"),
    ("export const f = (x) => new Function(x);", "no-new-func"),
    ("export const f = (e, x) => { e.innerHTML = x; };", "no-restricted-syntax"),
    ("export const f = (e, x) => { e.outerHTML += x; };", "no-restricted-syntax"),
    ('export const f = (e, x) => e["innerHTML"] = x;', "no-restricted-syntax"),
    ("export const f = (x) => ({ innerHTML: x });", "no-restricted-syntax"),
    ("export const f = (e, x) => e.insertAdjacentHTML('a', x);", "no-restricted-syntax"),
    ("export const f = (x) => document.write(x);", "no-restricted-syntax"),
    ("export const f = (x) => { let y = x; return y; };", "prefer-const"),
    ("// eslint-disable-next-line no-eval\nexport const x = 1;", "Unused eslint-disable"),
    ("export const x = ;", "syntax"),
    ("export const x = process.argv;", "no-undef"),
    ("const shared = 1; window.x = shared;", "no-implicit-globals", "book/_static/{}.js"),
    ("export const x = 1;", "syntax", "book/_static/{}.js"),
    ("var x = 1; window.x = x;", "no-var", "tools/bundles/{}.js"),
    ("console.log(process.argv); document.title = 1;", "no-undef", "tools/bundles/{}.mjs"),
    ("if (process.argv.length = 2) console.log(1);", "no-cond-assign", "tools/{}.mjs"),
    ("export const  x = 1;", 'Prettier writes "export const x = 1;"'),
    ("export const x = 'single';", "prettier"),
    (f"console.log({', '.join(['process.argv'] * 9)});", "prettier", "tools/{}.mjs"),
    ('export const x = "a" * 2;', "TS2362"),
    ('export const x = document.querySelector("p").valu;', "TS2339"),
    ('import { y } from "./clean.js";\nexport const x = y;', "TS2305"),
    ('document.title = "a".lenght;', "TS2551", "book/_static/{}.js"),
    ('import { Panel } from "@lumino/widgets";\n\nnew Panel().show(1, 2);', "TS2554", "tools/bundles/{}.js"),
    ('import { join } from "node:path";\n\nconsole.log(join(1));', "TS2345", "tools/{}.mjs"),
]
FILES = {(*case, WIDGET)[2].format(f"wrong_{k}"): case for k, case in enumerate(WRONG)}


def lint(root: Path) -> subprocess.CompletedProcess:
    command = [find_program("node"), str(ROOT / "tools" / "lint.mjs"), str(root)]
    return subprocess.run(command, text=True, capture_output=True, timeout=600)


def project(folder: Path, files: dict[str, str]) -> Path:
    """Folders laid out as the project's, with these files."""
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> subprocess.CompletedProcess:
    """What is said of all that is wrong and of a clean file: at once, since the tools are slow to start."""
    wrong = {name: f"{CHECKED}{code}\n" for name, (code, *_) in FILES.items()}
    wrong["lib/widgets/unchecked.js"] = CLEAN.removeprefix(CHECKED)
    return lint(project(tmp_path_factory.mktemp("wrong"), {"lib/widgets/clean.js": CLEAN, **wrong}))


def test_the_javascript_of_the_project_is_clean(record_property):
    done = lint(ROOT)
    record_property("summary", done.stdout.strip())
    assert (done.returncode, done.stderr) == (0, "")
    linted = int(done.stdout.split()[0])
    written = [path for folder in FOLDERS for path in (ROOT / folder).glob("*.*js")]
    assert linted == len(written) > 0


def test_nothing_to_lint_is_a_failure(tmp_path):
    assert lint(project(tmp_path, {})).returncode == 1


def test_clean_code_passes_where_other_code_does_not(found):
    assert found.returncode == 1
    assert found.stdout.startswith(f"{len(WRONG) + 2} JavaScript files linted")
    named = {line.partition(":")[0] for line in found.stderr.splitlines()}
    assert named == {*FILES, "lib/widgets/unchecked.js"}


@pytest.mark.parametrize(("name", "rule"), [(name, rule) for name, (_, rule, *_) in FILES.items()])
def test_what_is_wrong_is_found(found, name, rule):
    said = [line for line in found.stderr.splitlines() if line.startswith(f"{name}:")]
    assert any(rule in line for line in said), said


def test_a_script_without_types_is_found(found):
    assert "lib/widgets/unchecked.js:1:1: begin with // @ts-check (types)" in found.stderr
