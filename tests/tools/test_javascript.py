"""The linter of the project's JavaScript: that it finds nothing here, and that it finds what is wrong."""

import subprocess
from pathlib import Path

import pytest

from tools.console import ROOT
from tools.fetch_vendor import find_program

FOLDERS = ("lib/widgets", "book/_static", "tools/bundles", "tools")
CLEAN = 'export const half = (x) => x / 2;\nexport const page = () => document.querySelector("main");\n'


def lint(root: Path) -> subprocess.CompletedProcess:
    command = [find_program("node"), str(ROOT / "tools" / "lint.mjs"), str(root)]
    return subprocess.run(command, text=True, capture_output=True, timeout=120)


@pytest.fixture
def project(tmp_path) -> Path:
    """Folders laid out as the project's, with one clean file."""
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / "lib" / "widgets" / "clean.js").write_text(CLEAN, encoding="utf-8")
    return tmp_path


def test_the_javascript_of_the_project_is_clean(record_property):
    done = lint(ROOT)
    record_property("summary", done.stdout.strip())
    assert (done.returncode, done.stderr) == (0, "")
    linted = int(done.stdout.split()[0])
    written = [path for folder in FOLDERS for path in (ROOT / folder).glob("*.*js")]
    assert linted == len(written) > 0


def test_clean_code_passes(project):
    done = lint(project)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("1 JavaScript files linted")


def test_nothing_to_lint_is_a_failure(project):
    (project / "lib" / "widgets" / "clean.js").unlink()
    assert lint(project).returncode == 1


@pytest.mark.parametrize(
    ("name", "code", "rule"),
    [
        ("lib/widgets/a.js", "export const x = y;", "no-undef"),
        ("lib/widgets/a.js", "const x = 1;", "no-unused-vars"),
        ("lib/widgets/a.js", "export const f = (x) => x == 1;", "eqeqeq"),
        ("lib/widgets/a.js", "export const f = (x) => eval(x);", "no-eval"),
        ("lib/widgets/a.js", "export const f = (x) => new Function(x);", "no-new-func"),
        ("lib/widgets/a.js", "export const f = (e, x) => { e.innerHTML = x; };", "no-restricted-syntax"),
        ("lib/widgets/a.js", "export const f = (e, x) => { e.outerHTML += x; };", "no-restricted-syntax"),
        ("lib/widgets/a.js", 'export const f = (e, x) => e["innerHTML"] = x;', "no-restricted-syntax"),
        ("lib/widgets/a.js", "export const f = (x) => ({ innerHTML: x });", "no-restricted-syntax"),
        (
            "lib/widgets/a.js",
            "export const f = (e, x) => e.insertAdjacentHTML('end', x);",
            "no-restricted-syntax",
        ),
        ("lib/widgets/a.js", "export const f = (x) => document.write(x);", "no-restricted-syntax"),
        ("lib/widgets/a.js", "export const f = (x) => { let y = x; return y; };", "prefer-const"),
        (
            "lib/widgets/a.js",
            "// eslint-disable-next-line no-eval\nexport const x = 1;",
            "Unused eslint-disable",
        ),
        ("lib/widgets/a.js", "export const x = ;", "syntax"),
        ("lib/widgets/a.js", "export const x = process.argv;", "no-undef"),
        ("book/_static/a.js", "const shared = 1; window.x = shared;", "no-implicit-globals"),
        ("book/_static/a.js", "export const x = 1;", "syntax"),
        ("tools/bundles/a.js", "var x = 1; window.x = x;", "no-var"),
        ("tools/bundles/a.mjs", "console.log(process.argv); document.title = 1;", "no-undef"),
        ("tools/a.mjs", "if (process.argv.length = 2) console.log(1);", "no-cond-assign"),
    ],
)
def test_what_is_wrong_is_found(project, name, code, rule):
    (project / name).write_text(f"{code}\n", encoding="utf-8")
    done = lint(project)
    assert done.returncode == 1
    assert all(line.startswith(f"{name}:") for line in done.stderr.splitlines()), done.stderr
    assert rule in done.stderr
