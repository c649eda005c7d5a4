"""WordPiece step by step, on a page."""

import functools
from dataclasses import dataclass, replace

from lib.tokenizer import Tokenizer
from lib.widgets.wordpiece_steps import MAX_WORDS, Shown, WordPieceSteps, shown, words_of
from tests.lib.widgets.pages.base import WidgetPage


@dataclass(frozen=True)
class State:
    """The number of the tokenizer, the text, the word that is followed, and the step: 0 is after all."""

    reader: int
    text: str
    word: int = 0
    step: int = 0


class WordPiecePage(WidgetPage):
    """A text to type, its tokens, and every look into the vocabulary for one word."""

    widget, selector = WordPieceSteps, ".cw-panel:has(.cw-wordpiece)"
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
        if move.step:
            self.panel.locator("input[type=range]").evaluate(self.SET_STEP, move.step)

    def tokenizer(self) -> Tokenizer:
        """The chosen tokenizer, made from what the page carries of it."""
        reader = self.stored["readers"][self.state.reader]
        return tokenizer_of(tuple(reader["vocabulary"]), reader["lowercase"], reader["strip_accents"])

    def expected(self) -> Shown:
        at = self.state
        return shown(at.text, self.tokenizer(), at.word, at.step)

    def wrong(self) -> list[str]:
        page, count = self.read(), len(words_of(self.state.text, self.tokenizer()))
        if not 1 <= count <= MAX_WORDS:
            message = f"São {count} palavras" if count else "Escreva pelo menos uma"
            refused = page["message"].startswith(message) and page["tokens"] == page["words"] == []
            return [] if refused else [f"refused: page {page}, lib {message}"]
        expected, chosen = self.expected(), self.state.word
        wanted = {"message": "", "words": expected.words, "tokens": expected.tokens}
        wanted |= {"ids": expected.ids, "chosen": chosen}
        steps, word = expected.pieces.steps, expected.words[chosen]
        if steps:
            look = steps[expected.step - 1]
            wanted["place"] = [word[: look.start], word[look.start : look.stop], word[look.stop :]]
            wanted["said"] = f"passo {expected.step} de {len(steps)}"
            wanted["attempts"] = [[taken.piece, "✓" if taken.found else "✗"] for taken in expected.attempts]
        found = [f"{name}: page {page[name]}, lib {x}" for name, x in wanted.items() if page[name] != x]
        if steps and expected.step == len(steps):
            looks, pieces = f"após {len(steps)} consulta", " ".join(expected.pieces.tokens)
            right = looks in page["verdict"] and pieces in page["verdict"]
        elif steps:
            pieces = f"Pedaços até aqui: {' '.join(expected.found)}."
            right = page["verdict"] == (pieces if expected.found else "Nenhum pedaço ainda.")
        else:
            right = expected.pieces.tokens[0] in page["verdict"]
        return found if right else [*found, f"verdict: page {page['verdict']}, lib {expected.pieces}"]


@functools.cache
def tokenizer_of(vocabulary: tuple[str, ...], lowercase: bool, strip_accents: bool) -> Tokenizer:
    return Tokenizer(list(vocabulary), lowercase=lowercase, strip_accents=strip_accents)
