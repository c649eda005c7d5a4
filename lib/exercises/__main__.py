"""`python -m lib.exercises grade PASTA`: corrige os cadernos de uma turma.

Escreve em PASTA/correcao (ou em --out): notas.csv, turma.html, retornos/ com uma página por estudante e
correcao_manual.csv, em que você dá pontos às questões abertas e ao projeto final. Corrija de novo quando
quiser: o que você escreveu ali é mantido.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

from lib.exercises.classes import asked_of, grades_csv, hands_csv, hands_from, merged, pupils
from lib.exercises.grading import JOBS, SECONDS, grade_folder, notebooks_in
from lib.exercises.pages import class_page, file_names, student_page
from lib.exercises.sandbox import NoSandbox
from lib.files import write_atomically

BY_HAND = "correcao_manual.csv"


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"erro: {message}\n(veja {self.prog} --help)\n")


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(
        "python -m lib.exercises", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="grade")
    grade = commands.add_parser("grade", help="corrige todos os cadernos de uma pasta", description=__doc__)
    grade.add_argument("folder", type=Path, metavar="PASTA")
    grade.add_argument("--out", type=Path, help="onde escrever (PASTA/correcao)")
    grade.add_argument(
        "--seconds", type=float, default=SECONDS, help="limite de tempo de cada caderno (%(default)s)"
    )
    grade.add_argument("--jobs", type=int, default=JOBS, help="cadernos ao mesmo tempo (%(default)s)")
    grade.add_argument(
        "--unsafe", action="store_true", help="sem caixa de areia: o código roda com as suas permissões"
    )
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} não é uma pasta")
    if not notebooks_in(options.folder):
        parser.error(f"{options.folder} não tem nenhum caderno (*.ipynb)")
    if options.jobs < 1 or options.seconds <= 0:
        parser.error("--jobs e --seconds devem ser positivos")
    out = options.out or options.folder / "correcao"
    try:
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()  # rather now than after an hour of grading
        by_hand = out / BY_HAND
        hands = hands_from(by_hand.read_bytes()) if by_hand.exists() else {}
    except OSError as error:
        parser.error(f"{error.filename or out}: {error.strerror}")
    except ValueError as error:
        parser.error(f"{out / BY_HAND}: {error}")
    try:
        reports = grade_folder(
            options.folder, seconds=options.seconds, jobs=options.jobs, unsafe=options.unsafe
        )
    except NoSandbox as missing:
        parser.error(str(missing))
    except KeyboardInterrupt:
        print("interrompido: nada foi escrito", file=sys.stderr)
        return 130
    class_ = pupils(reports)
    hands = merged(class_, hands)
    asked, pages = asked_of(class_), file_names(class_)
    write_atomically(by_hand, hands_csv(hands))
    write_atomically(out / "notas.csv", grades_csv(class_, hands))
    for pupil in class_:
        _write(out / "retornos" / pages[pupil.name], student_page(pupil, asked, hands))
    links = {name: f"retornos/{page}" for name, page in pages.items()}
    _write(out / "turma.html", class_page(class_, hands, links))
    for report in (report for report in reports if report.problem):
        print(f"{_printable(report.notebook)}: {report.problem}")
    print(
        f"{len(reports)} cadernos de {len(class_)} estudantes: notas em {_printable(str(out / 'notas.csv'))}"
    )
    return 0


def _write(path: Path, text: str) -> None:
    """Names of files that are not UTF-8 are escaped."""
    write_atomically(path, text.encode("utf-8", "backslashreplace"))


def _printable(name: str) -> str:
    return name if name.isprintable() else ascii(name)


if __name__ == "__main__":
    sys.exit(main())
