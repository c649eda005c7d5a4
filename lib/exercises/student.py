"""What every checker shares: calling a student's answer with care, and saying what is wrong with it.

A checker is a function decorated with `checker`. It receives a `Student`, calls it with one input after the
other, from the simplest, and compares each result with `expect`; the first difference ends the check. What a
known mistake would have given for the same input is passed along, so that a result equal to it is named as
that mistake, however it was written:

    student.expect(student(n=3), causal_mask(3), invertida=~causal_mask(3))

The hints are in `texts/`, in Portuguese, by key: here and in the checkers a mistake is its key.
"""

import contextlib
import functools
import io
import math
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

from lib.exercises.catalogue import mistakes_of
from lib.exercises.isolation import OutOfTime, Vanished, isolated
from lib.exercises.values import (
    changed_since,
    clean,
    first_difference,
    kind_of_difference,
    same,
    show,
    snapshot,
)

SECONDS = 10.0
RIGHT, WRONG, TO_DO = "certo", "errado", "a fazer"


class Verdict(NamedTuple):
    status: str  # RIGHT, WRONG or TO_DO
    mistake: str  # the key of the hint; empty unless WRONG
    text: str  # what the student reads


class NotYet(Exception):
    """The answer is still the stub."""


class Rejected(Exception):
    """The answer is wrong: the key of a hint, and what was given, expected and got."""

    def __init__(self, mistake: str, **facts: str) -> None:
        super().__init__(mistake)
        self.mistake, self.facts = mistake, facts


class AnyOf(tuple):
    """Several results that the same mistake may give."""


class Student:
    """A student's function: call it with named inputs, then `expect` something of the result."""

    def __init__(self, function: Callable) -> None:
        if function is Ellipsis:
            raise NotYet
        if not callable(function):
            raise Rejected("nao_funcao", Recebido=show(_or_type(function)))
        self.function = function
        self.given: dict[str, Any] = {}
        self.seed = secrets.randbits(32)  # a new one at each check: no answer can know the random inputs

    def __call__(self, **inputs: Any) -> Any:
        """The cleaned result of the function, which gets the inputs by position, in the order written."""
        self.given = inputs
        before, printed = {k: snapshot(v) for k, v in inputs.items()}, io.StringIO()
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                result = self.function(*inputs.values())
        except NotImplementedError:
            raise NotYet from None
        except (MemoryError, RecursionError) as error:
            self.reject("memoria" if isinstance(error, MemoryError) else "excecao", got=_named(error))
        except BaseException as error:
            self.reject("memoria" if "allocate memory" in str(error) else "excecao", got=_named(error))
        if result is Ellipsis:
            raise NotYet
        for name, value in inputs.items():
            if changed_since(value, before[name]):
                changed, self.given = show(value), before
                self.reject("altera_entrada", got=f"{name} virou {changed}")
        if result is None:
            self.reject("imprime" if printed.getvalue().strip() else "sem_retorno", got="None")
        try:
            return clean(result)
        except TypeError as error:
            self.reject("tipo", got=str(error))

    def expect(self, got: Any, expected: Any, otherwise: str = "", **mistakes: Any) -> None:
        """Reject `got` unless it is `expected`; if it is what a known mistake gives, say which.

        `otherwise` is the hint where a wrong number has one likely cause, as for inputs that overflow.
        """
        if same(got, expected):
            return
        for mistake, outcomes in mistakes.items():
            for outcome in outcomes if isinstance(outcomes, AnyOf) else (outcomes,):
                if same(got, outcome) and not same(outcome, expected):
                    self.reject(mistake, expected, got)
        if any(same(got, value) for value in self.given.values() if isinstance(value, Tensor | list)):
            self.reject("devolve_entrada", expected, got)
        kind = kind_of_difference(got, expected)
        self.reject(otherwise if otherwise and kind in ("nan", "valor") else kind, expected, got)

    def require(self, fine: bool, mistake: str, expected: Any = None, got: Any = None) -> None:
        """Reject with the hint `mistake` unless `fine`."""
        if not fine:
            self.reject(mistake, expected, got)

    def expect_reproducible(self, draw: Callable[[torch.Generator], Any]) -> None:
        """Same seed, same draw, whatever the global generator does; and another seed, another draw."""
        draws = []
        for seed, elsewhere in ((1, 10), (1, 20), (2, 10), (3, 10)):
            torch.manual_seed(elsewhere)
            draws.append(draw(torch.Generator().manual_seed(seed)))
        first, again, *others = draws
        self.require(same(first, again), "ignora_gerador", f"{show(first)}, como na primeira vez", again)
        self.require(
            not all(same(first, other) for other in others),
            "ignora_gerador",
            "sorteios diferentes com sementes diferentes",
            first,
        )

    def randoms(self, times: int = 5) -> list[torch.Generator]:
        """Generators for random inputs: new ones at each check."""
        return [torch.Generator().manual_seed(self.seed + i) for i in range(times)]

    def reject(self, mistake: str, expected: Any = None, got: Any = None) -> NoReturn:
        facts = {"Entrada": ", ".join(f"{name} = {show(value)}" for name, value in self.given.items())}
        if expected is not None:
            facts["Esperado"] = expected if isinstance(expected, str) else show(expected)
        if got is not None:
            facts["Recebido"] = got if isinstance(got, str) else show(got)
        if isinstance(expected, Tensor) and isinstance(got, Tensor) and expected.numel() > 30:
            facts |= first_difference(expected, got)
        raise Rejected(mistake, **facts)


class Checker:
    """A checker as notebooks call it: `check_softmax(minha_softmax)` prints; `verdict` returns instead."""

    silent = False  # while grading, the calls inside the notebooks have nothing to say

    def __init__(self, examine: Callable, subject: type) -> None:
        functools.update_wrapper(self, examine)
        self.examine, self.subject = examine, subject
        self.hints = mistakes_of(examine.__name__)

    def __call__(self, answer: Any) -> None:
        if not Checker.silent:
            print(self.verdict(answer).text)

    def verdict(self, answer: Any, seconds: float = SECONDS) -> Verdict:
        """The verdict on an answer, reached in a process of its own."""
        try:
            return Verdict(*isolated(lambda: self.judge(answer), seconds))
        except OutOfTime:
            return self._wrong("tempo", {})
        except Vanished:
            return self._wrong("saiu", {})

    def judge(self, answer: Any) -> Verdict:
        """The verdict, reached in this very process: only for answers that are known to end."""
        try:
            self.examine(self.subject(answer))
        except NotYet:
            name = getattr(answer, "__name__", "a resposta")
            return Verdict(TO_DO, "", f"✎ Sua vez: complete {name} e execute a célula de novo.")
        except Rejected as rejected:
            return self._wrong(rejected.mistake, rejected.facts)
        except BaseException:  # an object whose comparison, length or conversion is a trap
            return self._wrong("estranho", {})
        return Verdict(RIGHT, "", "✔ Certo! A resposta passou em todas as verificações.")

    def _wrong(self, mistake: str, facts: dict[str, str]) -> Verdict:
        lines = [f"  {name + ':':10} {fact}" for name, fact in facts.items()]
        return Verdict(
            WRONG, mistake, "\n".join(["✘ Ainda não.", *lines, f"  {'Dica:':10} {self.hints[mistake]}"])
        )


class Number:
    """A number derived by hand."""

    def __init__(self, answer: Any) -> None:
        if answer is Ellipsis or answer is None:
            raise NotYet
        try:
            self.value = clean(answer)
        except TypeError as error:
            raise Rejected("tipo", Recebido=str(error)) from None
        if isinstance(self.value, Tensor) and self.value.numel() == 1:
            self.value = self.value.item()
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise Rejected("tipo", Esperado="um número", Recebido=show(self.value))
        if math.isnan(self.value):
            raise Rejected("nan", Esperado="um número", Recebido="nan")

    def expect(self, expected: float, digits: int | None = None, **mistakes: float) -> None:
        """Reject the number unless it is `expected`, exactly or to `digits` decimals. It is not told."""
        within = 0.0 if digits is None else 0.51 * 10**-digits
        if abs(self.value - expected) <= within:
            return
        for mistake, outcome in mistakes.items():
            if abs(self.value - outcome) <= within:
                raise Rejected(mistake, Recebido=show(self.value))
        raise Rejected("valor_a_mao", Recebido=show(self.value))


def checker(examine: Callable[[Student], None]) -> Checker:
    """Turn a function that examines a `Student` into a checker; its hints are found by its name."""
    return Checker(examine, Student)


def number_checker(examine: Callable[[Number], None]) -> Checker:
    """The same for a number derived by hand."""
    return Checker(examine, Number)


def _named(error: BaseException) -> str:
    line = next((t.tb_lineno for t in _frames(error)), None)
    text = str(error).splitlines()[0][:160] if str(error) else ""
    return f"{type(error).__name__}: {text}" + (f" (linha {line} da célula)" if line else "")


def _frames(error: BaseException):
    """Frames of the answer itself, outermost first: those whose file is a notebook's cell."""
    frame = error.__traceback__
    while frame is not None:
        if (
            "ipykernel" in frame.tb_frame.f_code.co_filename
            or frame.tb_frame.f_code.co_filename == "<celula>"
        ):
            yield frame
        frame = frame.tb_next


def _or_type(answer: Any) -> Any:
    try:
        return clean(answer)
    except TypeError as error:
        return str(error)
