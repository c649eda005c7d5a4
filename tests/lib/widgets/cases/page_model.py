"""The model in the page: its page object, and what all widgets are tested with."""

import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import pytest
from playwright.sync_api import expect
from torch import Tensor

from lib.corpus import PORTUGUESE, sample
from lib.widgets.page_model import EQUAL, EXAMPLES, NEVER, PageModel, Refused, Shown, page_model, read, shown
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import Said, WidgetPage, said
from tests.lib.widgets.shared import HOSTILE

BOX = "Frase com [MASK]"
TIES = {"within": 1e-4}  # the page's error function is 1e-7 away, which turns a tie


@dataclass(frozen=True)
class State:
    """The sentence, the gap that is looked at, and the head whose attention is drawn."""

    text: str
    gap: int = 0
    layer: int = 1
    head: int = 1


class ModelPage(WidgetPage):
    """A sentence to type, and what the model and the exact posterior say of its gap."""

    widget, selector = PageModel, ".cw-page-model"
    READ = """{
      weights: square("td[data-i]"),
      shades: square("td[data-i]", share).flat(),
      tokens: texts(".cw-weights th[scope=row]"),
      rows: all("tr[data-word]",
        row => [Number(row.dataset.word), ...all("th, td:not(.cw-bars)", cell => cell.textContent, row)]),
      bars: all("td .cw-bar", share),
      said: text(".cw-said"),
      facts: text(".cw-facts"),
      places: texts(".cw-sentence button"),
      looked: all(".cw-sentence [aria-pressed=true]", button => button.ariaLabel),
      message: text(".cw-refused"),
      hint: text(".cw-why"),
      visible: !panel.querySelector(".cw-results").hidden,
    }"""

    def first(self, stored) -> State:
        return State(stored["text"], stored["gap"], stored["layer"], stored["head"])

    def begin(self) -> None:
        """Touch the box, which asks for the model, and wait until it is there."""
        self.panel.get_by_label(BOX, exact=True).focus()
        expect(self.panel).to_have_attribute("data-ready", "")

    def go(self, move: State) -> None:
        self.state = replace(move, text=self.type(BOX, move.text))
        if self.panel.locator(".cw-results").is_hidden():
            return
        self.panel.locator("details").evaluate_all("folds => folds.forEach(fold => { fold.open = true; })")
        self.choose("Camada", value=str(move.layer))
        self.choose("Cabeça", value=str(move.head))
        if move.gap:
            self.panel.get_by_role("button", name=f"lacuna {move.gap + 1}", exact=True).click()

    def wanted(self) -> dict[str, Any]:
        try:
            lib = shown(*astuple(self.state))
        except Refused as refused:
            return {"message": str(refused), "hint": " ".join(refused.hints), "visible": False}
        facts = Said(
            *("Entropia do posterior exato: ", lib.exact_entropy, " nats. "),
            *("KL(exato ‖ modelo): ", lib.divergence, " nats."),
            **TIES,
        )
        columns = [lib.model] if lib.exact is None else [lib.model, lib.exact]
        told = ["O modelo: “", *best(lib.rows, lib.model), "%. "]
        told += [NEVER] if lib.exact is None else ["A resposta exata: “", *best(lib.rows, lib.exact), "%."]
        return {
            "message": "",
            "hint": "",
            "visible": True,
            "tokens": lib.tokens,
            "rows": [self.row(lib, i) for i in lib.rows],
            "bars": pytest.approx([column[i].item() for i in lib.rows for column in columns], abs=1e-6),
            "said": Said(*told, **TIES),
            "facts": "" if lib.exact is None else facts,
            "looked": [f"lacuna {min(self.state.gap, len(lib.gaps) - 1) + 1}"],
            "weights": said(100 * lib.weights, **TIES),
            "shades": pytest.approx(lib.weights.flatten().tolist(), abs=1e-3),
        }

    def row(self, lib: Shown, i: int) -> list:
        model, exact = 100 * lib.model[i].item(), None if lib.exact is None else 100 * lib.exact[i].item()
        return [i, PORTUGUESE.vocabulary[i], Said(model, **TIES), Said(exact, **TIES)]


def best(rows: Sequence[int], share: Tensor) -> list[str | float]:
    """The likeliest word, of equal ones the first that is shown, and its share in percent."""
    first = next(i for i in rows if share[i] > share[[*rows]].max() - EQUAL)
    return [f"{PORTUGUESE.vocabulary[first]}”, ", 100 * share[first].item()]


LAYERS, HEADS = 2, 4
IMPOSSIBLE = "a rede rede [MASK] a Pedro"


def sentences(count, seed, gaps=(1, 2, 3)):
    """Sentences of the grammar with one to three words hidden."""
    rng = random.Random(seed)
    for row in sample(PORTUGUESE, count, seed).ids:
        words = PORTUGUESE.decode(row)
        for place in rng.sample(range(len(words)), min(rng.choice(gaps), len(words))):
            words[place] = "[MASK]"
        yield " ".join(words)


def moves():
    rng = random.Random(1)
    texts = [*EXAMPLES, IMPOSSIBLE, "PEDRO consertou A [mask], hoje... cedo!", *sentences(20, seed=1)]
    for text in texts:
        gap = rng.randrange(max(1, text.count("[MASK]")))
        yield State(text, gap, rng.randint(1, LAYERS), rng.randint(1, HEADS))


def hostile():
    texts = [*HOSTILE, *(f"[MASK] {text}" for text in HOSTILE[:6])]
    return page_model(), [*map(State, texts), State(EXAMPLES[1])]


def tour(stored):
    texts = ["a moça [MASK] o [MASK]", *sentences(2, seed=23), IMPOSSIBLE, EXAMPLES[1]]
    for k, text in enumerate(texts):
        yield State(text, text.count("[MASK]") - 1, 1 + k % 2, 1 + k % 4)


CASE = Case(
    page=ModelPage,
    make=page_model,
    starts=lambda: [(page_model(), State(EXAMPLES[0])), (page_model([EXAMPLES[2]]), State(EXAMPLES[2]))],
    moves=moves,
    tour=tour,
    pair=lambda: (page_model(), page_model()),
    used=(State(EXAMPLES[3], 1, 2, 4), State("o gato [MASK]")),
    stops=["a", "goleira"],
    keys=[
        ("Enter", State("a [MASK] sujou a [MASK] nova à noite")),
        *[("Tab", None)] * 3,
        ("Space", State("a [MASK] sujou a [MASK] nova à noite", 1)),
        *[("Tab", None)] * 4,
        ("Enter", State("a [MASK] sujou a bola nova à noite")),
        *[("Tab", None)] * 13,
        ("ControlOrMeta+a", None),
        ("a goleira [MASK] a [MASK]", State("a goleira [MASK] a [MASK]")),
    ],
    change="""(panel, k) => {
      const box = panel.querySelector("input[type=text]");
      box.dispatchEvent(new Event("focusin", { bubbles: true }));  // asks for the model
      box.value = k % 2 ? "Pedro consertou a [MASK]" : "o pescador puxou a [MASK]";
      box.dispatchEvent(new Event("input"));
    }""",
    leaves=150,
    listeners=2,  # one of them for the answer of a kernel
    refusals=[
        (lambda: page_model("a [MASK]"), "examples must be a sequence of at least one sentence"),
        (lambda: page_model([]), "examples must be a sequence of at least one sentence"),
        (lambda: shown(EXAMPLES[0], 1, 1, 1), "gap must lie between 0 and 0, got 1"),
        (lambda: read(""), "Refused: Escreva uma frase"),
        (lambda: read(" .. ,"), "Refused: Escreva uma frase"),
        (lambda: read("o gato dorme"), "Refused: O modelo só conhece 640 palavras; estas não: gato dorme\\."),
        (lambda: read("a rede rasgou"), "Refused: A frase está completa"),
        (lambda: read("a [PAD] [MASK]"), r"Refused: .* estas não: \[PAD\]\."),
        (lambda: read("a " * 17), "Refused: A frase tem 17 palavras; o modelo lê no máximo 15"),
    ],
    hostile=hostile,
    mutations={
        "forget the segment": ('plus(row("token", id), row("segment", 0))', 'row("token", id)'),
        "shift the positions": ('row("position", position)', 'row("position", position + 1)'),
        "forget the scale": (" / Math.sqrt(size)", ""),
        "one head for all": ("part(query, h), part(key, h)", "part(query, 0), part(key, 0)"),
        "queries for keys": ('["W_Q", "W_K", "W_V"]', '["W_K", "W_Q", "W_V"]'),
        "values of the wrong head": ("Math.floor(c / size)", "c % this.heads"),
        "no residual": ("plus(row, attended.output[i])", "attended.output[i]"),
        "norms swapped": ("${block}.norm_1`, plus", "${block}.norm_2`, plus"),
        "no activation in the block": ("W_1`, row).map(gelu)", "W_1`, row)"),
        "no activation in the head": ('"head.W", hidden).map(gelu)', '"head.W", hidden)'),
        "sample variance": ("(v - mean) ** 2, 0) / x.length", "(v - mean) ** 2, 0) / (x.length - 1)"),
        "a wrong error function": ("0.3275911", "0.3975911"),
        "exponent off by one": ("2 ** (exponent - 15)", "2 ** (exponent - 14)"),
        "no subnormals": ("return sign * fraction * 2 ** -24;", "return 9;"),
        "no bias of the words": ("(b, id) => b + dot(t", "(b, id) => dot(t"),
        "one block only": ("layer < this.layers", "layer < 1"),
        "next layer": ('weights[this.model.get("layer") - 1]', 'weights.at(this.model.get("layer") - 2)'),
        "forget the end": ("let ahead = end;", "let ahead = end.map(() => 1);"),
        "posterior of the prefix": ("chance[a] * ahead[target[a]]", "chance[a]"),
        "do not normalise": ("return words.map((x) => x / scale)", "return words"),
        "no word alike": ("length(other) >= ALIKE", "length(other) > 99"),
        "posterior of the neighbour": ("posteriors?.[place - 1]", "posteriors?.[place]"),
        "reverse the divergence": ("Math.log(x / q[k])", "Math.log(q[k] / x)"),
        "bits for nats": ("sum - (x > 0 ? x * Math.log(x)", "sum - (x > 0 ? x * Math.log2(x)"),
        "bars of the others": ('("--cw-weight", p)', '("--cw-weight", 1 - p)'),
        "the first gap always": (
            'this.drawWords(gaps[clamp(this.model.get("gap"), gaps.length - 1)])',
            "this.drawWords(gaps[0])",
        ),
        "order by the model alone": ("Math.max(p, exact?.[i] ?? 0)", "p"),
    },
    # Whether the sentence may end after the gap decides what fits in the last one.
    telling=[
        State(EXAMPLES[3], 1, 2, 3),
        State("a moça procurou o banco [MASK]", 0, 1, 2),
        State("a costureirinha [MASK]"),
    ],
)
