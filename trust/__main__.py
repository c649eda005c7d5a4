"""The chain of trust from the command line, for any folder of notebooks and Markdown.

  python -m trust audit FOLDER   count the figures in the prose, and name those that no output prints
  python -m trust bind PAGE      write into the pages which cell prints each figure
  python -m trust check FOLDER   check that each figure still is what its cell prints
  python -m trust tamper FOLDER  change digits of the prose one by one, and require that the check notices

Pages are .ipynb and .md files. Without a folder, the one of [tool.trust] in pyproject.toml is meant.
Exit code: 0 all is well; 1 something was found; 2 a page could not be read, or the command was wrong.
"""

import argparse
import json
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from trust import settings, tolerance
from trust.audit import as_json, audit, report, table
from trust.bind import bind_page, write
from trust.ledger import problems, values
from trust.notebooks import Unusable
from trust.pages import Book, Page, pages_in
from trust.tamper import Candidate, attempt, prose_candidates

T = TypeVar("T")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m trust", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="audit|bind|check|tamper")
    for name in ("audit", "bind", "check", "tamper"):
        command = commands.add_parser(name)
        command.add_argument("paths", nargs="*", type=Path, help="folders, notebooks or .md pages")
        if name == "audit":
            command.add_argument("--json", action="store_true", help="the report for another program")
            command.add_argument("--places", type=_number, default=10, help="to show per page, or all")
        if name == "tamper":
            command.add_argument("--sample", type=_number, default=200, help="digits to change, or all")
            command.add_argument("--seed", type=int, help="repeat a run")
    return parser.parse_args(arguments)


def _number(text: str) -> int | None:
    """A number, or `all`."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor all")
    return int(text)


def the_book(paths: list[Path]) -> tuple[Book, list[Path]]:
    """The book that the paths belong to, and the pages that they name."""
    for path in paths:
        if not path.exists():
            raise settings.SettingsError(f"{path} does not exist")
    book = Book(settings.load(paths[0] if paths else Path.cwd()))
    if not book.settings.folder.is_dir():
        raise settings.SettingsError(f"{book.settings.folder} is not a folder")
    named = paths or [book.settings.folder]
    pages = [page for path in named for page in (pages_in(path) if path.is_dir() else [path])]
    if not pages:
        raise settings.SettingsError(f"{named[0]} holds no .ipynb and no .md file")
    return book, pages


def each(book: Book, paths: list[Path], do: Callable[[Page], T]) -> tuple[list[T], dict[str, str]]:
    """What a function gives for each page, and a sentence about each page that cannot be used."""
    done, unusable = [], {}
    for path in paths:
        try:
            done.append(do(book.page(path)))
        except Unusable as problem:
            unusable[book.name(path)] = str(problem)
        except Exception as problem:  # one page must not stop the others
            unusable[book.name(path)] = f"could not be read, through a fault of this program: {problem!r}"
    return done, unusable


def run_audit(book: Book, paths: list[Path], options: argparse.Namespace) -> int:
    audits, unusable = each(book, paths, audit)
    if options.json:
        print(json.dumps(as_json(audits, unusable), ensure_ascii=False, indent=1))
    else:
        print(report(audits, unusable, options.places))
    return _code(any(one.not_printed for one in audits), unusable)


def run_bind(book: Book, paths: list[Path], options: argparse.Namespace) -> int:
    def bind(page: Page) -> tuple[str, int, list[str]]:
        orphans = bind_page(page, book.origins(page))
        write(book, page)
        return page.name, sum(len(values(page, block)) for block in page.blocks), orphans

    rows, unusable = each(book, paths, bind)
    lines = [(name, count, count - len(orphans), len(orphans)) for name, count, orphans in rows]
    print(*table(("page", "values", "bound", "without an origin"), lines), sep="\n")
    return _end([orphan for _, _, orphans in rows for orphan in orphans], unusable)


def run_check(book: Book, paths: list[Path], options: argparse.Namespace) -> int:
    def check(page: Page) -> tuple[str, int, list[str]]:
        found = problems(page, book.origins(page)) + tolerance.problems(page.name, page.cells)
        return page.name, sum(len(values(page, block)) for block in page.blocks), found

    rows, unusable = each(book, paths, check)
    print(*table(("page", "values", "problems"), [(*row[:2], len(row[2])) for row in rows]), sep="\n")
    return _end([problem for _, _, found in rows for problem in found], unusable)


def run_tamper(book: Book, paths: list[Path], options: argparse.Namespace) -> int:
    def candidates(page: Page) -> list[Candidate]:
        try:
            return list(prose_candidates(page, book.origins(page)))
        except ValueError as problem:
            raise Unusable(f"cannot be tampered with: {problem}") from None

    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    found, unusable = each(book, paths, candidates)
    everything = [candidate for of_page in found for candidate in of_page]
    tried, missed = attempt(everything, seed, options.sample)
    noticed = tried - len(missed)
    print(f"{noticed} of {tried} changed digits noticed, out of {len(everything)} (--seed {seed})")
    return _end([f"not noticed: {candidate}" for candidate in missed], unusable)


def _end(found: list[str], unusable: dict[str, str]) -> int:
    """Say what was found, and return the exit code."""
    for sentence in (*found, *(f"{page} {problem}" for page, problem in unusable.items())):
        print(sentence, file=sys.stderr)
    return _code(bool(found), unusable)


def _code(found: bool, unusable: dict[str, str]) -> int:
    return 2 if unusable else 1 if found else 0


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    run = {"audit": run_audit, "bind": run_bind, "check": run_check, "tamper": run_tamper}[options.command]
    try:
        return run(*the_book(options.paths), options)
    except settings.SettingsError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
