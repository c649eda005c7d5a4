"""The cross-entropy bars: their page object, and what all widgets are tested with."""

import math
import random
from dataclasses import dataclass
from typing import Any

import pytest

from lib.widgets import cross_entropy_bars as twin
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import Said, WidgetPage, said
from tests.lib.widgets.shared import HOSTILE

WORDS = ["ladra", "dorme", "come", "mia"]
LOGITS = [2.0, 1.0, 0.5, -1.5]


@dataclass(frozen=True)
class State:
    """The number of the true word, what is dragged, the smoothing, and the logits."""

    target: int
    mode: str
    smoothing: float
    logits: tuple[float, ...]


@dataclass(frozen=True)
class Move:
    """Choices from the lists, and then the bar of one word dragged to a value."""

    target: int
    mode: str
    smoothing: float
    word: int
    value: float


class BarsPage(WidgetPage):
    """A bar for each word, and the loss that follows from all of them."""

    widget, selector = twin.CrossEntropyBars, ".cw-panel:has(.cw.cw-bars)"
    READ = """{
      rows: all("tbody tr", row => ({
        word: row.querySelector("th").textContent,
        said: row.querySelector("input").ariaValueText,
        name: row.querySelector("input").ariaLabel,
        fill: Number(row.querySelector("input").style.getPropertyValue("--cw-fill")),
        ...byName("cell", undefined, row),
      })),
      facts: byName("fact", fact => fact.textContent.replaceAll(/ (nats|bits)/g, "").split(" = ")),
    }"""
    DRAG = """(panel, [k, value]) => {
      const input = panel.querySelector(`input[data-k="${k}"]`);
      input.value = value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }"""

    def first(self, stored) -> State:
        mode, smoothing = (stored[f"{name}s"][stored[f"{name}_index"]] for name in ("mode", "smoothing"))
        return State(stored["target_index"], mode, smoothing, tuple(stored["logits"]))

    def go(self, move: Move) -> None:
        self.choose("Palavra certa", index=move.target)
        self.choose("Arrastar", label=twin.MODES[move.mode])
        self.slide("Suavização ε", f"{move.smoothing:g}".replace(".", ","))
        self.panel.evaluate(self.DRAG, [move.word, move.value])
        logits = list(self.state.logits)
        if move.mode == "logits":
            logits[move.word] = move.value
        else:
            logits = twin.with_probability(logits, move.word, move.value)
        self.state = State(move.target, move.mode, move.smoothing, tuple(logits))

    def wanted(self) -> dict[str, Any]:
        lib = twin.shown(self.state.logits, self.state.target, self.state.smoothing)
        facts = {"loss": [lib.loss, lib.bits], "perplexity": [lib.perplexity], "kl": [lib.kl]}
        facts |= {"entropyQ": [lib.entropy_q], "entropyP": [lib.entropy_p]}
        return {
            "rows": [self.row(lib, k, word) for k, word in enumerate(self.stored["words"])],
            "facts": {name: said(values) for name, values in facts.items()},
        }

    def row(self, lib: twin.Shown, k: int, word: str) -> dict[str, Any]:
        z, q, p, gradient = (column[k] for column in (self.state.logits, lib.q, lib.p, lib.gradient))
        value, name, full = float(q), "probabilidade", float(q)
        if self.state.mode == "logits":
            value, name, full = z, "logit", (z + 10) / 20
        columns = {"z": z, "q": q, "p": p, "gradient": gradient, "said": value}
        return {
            "word": f"✓ {word}" if k == self.state.target else word,
            "name": f"{name} de {word}",
            "fill": pytest.approx(full, abs=1e-9),
            **{column: Said(float(x)) for column, x in columns.items()},
        }


def bars(**options):
    return twin.cross_entropy_bars(WORDS, LOGITS, **options)


def starts():
    logits = tuple(k - 3.5 for k in range(twin.MAX_WORDS))
    yield bars(target="come", mode="logits"), State(2, "logits", 0.0, tuple(LOGITS))
    many = twin.cross_entropy_bars([f"palavra{k}" for k in range(twin.MAX_WORDS)], logits)
    yield many, State(0, "probabilidades", 0.0, logits)
    yield twin.cross_entropy_bars(), State(0, "probabilidades", 0.0, (2.0, 1.0, 0.5, -0.5, -1.5))


def wander(seed, count, words):
    """Random moves of both kinds, to the ends of the bars too."""
    rng = random.Random(seed)
    for _ in range(count):
        mode = rng.choice(list(twin.MODES))
        target, smoothing = rng.randrange(words), rng.choice(twin.SMOOTHINGS)
        value = rng.choice([0, 1, rng.randint(0, 100) / 100])
        if mode == "logits":
            value = rng.choice([-10, 10, rng.randint(-100, 100) / 10])
        yield Move(target, mode, smoothing, rng.randrange(words), value)


def hostile():
    words = [text for text in HOSTILE if text.strip()][:6]
    widget = twin.cross_entropy_bars(words, [0.1 * k for k in range(6)])
    move = Move(0, "probabilidades", 0.0, 5, 0.5)
    return widget, [move]


def keyed(*logits):
    return State(0, "logits", 0.0, logits)


CASE = Case(
    page=BarsPage,
    make=bars,
    starts=starts,
    moves=lambda: wander(seed=1, count=30, words=len(WORDS)),
    tour=lambda stored: wander(seed=5, count=6, words=len(stored["words"])),
    pair=lambda: (bars(), bars(mode="logits")),
    used=(Move(2, "probabilidades", 0.3, 1, 0.9), Move(0, "logits", 0.0, 0, -10)),
    stops=["Palavra certa", "Arrastar", "Suavização ε", *(f"probabilidade de {word}" for word in WORDS)],
    keys=[
        *[("Shift+Tab", None)] * 5,
        ("ArrowDown", keyed(*LOGITS)),
        *[("Tab", None)] * 5,
        ("ArrowRight", keyed(2.0, 1.0, 0.5, -1.4)),
        ("Shift+Tab", None),
        ("End", keyed(2.0, 1.0, 10.0, -1.4)),
    ],
    change=f"(panel, k) => ({BarsPage.DRAG})(panel, [k % 4, (k % 10) / 10])",
    leaves=20,
    listeners=2,
    refusals=[
        (lambda: twin.cross_entropy_bars("ab", LOGITS), "TypeError: words must be a sequence of non-empty"),
        (lambda: twin.cross_entropy_bars(["só"], [1.0]), "words must hold 2 to 8 different words"),
        (lambda: twin.cross_entropy_bars(["a", "a"], [1.0, 2.0]), "words must hold 2 to 8 different words"),
        (lambda: twin.cross_entropy_bars(WORDS, [1.0]), "logits must hold one number per word, 4, got 1"),
        (lambda: twin.cross_entropy_bars(WORDS, [1, 2, 3, math.nan]), "logits must lie between -10 and 10"),
        (lambda: twin.cross_entropy_bars(WORDS, [1.0, 2.0, 3.0, 11.0]), "logits must lie between -10 and 10"),
        (lambda: bars(target="voa"), "target must be one of ladra, .* got 'voa'"),
        (lambda: bars(mode="odds"), "mode must be one of probabilidades, logits"),
        (lambda: twin.shown(LOGITS, 4, 0.0), r"target must be an index in 0\.\.3, got 4"),
        (lambda: twin.shown(LOGITS, 0, 1.0), "smoothing must be .* got 1.0"),
    ],
    hostile=hostile,
    mutations={
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
        "entropy of the truth for the model's": ("-sum(q.map(", "-sum(p.map("),
        "mark the next word": ('k === target ? "✓ "', 'k === target + 1 ? "✓ "'),
        "others are not rescaled": ("(qj * (1 - wanted)) / (1 - q[k])", "qj"),
        "drag with another floor": ("const FLOOR = 1e-4", "const FLOOR = 1e-2"),
        "drag to the very end": ("const MOST = 0.999", "const MOST = 0.99"),
        "drag the neighbour's logit": ("(j === k ? value : z)", "(j === (k + 1) % 4 ? value : z)"),
        "fill from zero": ("(value - range.min)", "value"),
    },
    telling=[
        Move(1, "probabilidades", 0.2, 2, 0.37),
        Move(2, "logits", 0.0, 3, 7.5),
        Move(0, "logits", 0.5, 0, -9.0),
        Move(3, "probabilidades", 0.1, 1, 1.0),
    ],
)
