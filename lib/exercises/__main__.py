"""`python -m lib.exercises grade FOLDER`: grade the notebooks of a folder into grades.csv and grades.html."""

import argparse
import sys
import tempfile
from pathlib import Path

from lib.exercises.grading import SECONDS, Report, grade_folder, notebooks_in, work
from lib.exercises.tables import write_csv, write_html


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lib.exercises", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    grade = commands.add_parser("grade", help="grade all notebooks below a folder")
    grade.add_argument("folder", type=Path)
    grade.add_argument("--out", type=Path, help="where to write the tables (default: the folder itself)")
    grade.add_argument("--seconds", type=float, default=SECONDS, help="time limit of each notebook")
    grade.add_argument("--jobs", type=int, default=1, help="notebooks graded at the same time")
    worker = commands.add_parser("work")  # one notebook, in the process that grade starts for it
    worker.add_argument("answer", type=int)
    options = parser.parse_args(arguments)
    if options.command == "work":
        work(options.answer)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    if not notebooks_in(options.folder):
        parser.error(f"{options.folder} holds no notebook (*.ipynb)")
    if options.jobs < 1 or options.seconds <= 0:
        parser.error("--jobs and --seconds must be positive")
    out = options.out or options.folder
    try:
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()  # rather now than after an hour of grading
    except OSError as error:
        parser.error(f"{out}: {error.strerror}")
    try:
        reports = grade_folder(options.folder, seconds=options.seconds, jobs=options.jobs)
    except KeyboardInterrupt:
        print("interrupted: no table was written", file=sys.stderr)
        return 130
    write_csv(reports, out / "grades.csv")
    write_html(reports, out / "grades.html")
    for report in reports:
        print(line(report))
    return 0


def line(report: Report) -> str:
    """One line for the console, whatever characters the name of the file has."""
    name = report.notebook if report.notebook.isprintable() else ascii(report.notebook)
    right = f"{report.right} of {report.checked} right"
    return f"{name}: {', '.join(filter(None, (right if report.marks else '', report.problem)))}"


if __name__ == "__main__":
    sys.exit(main())
