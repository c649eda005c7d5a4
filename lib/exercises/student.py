"""What every checker shares: calling a student's answer with care, and saying what is wrong with it.

What it is asked, and how its results are judged, is decided in `trials`. The hints are in `texts/`, in
Portuguese, by key: here and in the checkers a mistake is its key.
"""

import importlib
import math
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

from lib.exercises import workshop
from lib.exercises.calling import Answer
from lib.exercises.catalogue import Exercise, general_mistakes, named
from lib.exercises.isolation import STRANGE, NoReply, Remote, Unforked, isolated
from lib.exercises.values import (
    NotAnAnswer,
    fingerprint_of_input,
    first_difference,
    kind_in_words,
    passes_for,
    restored,
    show,
)

Asking = Callable[..., dict]  # a method of `Answer` by its name, with its arguments
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


class Student:
    """A student's function, called with named inputs."""

    def __init__(self, ask: Asking) -> None:
        self.ask = ask
        what = ask("what")
        if "function" not in what:
            raise Rejected("nao_funcao", Recebido=what.get("unfit") or show(restored(what["value"])))
        self.given: dict[str, Any] = {}

    def __call__(self, **inputs: Any) -> Any:
        """The result of the function, which gets the inputs by position, in the order written."""
        self.given = inputs
        reply = self.ask("call", *inputs.values())
        if "raised" in reply:
            self.reject("memoria" if reply["memory"] else "excecao", got=str(reply["raised"]))
        for (name, value), after in zip(inputs.items(), reply["inputs"], strict=True):
            if isinstance(value, torch.Generator):
                value.set_state(torch.frombuffer(bytearray.fromhex(after), dtype=torch.uint8))
            elif after != fingerprint_of_input(value):
                self.reject("altera_entrada", got=f"{name} virou {_shown(after)}")
        if "unfit" in reply:
            self.reject("forma" if reply["large"] else "tipo", got=str(reply["unfit"]))
        if reply["value"] is None:
            self.reject("imprime" if reply["printed"] else "sem_retorno", got="None")
        return restored(reply["value"])

    def expect_reproducible(self, draw: Callable[[torch.Generator], Any]) -> None:
        """Same seed, same draw; another seed, or the same generator further on, another draw."""
        g = torch.Generator().manual_seed(1)
        first, further = draw(g), draw(g)
        again, *others = (draw(torch.Generator().manual_seed(seed)) for seed in (1, 2, 3))
        if not passes_for(first, again):
            self.reject("ignora_gerador", f"{show(first)}, como na primeira vez", again)
        if all(passes_for(first, other) for other in others):
            self.reject("ignora_gerador", "sorteios diferentes com sementes diferentes", first)
        if passes_for(first, further):
            self.reject("ignora_gerador", "outro sorteio na segunda chamada", "o mesmo sorteio")

    def reject(self, mistake: str, expected: Any = None, got: Any = None) -> NoReturn:
        facts = {"Entrada": ", ".join(f"{name} = {show(value)}" for name, value in self.given.items())}
        if expected is not None:
            facts["Esperado"] = expected if isinstance(expected, str) else show(expected)
        if got is not None:
            facts["Recebido"] = got if isinstance(got, str) else show(got)
        if mistake in ("tipo", "dtype") and not isinstance(expected, str | None) and not isinstance(got, str):
            facts["Tipo"] = f"esperado {kind_in_words(expected)}, recebido {kind_in_words(got)}"
        if isinstance(expected, Tensor) and isinstance(got, Tensor) and expected.numel() > 30:
            facts |= first_difference(expected, got)
        raise Rejected(mistake, **facts)


class Checker:
    """A checker as notebooks call it: `check_softmax(softmax_estavel)` prints; `verdict` returns instead."""

    def __init__(self, name: str, examine: Callable[[Asking], None]) -> None:
        self.__name__, self.examine, self.exercise = f"check_{name}", examine, named(name)
        self.hints = general_mistakes() | self.exercise.mistakes

    def __call__(self, answer: Any, trocar: bool = False) -> None:
        """Print the verdict; an accepted part of the student's own BERT is kept, see `workshop`."""
        verdict = self.verdict(answer)
        print(verdict.text)
        if verdict.status == RIGHT and (told := workshop.keep(self.exercise.name, answer, trocar)):
            print(told)

    def verdict(self, answer: Any, seconds: float = SECONDS) -> Verdict:
        """The verdict, reached in this process, on an answer that runs in one of its own."""
        name = answer.__name__ if isinstance(answer, FunctionType | type) else "a resposta"
        with isolated(Answer(answer)) as apart:
            return self.judge(apart, name, seconds)

    def judge(self, apart: Remote | Unforked, name: str, seconds: float = SECONDS) -> Verdict:
        """The verdict on an answer that already is in a process of its own."""
        deadline = time.monotonic() + seconds

        def ask(method: str, *arguments: Any) -> dict:
            reply = apart.ask(method, *arguments, seconds=deadline - time.monotonic())
            if reply and "stub" in reply:
                raise NotYet
            return reply

        try:
            if steps := workshop.steps_before(self.exercise):
                ask("define", steps)
            self.examine(ask)
        except NotYet:
            return Verdict(TO_DO, "", f"✎ Sua vez: complete {name} e execute a célula de novo.")
        except Rejected as rejected:
            return self._wrong(rejected.mistake, rejected.facts)
        except NoReply as problem:
            return self._wrong(str(problem), {})
        except Exception:  # a reply that is not what an honest answer's process says
            return self._wrong(STRANGE, {})
        return Verdict(RIGHT, "", "✔ Certo! A resposta passou em todas as verificações.")

    def _wrong(self, mistake: str, facts: dict[str, str]) -> Verdict:
        told = facts | {"Dica": self.hints[mistake]}
        lines = [f"  {name + ':':10} {fact}" for name, fact in told.items()]
        return Verdict(WRONG, mistake, "\n".join(["✘ Ainda não.", *lines]))


def number_checker(name: str, expected: float, digits: int | None = None, **mistakes: float) -> Checker:
    """The checker of a number derived by hand: exactly `expected`, or to `digits` decimals."""
    within = 0.0 if digits is None else 0.51 * 10**-digits

    def examine(ask: Asking) -> None:
        value = _number(ask)
        if abs(value - expected) <= within:
            return
        known = (mistake for mistake, outcome in mistakes.items() if abs(value - outcome) <= within)
        raise Rejected(next(known, "valor_a_mao"), Recebido=show(value))

    return Checker(name, examine)


def _number(ask: Asking) -> float:
    what = ask("what")
    if what.get("value", ...) is None:
        raise NotYet
    if "value" not in what:
        raise Rejected("tipo", Esperado="um número", Recebido=str(what.get("unfit", "uma função")))
    value = restored(what["value"])
    if isinstance(value, Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Rejected("tipo", Esperado="um número", Recebido=show(value))
    if math.isnan(value):
        raise Rejected("nan", Esperado="um número", Recebido="nan")
    return value


def checker_of(exercise: Exercise) -> Checker:
    """The checker of an exercise: `check_<name>` in the module of its chapter."""
    module = importlib.import_module(f"lib.exercises.chapter_{exercise.chapter:02}")
    return getattr(module, exercise.check_name)


def _shown(after: Any) -> str:
    """An input as a call left it: of a tensor, its entries."""
    try:
        return show(restored(after[0] if isinstance(after[0], dict) else after))
    except (LookupError, TypeError, NotAnAnswer):
        return show(after)
