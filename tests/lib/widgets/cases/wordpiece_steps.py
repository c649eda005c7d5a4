"""WordPiece step by step: its page object, and what all widgets are tested with."""

import functools
import itertools
import random
from dataclasses import dataclass, replace
from typing import Any

from lib.corpus.porttinari import corpus_path, read_conllu
from lib.tokenizer import Tokenizer
from lib.vocabulary import SPECIAL_TOKENS
from lib.widgets.wordpiece_steps import (
    MAX_WORDS,
    UNTOLD,
    Shown,
    WordPieceSteps,
    shown,
    wordpiece_steps,
    words_of,
)
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import WidgetPage
from tests.lib.widgets.shared import HOSTILE


@dataclass(frozen=True)
class State:
    """The number of the tokenizer, the text, the word that is followed, and the step: 0 is after all."""

    reader: int
    text: str
    word: int = 0
    step: int = 0


class WordPiecePage(WidgetPage):
    """A text to type, its tokens, and every look into the vocabulary for one word."""

    widget, selector = WordPieceSteps, ".cw-panel:has(.cw.cw-wordpiece)"
    READ = """{
      message: text(".cw-refused"),
      words: texts("[data-word]"),
      tokens: texts("[data-token]"),
      ids: texts(".cw-tokens small").map(Number),
      chosen: all("[data-word]", button => button.ariaPressed).indexOf("true"),
      place: texts(".cw-place span"),
      said: panel.querySelector("input[type=range]").ariaValueText,
      attempts: all(".cw-attempts li", li => all("[data-piece], .cw-symbol", e => e.textContent, li)),
      verdict: text(".cw-verdict"),
    }"""
    SET_STEP = "(input, step) => { input.value = step; input.dispatchEvent(new Event('input')); }"

    def first(self, stored) -> State:
        return State(stored["reader_index"], stored["text"], stored["word"], stored["step"])

    def go(self, move: State) -> None:
        self.choose("Vocabulário", index=move.reader)
        self.state = replace(move, text=self.type("Texto", move.text))
        if move.word:
            self.panel.locator("[data-word]").nth(move.word).click()
            self.state = replace(self.state, step=1)
        if move.step:
            self.state = move
            self.panel.locator("input[type=range]").evaluate(self.SET_STEP, move.step)

    def tokenizer(self) -> Tokenizer:
        """The chosen tokenizer, made from what the page carries of it."""
        reader = self.stored["readers"][self.state.reader]
        return tokenizer_of(tuple(reader["vocabulary"]), reader["lowercase"], reader["strip_accents"])

    def expected(self) -> Shown:
        at = self.state
        last = len(shown(at.text, self.tokenizer(), at.word).pieces.steps)
        return shown(at.text, self.tokenizer(), at.word, min(at.step, last))

    def wanted(self) -> dict[str, Any]:
        count = len(words_of(self.state.text, self.tokenizer()))
        if not 1 <= count <= MAX_WORDS:
            most = f"São {count} palavras; aqui cabem no máximo {MAX_WORDS}. Encurte o texto."
            message = most if count else "Escreva pelo menos uma palavra."
            return {"message": message, "tokens": [], "words": []}
        lib, chosen = self.expected(), self.state.word
        wanted = {"message": "", "words": lib.words, "tokens": lib.told, "chosen": chosen}
        vocabulary = self.tokenizer().vocabulary
        wanted["ids"] = [vocabulary.id_of(token) for token in lib.told if token != UNTOLD]
        wanted["verdict"] = verdict(lib, lib.words[chosen])
        if steps := lib.pieces.steps:
            look, word = steps[lib.step - 1], lib.words[chosen]
            wanted["place"] = [word[: look.start], word[look.start : look.stop], word[look.stop :]]
            wanted["said"] = f"passo {lib.step} de {len(steps)}"
            wanted["attempts"] = [[taken.piece, "✓" if taken.found else "✗"] for taken in lib.attempts]
        return wanted


def verdict(lib: Shown, word: str) -> str:
    n, tokens = len(lib.pieces.steps), lib.pieces.tokens
    looks = f"após {n} {'consulta' if n == 1 else 'consultas'} ao vocabulário"
    if word in SPECIAL_TOKENS:
        return f"{word} é um token especial: não passa pela busca."
    if not n:
        return "Mais de 100 caracteres: vira [UNK] sem busca."
    if lib.step < n:
        return f"Pedaços até aqui: {' '.join(lib.found)}." if lib.found else "Nenhum pedaço ainda."
    if tokens == ["[UNK]"]:
        return f"Nada serve daqui em diante: a palavra inteira vira [UNK], {looks}."
    return f"Pronto, {looks}: {' '.join(tokens)}."


@functools.cache
def tokenizer_of(vocabulary: tuple[str, ...], lowercase: bool, strip_accents: bool) -> Tokenizer:
    return Tokenizer(list(vocabulary), lowercase=lowercase, strip_accents=strip_accents)


TRAINING = [str(sentence) for sentence in itertools.islice(read_conllu(corpus_path()), 800)]
READERS = {
    "Com acentos": Tokenizer.train(TRAINING, 2000),
    "Sem acentos": Tokenizer.train(TRAINING, 1000, lowercase=True, strip_accents=True),
}
TOKENIZERS = list(READERS.values())
TEXTS = [
    "rapidamente",
    "Não, a avó e o avô não vão!",
    "O cãozinho LATE muito",
    "anticonstitucionalissimamente",
    "[CLS] o gato [MASK] na rede [SEP]",
    "e\u0301 pra\u00e7a prac\u0327a",
    "x" * 100,
    "x" * 101,
    "🙂 bom 日本 dia",
    "guarda-chuva d'água 3,14 R$10",
    "ΟΔΟΣ Straße İstanbul",
    "emoji👩‍👩‍👧 a\u00adb",
]


def steps(text=TEXTS[0]):
    return wordpiece_steps(READERS, text)


def moves():
    """Each text with each tokenizer: as it is typed, and at a random step of a random word."""
    rng = random.Random(2)
    for k, tokenizer in enumerate(TOKENIZERS):
        for text in TEXTS:
            yield State(k, text)
            word = rng.randrange(len(words_of(text, tokenizer)))
            last = len(shown(text, tokenizer, word).pieces.steps)
            yield State(k, text, word, rng.randint(1, last) if last else 0)


def hostile():
    texts = [*HOSTILE, '<img src=x onerror="a">', "<b>oi</b>"]
    return steps(), [State(0, text) for text in (*texts, TEXTS[1])]


def keyed(step):
    return State(0, "avó rapidamente", 1, step)


LAST = len(shown("rapidamente", TOKENIZERS[0]).pieces.steps)


def tour(stored):
    for k in range(len(stored["readers"])):
        yield State(k, "As avós não comeram <i>pão</i>", 2, 1)
        yield State(k, "gatinhos rapidamente", 1, 2)


CASE = Case(
    page=WordPiecePage,
    make=steps,
    starts=lambda: ((steps(text), State(0, text, 0, 1)) for text in TEXTS),
    moves=moves,
    tour=tour,
    pair=lambda: (steps(TEXTS[1]), steps(TEXTS[2])),
    used=(State(1, TEXTS[6], 0, 3), State(0, " ")),
    stops=["Vocabulário", "Texto", "rapidamente", "Passo anterior", "▶ Tocar"],
    keys=[
        *[("Shift+Tab", None)] * 3,
        ("ControlOrMeta+a", None),
        ("avó rapidamente", State(0, "avó rapidamente")),
        *[("Tab", None)] * 2,
        ("Enter", keyed(1)),
        *[("Tab", None)] * 3,
        ("Space", keyed(2)),
        ("ArrowRight", keyed(3)),
        ("ArrowLeft", keyed(2)),
        ("Tab", None),
        ("End", keyed(LAST)),
        ("Home", keyed(1)),
    ],
    change="""(panel, k) => {
      const [text, range] = panel.querySelectorAll(".cw input");
      const input = k % 2 ? range : text;
      input.value = k % 2 ? 1 + k % 5 : ["rapidamente", "avó e avô", "cãozinho"][k % 3];
      input.dispatchEvent(new Event("input"));
    }""",
    leaves=150,  # the attempts of earlier words left behind would be thousands
    listeners=2,
    refusals=[
        (lambda: wordpiece_steps({}), "TypeError: tokenizers must be a Tokenizer or a mapping"),
        (lambda: wordpiece_steps({"x": "y"}), "TypeError: tokenizers must be a Tokenizer or a mapping"),
        (lambda: steps(""), "text must hold 1 to 16 words, got 0"),
        (lambda: steps("a " * 17), "text must hold 1 to 16 words, got 17"),
        (lambda: shown("a", TOKENIZERS[0], word=1), r"word must lie in 0\.\.0, got 1"),
        (lambda: shown("a", TOKENIZERS[0], step=9), r"step must lie in 0\.\..*, got 9"),
    ],
    hostile=hostile,
    mutations={
        "shortest first": (
            "stop = characters.length; stop > start; stop--",
            "stop = start + 1; stop <= characters.length; stop++",
        ),
        "no mark of continuation": ('(start ? CONTINUES : "")', '""'),
        "mark the first piece too": ('(start ? CONTINUES : "")', "CONTINUES"),
        "skip a character": ("start = stop)", "start = stop + 1)"),
        "keep the pieces before [UNK]": ("[UNKNOWN], steps }", "[...tokens, UNKNOWN], steps }"),
        "no longest word": ("characters.length > longestWord", "characters.length > 1000"),
        "off by one at the longest word": ("> longestWord", ">= longestWord"),
        "keep the accents": ("if (stripAccents)", "if (false)"),
        "strip every accent": ("if (stripAccents)", "if (true)"),
        "keep the case": ("return lowercase ?", "return false ?"),
        "lower every case": ("return lowercase ?", "return true ?"),
        "no NFC": ('nfc ? text.normalize("NFC") : text', "text"),
        "final sigma": ('[...clean].map((c) => c.toLowerCase()).join("")', "clean.toLowerCase()"),
        "punctuation sticks": (".flatMap((word) => word.split(PUNCTUATION))", ""),
        "cut special tokens": ("if (SPECIAL.includes(part)) return [part];", ""),
        "ideographs stick": ('" $& "', '"$&"'),
        "UTF-16 units": ("const characters = [...word]; if", 'const characters = word.split(""); if'),
        "numbers from one": ("[token, id])", "[token, id + 1])"),
        "attempts of every place": ("({ start }) => start === steps[step - 1].start", "() => true"),
        "tell all tokens": ("k === chosen && step < steps.length", "false"),
        "the step before": ("const look = steps[step - 1];", "const look = steps[step - 2];"),
    },
    telling=[*(State(k, text) for k in range(len(READERS)) for text in TEXTS), State(0, TEXTS[0], 0, 2)],
)
