"""The mask explorer among all widgets."""

import math
import random

from lib.widgets.mask_explorer import D_K_CHOICES, KINDS, MAX_TOKENS, TEMPERATURES, mask_explorer, shown
from tests.lib.widgets.cases.case import Case, Hostile
from tests.lib.widgets.pages.mask_explorer import MaskPage, State
from tests.lib.widgets.shared import HOSTILE

TOKENS = ["A", "menina", "viu", "o", "banco"]
SCORES = [
    [2.0, 0.5, 1.0, -0.3, 0.2],
    [1.5, 3.0, 0.0, 0.7, 1.2],
    [0.5, 2.0, 4.0, 0.1, -2.0],
    [-0.5, 1.0, 2.5, 3.5, 0.4],
    [-1.0, 0.0, 1.5, 2.0, 3.0],
]
# sqrt(16) * 3 = 12: the first row, divided by it, is still beyond what exp can take.
BEYOND_EXP = [[9000.0, 8990.0, 9010.0], [4.0, 12.5, 20.0], [-6.0, 2.5, 11.25]]


def explorer(scores=SCORES, **options):
    return mask_explorer(TOKENS[: len(scores)], scores, d_k=4, **options)


def starts():
    last = (len(TOKENS) - 1, 0)
    for kind in KINDS:
        yield explorer(kind=kind, temperature=0.7), State(kind, 0.7, 4, len(TOKENS) - 1, last)
    yield mask_explorer(["só"], [[0.5]], d_k=2), State("causal", 1.0, 2, 1, (0, 0))
    n, rng = MAX_TOKENS, random.Random(0)
    many = mask_explorer(["palavra"] * n, [[rng.gauss(0, 1) for _ in range(n)] for _ in range(n)], d_k=2)
    yield many, State("causal", 1.0, 2, n - 1, (n - 1, 0))


def moves():
    """Every kind once, then random ones, each with random positions of the sliders."""
    rng = random.Random(1)
    for kind in [*KINDS, *rng.choices(list(KINDS), k=28 - len(KINDS))]:
        yield State(kind, rng.choice(TEMPERATURES), rng.choice(D_K_CHOICES), rng.randint(1, len(TOKENS)))


def hostile():
    tokens = [text for text in HOSTILE if text.strip()][:6]
    n = len(tokens)
    scores = [[(n * i + j) / 7 for j in range(n)] for i in range(n)]
    harmless = State("causal_padding", 1.0, 2, 2)
    return Hostile(mask_explorer(tokens, scores, d_k=2), [State("causal", 1.0, 2, n - 1)], harmless)


def at(i, j):
    """Where the explorer stands at first, with another cell chosen."""
    return State("causal", 1.0, 4, len(TOKENS) - 1, (i, j))


def tour(stored):
    n = len(stored["tokens"])
    yield State("causal", 0.5, 4, n)
    yield State("padding", 2.0, 8, n - 1)
    yield State("causal_padding", 1.0, 2, n - 2, (0, 1))
    yield State("invertida", 1.0, 1, n)
    yield State("depois", 0.05, 64, n)
    yield State("diagonal", 10.0, 2, n)


MUTATIONS = {
    "swap a sign": ("Math.exp(z - max)", "Math.exp(max - z)"),
    "drop the maximum": ("Math.exp(z - max)", "Math.exp(z)"),
    "shift the mask by one": ("(i, j) => j > i;", "(i, j) => j >= i;"),
    "shift the mask the other way": ("(i, j) => j > i;", "(i, j) => j > i + 1;"),
    "skip the temperature": ("Math.sqrt(dK) * temperature", "Math.sqrt(dK)"),
    "forget the square root": ("Math.sqrt(dK) * temperature", "dK * temperature"),
    "multiply by the scale": ("s / scale", "s * scale"),
    "shift the padding": ("(i, j, realTokens) => j >= realTokens", "(i, j, realTokens) => j > realTokens"),
    "forget the padding of the causal mask": ("isFuture(i, j) || isPadding", "isFuture(i, j) && isPadding"),
    "forget the future of the padding mask": ("isFuture(i, j) || isPadding", "isPadding"),
    "hide with a zero": ("kind.hiddenScore ?? -Infinity", "kind.hiddenScore ?? 0"),
    "hide the zeroed scores": ("kind.hiddenScore ?? -Infinity", "-Infinity"),
    "renormalise after the mask": ("kind.after?.(i, j) ? 0 : w", "w"),
    "normalise by the maximum": ("sum === 0 ? 0 : e / sum", "sum === 0 ? 0 : e"),
    "show the diagonal": ("hides: (i, j) => j >= i,", "hides: (i, j) => j > i,"),
    "sum the weights before the mask": ("const sum = weights.reduce", "const sum = soft.weights.reduce"),
    "read the transposed cell": ("number(weights[j])", "number(rows[j].weights[i])"),
    "round by cutting": (
        "size.toFixed(digits)",
        "(Math.floor(size * 10 ** digits) / 10 ** digits).toFixed(digits)",
    ),
    "take the next kind": (
        '("kinds")[model.get("kind_index")]',
        '("kinds")[(model.get("kind_index") + 1) % 9]',
    ),
    "colour by what is left": ('"--cw-weight", weights[j])', '"--cw-weight", 1 - weights[j])'),
    "report the smallest future weight": ("Math.max(0, ...future)", "Math.min(0, ...future)"),
}

CASE = Case(
    name="mask_explorer",
    page=MaskPage,
    make=explorer,
    starts=starts,
    moves=moves,
    tour=tour,
    pair=lambda: (explorer(), explorer(kind="depois")),
    used=(State("padding", 0.25, 8, 3, (1, 2)), State("invertida", 0.05, 1, 5)),
    heard=State("padding", 0.5, 8, 2),
    stops=["Máscara", "Temperatura T", "Dimensão dₖ", "Tokens reais", "0,056"],
    keys=[
        ("ArrowUp", at(3, 0)),
        ("ArrowRight", at(3, 1)),
        ("End", at(3, 4)),
        ("Control+Home", at(0, 0)),
        ("ArrowLeft", at(0, 0)),
        ("Shift+Tab", None),
        ("Tab", at(0, 0)),
    ],
    change="""(panel, k) => {
      const mask = panel.querySelector("select");
      const slider = panel.querySelector("[role=slider]");
      const key = k % 4 === 1 ? "ArrowRight" : "ArrowLeft";
      if (k % 2) slider.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      else mask.selectedIndex = (k / 2) % mask.length;
      mask.dispatchEvent(new Event("change", { bubbles: true }));
    }""",
    times=202,
    leaves=20,  # a view rebuilt on each change would leave thousands
    poke="(el, k) => el.querySelectorAll('td[data-grid=weight]')[k].click()",
    listeners=4,
    refusals=[
        (lambda: mask_explorer("frase", SCORES), "TypeError: tokens must be a sequence of non-empty strings"),
        (
            lambda: mask_explorer(["a", ""], SCORES),
            "TypeError: tokens must be a sequence of non-empty strings",
        ),
        (lambda: mask_explorer([], []), "tokens must hold 1 to"),
        (lambda: mask_explorer(["a"] * (MAX_TOKENS + 1), SCORES), "tokens must hold 1 to"),
        (lambda: mask_explorer(["a", "b"], SCORES), r"scores must have shape \(2, 2\).*got \(5, 5\)"),
        (lambda: mask_explorer(["a"], [[math.nan]]), "scores must be finite"),
        (lambda: mask_explorer(["a"], [[-math.inf]]), "scores must be finite"),
        (lambda: explorer(kind="causall"), "kind must be one of causal, .* got 'causall'"),
        (lambda: mask_explorer(["a"], [[1]], d_k=0), "d_k must be an integer >= 1, got 0"),
        (lambda: mask_explorer(["a"], [[1]], d_k=1.5), "d_k must be an integer >= 1, got 1.5"),
        (lambda: explorer(temperature=0), "temperature must be a finite number > 0, got 0"),
        (lambda: explorer(temperature=math.nan), "temperature must be a finite number > 0"),
        (lambda: shown(SCORES, "causall", 4), "kind must be one of causal, .* got 'causall'"),
        (lambda: shown(SCORES, "causal", 0), "d_k must be an integer >= 1, got 0"),
        (lambda: shown(SCORES, "causal", 4, -1.0), "temperature must be a finite number > 0, got -1.0"),
        (lambda: shown(SCORES[:2], "causal", 4), r"scores must have shape \(2, 2\).*got \(2, 5\)"),
        (lambda: shown(SCORES, "padding", 4, 1.0, 6), r"lengths must lie between 0 and n=5, got \[6\]"),
    ],
    hostile=hostile,
    mutations=MUTATIONS,
    mutant={"scores": BEYOND_EXP},
    telling=[State(kind, 3.0, 16, 2) for kind in KINDS],
)
