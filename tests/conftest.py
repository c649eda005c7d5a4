"""Fixtures shared by all tests: the built book, a browser without network, a real JupyterLab."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.browser.chromium import offline_chromium, open_page
from tests.browser.jupyterlab import running_lab
from tools.console import ROOT
from tools.serve import serving

# The same examples on every machine: a failure in CI is a failure at home.
settings.register_profile("course", deadline=None, derandomize=True)
settings.register_profile("quick", settings.get_profile("course"), max_examples=15)  # for the daily loop
settings.load_profile("course")


# What stands behind a fixture: `-m browser` selects what needs a browser or a server, `-m book` built pages.
NEEDS = {"browser": "browser", "jupyterlab": "browser", "book_dir": "book"}
# What takes minutes starts first: a worker that began one of these last would go on alone.
LONGEST = (
    *("book/05", "book/06", "book/appendix", "tests/lib/widgets/test_every_widget"),
    *("tests/book/test_widgets", "tests/book/test_project_page", "tests/browser/test_pages", "book/04"),
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in NEEDS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(NEEDS[fixture])
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


class OneJupyterLab(LoadScopeScheduling):
    """One worker runs all modules in JupyterLab, one after the other, because they share a server."""

    def _split_scope(self, nodeid: str) -> str:
        return "jupyterlab" if "jupyterlab.py::" in nodeid else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log) -> OneJupyterLab | None:
    return OneJupyterLab(config, log) if config.getvalue("dist") == "loadscope" else None


@pytest.fixture(scope="session")
def book_dir() -> Path:
    """The built book; `make test` builds it before the tests start."""
    folder = ROOT / "_build" / "html"
    if not (folder / "index.html").exists():
        pytest.fail(f"{folder.relative_to(ROOT)} holds no book: run `make book` first.", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def book_url(book_dir):
    """The base address of the built book, served on loopback."""
    with serving(book_dir) as url:
        yield url


@pytest.fixture(scope="session")
def browser():
    """One Chromium for each test process, with name resolution blocked."""
    with offline_chromium() as chromium:
        yield chromium


@pytest.fixture
def new_page(browser):
    """Opens pages that close after the test: `new_page(viewport=PHONE, dark=True)`; see `page.problems`."""
    with contextlib.ExitStack() as opened:
        yield lambda **options: opened.enter_context(open_page(browser, **options))


@pytest.fixture
def page(new_page):
    """A desktop page in the light theme."""
    return new_page()


@pytest.fixture(scope="session")
def jupyterlab(tmp_path_factory):
    """A real JupyterLab on a copy of book/; `jupyterlab.url("01_masking.ipynb")` opens a notebook."""
    with running_lab(tmp_path_factory.mktemp("jupyterlab")) as lab:
        yield lab
