"""`python -m lib.exercises grade FOLDER`: grade the notebooks of a folder into grades.csv and grades.html."""

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

from lib.exercises.grading import SECONDS, grade_folder, notebooks_in, work
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
    worker.add_argument("notebook", type=Path)
    worker.add_argument("answer", type=int)
    options = parser.parse_args(arguments)
    if options.command == "work":
        work(options.notebook, options.answer)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    if not notebooks_in(options.folder):
        parser.error(f"{options.folder} holds no notebook (*.ipynb)")
    if options.jobs < 1 or options.seconds <= 0:
        parser.error("--jobs and --seconds must be positive")
    out = options.out or options.folder
    out.mkdir(parents=True, exist_ok=True)
    reports = grade_folder(
        options.folder,
        seconds=options.seconds,
        jobs=options.jobs,
        progress=lambda done, total: tqdm(done, total=total, unit="notebook", disable=None),
    )
    write_csv(reports, out / "grades.csv")
    write_html(reports, out / "grades.html")
    for report in reports:
        print(f"{report.notebook}: {report.problem or f'{report.right} of {report.checked} right'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
