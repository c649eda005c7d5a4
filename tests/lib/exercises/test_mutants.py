"""The solutions, changed in one place each: a mutant that behaves differently must be rejected.

Whether it behaves differently is found on inputs drawn here, not by the checkers. `survivors.toml` lists
those that pass, each with the reason; a quick run judges a few of each exercise, a whole one all of them.
"""

import ast
import contextlib
import copy
import datetime
import inspect
import tomllib
from pathlib import Path

import pytest
import torch

from lib.attention import MultiHeadAttention
from lib.encoder import Block, Config, Embeddings, Encoder
from lib.exercises import trials
from lib.exercises.calling import Answer
from lib.exercises.catalogue import CODE, all_exercises
from lib.exercises.chapter_01 import _Box
from lib.exercises.chapter_02 import _Channel
from lib.exercises.chapter_03 import _Reader
from lib.exercises.chapter_04 import _Line, _Loss, _Squares
from lib.exercises.chapter_05 import _Model
from lib.exercises.isolation import NoReply, forked
from lib.exercises.student import RIGHT, checker_of
from lib.exercises.trials import Dice
from lib.exercises.values import NotAnAnswer, passes_for, plain, restored
from lib.heads import MLMHead

SURVIVORS = tomllib.loads(Path(__file__).with_name("survivors.toml").read_text(encoding="utf-8"))
IN_CODE = [e for e in all_exercises() if e.kind == CODE]
MANY_RIGHT = ("runs_experiment",)  # another design is another answer, and right
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
        for i, statement in enumerate(
            getattr(node, body, []) if not isinstance(node, ast.IfExp | ast.Lambda) else []
        ):
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


def _entry(dice):
    n = dice.whole(1, 6)
    return dice.wholes(0, 20, n).tolist(), [0] * (n - n // 2) + [1] * (n // 2)


def _config(**changes):
    return Config(10, d=4, heads=2, pooler=False, pad_id=None, dropout=0.0, **({"layers": 1} | changes))


def _weights(dice, module):
    named = {name.replace("feed_forward.", ""): p for name, p in module.state_dict().items()}
    return {name: dice.normal(*p.shape) for name, p in named.items()}


DRAWN = {
    "causal_mask": lambda d: [d.whole(0, 12)],
    "softmax": lambda d: [100 * d.normal(2, *_sizes(d))],
    "batch_mask": lambda d: [d.wholes(0, 9, 3), d.whole(1, 9)],
    "attention": lambda d: (
        lambda n, k: [d.normal(2, n, k), d.normal(2, n, k), d.normal(2, n, 3), _real(d, n, n)]
    )(*_sizes(d)),
    "padding_defect": lambda d: (lambda n: [d.normal(3, n, n), d.wholes(1, n, 3)])(d.whole(1, 9)),
    "leak_experiment": lambda d: (
        lambda n, peeps: [_Box(d, 4, torch.ones(n, n).tril(peeps), torch.zeros(n, n), False), d.normal(n, 4)]
    )(d.whole(2, 6), d.whole(0, 1)),
    "mlm_labels": lambda d: (lambda ids: [ids, d.chance(0.5, *ids.shape)])(d.wholes(0, 50, *_sizes(d))),
    "select_positions": lambda d: [
        d.wholes(0, 20, 20, 30),
        d.wholes(0, 20, 4),
        d.whole(2, 8) / 10,
        _seeded(d),
    ],
    "corrupt": lambda d: [
        d.wholes(9, 50, 20, 30),
        d.chance(0.5, 20, 30),
        d.whole(0, 8),
        d.wholes(60, 99, 9),
        _seeded(d),
    ],
    "framing": lambda d: [
        [["abcd"[i] for i in d.wholes(0, 3, d.whole(0, 5))] for _ in range(d.whole(1, 2))],
        {"[CLS]": 5, "[SEP]": 6, "[UNK]": 7, "a": 8, "b": 9, "c": 10},
    ],
    "batch": lambda d: [[_entry(d) for _ in range(d.whole(1, 4))], d.whole(1, 9)],
    "mlm_head": lambda d: (
        lambda k, V: [k, V, _weights(d, MLMHead(Config(V, d=k, heads=1))), d.normal(3, k), d.normal(V, k)]
    )(2 * d.whole(1, 4), d.whole(1, 9)),
    "leaky_labels": lambda d: (lambda ids: [ids, d.chance(0.5, *ids.shape), d.whole(60, 99)])(
        d.wholes(0, 50, *_sizes(d))
    ),
    "channel_experiment": lambda d: [_Channel(bool(d.whole(0, 1)), d.whole(0, 99))],
    "wordpiece": lambda d: [
        "".join("ab"[i] for i in d.wholes(0, 1, 6)),
        {"a", "ab", "##b", "##ba", "##aa", "ba", "##a"},
    ],
    "embeddings": lambda d: (
        lambda b, n: [
            10,
            12,
            2,
            4,
            _weights(d, Embeddings(_config(positions=12))),
            d.wholes(0, 9, b, n),
            d.wholes(0, 1, b, n),
        ]
    )(*_sizes(d)),
    "heads": lambda d: (
        lambda h, n: [
            4 * h,
            h,
            _weights(d, MultiHeadAttention(4 * h, h)),
            d.normal(2, n, 4 * h),
            _real(d, n, n),
        ]
    )(*_sizes(d)),
    "block": lambda d: [4, 2, 16, _weights(d, Block(_config())), d.normal(2, 5, 4), _real(d, 5, 5)],
    "encoder": lambda d: (
        lambda n, causal: [
            10,
            4,
            2,
            16,
            2,
            12,
            2,
            causal,
            _weights(d, Encoder(_config(positions=12, layers=2))),
            d.wholes(0, 9, 3, n),
            d.wholes(0, 1, 3, n),
            torch.arange(n) < d.wholes(1, n, 3)[:, None],
        ]
    )(d.whole(2, 6), bool(d.whole(0, 1))),
    "batched_heads_defect": lambda d: (
        lambda b, h, n: [*d.normal(3, b * h, n, 4), torch.arange(n) < d.wholes(1, n, b)[:, None]]
    )(d.whole(1, 3), d.whole(1, 3), d.whole(1, 6)),
    "order_experiment": lambda d: (
        lambda n, sees: [_Reader(d, d.normal(n, 4), torch.ones(n, n), sees * d.normal(n, n)), d.normal(n, 4)]
    )(d.whole(3, 6), d.whole(0, 1)),
    "split_heads": lambda d: (lambda h, k: [d.normal(2, 5, h * k), h])(*_sizes(d)),
    "mean_pool": lambda d: (lambda b, n: [d.normal(b, n, 3), _real(d, b, n)])(*_sizes(d)),
    "shift": lambda d: [d.wholes(0, 99, d.whole(1, 4), d.whole(2, 9))],
    "cross_entropy": lambda d: [9 * d.normal(5, 4), torch.where(_real(d, 1, 5)[0], d.wholes(0, 3, 5), -100)],
    "loss_gradient": lambda d: [9 * d.normal(6), d.whole(0, 5)],
    "perplexity": lambda d: (lambda b, n: [d.normal(b, n).abs(), _real(d, b, n)])(*_sizes(d)),
    "divergence": lambda d: [
        (p := d.normal(5).softmax(-1) * _real(d, 1, 5)[0]) / p.sum(),
        d.normal(5).softmax(-1),
    ],
    "training_loop": lambda d: (
        lambda line: [
            line,
            _Squares(line),
            [tuple(d.normal(2, 3)) for _ in range(d.whole(2, 9))],
            d.whole(1, 40) / 100,
        ]
    )(_Line(*d.normal(2).tolist())),
    "mean_of_means_defect": lambda d: (lambda b, n: [d.normal(b, n).abs(), _real(d, b, n), d.whole(1, 3)])(
        *_sizes(d)
    ),
    "loss_experiment": lambda d: [_Loss(("nenhum", "conta", "bits", "soma")[d.whole(0, 3)])],
    "accuracy_defect": lambda d: (
        lambda b, n: [d.normal(b, n, 4), torch.where(_real(d, b, n), d.wholes(0, 3, b, n), -100)]
    )(*_sizes(d)),
    "subword_labels": lambda d: [
        [None, *[0] * d.whole(1, 3), *[1] * d.whole(1, 3), None],
        d.wholes(0, 9, 2).tolist(),
    ],
    "nearest_neighbour": lambda d: [d.normal(7, 3) * 3 ** d.normal(7, 1), d.whole(0, 6)],
    "zscore": lambda d: [d.normal(3, 4), 5 * d.normal(8, 4) + d.normal(4)],
    "answer_span": lambda d: [d.normal(7) - 2, d.normal(7) - 2, d.whole(1, 7)],
    "pseudo_perplexity": lambda d: [_Model(d, 9), d.wholes(0, 8, 6), d.whole(0, 8), _real(d, 1, 6)[0]],
}


def _same(apart, solution, draw, seed):
    """Whether the answer in that process gives what the solution gives; it may also raise, or not end."""
    with torch.no_grad() if isinstance(solution, type) else contextlib.nullcontext():
        expected = Answer(solution)._applied(*draw(Dice(seed, 9)))
    try:
        reply = apart.ask("call", *draw(Dice(seed, 9)), seconds=1)
        return "value" in reply and passes_for(restored(reply["value"]), restored(plain(expected)))
    except (NoReply, NotAnAnswer):
        return False


def _judged(exercise, mutant):
    """Whether a mutant behaves differently, and whether the checker rejects it, or takes it for unwritten."""
    draw, solution = DRAWN[exercise.name], exercise.function()
    with forked(Answer(mutant)) as apart:
        differs = any(not _same(apart, solution, draw, seed) for seed in range(INPUTS))
    return differs, differs and checker_of(exercise).verdict(mutant, seconds=4).status != RIGHT


@pytest.mark.parametrize(
    "whole", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["few", "all"]
)
def test_mutants_that_behave_differently_are_rejected(whole, monkeypatch, capsys):
    monkeypatch.setattr(trials, "today", lambda: datetime.date(2026, 1, 1))
    different, survived = 0, set()
    for exercise in (e for e in IN_CODE if e.name not in MANY_RIGHT):
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
