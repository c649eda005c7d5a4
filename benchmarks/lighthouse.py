"""How fast every page of the book opens on a phone, and how near that is to the same text without any style.

`python -m benchmarks.lighthouse` serves the built book compressed and asks Lighthouse, with its mobile
profile (a slow processor and a slow network, both simulated), for its four scores. Beside each page, in the
same run, stands its control: the text of the page as bare HTML, with neither style nor script nor picture,
which is as fast as these words can be. Lighthouse is installed from npm into a folder of its own, in the
versions of `lighthouse_tool/package-lock.json`.
"""

import gzip
import json
import os
import statistics
import subprocess
import tempfile
from argparse import Namespace
from functools import cache
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from benchmarks import program
from benchmarks.figures import table
from benchmarks.report import Report, make_part
from tests.browser.chromium import FLAGS
from tools import find_browser
from tools.console import ROOT, fail, step
from tools.fetch_vendor import find_program
from tools.serve import QuietHandler, serving

TOOL = ROOT / "benchmarks" / "lighthouse_tool"
BUILT = ROOT / "_build" / "html"
CATEGORIES = {
    "performance": "performance",
    "accessibility": "accessibility",
    "best-practices": "good practice",
    "seo": "SEO",
}
TIMES = ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time")
CONTROL = (("scores", "performance"), ("times", TIMES[0]))  # what is told of it
TARGET, AIM, REST = 90, 95, 100  # of performance: at least, and aimed at; of the other three
TEXT = ("article", "h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td", "th")
KEPT = {*TEXT, "pre", "code", "em", "strong", "a", "section", "blockquote", "thead", "tbody", "figcaption"}


def measure(options: Namespace) -> dict[str, Any]:
    pages = [page for page in book_pages() if page in options.pages or not options.pages]
    install()
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder)
        for page in pages:
            path = bare / page
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(without_style(BUILT / page), encoding="utf-8")
        with serving(BUILT, Compressing) as book, serving(bare, Compressing) as control:
            runs = {page: [] for page in pages}
            for _ in range(options.rounds):
                for page in pages:
                    step(page)
                    sides = {"page": book, "control": control}
                    runs[page].append({side: audit(f"{url}/{page}") for side, url in sides.items()})
    return {"pages": runs}


def book_pages() -> list[str]:
    """Every page that a reader can come to."""
    if not (BUILT / "index.html").exists():
        fail("there is no book to measure: run `make book` first")
    found = (path.relative_to(BUILT).as_posix() for path in (BUILT / "book").glob("*.html"))
    return [*sorted(found), "search.html", "404.html"]


def install() -> None:
    """Lighthouse and what it needs, where they are missing or others."""
    stamp, lock = TOOL / "node_modules" / ".package-lock.json", TOOL / "package-lock.json"
    if stamp.exists() and stamp.stat().st_mtime_ns > lock.stat().st_mtime_ns:
        return
    npm = find_program("npm")
    environment = {**os.environ, "PATH": f"{Path(npm).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    if subprocess.run(command, cwd=TOOL, env=environment).returncode:
        fail("Lighthouse was not installed: npm says why, above.")


class Compressing(QuietHandler):
    """Sends what compresses compressed, as servers of static pages do."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        body = compressed(path) if path.is_file() else None
        if body is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@cache
def compressed(path: Path) -> bytes | None:
    """What would be sent; nothing if it is not smaller, as with pictures and fonts."""
    body = path.read_bytes()
    small = gzip.compress(body, 9)
    return small if len(small) < len(body) else None


def without_style(path: Path) -> str:
    """The words of a page, in the elements that give them their order."""
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    article = soup.find("article") or soup
    for element in article.find_all(["script", "style", "img", "svg"]):
        element.decompose()
    for formula in article.find_all("math"):
        formula.replace_with(formula.get_text())
    article.attrs = {}
    for element in article.find_all(True):
        if element.name in KEPT:
            element.attrs = {"href": element["href"]} if element.get("href") else {}
        else:
            element.unwrap()
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    page = f"<head>{head}<title>{path.stem}</title></head><body>{article}</body>"
    return f'<!doctype html><html lang="pt-BR">{page}</html>'


def audit(url: str) -> dict[str, Any]:
    """The scores of a page, its times in milliseconds and its weight."""
    command = [
        find_program("node"),
        TOOL / "node_modules" / "lighthouse" / "cli" / "index.js",
        url,
        "--quiet",
        "--output=json",
        f"--only-categories={','.join(CATEGORIES)}",
        f"--chrome-flags={' '.join(['--headless', *(flag for flag in FLAGS if ' ' not in flag)])}",
    ]
    environment = {**os.environ, "CHROME_PATH": str(find_browser.find())}
    done = subprocess.run(command, env=environment, text=True, capture_output=True)
    if done.returncode:
        fail(f"Lighthouse could not measure {url}: {done.stderr.strip()[-500:]}")
    report = json.loads(done.stdout)
    audits = report["audits"]
    return {
        "version": report["lighthouseVersion"],
        "scores": {name: round(100 * report["categories"][name]["score"]) for name in CATEGORIES},
        "times": {name: audits[name]["numericValue"] for name in TIMES},
        "shift": audits["cumulative-layout-shift"]["numericValue"],
        "bytes": audits["total-byte-weight"]["numericValue"],
        "failed": sorted(
            name
            for category in list(CATEGORIES)[1:]
            for name in (each["id"] for each in report["categories"][category]["auditRefs"] if each["weight"])
            if audits[name]["score"] not in (1, None)
        ),
    }


def middle(runs: list[dict[str, Any]], side: str, *path: str) -> float:
    """The median over the rounds of one value of a page, or of its control."""

    def value(run: dict[str, Any]) -> float:
        found: Any = run[side]
        for name in path:
            found = found[name]
        return found

    return statistics.median(value(run) for run in runs)


def show(values: dict[str, Any]) -> str:
    rows, missed = [], []
    for page, runs in values["pages"].items():
        scores = {name: middle(runs, "page", "scores", name) for name in CATEGORIES}
        times = [middle(runs, "page", "times", name) for name in TIMES]
        score, paint = (middle(runs, "control", *path) for path in CONTROL)
        seconds = [f"{time / 1000:.1f}" for time in times[:2]]
        shift, weight = middle(runs, "page", "shift"), middle(runs, "page", "bytes")
        rows.append(
            [
                page,
                *(f"{each:.0f}" for each in scores.values()),
                *seconds,
                f"{times[2]:.0f}",
                f"{shift:.3f}",
                f"{weight / 1000:.0f}",
                f"{score:.0f}",
                f"{paint / 1000:.1f}",
            ]
        )
        wanted = {name: TARGET if name == "performance" else REST for name in CATEGORIES}
        if any(scores[name] < wanted[name] for name in CATEGORIES):
            missed.append(page)
    every = [middle(runs, "page", "scores", "performance") for runs in values["pages"].values()]
    first = next(iter(values["pages"].values()))
    head = ["page", *CATEGORIES.values(), "first paint, s", "largest, s", "blocked, ms", "shift", "kB"]
    shown = table([*head, "control", "its first paint, s"], rows)
    verdict = f"MISSED by {', '.join(missed)}" if missed else "met by every page"
    return (
        f"Lighthouse {first[0]['page']['version']}, mobile; medians of {len(first)} rounds. "
        f"The control is the text of the page as bare HTML.\n\n{shown}\n"
        f"- target of at least {TARGET} in performance and {REST} in the others: {verdict}\n"
        f"- {AIM} in performance: {sum(score >= AIM for score in every)} of {len(every)} pages\n"
    )


COMMAND = "python -m benchmarks.lighthouse"
BOOK = ("book/*.md", "book/*.ipynb", "book/_ext/*.py", "book/_static/*.*", "book/_templates/*", "_*.yml")
DATA = (*BOOK, "tools/bundles/*", "tools/vendor.toml", "benchmarks/lighthouse_tool/package-lock.json")
PART = make_part("pages", COMMAND, measure, show, packages=("jupyter-book", "playwright"), data=DATA)
REPORT = Report("lighthouse", COMMAND, (PART,))


def parse(arguments: list[str] | None = None) -> Namespace:
    parser = program.parser(REPORT, __doc__)
    parser.add_argument("--rounds", type=program.at_least(1), help="of all pages (default 3; quick: 1)")
    parser.add_argument("--pages", nargs="*", default=[], help="only these, as book/01_masking.html")
    options = parser.parse_args(arguments)
    if options.rounds is None:
        options.rounds = 1 if options.quick else 3
    return options


if __name__ == "__main__":
    program.run(REPORT, parse())
