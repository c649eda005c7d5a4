"""The space of senses among all widgets."""

import random

from lib.widgets.sense_space import SCALES, WORDS, sense_space
from tests.lib.widgets.cases.case import Case, Hostile
from tests.lib.widgets.pages.sense_space import SensePage, State

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
    return Hostile(made, [State(0, LAST, "cru", 2)], State(1, 3, "z"))


MUTATIONS = {
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
    "senses for their opposite": (
        "(labels[i] === labels[j]) === wanted",
        "(labels[i] !== labels[j]) === wanted",
    ),
    "count itself": ("i !== j && (labels", "(labels"),
    "anisotropy of the raw": ('("layer")][this.scale]', '("layer")].cru'),
    "upside down": ("50 - (44 * plane[i][1])", "50 + (44 * plane[i][1])"),
    "neighbours of another": ("neighbours(cosine[i], i).map", "neighbours(cosine[0], 0).map"),
}

CASE = Case(
    name="sense_space",
    page=SensePage,
    make=sense_space,
    starts=lambda: [(sense_space(word=1, layer=2, scale="z"), State(1, 2, "z"))],
    moves=moves,
    tour=lambda stored: random.Random(3).sample(list(moves()), 4),
    pair=lambda: (sense_space(), sense_space(word=1)),
    used=(State(1, 2, "z", 4), State(0, 5, "z", 7)),
    heard=State(0, 4, "z", 3),
    stops=["Palavra", "Camada", "Vetores", *(f"{i + 1}. {WORDS[0].sentences[i]}" for i in (0, 1))],
    keys=[("Enter", State(0, LAST, "cru", 1))],
    change="""(panel, k) => {
      const list = panel.querySelectorAll("select")[k % 3 ? 1 : 0];
      list.selectedIndex = 1 - list.selectedIndex;
      list.dispatchEvent(new Event("change", { bubbles: true }));
    }""",
    times=201,  # odd: not back where it began
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
    mutations=MUTATIONS,
    telling=[State(0, LAST, "z", 5), State(1, 3, "cru", 2)],
)
