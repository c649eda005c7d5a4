"""The solutions, changed in one place each: a mutant that behaves differently must be rejected.

Whether it behaves differently is found on inputs drawn here, not by the checkers. `survivors.toml` lists
those that pass, each with the reason; a quick run judges a few of each exercise, a whole one all of them.
"""

import ast
import copy
import datetime
import inspect
import tomllib
from pathlib import Path

import pytest
import torch

from lib.exercises import trials
from lib.exercises.calling import Answer
from lib.exercises.catalogue import CODE, all_exercises
from lib.exercises.chapter_05 import _Model
from lib.exercises.isolation import Forked, NoReply
from lib.exercises.student import WRONG, checker_of
from lib.exercises.trials import Dice
from lib.exercises.values import NotAnAnswer, passes_for, plain, restored

SURVIVORS = tomllib.loads(Path(__file__).with_name("survivors.toml").read_text(encoding="utf-8"))
IN_CODE = [e for e in all_exercises() if e.kind == CODE]
INPUTS, QUICK = 12, 2  # inputs to tell a mutant from its solution; mutants of each exercise in a quick run

OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.MatMult: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
NAMES = {"max": "min", "mean": "sum", "sum": "mean", "argmax": "argmin", "exp": "log", "std": "var"}


def _changes(node):
    """The ways to change one node, each a function that changes its copy."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in OPERATORS:
        yield lambda n: setattr(n, "op", OPERATORS[type(n.op)]())
    if isinstance(node, ast.Compare):
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield lambda n, other=other: n.ops.__setitem__(0, other())
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        values = (
            [not node.value]
            if isinstance(node.value, bool)
            else [node.value + 1, node.value - 1, 0.5 * node.value]
        )
        for value in values if isinstance(node.value, float) else values[:2]:
            yield lambda n, value=value: setattr(n, "value", value)
    if isinstance(node, ast.UnaryOp):
        yield lambda n: setattr(n, "op", ast.UAdd())
        yield lambda n: n.__dict__.update(op=ast.Not(), operand=ast.UnaryOp(ast.Not(), n.operand))
    if isinstance(node, ast.Slice):
        for bound in ("lower", "upper"):
            if getattr(node, bound):
                yield lambda n, bound=bound: setattr(n, bound, None)
    if isinstance(node, ast.Call) and len(node.args) > 1:
        yield lambda n: n.args.reverse()
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield lambda n: setattr(n, "attr", NAMES[n.attr])
    for body in ("body", "orelse"):
        for i, statement in enumerate(getattr(node, body, []) if not isinstance(node, ast.IfExp) else []):
            if not isinstance(statement, ast.Expr | ast.Return):
                yield lambda n, body=body, i=i: getattr(n, body).__setitem__(i, ast.Pass())


def mutants(exercise):
    """The mutants of a solution, by the line that changed."""
    tree, found = ast.parse(exercise.solution_code()), {}
    lines = ast.unparse(tree).splitlines()
    for place, node in enumerate(ast.walk(tree)):
        for change in _changes(node):
            mutant = copy.deepcopy(tree)
            change([*ast.walk(mutant)][place])
            code = ast.unparse(ast.fix_missing_locations(mutant))
            changed = [(a, b) for a, b in zip(lines, code.splitlines(), strict=False) if a != b]
            if changed:
                scope = dict(inspect.getmodule(exercise.function()).__dict__)
                exec(compile(code, "<mutant>", "exec"), scope)
                a, b = changed[0]
                found[f"{a.strip()}  ->  {b.strip()}"] = scope[exercise.answer]
    return found


def _seeded(dice):
    return torch.Generator().manual_seed(dice.whole(0, 99))


def _sizes(dice):
    return dice.whole(1, 4), dice.whole(1, 9)


def _real(dice, rows, columns):
    chosen = dice.chance(0.5, rows, columns)
    chosen[:, dice.whole(0, columns - 1)] = True
    return chosen


DRAWN = {
    "causal_mask": lambda d: [d.whole(0, 12)],
    "softmax": lambda d: [100 * d.normal(2, *_sizes(d))],
    "batch_mask": lambda d: [d.wholes(0, 9, 3), d.whole(1, 9)],
    "masked_weights": lambda d: (
        lambda n, k: [d.normal(2, n, k), d.normal(2, n, k), _real(d, n, n)]
    )(*_sizes(d)),
    "mlm_labels": lambda d: (lambda ids: [ids, d.chance(0.5, *ids.shape)])(d.wholes(0, 50, *_sizes(d))),
    "select_positions": lambda d: [
        d.wholes(0, 20, 20, 30), d.wholes(0, 20, 4), d.whole(2, 8) / 10, _seeded(d)
    ],
    "corrupt": lambda d: [
        d.wholes(9, 50, 20, 30), d.chance(0.5, 20, 30), d.whole(0, 8), d.wholes(60, 99, 9), _seeded(d)
    ],
    "sentence_pair": lambda d: [
        d.wholes(9, 50, d.whole(0, 5)).tolist(), d.wholes(9, 50, d.whole(0, 5)).tolist(), 5, 6
    ],
    "mark_spans": lambda d: [
        [(d.whole(0, 8), d.whole(1, 4)) for _ in range(3)], d.chance(0.8, 9).tolist(), d.whole(0, 9)
    ],
    "wordpiece": lambda d: [
        "".join("ab"[i] for i in d.wholes(0, 1, 6)), {"a", "ab", "##b", "##ba", "##aa", "ba", "##a"}
    ],
    "sum_embeddings": lambda d: (
        lambda b, n: [d.wholes(0, 9, b, n), d.wholes(0, 1, b, n), *(d.normal(m, 4) for m in (10, 12, 2))]
    )(*_sizes(d)),
    "split_heads": lambda d: (lambda h, k: [d.normal(2, 5, h * k), h])(*_sizes(d)),
    "mean_pool": lambda d: (lambda b, n: [d.normal(b, n, 3), _real(d, b, n)])(*_sizes(d)),
    "count_parameters": lambda d: d.wholes(1, 60, 6).tolist(),
    "shift": lambda d: [d.wholes(0, 99, d.whole(1, 4), d.whole(2, 9))],
    "cross_entropy": lambda d: [9 * d.normal(5, 4), torch.where(_real(d, 1, 5)[0], d.wholes(0, 3, 5), -100)],
    "loss_gradient": lambda d: [9 * d.normal(6), d.whole(0, 5)],
    "perplexity": lambda d: (lambda b, n: [d.normal(b, n).abs(), _real(d, b, n)])(*_sizes(d)),
    "divergence": lambda d: [
        (p := d.normal(5).softmax(-1) * _real(d, 1, 5)[0]) / p.sum(), d.normal(5).softmax(-1)
    ],
    "subword_labels": lambda d: [
        [None, *[0] * d.whole(1, 3), *[1] * d.whole(1, 3), None], d.wholes(0, 9, 2).tolist()
    ],
    "nearest_neighbour": lambda d: [d.normal(7, 3) * 3 ** d.normal(7, 1), d.whole(0, 6)],
    "zscore": lambda d: [d.normal(3, 4), 5 * d.normal(8, 4) + d.normal(4)],
    "answer_span": lambda d: [d.normal(7) - 2, d.normal(7) - 2, d.whole(1, 7)],
    "pseudo_perplexity": lambda d: [_Model(d, 9), d.wholes(0, 8, 6), d.whole(0, 8), _real(d, 1, 6)[0]],
}  # fmt: skip


def _same(apart, solution, draw, seed):
    """Whether the answer in that process gives what the solution gives; it may also raise, or not end."""
    expected = solution(*draw(Dice(seed, 9)))
    try:
        reply = apart.ask("call", *draw(Dice(seed, 9)), seconds=1)
        return "value" in reply and passes_for(restored(reply["value"]), restored(plain(expected)))
    except (NoReply, NotAnAnswer):
        return False


def _judged(exercise, mutant):
    """Whether a mutant behaves differently, and whether the checker rejects it."""
    draw, solution = DRAWN[exercise.name], exercise.function()
    with Forked(Answer(mutant)) as apart:
        differs = any(not _same(apart, solution, draw, seed) for seed in range(INPUTS))
    return differs, differs and checker_of(exercise).verdict(mutant, seconds=4).status == WRONG


@pytest.mark.parametrize(
    "whole", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["few", "all"]
)
def test_mutants_that_behave_differently_are_rejected(whole, monkeypatch, capsys):
    monkeypatch.setattr(trials, "today", lambda: datetime.date(2026, 1, 1))
    different, survived = 0, set()
    for exercise in IN_CODE:
        all_of_them = sorted(mutants(exercise).items())
        assert len(all_of_them) >= 3, exercise.name
        for line, mutant in all_of_them if whole else all_of_them[:: max(1, len(all_of_them) // QUICK)]:
            differs, rejected = _judged(exercise, mutant)
            different += differs
            if differs and not rejected:
                survived.add(f"{exercise.name}: {line}")
    with capsys.disabled():
        print(f"\n{different} mutants behave differently, {len(survived)} of them pass")
    assert len(survived) <= 0.02 * different, survived
    assert survived <= SURVIVORS.keys(), "survivors without a reason"
    assert not whole or survived == set(SURVIVORS), "what no longer survives leaves the list"
