"""The mask explorer on a page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from lib.widgets.mask_explorer import KINDS, PADDED, MaskExplorer, Shown, shown
from tests.lib.widgets.pages.base import WidgetPage, disagreeing


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

    widget, selector = MaskExplorer, ".cw-panel:has(.cw-mask)"
    READ = """{
      scores: square("td[data-grid=score]"),
      weights: square("td[data-grid=weight]"),
      tokens: texts("table[role=grid] th[scope=row]"),
      columns: texts("table[role=grid] th[scope=col]"),
      chosen: all("td[tabindex='0']", cell => [Number(cell.dataset.i), Number(cell.dataset.j)]),
      shades: all("td[data-grid=weight]", share),
      sums: texts("td[data-sum]"),
      facts: text(".cw-facts"),
    }"""
    READ_STEPS = """panel => [...panel.querySelectorAll("td[data-grid=weight]")].map(cell => {
      cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
      return {
        title: panel.querySelector(".cw-steps-title").textContent,
        steps: Object.fromEntries([...panel.querySelectorAll("[data-step]")].map(
          step => [step.dataset.step, step.querySelector("dd").textContent])),
      };
    })"""

    def first(self, stored) -> State:
        return State(
            stored["kinds"][stored["kind_index"]],
            stored["temperatures"][stored["temperature_index"]],
            stored["d_k_choices"][stored["d_k_index"]],
            stored["real_tokens"],
            tuple(stored["cell"]),
        )

    def go(self, move: State) -> None:
        self.choose("Máscara", label=KINDS[move.kind])
        self.slide("Temperatura T", f"{move.temperature:g}".replace(".", ","))
        self.slide("Dimensão dₖ", str(move.d_k))
        if move.kind in PADDED:
            self.slide("Tokens reais", str(move.real_tokens))
        if move.cell:
            self.cell(*move.cell).click()
        self.state = replace(move, cell=move.cell or self.state.cell)

    def cell(self, i: int, j: int):
        """A cell of the table of weights."""
        return self.panel.locator(f"td[data-grid=weight][data-i='{i}'][data-j='{j}']")

    def expected(self) -> Shown:
        at = self.state
        return shown(self.stored["scores"], at.kind, at.d_k, at.temperature, at.real_tokens)

    def read_steps(self) -> list[dict]:
        """The title and the arithmetic of each cell, row by row, with the pointer over it."""
        return self.panel.evaluate(self.READ_STEPS)

    def wrong(self) -> list[str]:
        page, expected = self.read(), self.expected()
        empty = expected.empty_rows
        pairs = [("facts", text, value) for text, value in _facts(page["facts"], expected)]
        for i, (scores, weights) in enumerate(zip(page["scores"], page["weights"], strict=True)):
            pairs += [(f"sum {i}", page["sums"][i], None if i in empty else expected.row_sums[i].item())]
            for j, (score, weight) in enumerate(zip(scores, weights, strict=True)):
                pairs += [(f"score {i},{j}", score, expected.entering[i, j].item())]
                pairs += [(f"weight {i},{j}", weight, None if i in empty else expected.weights[i, j].item())]
        found = disagreeing(pairs)
        lines = ", ".join(str(i + 1) for i in empty)
        nothing = lines and f"Linha {lines}: nada a atender (—); todos os escores da linha são −∞"
        if page["shades"] != pytest.approx(expected.weights.flatten().tolist(), abs=1e-9):
            found.append(f"shades: page {page['shades']}, lib {expected.weights}")
        if ("nada a atender" in page["facts"]) != bool(empty) or nothing not in page["facts"]:
            found.append(f"facts: page {page['facts']}, lib {nothing}")
        if page["tokens"] != self.tokens() or page["columns"] != [*self.tokens(), "soma"]:
            found.append(f"tokens: page {page['tokens']} {page['columns']}, lib {self.tokens()}")
        if page["chosen"] != [list(self.state.cell)]:
            found.append(f"chosen: page {page['chosen']}, asked for {self.state.cell}")
        return found

    def tokens(self) -> list[str]:
        """The tokens, with [PAD] after the real ones where the mask is for padding."""
        tokens, real = self.stored["tokens"], self.state.real_tokens
        return [*tokens[:real], *["[PAD]"] * (len(tokens) - real)] if self.state.kind in PADDED else tokens


def _facts(sentence: str, expected: Shown) -> Iterator[tuple[str, float]]:
    number = r"(\S*[\d∞?])"
    found = re.match(rf"Maior peso no futuro: {number}\. Soma das linhas: de {number} a {number}\.", sentence)
    sums = [s for i, s in enumerate(expected.row_sums.tolist()) if i not in expected.empty_rows]
    values = [expected.largest_future_weight, min(sums), max(sums)]
    yield from zip(found.groups() if found else [sentence] * 3, values, strict=True)
