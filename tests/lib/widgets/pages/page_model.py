"""The model in the page, on a page."""

import re
from dataclasses import dataclass, replace

import pytest

from lib.corpus import PORTUGUESE
from lib.widgets.page_model import PageModel, Refused, Shown, shown
from tests.lib.widgets.pages.base import WidgetPage, agrees, read_number, wrong_shades

BOX = "Frase com [MASK]"


@dataclass(frozen=True)
class State:
    """The sentence, the gap that is looked at, and the head whose attention is drawn."""

    text: str
    gap: int = 0
    layer: int = 1
    head: int = 1


class ModelPage(WidgetPage):
    """A sentence to type, and what the model and the exact posterior say of its gap."""

    widget, selector = PageModel, ".cw-panel:has(.cw-page-model)"
    READ = """{
      weights: square("td[data-i]"),
      tokens: texts(".cw-weights th[scope=row]"),
      rows: all("tr[data-word]",
        row => [Number(row.dataset.word), ...[...row.children].map(cell => cell.textContent)]),
      bars: all(".cw-bar", share),
      facts: text(".cw-facts"),
      message: text(".cw-refused"),
      visible: !panel.querySelector(".cw-results").hidden,
    }"""

    def first(self, stored) -> State:
        return State(stored["text"], stored["gap"], stored["layer"], stored["head"])

    def begin(self) -> None:
        """Ask for the model, and wait until it is there."""
        self.panel.get_by_role("button", name="Carregar o modelo").click()
        self.panel.locator(".cw-results").wait_for()

    def go(self, move: State) -> None:
        self.state = replace(move, text=self.type(BOX, move.text))
        self.slide("Camada", str(move.layer))
        self.slide("Cabeça", str(move.head))
        if move.gap:
            self.choose("Lacuna", index=move.gap)

    def expected(self) -> Shown:
        return shown(self.state.text, self.state.gap, self.state.layer, self.state.head)

    def wrong(self) -> list[str]:
        page, found = self.read(), []
        try:
            expected = self.expected()
        except Refused as refused:
            said = page["message"] == str(refused) and not page["visible"]
            return [] if said else [f"refused: page {page['message']}, lib {refused}"]
        if not page["visible"] or page["message"] or page["tokens"] != expected.tokens:
            return [f"tokens: page {page['tokens']} {page['message']}, lib {expected.tokens}"]
        if [row[0] for row in page["rows"]] != expected.rows:
            return [f"rows: page {page['rows']}, lib {expected.rows}"]
        for i, word, logit, model, exact in page["rows"]:
            values = (expected.logits[i].item(), 100 * expected.model[i].item())
            share = None if expected.exact is None else 100 * expected.exact[i].item()
            if word != PORTUGUESE.vocabulary[i] or abs(read_number(logit) - values[0]) > 1e-3:
                found.append(f"logit of {word}: page {logit}, lib {values[0]}")
            if not close(model, values[1]) or not close(exact, share):
                found.append(f"{word}: page {model} {exact}, lib {values[1]} {share}")
        found += [
            f"weight {i},{j}: page {text}, lib {100 * expected.weights[i, j]}"
            for i, row in enumerate(page["weights"])
            for j, text in enumerate(row)
            if not close(text, 100 * expected.weights[i, j].item())
        ]
        numbers = re.findall(r"(\S+,\d{3}) nats", page["facts"])
        wanted = [] if expected.exact is None else [expected.exact_entropy, expected.divergence]
        if len(numbers) != len(wanted) or not all(map(close, numbers, wanted)):
            found.append(f"facts: page {page['facts']}, lib {wanted}")
        columns = [expected.model, *([] if expected.exact is None else [expected.exact])]
        bars = [column[i].item() for i in expected.rows for column in columns]
        if page["bars"] != pytest.approx(bars, abs=1e-6):
            found.append(f"bars: page {page['bars']}, lib {bars}")
        return found + wrong_shades(self.panel, expected.weights)


def close(text: str, value: float | None) -> bool:
    """`text` is `value` rounded as shown, but for ties: the page's error function is 1e-7 away."""
    return agrees(text, value) or (value is not None and any(agrees(text, value + e) for e in (-1e-4, 1e-4)))
