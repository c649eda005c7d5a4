"""The corruption of masked language modelling on a page."""

from dataclasses import dataclass

from playwright.sync_api import Locator

from lib.widgets.mlm_corruption import MAX_WORDS, MLMCorruption, Shown, shown, words_of
from tests.lib.widgets.pages.base import WidgetPage, agrees


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

    widget, selector = MLMCorruption, ".cw-panel:has(.cw-mlm)"
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

    def expected(self) -> Shown:
        at, stored = self.state, self.stored
        shares = (at.rate, at.mask, at.random)
        return shown(at.text, stored["vocabulary"], *shares, stored["first_seed"], at.draws)

    def wrong(self) -> list[str]:
        page, words = self.read(), words_of(self.state.text)
        if not 1 <= len(words) <= MAX_WORDS:
            message = f"São {len(words)} palavras;" if words else "Escreva pelo menos uma palavra."
            refused = page["message"].startswith(message) and not page["cards"]
            return [] if refused else [f"refused: page {page}, lib {message}"]
        expected, found = self.expected(), []
        cards = [(card["original"], card["seen"], card["label"]) for card in page["cards"]]
        labels = [label or "−100" for label in expected.labels]
        if page["message"] or cards != list(zip(expected.tokens, expected.seen, labels, strict=True)):
            found.append(f"tokens: page {page['message']} {cards}, lib {expected}")
        counted = f"{len(expected.counted)} de {len(expected.tokens)} posições: "
        counted += ", ".join(map(str, expected.counted))
        loss = f"Contam na perda {counted}." if expected.counted else "Nenhuma das "
        seed = f"Semente {self.stored['first_seed'] + self.state.draws - 1}."
        if not page["loss"].startswith(loss) or not page["loss"].endswith(seed):
            found.append(f"loss: page {page['loss']}, lib {loss} {seed}")
        for name in ("selected", "masked", "swapped", "same"):
            tally, (times, seen, wanted) = getattr(expected, name), page["rows"][name]
            if times != f"{tally.times} de {tally.among}" or not agrees(seen, tally.frequency):
                found.append(f"{name}: page {times} {seen}, lib {tally}")
            if not agrees(wanted, tally.expected):
                found.append(f"{name}: page expects {wanted}, lib {tally.expected}")
        return found


def press(button: Locator, times: int) -> None:
    """Press a button once as a person does, and then on by script: a pointer takes its time."""
    if times > 0:
        button.click()
    if times > 1:
        button.evaluate("(button, times) => { while (times--) button.click() }", times - 1)
