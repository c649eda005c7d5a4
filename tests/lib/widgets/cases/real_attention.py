"""The attention of a real encoder: its page object, and what all widgets are tested with."""

import random
from dataclasses import dataclass
from typing import Any

import pytest

from lib.tokenizer import Tokenizer
from lib.widgets.real_attention import MASKS, SENTENCES, VIEWS, RealAttention, Shown, real_attention, shown
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import Said, WidgetPage, said


@dataclass(frozen=True)
class State:
    """The number of the sentence, the mask, the head, how it is drawn, and the chosen cell."""

    sentence: int
    mask: str
    layer: int
    head: int
    view: str = "matriz"
    query: int = 2
    key: int = 1


class AttentionPage(WidgetPage):
    """The weights of one head, as a matrix or as lines."""

    widget, selector = RealAttention, ".cw-panel:has(.cw.cw-real)"
    READ = """{
      weights: square("td[data-i]"),
      shades: square("td[data-i]", share).flat(),
      headers: texts("th[scope=row][title]"),
      keys: texts("output[data-key]"),
      query: Number(new FormData(panel.querySelector("form")).get("query")),
      cell: text(".cw-cell"),
      largest: text(".cw-largest"),
      shares: byName("share", row => row.querySelector("td").textContent),
      hidden: all(".cw-weights, .cw-lines", view => view.hidden),
    }"""

    def first(self, stored) -> State:
        mask, view = list(MASKS)[stored["mask_index"]], list(VIEWS)[stored["view_index"]]
        return State(stored["sentence_index"], mask, stored["layer"], stored["head"], view, *stored["cell"])

    def go(self, move: State) -> None:
        self.choose("Frase", index=move.sentence)
        self.choose("Máscara", label=MASKS[move.mask])
        self.slide("Camada", str(move.layer))
        self.slide("Cabeça", str(move.head))
        self.choose("Vista", label=VIEWS["matriz"])
        row = move.query if move.view == "matriz" else 0
        self.panel.locator(f"td[data-i='{row}'][data-j='{move.key}']").click()
        self.choose("Vista", label=VIEWS[move.view])
        if move.view == "linhas":
            self.panel.get_by_role("radio").nth(move.query).check()
        self.state = move

    def expected(self, mask: str | None = None) -> Shown:
        at = self.state
        return shown(self.stored["sentences"][at.sentence]["text"], mask or at.mask, at.layer, at.head)

    def wanted(self) -> dict[str, Any]:
        lib, i, j = self.expected(), self.state.query, self.state.key
        names = [f"“{token}” ({k + 1})" for k, token in enumerate(lib.tokens)]
        percent = (100 * lib.weights).tolist()
        cell, largest = [f"De {names[i]} para {names[j]}: "], [f"{names[i]} olha mais para: "]
        for mask in MASKS:
            cell += [f"{mask} ", 100 * self.expected(mask).weights[i, j].item(), "%, "]
        for k in lib.largest(i):
            largest += [f"{names[k]} ", percent[i][k], "%, "]
        return {
            "weights": said(percent),
            "shades": pytest.approx(lib.weights.flatten().tolist(), abs=1e-3),
            "headers": lib.tokens,
            "keys": said(percent[i]),
            "query": i,
            "cell": Said(*cell[:-1], "%."),
            "largest": Said(*largest[:-1], "%."),
            # A mean of weights in thousandths: each is at most half a thousandth away.
            "shares": {name: Said(100 * share, "%", within=0.05 * 5) for name, share in lib.shares.items()},
            "hidden": [view != self.state.view for view in VIEWS],
        }


LAYERS, HEADS = 6, 12
LENGTHS = [len(encoding) for encoding in map(Tokenizer.minilm().encode, SENTENCES)]
# A sentence must have 5 to 20 tokens: each of these is hostile in another way.
HOSTILE = ['<img src=x onerror="attacked=1">', "</script> <b> & ' \" ok", "مرحبا 👩‍👩‍👧‍👦 olá"]


def moves(seed=1, count=24):
    rng = random.Random(seed)
    for k in range(count):
        sentence = k % len(SENTENCES)
        n = LENGTHS[sentence]
        layer, head = rng.randint(1, LAYERS), rng.randint(1, HEADS)
        place = rng.randrange(n), rng.randrange(n)
        yield State(sentence, rng.choice(list(MASKS)), layer, head, rng.choice(list(VIEWS)), *place)


def hostile():
    texts = [State(k, "bidirecional", 1, 1) for k in range(len(HOSTILE))]
    return real_attention(HOSTILE), [*texts, State(2, "causal", 2, 3)]


def starts():
    made = real_attention(SENTENCES[2:], mask="causal", layer=4, head=9, view="linhas")
    yield made, State(0, "causal", 4, 9, "linhas")


LAST = LENGTHS[0] - 1
PREVIOUS = (1, 3)  # the layer and head of MiniLM that look at the word before: chapter 3 is about it
CASE = Case(
    page=AttentionPage,
    make=real_attention,
    starts=starts,
    moves=moves,
    tour=lambda stored: moves(seed=11, count=4),
    pair=lambda: (real_attention(), real_attention(layer=3, view="linhas")),
    used=(State(3, "causal", 4, 6, "linhas", 3, 2), State(1, "causal", 2, 9, "matriz", 5, 4)),
    stops=["Frase", "Camada", "Cabeça", "Máscara", "Vista"],
    keys=[
        ("Tab", None),
        ("ArrowDown", None),
        ("End", State(0, "bidirecional", *PREVIOUS, "matriz", 3, LAST)),
        ("Shift+Tab", None),
        ("ArrowDown", None),  # the view of lines
        ("Tab", None),
        ("ArrowDown", State(0, "bidirecional", *PREVIOUS, "linhas", 4, LAST)),
    ],
    change="""(panel, k) => {
      const list = panel.querySelectorAll("select")[k % 3];
      list.selectedIndex = (list.selectedIndex + 1) % list.length;
      list.dispatchEvent(new Event("change", { bubbles: true }));
    }""",
    # One sentence has more tokens than another, so cells come and go: at most one sentence's worth of them.
    leaves=2500,
    poke="(el, k) => el.querySelectorAll('td[data-i]')[k + 4].click()",
    listeners=2,
    refusals=[
        (lambda: real_attention("uma frase"), "sentences must be a sequence of 1 to 8 texts"),
        (lambda: real_attention([]), "sentences must be a sequence of 1 to 8 texts"),
        (lambda: real_attention(["oi"]), "a sentence must have 5 to 20 tokens.*'oi' has"),
        (lambda: real_attention(["a b c d " * 10]), "a sentence must have 5 to 20 tokens"),
        (lambda: real_attention(mask="causall"), "mask must be one of bidirecional, causal, got 'causall'"),
        (lambda: real_attention(layer=7), "layer must be an integer from 1 to 6, got 7"),
        (lambda: real_attention(head=0), "head must be an integer from 1 to 12, got 0"),
        (lambda: real_attention(view="mapa"), "view must be one of matriz, linhas, got 'mapa'"),
    ],
    hostile=hostile,
    mutations={
        "read the next head": ('+ this.model.get("head") - 1', '+ this.model.get("head")'),
        "forget the layer": ('(this.model.get("layer") - 1) *', "0 *"),
        "transpose": ("packed[row + j] / UNIT", "packed[start + j * n + i] / UNIT"),
        "shift the triangle": ("(i * (i + 1)) / 2 : i * n", "(i * (i - 1)) / 2 : i * n"),
        "read the triangle as a square": ("k * (causal ? (n * (n + 1)) / 2 : n * n)", "k * n * n"),
        "show the future": ("causal && j > i ? 0 :", "false ? 0 :"),
        "hide the diagonal too": ("causal && j > i ? 0 :", "causal && j >= i ? 0 :"),
        "another unit": ("const UNIT = 1000", "const UNIT = 1024"),
        "ignore the mask": ('const mask = MASKS[this.model.get("mask_index")]', "const mask = MASKS[0]"),
        "smallest first": ("row[b] - row[a] || a - b", "row[a] - row[b] || a - b"),
        "count the previous as the next": ("key: (i) => i - 1", "key: (i) => i + 1 - 0"),
        "average over every query": ("n - 4 }, (_, k) => k + 2", "n - 2 }, (_, k) => k + 1"),
        "the row of the column": ("percentage(weights[query][j])", "percentage(weights[j][query])"),
        "the cell of the mirror": ("percentage(both[name][i][j])", "percentage(both[name][j][i])"),
        "shares of what is left": ("const rest = 1 -", "const rest = 0 *"),
        "colour by what is left": ('"--cw-weight", weight)', '"--cw-weight", 1 - weight)'),
        "colour only the first time": ("cell.ariaLabel === label", "cell.ariaLabel"),
        "another sentence": ('[this.model.get("sentence_index")]', "[0]"),
    },
    telling=[State(2, "causal", 2, 5, "matriz", 4, 1), State(3, "bidirecional", 3, 2, "linhas", 1, 3)],
)
