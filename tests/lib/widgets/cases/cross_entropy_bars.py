"""The cross-entropy bars among all widgets."""

import math
import random

from lib.widgets.cross_entropy_bars import MAX_WORDS, MODES, SMOOTHINGS, cross_entropy_bars, shown
from tests.lib.widgets.cases.case import Case, Hostile
from tests.lib.widgets.pages.cross_entropy_bars import BarsPage, Move, State
from tests.lib.widgets.shared import HOSTILE

WORDS = ["ladra", "dorme", "come", "mia"]
LOGITS = [2.0, 1.0, 0.5, -1.5]


def bars(**options):
    return cross_entropy_bars(WORDS, LOGITS, **options)


def starts():
    logits = tuple(k - 3.5 for k in range(MAX_WORDS))
    yield bars(target="come", mode="logits"), State(2, "logits", 0.0, tuple(LOGITS))
    many = cross_entropy_bars([f"palavra{k}" for k in range(MAX_WORDS)], logits)
    yield many, State(0, "probabilidades", 0.0, logits)
    yield cross_entropy_bars(), State(0, "probabilidades", 0.0, (2.0, 1.0, 0.5, -0.5, -1.5))


def wander(seed, count, words):
    """Random moves of both kinds, to the ends of the bars too."""
    rng = random.Random(seed)
    for _ in range(count):
        mode = rng.choice(list(MODES))
        target, smoothing = rng.randrange(words), rng.choice(SMOOTHINGS)
        value = rng.choice([0, 1, rng.randint(0, 100) / 100])
        if mode == "logits":
            value = rng.choice([-10, 10, rng.randint(-100, 100) / 10])
        yield Move(target, mode, smoothing, rng.randrange(words), value)


def hostile():
    words = [text for text in HOSTILE if text.strip()][:6]
    widget = cross_entropy_bars(words, [0.1 * k for k in range(6)])
    move = Move(0, "probabilidades", 0.0, 5, 0.5)
    return Hostile(widget, [move], move)


def keyed(*logits):
    return State(0, "logits", 0.0, logits)


MUTATIONS = {
    "swap a sign": ("Math.exp(z - max)", "Math.exp(max - z)"),
    "gradient of the other sign": ("qk - p[k])", "p[k] - qk)"),
    "forget the maximum in log Z": ("soft.max + Math.log(soft.sum)", "Math.log(soft.sum)"),
    "logarithm of base 2": ("x * Math.log(y)", "x * Math.log2(y)"),
    "base 2 perplexity": ("Math.exp(loss)", "2 ** loss"),
    "KL the other way round": ("xLogY(pk, pk) - xLogY(pk, q[k])", "xLogY(q[k], q[k]) - xLogY(q[k], pk)"),
    "KL as cross-entropy": ("xLogY(pk, pk) - xLogY(pk, q[k])", "-xLogY(pk, q[k])"),
    "smooth over the others only": ("smoothing / q.length", "smoothing / (q.length - 1)"),
    "smooth without taking": ("1 - smoothing : 0", "1 : 0"),
    "loss of the model's own words": ("pk * (logZ - logits[k])", "q[k] * (logZ - logits[k])"),
    "bits upside down": ("loss / Math.log(2)", "loss * Math.log(2)"),
    "entropy of the truth for the model's": (
        "-sum(q.map((qk) => xLogY(qk, qk)))",
        "-sum(p.map((qk) => xLogY(qk, qk)))",
    ),
    "mark the next word": ('k === target ? "✓ "', 'k === target + 1 ? "✓ "'),
    "others are not rescaled": ("(qj * (1 - wanted)) / (1 - q[k])", "qj"),
    "drag with another floor": ("const FLOOR = 1e-4", "const FLOOR = 1e-2"),
    "drag to the very end": ("const MOST = 0.999", "const MOST = 0.99"),
    "drag the neighbour's logit": ("(j === k ? value : z)", "(j === (k + 1) % 4 ? value : z)"),
    "fill from zero": ("(value - range.min)", "value"),
}

CASE = Case(
    name="cross_entropy_bars",
    page=BarsPage,
    make=bars,
    starts=starts,
    moves=lambda: wander(seed=1, count=30, words=len(WORDS)),
    tour=lambda stored: wander(seed=5, count=6, words=len(stored["words"])),
    pair=lambda: (bars(), bars(mode="logits")),
    used=(Move(2, "probabilidades", 0.3, 1, 0.9), Move(0, "logits", 0.0, 0, -10)),
    heard=Move(3, "probabilidades", 0.1, 2, 0.66),
    stops=["Palavra certa", "Arrastar", "Suavização ε", *(f"probabilidade de {word}" for word in WORDS)],
    keys=[
        *[("Shift+Tab", None)] * 5,
        ("ArrowDown", keyed(*LOGITS)),
        *[("Tab", None)] * 5,
        ("ArrowRight", keyed(2.0, 1.0, 0.5, -1.4)),
        ("Shift+Tab", None),
        ("End", keyed(2.0, 1.0, 10.0, -1.4)),
    ],
    change="""(panel, k) => {
      const input = panel.querySelector(`input[data-k="${k % 4}"]`);
      input.value = (k % 10) / 10;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }""",
    leaves=20,
    listeners=2,
    refusals=[
        (
            lambda: cross_entropy_bars("frase", LOGITS),
            "TypeError: words must be a sequence of non-empty strings",
        ),
        (lambda: cross_entropy_bars(["só"], [1.0]), "words must hold 2 to 8 different words"),
        (lambda: cross_entropy_bars(["a", "a"], [1.0, 2.0]), "words must hold 2 to 8 different words"),
        (lambda: cross_entropy_bars(WORDS, [1.0]), "logits must hold one number per word, 4, got 1"),
        (lambda: cross_entropy_bars(WORDS, [1.0, 2.0, 3.0, math.nan]), "logits must lie between -10 and 10"),
        (lambda: cross_entropy_bars(WORDS, [1.0, 2.0, 3.0, 11.0]), "logits must lie between -10 and 10"),
        (lambda: bars(target="voa"), "target must be one of ladra, .* got 'voa'"),
        (lambda: bars(mode="odds"), "mode must be one of probabilidades, logits"),
        (lambda: shown(LOGITS, 4, 0.0), r"target must be an index in 0\.\.3, got 4"),
        (lambda: shown(LOGITS, 0, 1.0), "smoothing must be .* got 1.0"),
    ],
    hostile=hostile,
    mutations=MUTATIONS,
    telling=[
        Move(1, "probabilidades", 0.2, 2, 0.37),
        Move(2, "logits", 0.0, 3, 7.5),
        Move(0, "logits", 0.5, 0, -9.0),
        Move(3, "probabilidades", 0.1, 1, 1.0),
    ],
)
