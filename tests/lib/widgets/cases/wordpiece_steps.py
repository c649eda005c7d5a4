"""WordPiece step by step, among all widgets."""

import random

from lib.corpus import porttinari
from lib.tokenizer import Tokenizer
from lib.widgets.wordpiece_steps import shown, wordpiece_steps, words_of
from tests.lib.widgets.cases.case import Case, Hostile
from tests.lib.widgets.pages.wordpiece_steps import State, WordPiecePage
from tests.lib.widgets.shared import HOSTILE

TRAINING = [str(sentence) for sentence in porttinari.load("dev")]
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
    return Hostile(steps(), [State(0, text) for text in texts], State(0, TEXTS[1]))


def keyed(step):
    return State(0, "avó rapidamente", 1, step)


LAST = len(shown("rapidamente", TOKENIZERS[0]).pieces.steps)


def tour(stored):
    for k in range(len(stored["readers"])):
        yield State(k, "As avós não comeram <i>pão</i>", 2, 1)
        yield State(k, "gatinhos rapidamente", 1, 2)


MUTATIONS = {
    "shortest first": (
        "stop = characters.length; stop > start; stop--",
        "stop = start + 1; stop <= characters.length; stop++",
    ),
    "no mark of continuation": ('(start ? CONTINUES : "")', '""'),
    "mark the first piece too": ('(start ? CONTINUES : "")', "CONTINUES"),
    "skip a character": ("start = stop)", "start = stop + 1)"),
    "keep the pieces before [UNK]": (
        "return { tokens: [UNKNOWN], steps };",
        "return { tokens: [...tokens, UNKNOWN], steps };",
    ),
    "no longest word": ("characters.length > longestWord", "characters.length > 1000"),
    "off by one at the longest word": ("characters.length > longestWord", "characters.length >= longestWord"),
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
    "the step before": ("const look = steps[step - 1];", "const look = steps[step - 2];"),
}

CASE = Case(
    name="wordpiece_steps",
    page=WordPiecePage,
    make=steps,
    starts=lambda: ((steps(text), State(0, text)) for text in TEXTS),
    moves=moves,
    tour=tour,
    pair=lambda: (steps(TEXTS[1]), steps(TEXTS[2])),
    used=(State(1, TEXTS[6], 0, 3), State(0, " ")),
    heard=State(0, "Não, a avó"),
    stops=["Vocabulário", "Texto", "rapidamente", "Passo anterior"],
    keys=[
        ("Shift+Tab", None),
        ("Shift+Tab", None),
        ("ControlOrMeta+a", None),
        ("avó rapidamente", State(0, "avó rapidamente")),
        ("Tab", None),
        ("Tab", None),
        ("Enter", keyed(0)),
        ("Tab", None),
        ("Space", keyed(LAST - 1)),
        ("Tab", None),
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
    mutations=MUTATIONS,
    telling=[State(k, text) for k in range(len(READERS)) for text in TEXTS],
)
