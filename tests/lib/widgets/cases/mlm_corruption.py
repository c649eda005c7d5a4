"""The corruption of masked language modelling: its page object, and what all widgets are tested with."""

import random
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator

from lib.widgets.mlm_corruption import MAX_WORDS, PERCENTAGES, MLMCorruption, mlm_corruption, shown, words_of
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import Said, WidgetPage
from tests.lib.widgets.shared import HOSTILE


@dataclass(frozen=True)
class State:
    """The sentence, the positions of the sliders in percent, and how many times was drawn."""

    text: str
    rate: int = 15
    mask: int = 80
    random: int = 10
    draws: int = 1


class CorruptionPage(WidgetPage):
    """A sentence to type, three shares, and buttons that draw."""

    widget, selector = MLMCorruption, ".cw-panel:has(.cw.cw-mlm)"
    READ = """{
      cards: all(".cw-tokens li", li => ({ fate: li.dataset.fate, ...byName("part", undefined, li) })),
      loss: text(".cw-loss"),
      rows: byName("row", row => all("td", td => td.textContent, row)),
      count: text(".cw-count"),
      message: text(".cw-refused"),
    }"""

    def first(self, stored) -> State:
        shares = (stored["percentages"][stored[f"{name}_index"]] for name in ("rate", "mask", "random"))
        return State(stored["text"], *shares, stored["draws"])

    def go(self, move: State) -> None:
        self.type("Frase", move.text)
        self.slide("Selecionar", f"{move.rate}%")
        self.slide("Vira [MASK]", f"{move.mask}%")
        self.slide("Vira outra", f"{move.random}%")
        restart = self.button("Zerar a contagem")
        if restart.is_enabled():
            restart.click()
        press(self.button("Sortear 100 vezes"), move.draws // 100)
        press(self.button("Sortear de novo"), move.draws % 100 - 1)
        self.state = move

    def button(self, name: str) -> Locator:
        return self.panel.get_by_role("button", name=name)

    def wanted(self) -> dict[str, Any]:
        at, count, first_seed = self.state, len(words_of(self.state.text)), self.stored["first_seed"]
        if not 1 <= count <= MAX_WORDS:
            most = f"São {count} palavras; aqui cabem no máximo {MAX_WORDS}. Encurte a frase."
            return {"cards": [], "message": most if count else "Escreva pelo menos uma palavra."}
        shares = (at.rate, at.mask, at.random)
        lib = shown(at.text, self.stored["vocabulary"], *shares, first_seed, at.draws)
        n, counted = len(lib.tokens), ", ".join(map(str, lib.counted))
        loss = f"Contam na perda {len(lib.counted)} de {n} posições: {counted}."
        if not counted:
            loss = f"Nenhuma das {n} posições conta: não há perda a calcular neste sorteio."
        tallies = {name: getattr(lib, name) for name in ("selected", "masked", "swapped", "same")}
        return {
            "cards": list(map(card, lib.tokens, lib.seen, lib.labels)),
            "loss": f"{loss} Semente {first_seed + at.draws - 1}.",
            "rows": {
                name: [f"{tally.times} de {tally.among}", Said(tally.frequency), Said(tally.expected)]
                for name, tally in tallies.items()
            },
            "message": "",
        }


def card(token: str, seen: str, label: str | None) -> dict[str, str]:
    """A token, what the model sees of it and must predict; its fate is told in words, not by colour alone."""
    fate, mark = "none", "não selecionada"
    if label is not None and seen == "[MASK]":
        fate, mark = "masked", "■ virou [MASK]"
    elif label is not None:
        fate, mark = ("same", "= ficou como era") if seen == token else ("swapped", "⇄ virou outra palavra")
    return {"original": token, "seen": seen, "label": label or "−100", "fate": fate, "mark": mark}


def press(button: Locator, times: int) -> None:
    """Press a button once as a person does, and then on by script: a pointer takes its time."""
    if times > 0:
        button.click()
    if times > 1:
        button.evaluate("(button, times) => { while (times--) button.click() }", times - 1)


VOCABULARY = ["o", "gato", "banco", "rede", "manga", "vela", "dorme"]
SENTENCES = [
    "A menina viu o banco da praça e sentou.",
    "O gato dorme na rede, e o cachorro late!",
    "gato",
    "gato gato gato gato gato gato gato gato",
    "o [MASK] dorme [PAD] agora",
    "palavra " * MAX_WORDS,
]


def corruption(text=SENTENCES[0], seed=0, **options):
    return mlm_corruption(text, VOCABULARY, seed=seed, **options)


def starts():
    yield corruption(rate=40, mask=50, random=50, seed=77), State(SENTENCES[0], 40, 50, 50)
    yield corruption(rate=100, seed=2**31 - 1), State(SENTENCES[0], 100)
    yield corruption(), State(SENTENCES[0])


def moves():
    rng = random.Random(1)
    yield from (State(SENTENCES[0], *shares) for shares in ((0, 80, 10), (100, 0, 0), (100, 100, 0)))
    yield State(SENTENCES[3], 100, 0, 100, 3)
    yield State(SENTENCES[4], 50, 80, 10, 201)
    for _ in range(19):
        mask = rng.choice(PERCENTAGES)
        other = rng.choice([p for p in PERCENTAGES if p <= 100 - mask])
        draws = rng.choice([1, 1, 2, 3, 101, 402])
        yield State(rng.choice(SENTENCES), rng.choice(PERCENTAGES), mask, other, draws)


def hostile():
    texts = [State(text, 100, 0, 0) for text in HOSTILE]
    return corruption(rate=100, mask=0, random=0), [*texts, State(SENTENCES[0])]


def tour(stored):
    yield State(stored["text"], 100, 0, 100, 2)
    yield State("A avó comprou <b>manga</b> 🙂 na feira!", 50, 80, 10, 101)
    yield State("ontem", 15, 80, 0, 3)


CASE = Case(
    page=CorruptionPage,
    make=corruption,
    starts=starts,
    moves=moves,
    tour=tour,
    pair=lambda: (corruption(), corruption(rate=60)),
    used=(State(SENTENCES[1], 60, 40, 40, 102), State("")),
    stops=["Selecionar", "Vira [MASK]", "Vira outra", "Frase", "Sortear de novo", "Sortear 100 vezes"],
    keys=[
        ("Space", State(SENTENCES[0], draws=101)),
        ("Shift+Tab", None),
        ("Enter", State(SENTENCES[0], draws=102)),
        ("Shift+Tab", None),
        ("ControlOrMeta+a", None),
        ("O banco fechou", State("O banco fechou")),
    ],
    change="""(panel, k) => {
      const input = panel.querySelector("input[type=text]");
      if (k % 2) return panel.querySelector("[data-draw='1']").click();
      input.value = "o gato dorme " + "muito ".repeat(k % 8 / 2);
      input.dispatchEvent(new Event("input"));
    }""",
    leaves=60,  # cards of earlier sentences left behind would be thousands
    listeners=4,
    refusals=[
        (lambda: mlm_corruption(""), "text must hold 1 to 48 words, got 0"),
        (lambda: mlm_corruption("a " * 49), "text must hold 1 to 48 words, got 49"),
        (lambda: mlm_corruption(rate=15.5), "rate must be a percentage in steps of 5, 0 to 100, got 15.5"),
        (lambda: mlm_corruption(mask=120), "mask must be a percentage"),
        (lambda: mlm_corruption(mask=80, random=25), r"mask \+ random must be at most 100, got 80 \+ 25"),
        (lambda: mlm_corruption(seed=-1), "seed must be an integer from 0 to 2147483647, got -1"),
        (lambda: mlm_corruption(vocabulary=["a", ""]), "TypeError: vocabulary must hold non-empty strings"),
        (lambda: shown("gato", VOCABULARY, 15, 80, 10, 0, 0), "draws must lie in 1.*, got 0"),
        (lambda: shown("gato", VOCABULARY, 15, 80, 10, 0, 1001), "draws must lie in 1.*, got 1001"),
    ],
    hostile=hostile,
    mutations={
        "select the others": ("selects[i] >= rate", "selects[i] < rate"),
        "corrupt special tokens": ("SPECIAL.includes(token) || selects", "selects"),
        "swap [MASK] and the rest": ("decides[i] < mask ?", "decides[i] >= mask ?"),
        "draw twice, 81/10/9": ("decides[i] < 1 - keep", "random.uniform() < 1 - keep"),
        "keep what should be random": ("decides[i] < 1 - keep ?", "decides[i] < mask ?"),
        "never draw the last word": ("random.below(words.length)", "random.below(words.length - 1)"),
        "another multiplier": ("1812433253", "1812433254"),
        "no tempering": ("return (y ^ (y >>> 18)) >>> 0;", "return y >>> 0;"),
        "52 bits": ("0x1fffff", "0xfffff"),
        "label everywhere": ("fate ? token : IGNORED", "token"),
        "label what is seen": ("fate ? token : IGNORED", "fate ? seen : IGNORED"),
        "forget that chance may keep": ("shares.keep + byChance", "shares.keep"),
        "expect the random share whole": ("Math.max(0, shares.random - byChance)", "shares.random"),
        "divide by all tokens": ('name === "selected" ? among : times.selected', "among"),
        "count [CLS] and [SEP]": (".filter((token) => !SPECIAL.includes(token)).length", ".length"),
        "count the last draw only": ('k = model.get("first_seed"); k <= seed', "k = seed; k <= seed"),
        "positions from one": ("(fate ? [i] : [])", "(fate ? [i + 1] : [])"),
        "say the next seed": ("Semente ${seed}", "Semente ${seed + 1}"),
        "lose the reader's words": ('[...model.get("vocabulary"), ...sentence]', 'model.get("vocabulary")'),
    },
    telling=[State("Vovô viu a uva e o gato dorme", 60, 30, 40, 103), State("o gato dorme")],
)
