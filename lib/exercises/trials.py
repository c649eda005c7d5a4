"""A trial of an answer: many inputs, drawn over all that a statement allows, and one verdict on all of them.

The inputs of a day are the same at each check, so that a verdict can be repeated, and others the next day, so
that no answer can be fitted to them. The smallest input that failed is the one reported, and a known mistake
is named only where it foretells what the answer gave, on two inputs at least: small integers agree by chance.
"""

import datetime
import hashlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

from lib.exercises.student import Asking, Checker, Rejected, Student
from lib.exercises.values import kind_of_difference, passes_for

LONG = 50  # the room of a large input
ENOUGH = 8  # failures, after which no more inputs are tried
AGREEING = 0.7  # of the inputs that speak for or against a mistake, how many must speak for it

today = datetime.date.today
Mistake = tuple[str, int]  # the key of its hint, and which of the ways to make it


class AnyOf(tuple):
    """The results that the same mistake gives, made in several ways."""


class Raised(NamedTuple):
    """In the place of a result: the error with which a call ended."""

    error: str


class Case(NamedTuple):
    """One input, what was expected of it, what came, and what each known mistake would have given."""

    given: dict[str, Any]
    expected: Any
    got: Any
    otherwise: str
    mistakes: dict[Mistake, Any]

    @property
    def failed(self) -> bool:
        return not passes_for(self.got, self.expected)

    @property
    def size(self) -> int:
        return sum(map(_size, self.given.values()))

    @property
    def kind(self) -> str:
        """The general hint for what came."""
        return "excecao" if isinstance(self.got, Raised) else kind_of_difference(self.got, self.expected)

    @property
    def returned(self) -> bool:
        """Whether what came is one of the inputs."""
        return any(passes_for(self.got, x) for x in self.given.values() if isinstance(x, Tensor | list))

    def shows(self, mistake: Mistake) -> bool:
        """Whether who makes this mistake fails on this input."""
        return mistake in self.mistakes and not passes_for(self.mistakes[mistake], self.expected)

    def foretold(self, mistake: Mistake) -> bool:
        return self.shows(mistake) and passes_for(self.got, self.mistakes[mistake])

    def contradicts(self, mistake: Mistake) -> bool:
        """Whether who makes this mistake would have given something else; an error or a nan may hide it."""
        if self.failed:
            return not self.foretold(mistake) and self.kind not in ("excecao", "nan")
        return self.shows(mistake)


class Dice:
    """Draws the parts of one input; `room` bounds the sizes, so that the first inputs are small."""

    def __init__(self, seed: int, room: int) -> None:
        self.g, self.room = torch.Generator().manual_seed(seed), room

    def whole(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included, whatever the room."""
        return int(torch.randint(low, high + 1, (), generator=self.g))

    def length(self, low: int, high: int) -> int:
        """Within the room; where there is room for more, close to `high`."""
        least = low if self.room < LONG else low + 3 * (high - low) // 4
        return self.whole(least, min(high, low + self.room))

    def wholes(self, low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high + 1, shape, generator=self.g)

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(shape, generator=self.g)

    def real(self, *shape: int) -> Tensor:
        """Normal, in one precision or the other."""
        return self.normal(*shape).to((torch.float32, torch.float64)[self.whole(0, 1)])

    def far(self, rows: int, columns: int) -> Tensor:
        """Rows that lie, whole or in part, hundreds apart: beyond what `exp` can take, within rounding."""
        signs = 2 * self.wholes(0, 1, rows, 1) - 1
        apart = signs * self.wholes(200, 700, rows, 1) + 250 * self.wholes(0, 1, rows, columns)
        return self.real(rows, columns) + apart

    def chance(self, share: float, *shape: int) -> Tensor:
        return torch.rand(shape, generator=self.g) < share

    def some_in_each_row(self, rows: int, columns: int) -> Tensor:
        """Booleans (rows, columns) in any pattern, with at least one True in each row."""
        chosen = self.chance(0.6, rows, columns)
        chosen[torch.arange(rows), self.wholes(0, columns - 1, rows)] = True
        return chosen


class Trial(Student):
    """A student's function, called with one input after the other; `conclude` says what they showed."""

    def __init__(self, ask: Asking, name: str) -> None:
        super().__init__(ask)
        self.seed = int.from_bytes(hashlib.sha256(f"{name} {today()}".encode()).digest()[:4], "big")
        self.cases: list[Case] = []

    def dice(self, times: int, long: int = 0) -> Iterator[Dice]:
        """`times` inputs of growing size; among the first of them, `long` large ones."""
        rooms = [1 + i // 3 for i in range(times)]
        rooms[2:2] = [LONG] * long
        self.seed += 1000  # other draws at the next call
        yield from map(Dice, range(self.seed, self.seed + len(rooms)), rooms)

    def __call__(self, **inputs: Any) -> Any:
        """The result, or the error `Raised`: on another input the answer may show what is wrong with it."""
        try:
            return super().__call__(**inputs)
        except Rejected as rejected:
            if rejected.mistake == "excecao":
                return Raised(rejected.facts["Recebido"])
            self.conclude()  # a smaller input that failed comes first
            raise

    def expect(self, got: Any, expected: Any, otherwise: str = "", **mistakes: Any) -> None:
        """Note whether `got` is `expected`; which mistake foretells it is judged over all inputs.

        `otherwise` is the hint where a wrong number has one likely cause, as for inputs that overflow.
        """
        ways = {name: o if isinstance(o, AnyOf) else (o,) for name, o in mistakes.items()}
        known = {(name, i): outcome for name, outcomes in ways.items() for i, outcome in enumerate(outcomes)}
        self.cases.append(Case(self.given, expected, got, otherwise, known))
        if sum(case.failed and not isinstance(case.got, Raised) for case in self.cases) == ENOUGH:
            self.conclude()

    def drawn_like(self, tensor: Tensor, dtype: torch.dtype, **inputs: Any) -> Tensor:
        """The result of a call, which must be a tensor of this shape and type."""
        got = self(**inputs)
        case = Case(self.given, torch.zeros_like(tensor, dtype=dtype), got, "", {})
        if case.kind in ("excecao", "forma", "dtype", "tipo"):
            self._tell(case, case.kind)
        return got

    def require(self, fine: bool | Tensor, mistake: str, expected: Any = None, got: Any = None) -> None:
        """Reject with the hint `mistake` unless `fine`."""
        if not fine:
            self.conclude()
            self.reject(mistake, expected, got)

    def conclude(self) -> None:
        """Reject the answer if an input failed: by the mistake that foretells what came, else by its kind."""
        failed = sorted((case for case in self.cases if case.failed), key=lambda case: case.size)
        if not failed:
            return
        named = self._named(failed)
        shown = next((case for case in failed if named and case.foretold(named)), failed[0])
        mistake = named[0] if named else shown.kind
        if not named:
            if all(case.returned for case in failed):
                mistake = "devolve_entrada"
            elif mistake in ("nan", "valor") and len({case.otherwise for case in failed}) == 1:
                mistake = shown.otherwise or mistake
        self._tell(shown, mistake)

    def _tell(self, case: Case, mistake: str) -> NoReturn:
        self.given = case.given
        if isinstance(case.got, Raised):
            self.reject(mistake, got=case.got.error)
        self.reject(mistake, case.expected, case.got)

    def _named(self, failed: list[Case]) -> Mistake | None:
        """The mistake that foretells most of what came, on two inputs or more, if little contradicts it."""
        best, most = None, 1
        for mistake in dict.fromkeys(name for case in failed for name in case.mistakes):
            agreeing = sum(case.foretold(mistake) for case in failed)
            against = sum(case.contradicts(mistake) for case in self.cases)
            if agreeing > most and agreeing >= AGREEING * (agreeing + against):
                best, most = mistake, agreeing
        return best


def checker(examine: Callable[[Trial], None]) -> Checker:
    """Turn a function that puts a `Trial` through its inputs into a checker; its name finds its hints."""
    name = examine.__name__.removeprefix("check_")

    def run(ask: Asking) -> None:
        trial = Trial(ask, name)
        examine(trial)
        trial.conclude()

    return Checker(name, run)


def _size(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.numel()
    return (
        len(value) if isinstance(value, list | set | str | dict) else value if isinstance(value, int) else 0
    )
