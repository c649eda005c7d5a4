"""The attention of a real encoder on a page."""

import re
from dataclasses import dataclass

from lib.widgets.real_attention import MASKS, VIEWS, RealAttention, Shown, shown
from tests.lib.widgets.pages.base import WidgetPage, disagreeing, read_number, wrong_shades


@dataclass(frozen=True)
class State:
    """The number of the sentence, the mask, the head, how it is drawn, and the chosen cell."""

    sentence: int
    mask: str
    layer: int
    head: int
    view: str = "matriz"
    query: int = 1
    key: int = 0


class AttentionPage(WidgetPage):
    """The weights of one head, as a matrix or as lines."""

    widget, selector = RealAttention, ".cw-panel:has(.cw-real)"
    READ = """{
      weights: square("td[data-i]"),
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

    def wrong(self) -> list[str]:
        page, expected = self.read(), self.expected()
        i, j = self.state.query, self.state.key
        if page["headers"] != expected.tokens:
            return [f"tokens: page {page['headers']}, lib {expected.tokens}"]
        percent = (100 * expected.weights).tolist()
        pairs = [
            (f"weight {a},{b}", text, percent[a][b])
            for a, row in enumerate(page["weights"])
            for b, text in enumerate(row)
        ]
        pairs += [(f"line {k}", *pair) for k, pair in enumerate(zip(page["keys"], percent[i], strict=True))]
        values = dict(said(page["cell"]))
        for mask in MASKS:
            pairs += [(mask, values.get(mask, "?"), 100 * self.expected(mask).weights[i, j].item())]
        largest = [(f"({k + 1})", percent[i][k]) for k in expected.largest(i)]
        shown_largest = said(page["largest"])
        for (_, text), (at, value) in zip(shown_largest, largest, strict=False):
            pairs += [(f"largest {at}", text, value)]
        found = disagreeing(pairs)
        if [at for at, _ in shown_largest] != [at for at, _ in largest]:
            found.append(f"largest: page {page['largest']}, lib {largest}")
        if page["query"] != i:
            found.append(f"query: page {page['query']}, lib {i}")
        if f"“{expected.tokens[i]}” ({i + 1}) para “{expected.tokens[j]}” ({j + 1})" not in page["cell"]:
            found.append(f"cell: page {page['cell']}, lib {i}, {j}")
        # A mean of weights in thousandths: each is at most half a thousandth away.
        for name, text in page["shares"].items():
            if abs(read_number(text.removesuffix("%")) - 100 * expected.shares[name]) > 0.5 + 0.05 * 5:
                found.append(f"share {name}: page {text}, lib {expected.shares[name]}")
        if page["hidden"] != [view != self.state.view for view in VIEWS]:
            found.append(f"view: page hides {page['hidden']}, lib shows {self.state.view}")
        return found + wrong_shades(self.panel, expected.weights)


def said(text: str) -> list[tuple[str, str]]:
    """The numbers of "word (3) 12,3%" or "causal 12,3%", in order."""
    return re.findall(r"(\S+) (\d+,\d)%", text)
