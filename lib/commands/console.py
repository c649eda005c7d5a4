"""How the commands listen and speak: options in Portuguese, one sentence for what cannot be used."""

import argparse
import errno
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence

REFUSED, STOPPED = 2, 130  # exit codes: what was given cannot be used; Ctrl-C


class Refusal(Exception):
    """What the user gave cannot be used; the message is one sentence in Portuguese."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the sentence, and not the way to it."""
        return [f"erro: {self}"]


def run(command: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """The exit code of a command; what it refuses is told in one sentence, by one process of a group."""
    try:
        return command(arguments)
    except Refusal as refusal:
        return tell(f"erro: {refusal}", REFUSED)
    except OSError as error:
        tried = (
            f"usar {error.filename}" if error.filename else "ler ou gravar um arquivo"
        )  # open, it has no name
        return tell(f"erro: não consegui {tried}: {cause(error)}.", REFUSED)
    except KeyboardInterrupt:
        return tell("\nInterrompido.", STOPPED)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate memory" not in str(error):
            raise  # a fault of ours
        return tell("erro: a memória desta máquina não basta: peça menos de uma vez, ou menor.", REFUSED)
    except (TypeError, ValueError) as error:  # the library's, which speaks English, of what nobody foresaw
        return tell(f"erro: isto não pode ser usado, e este comando não previu por quê: {error}", REFUSED)


def tell(sentence: str, code: int) -> int:
    if os.environ.get("RANK", "0") == "0":  # torchrun gives each process its number
        print(sentence, file=sys.stderr)
    return code


CAUSES = {
    errno.ENOENT: "não existe",
    errno.EACCES: "falta permissão",
    errno.EPERM: "falta permissão",
    errno.EISDIR: "é uma pasta",
    errno.ENOTDIR: "uma parte do caminho não é uma pasta",
    errno.EEXIST: "já existe, e não é uma pasta",
    errno.ENOSPC: "o disco está cheio",
    errno.EROFS: "o disco só permite leitura",
}


def cause(error: OSError) -> str:
    """Why the system would not, in Portuguese."""
    return CAUSES.get(error.errno or 0, f"erro {error.errno} do sistema")


def typed(arguments: Sequence[str]) -> str:
    """The command as it can be typed again, quoted as the platform's shell asks."""
    words = ["python", "-m", "lib", *arguments]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def peak_memory() -> str:
    """The most memory that this process has held so far, to be told at the end of a long work."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ModuleNotFoundError:  # Windows keeps no such count for all
        return "memória não medida"
    unit = 1 if sys.platform == "darwin" else 1024
    return f"até {grouped(getrusage(RUSAGE_SELF).ru_maxrss * unit // 2**20)} MB de memória"


def grouped(n: int) -> str:
    """A count in groups of three digits; between them neither a point nor a comma, which could be decimal."""
    return f"{n:,}".replace(",", " ")


# What an option may hold


def whole(least: int, most: float = math.inf) -> Callable[[str], int]:
    """An integer of at least `least`, and at most `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            limit = f" e no máximo {most}" if math.isfinite(most) else ""
            wanted = f"deve ser um inteiro de pelo menos {least}{limit}"
            raise argparse.ArgumentTypeError(f"{wanted}; veio {text!r}")
        return int(text)

    return read


BATCH_SIZE = whole(1, 2**16)  # beyond it a slip of the keyboard, which would fill the memory for an hour


def between(low: float, high: float, names: str) -> Callable[[str], float]:
    """A finite number from `low` to `high`, as `names` tells the user; with a point or a comma."""

    def read(text: str) -> float:
        try:
            value = float(text.replace(",", "."))
        except ValueError:
            value = math.nan
        if not low <= value <= high or math.isinf(value):
            raise argparse.ArgumentTypeError(f"deve ser um número {names}; veio {text!r}")
        return value

    return read


def one_of(names: Collection[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"deve ser {', '.join(names)}; veio {text!r}")
        return text

    return read


# The options. A row: what is typed, its name in the code, what it may hold, what is taken without it (for a
# place, without dashes: how many), and what it is for. `bool` makes a switch.
# No option may be the beginning of one of torchrun's (--d, --run): it would take it for its own.
REQUIRED = object()
Row = tuple[str, str, Callable | type, object, str]
SEED: Row = ("--semente N", "seed", whole(0), 0, "semente de tudo o que é sorteado")
QUIET: Row = ("--silencioso", "quiet", bool, False, "sem barra de progresso")
HALF: Row = ("--float16", "half", bool, False, "grava o modelo em float16, com metade do tamanho")

ENGLISH = (  # what argparse says, and how we say it
    (r"argument (.+?): expected .*", r"\1 precisa de um valor"),
    (r"argument (.+?): ignored explicit argument (.*)", r"\1 não leva valor; veio \2"),
    (r"argument ", ""),
    (r"the following arguments are required: (.*)", r"falta dizer: \1"),
    (r"unrecognized arguments: (.*)", r"não conheço \1"),
)


class Parser(argparse.ArgumentParser):
    """An argument parser that speaks Portuguese, shows every default, and refuses as the commands do."""

    def __init__(self, command: str, description: str, groups: Mapping[str, Sequence[Row]]):
        rows = [row for group in groups.values() for row in group]
        places = [f"[{row[0]} ...]" if row[3] == "*" else row[0] for row in rows if row[0][0] != "-"]
        needed = [row[0] for row in rows if row[3] is REQUIRED]
        super().__init__(
            f"python -m lib {command}",
            usage=" ".join(["%(prog)s", *places, *needed, "[opções]"]),
            description=description,
            formatter_class=Help,
            add_help=False,
            allow_abbrev=False,
        )
        self.command = command
        for title, rows in groups.items():
            group = self.add_argument_group(title)
            for row in rows:
                _add(group, *row)
        group.add_argument("-h", "--help", "--ajuda", action="help", help="mostra esta ajuda")

    def error(self, message: str):
        for theirs, ours in ENGLISH:
            message = re.sub(f"^{theirs}", ours, message)
        raise Refusal(f"{message} (veja python -m lib {self.command} --help).")


class Help(argparse.HelpFormatter):
    def add_usage(self, usage, actions, groups, prefix=None) -> None:
        super().add_usage(usage, actions, groups, prefix or "uso: ")


def _add(group, named: str, dest: str, kind, default, what: str) -> None:
    flag, _, value = named.partition(" ")
    if not flag.startswith("-"):
        group.add_argument(dest, nargs=default, type=kind, metavar=flag, help=what)
    elif kind is bool:
        group.add_argument(flag, dest=dest, action="store_true", help=what)
    elif default is REQUIRED:
        group.add_argument(flag, dest=dest, type=kind, required=True, metavar=value, help=what)
    else:
        what += "" if default is None else f" (padrão: {default})"
        group.add_argument(flag, dest=dest, type=kind, default=default, metavar=value, help=what)
