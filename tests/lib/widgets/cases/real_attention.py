"""The attention of a real encoder among all widgets."""

import random

from lib.tokenizer import Tokenizer
from lib.widgets.real_attention import MASKS, SENTENCES, VIEWS, real_attention
from tests.lib.widgets.cases.case import Case, Hostile
from tests.lib.widgets.pages.real_attention import AttentionPage, State

LAYERS, HEADS = 6, 12
# A sentence must have 5 to 20 tokens: each of these is hostile in another way.
HOSTILE = ['<img src=x onerror="attacked=1">', "</script> <b> & ' \" ok", "مرحبا 👩‍👩‍👧‍👦 olá"]


def moves(seed=1, count=24):
    rng = random.Random(seed)
    for k in range(count):
        sentence = k % len(SENTENCES)
        n = len(Tokenizer.minilm().encode(SENTENCES[sentence]))
        layer, head = rng.randint(1, LAYERS), rng.randint(1, HEADS)
        place = rng.randrange(n), rng.randrange(n)
        yield State(sentence, rng.choice(list(MASKS)), layer, head, rng.choice(list(VIEWS)), *place)


def hostile():
    texts = [State(k, "bidirecional", 1, 1) for k in range(len(HOSTILE))]
    return Hostile(real_attention(HOSTILE), texts, State(2, "causal", 2, 3))


def starts():
    made = real_attention(SENTENCES[2:], mask="causal", layer=4, head=9, view="linhas")
    yield made, State(0, "causal", 4, 9, "linhas")


LAST = len(Tokenizer.minilm().encode(SENTENCES[0])) - 1
MUTATIONS = {
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
    "average over every query": (
        "Array.from({ length: n - 4 }, (_, k) => k + 2)",
        "[...weights.keys()].slice(1, -1)",
    ),
    "the row of the column": ("percentage(weights[query][j])", "percentage(weights[j][query])"),
    "the cell of the mirror": ("percentage(both[name][i][j])", "percentage(both[name][j][i])"),
    "shares of what is left": ("const rest = 1 -", "const rest = 0 *"),
    "colour by what is left": ('"--cw-weight", weight)', '"--cw-weight", 1 - weight)'),
    "colour only the first time": ("if (cell.ariaLabel === label) return;", "if (cell.ariaLabel) return;"),
    "another sentence": ('[this.model.get("sentence_index")]', "[0]"),
}

CASE = Case(
    name="real_attention",
    page=AttentionPage,
    make=real_attention,
    starts=starts,
    moves=moves,
    tour=lambda stored: moves(seed=11, count=4),
    pair=lambda: (real_attention(), real_attention(layer=3, view="linhas")),
    used=(State(3, "causal", 4, 6, "linhas", 3, 2), State(1, "causal", 2, 9, "matriz", 5, 4)),
    heard=State(1, "causal", 5, 3, "linhas", 4, 2),
    stops=["Frase", "Camada", "Cabeça", "Máscara", "Vista"],
    keys=[
        ("Tab", None),
        ("ArrowDown", None),
        ("End", State(0, "bidirecional", 1, 1, "matriz", 2, LAST)),
        ("Shift+Tab", None),
        ("ArrowDown", None),  # the view of lines
        ("Tab", None),
        ("ArrowDown", State(0, "bidirecional", 1, 1, "linhas", 3, LAST)),
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
    mutations=MUTATIONS,
    telling=[
        State(2, "causal", 2, 5, "matriz", 4, 1),
        State(3, "bidirecional", 3, 2, "linhas", 1, 3),
    ],
)
