"""The space of senses: its page object, and what all widgets are tested with."""

import random
from dataclasses import dataclass
from typing import Any

import pytest

from lib.widgets.sense_space import SCALES, WORDS, SenseSpace, sense_space, shown
from tests.lib.widgets.cases.case import Case
from tests.lib.widgets.cases.page import Said, WidgetPage


@dataclass(frozen=True)
class State:
    """The number of the word, the layer, raw vectors or z-scores, and the chosen occurrence."""

    word: int
    layer: int
    scale: str
    chosen: int = 0


class SensePage(WidgetPage):
    """The occurrences of a word in a plane, with their neighbours."""

    widget, selector = SenseSpace, ".cw-panel:has(.cw.cw-sense)"
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

    def wanted(self) -> dict[str, Any]:
        at, word, chosen = self.state, self.stored["words"][self.state.word], self.state.chosen
        lib = shown(at.word, at.layer, at.scale)
        senses, labels, plane = lib.separation, word["labels"], lib.plane.tolist()
        rows, points, most = [], [], lib.plane.abs().max().item()
        for i, (x, y) in enumerate(plane):
            mark = "●▲"[labels[i]]  # a sense is told by a mark and a word, never by a colour alone
            near = lib.neighbours(i)[0]
            verdict = "✓" if labels[near] == labels[i] else "✗ outro sentido"
            neighbour = Said(f"{near + 1} (", lib.cosines[i, near].item(), f") {verdict}")
            sense = f"{mark} {word['senses'][labels[i]]}"
            rows.append([f"{i + 1}. {word['sentences'][i]}", sense, Said(x), Said(y), neighbour])
            place = (pytest.approx(50 + 44 * part / most, abs=0.01) for part in (x, -y))
            points.append([*place, f"{mark}{i + 1}"])
        listed = [f"Vizinhos de {chosen + 1}, do mais próximo ao mais distante: "]
        for j in lib.neighbours(chosen):
            listed += [f"{j + 1} (", lib.cosines[chosen, j].item(), "), "]
        facts = ["Cosseno médio: mesmo sentido ", senses.same, ", sentidos diferentes ", senses.across]
        facts += [f". Vizinho do mesmo sentido: {senses.neighbours} de 8. "]
        facts += ["Anisotropia (todos os tokens das frases): ", lib.anisotropy, "."]
        return {
            "rows": rows,
            "points": points,
            "pressed": [chosen],
            "facts": Said(*facts),
            "list": Said(*listed[:-1], ")."),
        }


LAST = 6


def moves():
    """All 28 states, each with another occurrence chosen."""
    rng = random.Random(1)
    for word in range(len(WORDS)):
        for layer in range(LAST + 1):
            for scale in SCALES:
                yield State(word, layer, scale, rng.randrange(8))


def hostile():
    """Sentences and senses are the course's own; these are put in their place."""
    made = sense_space()
    text = '<img src=x onerror="window.attacked = true"></script><b>' + "longa" * 60
    made.widget.words = [
        {**word, "sentences": [text] * 8, "senses": [text, "👩‍👩‍👧‍👦"]} for word in made.widget.words
    ]
    return made, [State(0, LAST, "cru", 2), State(1, 3, "z")]


CASE = Case(
    page=SensePage,
    make=sense_space,
    starts=lambda: [(sense_space(word=1, layer=2, scale="z"), State(1, 2, "z"))],
    moves=moves,
    tour=lambda stored: random.Random(3).sample(list(moves()), 4),
    pair=lambda: (sense_space(), sense_space(word=1)),
    used=(State(1, 2, "z", 4), State(0, 5, "z", 7)),
    stops=["Palavra", "Camada", "Vetores", *(f"{i + 1}. {WORDS[0].sentences[i]}" for i in (0, 1))],
    keys=[("Enter", State(0, LAST, "cru", 1))],
    change="""(panel, k) => {
      const list = panel.querySelectorAll("select")[k % 3 ? 1 : 0];
      list.selectedIndex = 1 - list.selectedIndex;
      list.dispatchEvent(new Event("change", { bubbles: true }));
    }""",
    leaves=150,
    poke="(el, k) => el.querySelectorAll('button')[k + 2].click()",
    listeners=2,
    refusals=[
        (lambda: sense_space(word=2), "word must be an integer from 0 to 1, got 2"),
        (lambda: sense_space(layer=7), "layer must be an integer from 0 to 6, got 7"),
        (lambda: sense_space(layer=True), "layer must be an integer from 0 to 6, got True"),
        (lambda: sense_space(scale="y"), "scale must be one of cru, z, got 'y'"),
    ],
    hostile=hostile,
    mutations={
        "read the next layer": ("(layer * labels.length + i) * d,", "((layer + 1) * labels.length + i) * d,"),
        "forget the mean": ("(value - mu[k]) / sigma[k]", "value / sigma[k]"),
        "forget the deviation": ("(value - mu[k]) / sigma[k]", "value - mu[k]"),
        "never z-score": ('if (this.scale !== "z") return raw;', "return raw;"),
        "exponent off by one": ("2 ** (exponent - 15)", "2 ** (exponent - 14 - (exponent > 14))"),
        "dot for cosine": (" / (norms[i] * norms[j])", ""),
        "one norm": ("norms[i] * norms[j]", "norms[i] * norms[i]"),
        "do not centre": ("value - centre[k]", "value"),
        "free signs": ("x * Math.sign(largest)", "x * -Math.sign(largest)"),
        "rotate the wrong way": ("c * row[q] - s * row[p]", "c * row[q] + s * row[p]"),
        "smallest axes first": ("y.value - x.value", "x.value - y.value"),
        "nearest is itself": ("filter((j) => j !== i).sort", "sort"),
        "farthest first": ("row[b] - row[a] || a - b", "row[a] - row[b] || a - b"),
        "senses for their opposite": ("labels[j]) === wanted", "labels[j]) !== wanted"),
        "count itself": ("i !== j && (labels", "(labels"),
        "anisotropy of the raw": ('("layer")][this.scale]', '("layer")].cru'),
        "upside down": ("50 - (44 * y)", "50 + (44 * y)"),
        "neighbours of another": ("neighbours(cosine[i], i).map", "neighbours(cosine[0], 0).map"),
    },
    telling=[State(0, LAST, "z", 5), State(1, 3, "cru", 2)],
)
