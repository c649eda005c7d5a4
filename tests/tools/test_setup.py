"""The commands behind the Makefile: what they leave, and what they say when something is missing.

Each failure is provoked for real, with a doctored PATH, index or archive, and must end in one sentence.
"""

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest
from fontTools.ttLib import TTFont
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import execute_notebooks, fetch_vendor, find_browser, serve, setup_venv
from tools.console import ROOT
from tools.resolve_pins import FILES
from tools.setup_venv import requirement_lines


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=120)


def assert_one_sentence(done: subprocess.CompletedProcess, *words: str) -> None:
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and errors[0].endswith("."), done.stderr
    for word in words:
        assert word in errors[0]


def program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


# --- requirements -------------------------------------------------------------------------------------------


PIN = r"[a-z0-9._-]+==[0-9][\w.]*"
SYSTEM = r'; sys_platform == "(?:darwin|win32)"'


def normal(pin: str) -> str:
    """`name==version` in one spelling, without the part of a local build (+cpu) and without a marker."""
    return re.sub(r"[-_.]+", "-", re.sub(r"[+;].*", "", pin.split()[0].lower()))


def test_every_requirement_is_pinned():
    assert (ROOT / "requirements.txt").read_text(encoding="utf-8").endswith("\n-e .\n")
    pins, tests, data, gpu = (requirement_lines(ROOT / name) for name in FILES)
    assert pins[0] == "torch==2.13.0", "it is asked for alone"
    pins += tests
    assert [line for line in pins if not re.fullmatch(f"{PIN}(?:{SYSTEM})?", line, re.IGNORECASE)] == []
    assert [line for line in gpu if not re.fullmatch(PIN, line)] == []
    names = [normal(line).split("==")[0] for line in [*pins, *gpu]]
    assert len(names) == len(set(names)), "no package is pinned twice"
    for line in data:
        assert re.fullmatch(r"[a-z0-9-]+==[\d.]+ --hash=sha256:[0-9a-f]{64}", line)


def test_what_is_installed_is_what_is_pinned():
    """A package that is installed and not pinned would be missing, or different, on another machine."""
    found = {normal(f"{each.name}=={each.version}") for each in importlib.metadata.distributions()}
    installed = {pin for pin in found if not pin.startswith(("pip==", "do-mascaramento-ao-bert=="))}
    *files, optional = (requirement_lines(ROOT / name) for name in FILES)
    markers = {line: Requirement(line.split(" --hash")[0]).marker for lines in files for line in lines}
    pinned = {normal(line) for line, marker in markers.items() if marker is None or marker.evaluate()}
    # The GPU build of torch may be the one that is installed: then in exactly these versions.
    assert installed - {normal(line) for line in optional} == pinned


def needed(pins: list[str]) -> dict[str, set[str]]:
    """What the installed packages of these pins say that they need here, with who needs it."""
    found: dict[str, set[str]] = {}
    asked = [pin for pin in map(Requirement, pins) if pin.marker is None or pin.marker.evaluate()]
    todo = [(pin.name, "") for pin in asked]
    for name, extra in todo:
        for each in map(Requirement, importlib.metadata.requires(name) or ()):
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                found.setdefault(canonicalize_name(each.name), set()).add(name)
                todo += [(each.name, more) for more in each.extras if (each.name, more) not in todo]
    return found


@pytest.mark.parametrize("files", [FILES[:1], FILES[:2]], ids=["readers", "tests"])
def test_pins_are_complete_so_that_pip_need_not_look_for_more(files):
    """The set-up tells pip to install these and nothing else; a reader's without those of the tests."""
    pins = [line for name in files for line in requirement_lines(ROOT / name)]
    optional = requirement_lines(ROOT / "constraints-gpu.txt")
    pinned = {canonicalize_name(Requirement(pin).name) for pin in [*pins, *optional]}
    assert {name: by for name, by in needed(pins).items() if name not in pinned} == {}


def test_the_course_is_built_with_the_setuptools_that_is_pinned():
    """The build of the course's own package must not bring a version that no check has seen."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (needed,) = settings["build-system"]["requires"]
    assert needed in requirement_lines(ROOT / "requirements.txt")
    assert "dependencies" not in settings["project"], "they would have to be asked for by tools.resolve_pins"


# --- virtual environment ------------------------------------------------------------------------------------


def test_an_old_python_is_refused():
    with pytest.raises(SystemExit, match=r"Python 3\.11 or newer is needed and this one is 3\.9\.2"):
        setup_venv.check_python((3, 9, 2))
    setup_venv.check_python((3, 11, 0))


def test_a_missing_python_gets_a_sentence(tmp_path):
    """make itself says it: no script can run without an interpreter."""
    (tmp_path / "tools").mkdir()
    for pattern in ("Makefile", "pyproject.toml", "*.txt", "tools/*.py"):
        for path in ROOT.glob(pattern):
            shutil.copy(path, tmp_path / path.relative_to(ROOT))
    done = run("make", "-C", tmp_path, "setup", "PYTHON=")
    assert_one_sentence(done, "Python was not found", "install python3.11")
    assert not (tmp_path / ".venv").exists()


def test_a_broken_environment_is_recognised(tmp_path):
    version = sys.version_info
    assert not setup_venv.is_healthy(tmp_path / "missing", version)
    assert not setup_venv.is_healthy(program(tmp_path / "python", "exit 3"), version)
    assert setup_venv.is_healthy(Path(sys.executable), version)
    assert not setup_venv.is_healthy(Path(sys.executable), (3, 99, 0)), "another Python is asked for"


# --- third-party JavaScript ---------------------------------------------------------------------------------


@pytest.fixture
def packed(tmp_path, monkeypatch) -> dict:
    """The manifest entry of a package; npm gives its tarball."""
    source = tmp_path / "package"
    (source / "dist").mkdir(parents=True)
    (source / "dist" / "code.js").write_text("let x = 1;")
    (source / "dist" / "notes.txt").write_text("not wanted")
    tarball = tmp_path / "code-1.0.0.tgz"
    with tarfile.open(tarball, "w:gz") as archive:
        archive.add(source, "package")
    monkeypatch.setattr(fetch_vendor, "pack", lambda *_: tarball)
    digest = hashlib.sha512(tarball.read_bytes()).hexdigest()
    package = {"name": "code", "version": "1.0.0", "sha512": digest, "folder": "vendor/code"}
    return {**package, "root": "dist", "files": ["*.js"]}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"files": ["gone.js"]}, r"has no \['gone\.js'\]"),
        ({"sha512": "0" * 128}, "not the file that was tested"),
    ],
)
def test_a_changed_package_is_refused_and_the_old_folder_kept(packed, tmp_path, wrong, told):
    into = tmp_path / "root"
    old = into / "vendor" / "code" / "old.js"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    with pytest.raises(SystemExit, match=told):
        fetch_vendor.fetch({**packed, **wrong}, "npm", into)
    assert [path for path in into.rglob("*") if path.is_file()] == [old]
    fetch_vendor.fetch(packed, "npm", into)  # and the files that are wanted
    assert [path.name for path in old.parent.iterdir()] == ["code.js"]


def test_what_only_tests_need_is_fetched_when_they_ask(tmp_path, monkeypatch):
    fetched = []
    monkeypatch.setattr(fetch_vendor, "fetch", lambda package, *_: fetched.append(package["name"]))
    for made_of_them in ("bundle", "subset_fonts"):
        monkeypatch.setattr(fetch_vendor, made_of_them, lambda *_: None)
    every = {package["name"] for package in fetch_vendor.read_manifest(ROOT / "tools" / "vendor.toml")}
    fetch_vendor.main(["--tests", "--into", str(tmp_path)])
    tests, fetched[:] = set(fetched), []
    fetch_vendor.main(["--into", str(tmp_path)])
    assert {"axe-core", "prettier", "typescript"} <= tests and set(fetched) == every - tests
    assert "mermaid" in fetched


def test_npm_without_network_gets_a_sentence(tmp_path, monkeypatch):
    """Nothing listens on that port, so npm fails as it would without a network."""
    settings = {"registry": "http://127.0.0.1:9/", "fetch_retries": "0", "cache": str(tmp_path / "cache")}
    for name, value in settings.items():
        monkeypatch.setenv(f"npm_config_{name}", value)
    manifest = tmp_path / "vendor.toml"
    manifest.write_text('[temml]\nversion = "0.13.5"\n')
    told = r"^error: npm could not fetch temml@0\.13\.5 .*: connect to the network and run make again\.$"
    with pytest.raises(SystemExit, match=told):
        fetch_vendor.main(["--manifest", str(manifest), "--into", str(tmp_path / "out")])


def test_a_missing_npm_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="npm was not found"):
        fetch_vendor.find_program("npm")


def test_every_package_is_pinned_by_version_and_hash():
    for package in fetch_vendor.read_manifest(ROOT / "tools" / "vendor.toml"):
        assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"]), package["name"]
        assert re.fullmatch(r"[0-9a-f]{128}", package["sha512"]), package["name"]


def test_a_module_is_unpacked_whole_where_the_bundler_looks(packed, tmp_path):
    manifest = tmp_path / "vendor.toml"
    manifest.write_text(f'code = {{ version = "1.0.0", sha512 = "{packed["sha512"]}" }}')
    [module] = fetch_vendor.read_manifest(manifest)
    fetch_vendor.fetch(module, "npm", tmp_path / "root")
    unpacked = tmp_path / "root" / fetch_vendor.MODULES / "code"
    assert sorted(path.name for path in unpacked.rglob("*.*")) == ["code.js", "notes.txt"]


def test_anywidget_is_made_a_module_or_refused(tmp_path):
    script = fetch_vendor.installed("anywidget") / "nbextension" / "index.js"
    fetch_vendor.copy_anywidget(script, tmp_path)
    text = (tmp_path / fetch_vendor.MODULES / "anywidget" / "index.js").read_text(encoding="utf-8")
    assert text.rstrip().endswith("export default widget_default;") and "define(" not in text
    other = tmp_path / "other.js"
    other.write_text("define([], 0);")
    with pytest.raises(SystemExit, match="does not end as expected"):
        fetch_vendor.copy_anywidget(other, tmp_path)


def test_a_package_that_is_not_installed_gets_a_sentence():
    with pytest.raises(SystemExit, match="nowhere_at_all is not installed"):
        fetch_vendor.installed("nowhere_at_all")


@pytest.fixture
def bundles(tmp_path) -> Path:
    """The folder of a set-up that has bundles already, and modules as a test puts them there."""
    folder = tmp_path / fetch_vendor.VENDOR / "bundles"
    folder.mkdir(parents=True)
    (folder / "widgets.js").write_text("old")
    (tmp_path / fetch_vendor.MODULES).mkdir(parents=True)
    return folder


def lend_module(name: str, into: Path) -> None:
    """Let a set-up elsewhere use a module of this one."""
    (into / fetch_vendor.MODULES / name).symlink_to(ROOT / fetch_vendor.MODULES / name)


def other_mermaid(into: Path) -> None:
    """A version that names its parts otherwise would leave the book without diagrams."""
    lend_module("esbuild-wasm", into)
    script = into / fetch_vendor.MODULES / "mermaid" / "dist" / "mermaid.esm.min.mjs"
    script.parent.mkdir(parents=True)
    script.write_text("export default 1;")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prepare", "said"), [(lambda _: None, "esbuild-wasm"), (other_mermaid, "mermaid does not import")]
)
def test_a_bundle_that_fails_leaves_the_old_one_and_no_scratch(bundles, tmp_path, capsys, prepare, said):
    prepare(tmp_path)
    with pytest.raises(SystemExit, match="were not bundled"):
        fetch_vendor.bundle(fetch_vendor.find_program("node"), tmp_path)
    assert said in capsys.readouterr().err, "what the bundler said is shown"
    assert (bundles / "widgets.js").read_text() == "old" and not any(tmp_path.rglob(".new-*"))


@pytest.mark.slow
def test_bundles_are_the_same_each_time_and_draw_flowcharts_only(bundles, tmp_path):
    for name in os.listdir(ROOT / fetch_vendor.MODULES):
        lend_module(name, tmp_path)
    fetch_vendor.bundle(fetch_vendor.find_program("node"), tmp_path)
    assert sorted(path.name for path in bundles.iterdir()) == ["mermaid.js", "widgets.css", "widgets.js"]
    for made in bundles.iterdir():
        assert made.read_bytes() == (ROOT / fetch_vendor.VENDOR / "bundles" / made.name).read_bytes()
    # What is left out stays as an import that no diagram of the book asks for.
    text = (bundles / "mermaid.js").read_text(encoding="utf-8")
    left_out = set(re.findall(r'import\("[^"]*/(\w+)-[^"/]+"\)', text))
    assert {"sequenceDiagram", "ganttDiagram", "katex"} <= left_out
    assert not {"flowDiagram", "dagre"} & left_out


def test_the_icons_keep_their_code_points():
    font = TTFont(ROOT / fetch_vendor.VENDOR / "icons" / "solid.woff")
    assert {0xF185, 0xF186, 0xF0C9, 0xF002} <= set(font.getBestCmap()), "sun, moon, bars, magnifying glass"
    assert len(font.getBestCmap()) < 100


def test_an_icon_that_the_font_does_not_have_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch_vendor, "ICONS", ["sun", "no-such-icon"])
    with pytest.raises(SystemExit, match=r"no icon called .*no-such-icon"):
        fetch_vendor.subset_fonts(tmp_path)
    assert not any(tmp_path.rglob(".new-*"))


# --- browser ------------------------------------------------------------------------------------------------


def test_a_missing_browser_gets_a_sentence(tmp_path, monkeypatch):
    """Neither a browser nor apt-get on PATH, root or not."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"^error: no browser was found.*apt-get install chromium.*\.$"):
        find_browser.ensure()


def test_a_failing_apt_gets_a_sentence(tmp_path, monkeypatch):
    apt = program(tmp_path / "apt-get", "echo 'E: Unable to locate package chromium' >&2\nexit 100")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(SystemExit, match=r"apt-get could not install chromium \(E: Unable to locate"):
        find_browser.apt_install(str(apt))


def test_the_browser_can_be_chosen(tmp_path, monkeypatch):
    chosen = str(program(tmp_path / "my-chromium", "true"))
    monkeypatch.setenv("CHROMIUM", chosen)
    assert find_browser.find() == chosen


def test_serving_nothing_gets_a_sentence(tmp_path):
    with pytest.raises(SystemExit, match=r"^error: .* holds no book: run `make book` first\.$"):
        serve.main(["--folder", str(tmp_path)])


# --- execution of notebooks ---------------------------------------------------------------------------------


def write_notebook(path: Path, *sources: str) -> Path:
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)]
    cells[0].metadata = {"tags": ["hide-input"], "figures": [["1", "x"]], "execution": {"t": "1"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


WIDGET = "import ipywidgets\nipywidgets.HBox([ipywidgets.IntSlider(value=3), ipywidgets.Label('a')])"


@pytest.mark.slow
def test_a_second_execution_gives_the_same_bytes(tmp_path):
    """Widgets included, whose ids are random in every run; noise is dropped and meaning kept."""
    path = write_notebook(tmp_path / "a.ipynb", "print(1 + 1)", WIDGET, "{'b', 'a'}")
    assert execute_notebooks.main([str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert '"2\\n"' in text and "widget-state+json" in text and "execution_count" in text
    metadata = nbformat.read(path, as_version=4).cells[0].metadata
    assert metadata == {"tags": ["hide-input"], "figures": [["1", "x"]]}
    path.write_text(text.replace('"2\\n"', '"3\\n"'), encoding="utf-8")  # a stale output
    assert execute_notebooks.main([str(path)]) == 0
    assert path.read_text(encoding="utf-8") == text


@pytest.fixture
def kept(tmp_path) -> Iterator[str]:
    """A notebook that is afterwards as it was before."""
    path = write_notebook(tmp_path / "a.ipynb", "x = 1", "x / 0", "print('never')")
    before = path.read_bytes()
    yield str(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.ipynb"]


@pytest.mark.slow
def test_a_failing_cell_is_named_and_nothing_written(kept):
    with pytest.raises(SystemExit, match=r"a\.ipynb: cell 1 \(id cell-1\) failed: ZeroDivisionError"):
        execute_notebooks.main([kept])


def test_neither_a_check_nor_an_interrupted_write_changes_what_is_stale(kept, monkeypatch):
    monkeypatch.setattr(execute_notebooks, "executed_text", lambda path: path.read_text(encoding="utf-8"))
    assert execute_notebooks.main(["--check", kept]) == 0
    monkeypatch.setattr(execute_notebooks, "executed_text", lambda _: "what the code gives")
    assert execute_notebooks.main(["--check", kept]) == 1
    monkeypatch.setattr(os, "replace", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        execute_notebooks.main([kept])


# --- make ---------------------------------------------------------------------------------------------------


def test_the_gate_is_make_test():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "exec make test" in script.read_text(encoding="utf-8")


def test_the_repository_names_no_registry_and_no_machine():
    """Paths of one machine and hosts of registries have no place in what is shared."""
    tracked = run("git", "ls-files").stdout.split()
    hosts = r"https?://[\w.-]*(?:pypi|pythonhosted|npmjs|registry|pytorch)[\w.-]*\.\w+"
    forbidden = re.compile(hosts + r"|(?<![\w.])/(?:root|home|work)/\w+")
    found = []
    for path in (ROOT / name for name in tracked):
        if path.suffix not in {".png", ".woff2", ".safetensors"} and path.is_file():
            found += [f"{path}: {match}" for match in forbidden.findall(path.read_text(encoding="utf-8"))]
    assert found == []
