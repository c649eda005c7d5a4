"""Every checker is proven: on wrong answers, on right ones written differently, and on hostile ones."""

import ast
import contextlib
import datetime
import importlib
import inspect
import math
import os
import random
import sys
import time

import numpy
import pytest
import torch

from lib.exercises import student, trials
from lib.exercises.calling import Answer
from lib.exercises.catalogue import CODE, FORMS, NUMBER, OPEN, all_exercises, exercises, general_mistakes
from lib.exercises.isolation import ENDED, LARGE, LARGEST, LATE, STRANGE, NoReply, forked, unforked
from lib.exercises.student import RIGHT, TO_DO, WRONG, Checker, checker_of
from lib.exercises.values import NotAnAnswer, passes_for, plain, restored, show
from lib.exercises.worker import keep
from tests.lib.exercises.processes import assert_ends
from tests.lib.exercises.wrong_answers import answers

CHECKED = [e for e in all_exercises() if e.kind != OPEN]
IN_CODE = [e for e in CHECKED if e.kind == CODE]
NAMED = {e.name: e for e in CHECKED}
GENERAL = general_mistakes().keys()
check_mask = checker_of(NAMED["causal_mask"])


@pytest.fixture(autouse=True)
def a_fixed_day(monkeypatch):
    monkeypatch.setattr(trials, "today", lambda: datetime.date(2026, 1, 1))


def by_name(exercise):
    return exercise.name


class Answers(Answer):
    """Several answers in one process: a fork for each takes longer than they do."""

    def __init__(self, values):
        self.values = values

    def choose(self, i):
        self.value = self.values[i]


def verdicts(asked, given):
    """The verdicts on the answers given, each to the exercise at its place."""
    checkers = [*map(checker_of, asked)]  # what they load, the fork has too
    with forked(Answers(given)) as apart:
        for i, (exercise, check) in enumerate(zip(asked, checkers, strict=True)):
            apart.ask("choose", i, seconds=5)
            yield check.judge(apart, exercise.answer)


@pytest.mark.parametrize("exercise", CHECKED, ids=by_name)
def test_wrong_answers_get_the_right_hint_and_right_ones_pass(exercise):
    wrong, right = answers(exercise)
    hints = [hint for hint, _ in wrong] + [""] * len(right)
    found = [*verdicts([exercise] * len(hints), [answer for _, answer in wrong] + right)]
    expected = [(WRONG if hint else RIGHT, hint) for hint in hints]
    misjudged = [(e, v.text) for e, v in zip(expected, found, strict=True) if e != (v.status, v.mistake)]
    assert not misjudged, misjudged
    unreached = exercise.mistakes.keys() - {v.mistake for v in found}
    assert not unreached, f"no wrong answer leads to the hints {sorted(unreached)}"
    assert all(len(v.text) < 1500 for v in found), "a message stays small"


@pytest.mark.exhaustive
@pytest.mark.parametrize("exercise", IN_CODE, ids=by_name)
def test_the_inputs_of_another_day_lead_to_the_same_verdicts(exercise, monkeypatch):
    wrong, right = answers(exercise)
    given = [answer for _, answer in wrong] + right
    expected = [WRONG] * len(wrong) + [RIGHT] * len(right)
    for day in (4, 5, 7, 8, 11, 13, 21):  # most of them once let a wrong answer pass, or refused a right one
        monkeypatch.setattr(trials, "today", lambda day=day: datetime.date(2026, 1, day))
        assert [v.status for v in verdicts([exercise] * len(given), given)] == expected


def test_the_catalogue_is_large_enough_and_counted(capsys):
    sizes = {e.name: [*map(len, answers(e))] for e in CHECKED}
    assert all(wrong >= 5 and right >= 2 for wrong, right in (sizes[e.name] for e in IN_CODE)), sizes
    wrong, right = map(sum, zip(*sizes.values(), strict=True))
    with capsys.disabled():
        print(f"\n{wrong} wrong answers and {right} right ones")
    assert wrong >= 640 and right >= 150, "an answer once tried is tried for ever"


@pytest.mark.parametrize("name", ["softmax", "attention", "zscore", "cross_entropy", "mean_pool"])
def test_the_verdict_does_not_depend_on_the_default_precision(name):
    exercise = NAMED[name]
    hints, wrong = zip(*answers(exercise)[0][:3], strict=True)
    torch.set_default_dtype(torch.float64)
    try:
        found = [*verdicts([exercise] * 4, [*wrong, exercise.function()])]
    finally:
        torch.set_default_dtype(torch.float32)
    assert [v.mistake for v in found] == [*hints, ""] and found[-1].status == RIGHT


# Hostile answers


class AlwaysEqual:
    def __eq__(self, other):
        return True

    __hash__ = None


class EvilTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise SystemExit("no")


class EvilLength(list):
    def __len__(self):
        raise KeyboardInterrupt


class EvilCallable:
    __name__ = property(lambda self: 1 / 0)

    def __call__(self, *inputs):
        raise BaseException("anything")


def _fills_memory(*inputs):
    hoard = []
    while True:
        hoard.append(torch.empty(2**28, dtype=torch.uint8))  # taken, not written: a slow machine is as quick


def _recurses(*inputs):
    return _recurses(*inputs)


HOSTILE = {
    "prints": (lambda *inputs: print(inputs[0]), {"imprime"}),
    "returns nothing": (lambda *inputs: None, {"sem_retorno"}),
    "leaves": (lambda *inputs: sys.exit(0), {"excecao"}),
    "exits": (lambda *inputs: os._exit(0), {"saiu"}),
    "memory": (_fills_memory, {"memoria", "saiu"}),
    "big tensor": (lambda *inputs: torch.zeros(2**40), {"memoria"}),
    "recursion": (_recurses, {"excecao"}),
    "raises": (lambda *inputs: 1 / 0, {"excecao"}),
    "always equal": (lambda *inputs: AlwaysEqual(), {"tipo"}),
    "evil tensor": (lambda *inputs: torch.zeros(2).as_subclass(EvilTensor), None),
    "evil length": (lambda *inputs: EvilLength(), {"tipo"}),
    "evil callable": (EvilCallable(), {"excecao"}),
    "wrong type": (lambda *inputs: {"a": 1}, {"tipo"}),
    "bytes": (lambda *inputs: b"", {"tipo"}),
    "endless list": (lambda *inputs: [0] * 2_000_000, {"forma"}),
    "endless tensor": (lambda *inputs: torch.zeros(1).expand(2**40), {"forma"}),
    "a number": (lambda *inputs: float("nan"), None),
    "an infinity": (lambda *inputs: float("-inf"), None),
    "nan tensor": (lambda *inputs: torch.full((3, 3), torch.nan), None),
    "no arguments": (lambda: 1, {"excecao"}),
    "a type": (int, None),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_are_rejected_everywhere(name):
    answer, mistakes = HOSTILE[name]
    for exercise in IN_CODE[::8] if mistakes else IN_CODE[::3]:
        verdict = checker_of(exercise).verdict(answer)
        assert verdict.status == WRONG, f"{exercise.name}: {verdict.text}"
        assert mistakes is None or verdict.mistake in mistakes, f"{exercise.name}: {verdict.text}"


def test_an_answer_that_gives_its_input_back_is_rejected_everywhere():
    found = verdicts(IN_CODE, [lambda *inputs: inputs[0]] * len(IN_CODE))
    assert [v.status for v in found] == [WRONG] * len(IN_CODE)


def _patches(*inputs):
    """Makes everything equal to everything in the process where it runs."""
    for name in ("allclose", "equal", "isclose"):
        setattr(torch, name, lambda *_, **__: True)
    torch.Tensor.__eq__ = torch.Tensor.all = torch.Tensor.any = lambda *_, **__: True
    for module in [m for name, m in sys.modules.items() if name.startswith("lib.exercises")]:
        module.passes_for = lambda *_: True
    Checker.judge = Checker.verdict = lambda *_: student.Verdict(RIGHT, "", "")
    return 0


def _forges(*inputs):
    """Says "right" in every way that it finds: the screen, and every open file."""
    print("✔ Certo! A resposta passou em todas as verificações.")
    for number in range(3, 1000):  # a worker of pytest has many files open
        with contextlib.suppress(OSError):
            os.write(number, b'{"value": "certo"}')
    os._exit(0)


def _closes(*inputs):
    os.closerange(0, 30)
    return 0


@pytest.mark.slow
@pytest.mark.parametrize("answer", [_patches, _forges, _closes])
def test_no_answer_decides_its_own_verdict(answer):
    for exercise in IN_CODE[::6]:
        assert checker_of(exercise).verdict(answer).status == WRONG, exercise.name
        assert checker_of(exercise).verdict(exercise.function()).status == RIGHT, exercise.name


def test_an_answer_never_runs_in_the_folder_of_its_caller(tmp_path, monkeypatch):
    """A file named without its folder, read, written or deleted, is none of the caller's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "isca.txt").write_text("viva")

    def deletes(n):
        with open("escrito.txt", "w") as file:
            file.write("x")
        os.remove("isca.txt")

    verdict = check_mask.verdict(deletes)
    assert verdict.mistake == "excecao" and "FileNotFoundError" in verdict.text
    assert [path.name for path in tmp_path.iterdir()] == ["isca.txt"]


def test_an_answer_leaves_nothing_behind(tmp_path):
    """Neither the child that it started nor the folder in which it ran."""
    told = tmp_path / "told"

    def starts_another(n):
        child = os.fork()
        if child == 0:
            time.sleep(600)
        told.write_text(f"{child} {os.getcwd()}")

    assert check_mask.verdict(starts_another).mistake == "sem_retorno"
    child, folder = told.read_text().split()
    assert_ends(int(child))
    assert not os.path.exists(folder)


def test_an_answer_can_ask_for_its_parent_and_the_verdict_stands():
    def asks(n):
        os.kill(os.getppid(), 0)  # signal 0 does nothing
        return torch.ones(n, n).tril().bool()

    assert check_mask.verdict(asks).status == RIGHT


def test_the_callers_own_random_numbers_are_not_touched():
    torch.manual_seed(0), random.seed(0), numpy.random.seed(0)
    before = torch.get_rng_state(), random.getstate()
    exercise = NAMED["select_positions"]
    assert checker_of(exercise).verdict(exercise.function()).status == RIGHT
    assert torch.equal(torch.get_rng_state(), before[0]) and random.getstate() == before[1]


def _mutates(*inputs):
    for value in inputs:
        if isinstance(value, torch.Tensor):
            value.zero_()
        elif isinstance(value, list):
            value.append(0)
        elif isinstance(value, set):
            value.clear()
    return inputs[0]


def test_a_function_that_changes_its_input_is_caught_wherever_one_can_be_changed():
    boxes = dict.fromkeys(("causal_mask", "channel_experiment", "loss_experiment"), "tipo")
    expected = boxes | {"runs_experiment": "excecao"}  # whose inputs are numbers, functions or none
    for exercise, verdict in zip(IN_CODE, verdicts(IN_CODE, [_mutates] * len(IN_CODE)), strict=True):
        assert verdict.mistake == expected.get(exercise.name, "altera_entrada"), (exercise.name, verdict.text)


def _endless(*inputs):
    while True:
        pass


def _swallows_everything(*inputs):
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(60)


@pytest.mark.parametrize("answer", [_endless, _swallows_everything])
def test_an_endless_answer_is_stopped(answer):
    started = time.monotonic()
    assert check_mask.verdict(answer, seconds=0.5).mistake == "tempo"
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("answer", [3, "mascara_causal", None, [1], torch.ones(2)])
def test_something_that_is_not_a_function_is_named(answer):
    assert check_mask.verdict(answer).mistake == "nao_funcao"


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [(x, "tipo") for x in ("2/3", True, [1], {}, torch.ones(2), object(), 1j)]
    + [(math.nan, "nan"), (math.inf, "valor_a_mao")],
)
def test_something_that_is_not_a_finite_number_is_named(answer, mistake):
    by_hand = [e for e in CHECKED if e.kind == NUMBER]
    assert {v.mistake for v in verdicts(by_hand, [answer] * len(by_hand))} == {mistake}


# What the student reads


def test_an_unanswered_exercise_invites():
    def raises(*_):
        raise NotImplementedError

    stubs = {}
    for exercise in CHECKED:
        exec(exercise.stub(), {"torch": torch, "nn": torch.nn}, stubs)
    given = [stubs[e.answer] for e in CHECKED] + [raises] * len(IN_CODE)
    for verdict in verdicts(CHECKED + IN_CODE, given):
        assert verdict.status == TO_DO and verdict.text.startswith("✎ Sua vez: complete"), verdict


def test_the_call_in_the_notebook_prints_the_verdict(capsys):
    check_mask(lambda n: ~torch.ones(n, n).tril().bool())
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "✘ Ainda não."
    shown = [
        "Entrada:   n = 1",
        "Esperado:  [[True]]",
        "Recebido:  [[False]]",
        "Dica:",
    ]
    assert all(line in out for line in shown), out
    check_mask(lambda n: torch.ones(n, n).tril().bool())
    assert capsys.readouterr().out.startswith("✔ Certo!")


def test_equal_numbers_in_another_kind_of_object_are_told_apart():
    verdict = check_mask.verdict(lambda n: torch.ones(n, n).tril())
    assert "Tipo:      esperado tensor de booleanos, recebido tensor de reais" in verdict.text
    shift = checker_of(NAMED["shift"])
    verdict = shift.verdict(lambda ids: (ids[:, :-1].tolist(), ids[:, 1:].tolist()))
    assert "esperado sequência com tensor de inteiros, recebido sequência com sequência" in verdict.text


def test_hints_are_distinct_and_say_something():
    for exercise in CHECKED:
        hints = list(exercise.mistakes.values())
        assert len(set(hints)) == len(hints) and all(len(h) > 20 for h in hints), exercise.name
        assert not exercise.mistakes.keys() & GENERAL, "a hint of its own has its own key"


# The texts and the solutions


@pytest.mark.parametrize("chapter", range(1, 6))
def test_a_chapter_has_at_least_six_exercises_of_each_kind(chapter):
    kinds = [e.kind for e in exercises(chapter)]
    assert len(kinds) >= 6 and kinds.count(CODE) >= 4
    assert 1 <= kinds.count(NUMBER) <= 2 and kinds.count(OPEN) == 1
    assert {e.form for e in exercises(chapter)} - {""} == FORMS.keys(), "one of each form at least"
    assert sum(e.minutes for e in exercises(chapter)) <= 75
    code = [e.minutes for e in exercises(chapter) if e.kind == CODE]
    assert code[0] == min(code) or code[0] <= code[-1], "the first exercise is not the longest"


@pytest.mark.parametrize("exercise", IN_CODE, ids=by_name)
def test_a_solution_is_short_and_its_stub_is_cut_from_it(exercise):
    code = exercise.solution_code()
    solution, stub = (ast.parse(text).body[0] for text in (code, exercise.stub()))
    assert stub.name == solution.name == exercise.answer
    assert ast.get_docstring(stub) == ast.get_docstring(solution)
    if isinstance(solution, ast.ClassDef):  # all but its last method is given
        assert [ast.dump(node) for node in stub.body[:-1]] == [ast.dump(node) for node in solution.body[:-1]]
        solution, stub = solution.body[-1], stub.body[-1]
    assert ast.dump(stub.args) == ast.dump(solution.args)
    documented = ast.get_docstring(solution) is not None
    lines = [line for line in code.splitlines()[solution.body[0].lineno - 1 + documented :] if line.strip()]
    assert 3 <= 1 + len(lines) <= 13
    assert max(map(len, code.splitlines())) <= 96, "a reader should not have to scroll"
    if not exercise.start:
        assert ast.unparse(stub.body[documented:]) == "return ..."
    assert "sua vez" in exercise.stub() and exercise.solution_code() not in exercise.stub()


def test_names_and_answers_are_unique():
    everything = all_exercises()
    for names in ([e.name for e in everything], [e.answer for e in CHECKED], [e.title for e in everything]):
        assert len(set(names)) == len(names)


def test_hints_named_in_a_checker_exist():
    """A key written in a checker that no text has would only show when a student makes that mistake."""
    for chapter in range(1, 6):
        known = {key for e in exercises(chapter) for key in e.mistakes} | GENERAL
        tree = ast.parse(inspect.getsource(importlib.import_module(f"lib.exercises.chapter_{chapter:02}")))
        calls = [(ast.unparse(c.func), c) for c in ast.walk(tree) if isinstance(c, ast.Call)]
        given = [c.args[1] for name, c in calls if name.endswith("require")]
        named = {argument.value for argument in given if isinstance(argument, ast.Constant)}
        for name, call in calls:
            if name.endswith(("expect", "number_checker")):
                named |= {keyword.arg for keyword in call.keywords} - {None, "digits", "budget"}
        assert len(named) > 30 and named <= known, f"chapter {chapter}: {sorted(named - known)}"


# The parts


ONE = torch.tensor([1.0])


@pytest.mark.parametrize(
    ("a", "b"),
    [(ONE, ONE + 1e-7), ([1, 2], (1, 2)), (torch.tensor(2), 2), (math.nan, math.nan), (math.inf, math.inf)],
)
def test_values_pass_within_rounding(a, b):
    assert passes_for(a, b)


@pytest.mark.parametrize(("a", "b"), [(ONE, torch.tensor([1])), ([1], [1, 2]), (True, 1), (1, "1")])
def test_values_of_another_kind_do_not_pass(a, b):
    assert not passes_for(a, b)


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([[1.5, -math.inf], [math.nan, 0.0]]),
        torch.tensor(3),
        torch.tensor([True, False]),
        torch.zeros(0, 4, dtype=torch.long),
        torch.tensor([1.5], dtype=torch.bfloat16),
        torch.eye(3)[:, 1:].T,
        torch.ones(2, requires_grad=True) * 2,
        [1, (2.5, "a", None, True)],
        numpy.float32(0.5),
    ],
)
def test_a_value_told_in_plain_data_comes_back_the_same(value):
    assert passes_for(restored(plain(value)), float(value) if isinstance(value, numpy.float32) else value)


UNKNOWN = [AlwaysEqual(), numpy.ones(3), torch.ones(3).to_sparse(), torch.ones(3, device="meta")]
TOO_LARGE = [[[[[[1]]]]], torch.zeros(2**40, 0), torch.zeros(1).expand(2**40), [0] * 2_000_000]


@pytest.mark.parametrize("large", [False, True])
def test_telling_refuses_what_it_does_not_know_and_what_is_too_large(large):
    for value in TOO_LARGE if large else UNKNOWN:
        with pytest.raises(NotAnAnswer) as refused:
            plain(value)
        assert refused.value.large == large


@pytest.mark.parametrize(
    "reply",
    [
        {"dtype": "Tensor", "shape": [1], "bytes": "01"},
        {"dtype": "uint8", "shape": [1], "bytes": "x"},
        {"dtype": "uint8", "shape": [2**40, 0], "bytes": ""},
        {},
        {"dtype": "int64"},
        {1},
    ],
)
def test_a_reply_that_is_no_value_is_refused(reply):
    with pytest.raises((NotAnAnswer, LookupError, TypeError, ValueError)):
        restored(reply)


def test_long_values_are_shown_short():
    assert len(show(list(range(1000)))) <= 220 and show(torch.zeros(9, 9)) == "um tensor de forma (9, 9)"


class Target:
    """What the tests below put into a process of its own."""

    touched = 0

    def touch(self):
        self.touched += 1
        return self.touched

    def fail(self):
        return 1 / 0

    def sleep(self):
        time.sleep(60)

    def flood(self):
        return "0" * (LARGEST + 1)

    def babble(self):
        for number in range(3, 30):
            with contextlib.suppress(OSError):
                os.write(number, b"{[}\n")

    def part(self, brought, name):
        keep(*brought)
        return Target()


def test_work_apart_goes_on_where_it_was_and_a_copy_begins_anew():
    target = Target()
    with forked(target) as apart:
        assert [apart.ask("touch", seconds=5) for _ in range(2)] == [1, 2]
        with apart.fork("any") as copy:
            assert copy.ask("touch", seconds=5) == 1
        assert apart.ask("touch", seconds=5) == 3
    assert target.touched == 0


@pytest.mark.parametrize(
    ("method", "why"), [("fail", ENDED), ("flood", LARGE), ("sleep", LATE), ("babble", STRANGE)]
)
def test_what_goes_wrong_apart_is_named(method, why):
    with forked(Target()) as apart, pytest.raises(NoReply, match=why):
        apart.ask(method, seconds=0.1 if method == "sleep" else 5)


def test_without_fork_the_verdicts_are_the_same(monkeypatch):
    monkeypatch.setattr(student, "isolated", unforked)
    exercise = NAMED["causal_mask"]
    assert checker_of(exercise).verdict(exercise.function()).status == RIGHT
    for mistake, answer in answers(exercise)[0][:3]:
        assert checker_of(exercise).verdict(answer).mistake == mistake
