"""The space of senses on a page."""

import re
from dataclasses import dataclass

from lib.widgets.sense_space import SCALES, WORDS, SenseSpace, Shown, shown
from tests.lib.widgets.pages.base import WidgetPage, agrees, disagreeing

FACTS = re.compile(
    r"Cosseno médio: mesmo sentido (\S+), sentidos diferentes (\S+)\. Vizinho do mesmo sentido: (\d+) de 8\. "
    r"Anisotropia \(todos os tokens das frases\): (\S+)\."
)


@dataclass(frozen=True)
class State:
    """The number of the word, the layer, raw vectors or z-scores, and the chosen occurrence."""

    word: int
    layer: int
    scale: str
    chosen: int = 0


class SensePage(WidgetPage):
    """The occurrences of a word in a plane, with their neighbours."""

    widget, selector = SenseSpace, ".cw-panel:has(.cw-sense)"
    READ = """{
      rows: all("tr[data-row]", row => [...row.children].map(cell => cell.textContent)),
      points: all("[data-point]",
        point => [parseFloat(point.style.left), parseFloat(point.style.top), point.textContent]),
      pressed: all("button[aria-pressed=true]", button => Number(button.dataset.pick)),
      facts: text(".cw-facts"),
      list: text(".cw-list"),
    }"""

    def first(self, stored) -> State:
        scale = stored["scales"][stored["scale_index"]]
        return State(stored["word_index"], stored["layer"], scale, stored["chosen"])

    def go(self, move: State) -> None:
        self.choose("Palavra", label=WORDS[move.word].text)
        self.choose("Vetores", label=SCALES[move.scale])
        self.slide("Camada", str(move.layer))
        self.panel.locator(f"button[data-pick='{move.chosen}']").click()
        self.state = move

    def expected(self) -> Shown:
        return shown(self.state.word, self.state.layer, self.state.scale)

    def wrong(self) -> list[str]:
        page, expected, word = self.read(), self.expected(), self.stored["words"][self.state.word]
        labels, most, found, pairs = word["labels"], expected.plane.abs().max().item(), [], []
        # A sense is told by a mark and a word, never by a colour alone.
        for i, (sentence, sense, x, y, near) in enumerate(page["rows"]):
            mark = "●▲"[labels[i]]
            wanted = f"{i + 1}. {word['sentences'][i]}", f"{mark} {word['senses'][labels[i]]}"
            if (sentence, sense) != wanted:
                return [f"sentence {i}: page {sentence} {sense}"]
            at = expected.plane[i].tolist()
            pairs += [(f"x {i}", x, at[0]), (f"y {i}", y, at[1])]
            left, top, name = page["points"][i]
            away = abs(left - 50 - 44 * at[0] / most), abs(top - 50 + 44 * at[1] / most)
            if max(away) > 0.01 or name != f"{mark}{i + 1}":
                found.append(f"point {i}: page {left} {top} {name}, lib {at}")
            j = expected.neighbours(i)[0]
            number, cosine, verdict = re.fullmatch(r"(\d+) \((\S+)\) (✓|✗ outro sentido)", near).groups()
            pairs += [(f"cosine of {i}", cosine, expected.cosines[i, j].item())]
            if int(number) != j + 1 or (verdict == "✓") != (labels[i] == labels[j]):
                found.append(f"neighbour of {i}: page {near}, lib {j}")
        same, across, right, cone = FACTS.fullmatch(page["facts"]).groups()
        senses = expected.separation
        pairs += [("same", same, senses.same), ("across", across, senses.across)]
        pairs += [("anisotropy", cone, expected.anisotropy)]
        if int(right) != senses.neighbours:
            found.append(f"facts: page {page['facts']}, lib {senses}")
        return found + disagreeing(pairs) + self._wrong_list(page, expected)

    def _wrong_list(self, page: dict, expected: Shown) -> list[str]:
        chosen = self.state.chosen
        listed, order = re.findall(r"(\d+) \((\S+?)\)", page["list"]), expected.neighbours(chosen)
        named = page["list"].startswith(f"Vizinhos de {chosen + 1},") and page["pressed"] == [chosen]
        if not named or [int(j) - 1 for j, _ in listed] != order:
            return [f"list: page {page['list']} {page['pressed']}, lib {order}"]
        return [
            f"cosine {chosen},{j}: page {text}"
            for (_, text), j in zip(listed, order, strict=True)
            if not agrees(text, expected.cosines[chosen, j].item())
        ]
