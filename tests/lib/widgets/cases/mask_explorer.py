"""The mask explorer: its page object, and what all widgets are tested with."""

import math
import random
from dataclasses import dataclass, replace
from typing import Any

import pytest

from lib.widgets import mask_explorer as twin
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import Said, WidgetPage, said
from tests.lib.widgets.shared import HOSTILE


@dataclass(frozen=True)
class State:
    """Where the controls stand, and the chosen cell; in a move, no cell leaves the one that is chosen."""

    kind: str
    temperature: float
    d_k: int
    real_tokens: int
    cell: tuple[int, int] | None = None


class MaskPage(WidgetPage):
    """Scores and weights under a mask, and the arithmetic of any cell."""

    widget, selector = twin.MaskExplorer, ".cw-panel:has(.cw.cw-mask)"
    READ = """{
      scores: square("td[data-grid=score]"),
      weights: square("td[data-grid=weight]"),
      tokens: texts("table[role=grid] th[scope=row]"),
      columns: texts("table[role=grid] th[scope=col]"),
      chosen: all("td[tabindex='0']", cell => [Number(cell.dataset.i), Number(cell.dataset.j)]),
      shades: square("td[data-grid=weight]", share).flat(),
      sums: texts("td[data-sum]"),
      facts: text(".cw-facts"),
    }"""

    def first(self, stored) -> State:
        chosen = {"kind": "kinds", "temperature": "temperatures", "d_k": "d_k_choices"}
        at = (stored[choices][stored[f"{name}_index"]] for name, choices in chosen.items())
        return State(*at, stored["real_tokens"], tuple(stored["cell"]))

    def go(self, move: State) -> None:
        self.choose("Máscara", label=twin.KINDS[move.kind])
        self.slide("Temperatura T", f"{move.temperature:g}".replace(".", ","))
        self.slide("Dimensão dₖ", str(move.d_k))
        if move.kind in twin.PADDED:
            self.slide("Tokens reais", str(move.real_tokens))
        if move.cell:
            self.cell(*move.cell).click()
        self.state = replace(move, cell=move.cell or self.state.cell)

    def cell(self, i: int, j: int):
        """A cell of the table of weights."""
        return self.panel.locator(f"td[data-grid=weight][data-i='{i}'][data-j='{j}']")

    def expected(self) -> twin.Shown:
        at = self.state
        return twin.shown(self.stored["scores"], at.kind, at.d_k, at.temperature, at.real_tokens)

    def wanted(self) -> dict[str, Any]:
        lib, tokens = self.expected(), self.tokens()
        weights, sums, empty = lib.weights.tolist(), lib.row_sums.tolist(), lib.empty_rows
        for i in empty:
            weights[i], sums[i] = [None] * len(tokens), None
        full = [total for total in sums if total is not None]
        facts = ["Maior peso no futuro: ", lib.largest_future_weight, ". "]
        if lib.underflow:
            facts += ["Com estas pontuações, a exponencial do futuro é tão pequena que o computador a "]
            facts += ["arredonda para zero. "]
        facts += ["Soma das linhas: de ", min(full), " a ", max(full), "."]
        if empty:
            lines = ", ".join(str(i + 1) for i in empty)
            why = "todas as pontuações da linha são −∞, e a softmax seria 0/0"
            facts += [f" Linha {lines}: nada a atender (—); {why}."]
        return {
            "scores": said(lib.entering),
            "weights": said(weights),
            "sums": said(sums),
            "facts": Said(*facts),
            "shades": pytest.approx(lib.weights.flatten().tolist(), abs=1e-9),
            "tokens": tokens,
            "columns": [*tokens, "soma"],
            "chosen": [list(self.state.cell)],
        }

    def tokens(self) -> list[str]:
        """The tokens, with [PAD] after the real ones where the mask is for padding."""
        tokens = self.stored["tokens"]
        real = self.state.real_tokens if self.state.kind in twin.PADDED else len(tokens)
        return tokens[:real] + ["[PAD]"] * (len(tokens) - real)


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
    return twin.mask_explorer(TOKENS[: len(scores)], scores, d_k=4, **options)


def starts():
    last = (len(TOKENS) - 1, 0)
    for kind in twin.KINDS:
        yield explorer(kind=kind, temperature=0.7), State(kind, 0.7, 4, len(TOKENS) - 1, last)
    yield twin.mask_explorer(["só"], [[0.5]], d_k=2), State("causal", 1.0, 2, 1, (0, 0))
    n, rng = twin.MAX_TOKENS, random.Random(0)
    many = twin.mask_explorer(["palavra"] * n, [[rng.gauss(0, 1) for _ in range(n)] for _ in range(n)], d_k=2)
    yield many, State("causal", 1.0, 2, n - 1, (n - 1, 0))


def moves():
    """Every kind once, then random ones, each with random positions of the sliders."""
    rng = random.Random(1)
    for kind in [*twin.KINDS, *rng.choices(list(twin.KINDS), k=28 - len(twin.KINDS))]:
        temperature, d_k = rng.choice(twin.TEMPERATURES), rng.choice(twin.D_K_CHOICES)
        yield State(kind, temperature, d_k, rng.randint(1, len(TOKENS)))


def hostile():
    tokens = [text for text in HOSTILE if text.strip()][:6]
    n = len(tokens)
    scores = [[(n * i + j) / 7 for j in range(n)] for i in range(n)]
    harmless = State("causal_padding", 1.0, 2, 2)
    return twin.mask_explorer(tokens, scores, d_k=2), [State("causal", 1.0, 2, n - 1), harmless]


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


CASE = Case(
    page=MaskPage,
    make=explorer,
    starts=starts,
    moves=moves,
    tour=tour,
    pair=lambda: (explorer(), explorer(kind="depois")),
    used=(State("padding", 0.25, 8, 3, (1, 2)), State("invertida", 0.05, 1, 5)),
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
    leaves=20,  # a view rebuilt on each change would leave thousands
    poke="(el, k) => el.querySelectorAll('td[data-grid=weight]')[k].click()",
    listeners=3,
    refusals=[
        (lambda: twin.mask_explorer("frase", SCORES), "TypeError: tokens must be a sequence of non-empty"),
        (lambda: twin.mask_explorer(["a", ""], SCORES), "TypeError: tokens must be a sequence of non-empty"),
        (lambda: twin.mask_explorer([], []), "tokens must hold 1 to"),
        (lambda: twin.mask_explorer(["a"] * (twin.MAX_TOKENS + 1), SCORES), "tokens must hold 1 to"),
        (lambda: twin.mask_explorer(["a", "b"], SCORES), r"scores must have shape \(2, 2\).*got \(5, 5\)"),
        (lambda: twin.mask_explorer(["a"], [[math.nan]]), "scores must be finite"),
        (lambda: twin.mask_explorer(["a"], [[-math.inf]]), "scores must be finite"),
        (lambda: explorer(kind="causall"), "kind must be one of causal, .* got 'causall'"),
        (lambda: twin.mask_explorer(["a"], [[1]], d_k=0), "d_k must be an integer >= 1, got 0"),
        (lambda: twin.mask_explorer(["a"], [[1]], d_k=1.5), "d_k must be an integer >= 1, got 1.5"),
        (lambda: explorer(temperature=0), "temperature must be a finite number > 0, got 0"),
        (lambda: explorer(temperature=math.nan), "temperature must be a finite number > 0"),
        (lambda: twin.shown(SCORES, "causall", 4), "kind must be one of causal, .* got 'causall'"),
        (lambda: twin.shown(SCORES, "causal", 0), "d_k must be an integer >= 1, got 0"),
        (lambda: twin.shown(SCORES, "causal", 4, -1.0), "temperature must be a finite number > 0, got -1.0"),
        (lambda: twin.shown(SCORES[:2], "causal", 4), r"scores must have shape \(2, 2\).*got \(2, 5\)"),
        (lambda: twin.shown(SCORES, "padding", 4, 1.0, 6), r"lengths must lie between 0 and n=5, got \[6\]"),
    ],
    hostile=hostile,
    mutations={
        "swap a sign": ("Math.exp(z - max)", "Math.exp(max - z)"),
        "drop the maximum": ("Math.exp(z - max)", "Math.exp(z)"),
        "shift the mask by one": ("(i, j) => j > i;", "(i, j) => j >= i;"),
        "shift the mask the other way": ("(i, j) => j > i;", "(i, j) => j > i + 1;"),
        "skip the temperature": ("Math.sqrt(dK) * temperature", "Math.sqrt(dK)"),
        "forget the square root": ("Math.sqrt(dK) * temperature", "dK * temperature"),
        "multiply by the scale": ("s / scale", "s * scale"),
        "shift the padding": ("j >= realTokens;", "j > realTokens;"),
        "forget the padding of the causal mask": ("|| isPadding", "&& isPadding"),
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
            "Math.max(0, size - 0.5 / 10 ** digits).toFixed(digits)",
        ),
        "take the next kind": ('[model.get("kind_index")]', '[(model.get("kind_index") + 1) % 9]'),
        "colour by what is left": ('"--cw-weight", weights[j])', '"--cw-weight", 1 - weights[j])'),
        "report the smallest future weight": (
            "number(Math.max(0, ...future))",
            "number(Math.min(0, ...future))",
        ),
    },
    mutant={"scores": BEYOND_EXP},
    telling=[State(kind, 3.0, 16, 2) for kind in twin.KINDS],
)
