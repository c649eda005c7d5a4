"""The cross-entropy bars on a page."""

from dataclasses import dataclass

from lib.widgets.cross_entropy_bars import MODES, CrossEntropyBars, Shown, shown, with_probability
from tests.lib.widgets.pages.base import WidgetPage, disagreeing


@dataclass(frozen=True)
class State:
    """The number of the true word, what is dragged, the smoothing, and the logits."""

    target: int
    mode: str
    smoothing: float
    logits: tuple[float, ...]


@dataclass(frozen=True)
class Move:
    """Choices from the lists, and then the bar of one word dragged to a value."""

    target: int
    mode: str
    smoothing: float
    word: int
    value: float


class BarsPage(WidgetPage):
    """A bar for each word, and the loss that follows from all of them."""

    widget, selector = CrossEntropyBars, ".cw-panel:has(.cw-bars)"
    READ = """{
      rows: all("tbody tr", row => ({
        word: row.querySelector("th").textContent,
        said: row.querySelector("input").ariaValueText,
        name: row.querySelector("input").ariaLabel,
        fill: Number(row.querySelector("input").style.getPropertyValue("--cw-fill")),
        ...byName("cell", undefined, row),
      })),
      facts: byName("fact", fact => fact.textContent.replaceAll(/ (nats|bits)/g, "").split(" = ")),
      verdict: text(".cw-verdict"),
    }"""
    DRAG = """(panel, [k, value]) => {
      const input = panel.querySelector(`input[data-k="${k}"]`);
      input.value = value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }"""

    def first(self, stored) -> State:
        mode, smoothing = (stored[f"{name}s"][stored[f"{name}_index"]] for name in ("mode", "smoothing"))
        return State(stored["target_index"], mode, smoothing, tuple(stored["logits"]))

    def go(self, move: Move) -> None:
        self.choose("Palavra certa", index=move.target)
        self.choose("Arrastar", label=MODES[move.mode])
        self.slide("Suavização ε", f"{move.smoothing:g}".replace(".", ","))
        self.panel.evaluate(self.DRAG, [move.word, move.value])
        logits = list(self.state.logits)
        if move.mode == "logits":
            logits[move.word] = move.value
        else:
            logits = with_probability(logits, move.word, move.value)
        self.state = State(move.target, move.mode, move.smoothing, tuple(logits))

    def expected(self) -> Shown:
        return shown(self.state.logits, self.state.target, self.state.smoothing)

    def wrong(self) -> list[str]:
        page, lib, at = self.read(), self.expected(), self.state
        columns = {"z": at.logits, "q": lib.q, "p": lib.p, "gradient": lib.gradient}
        pairs, found = [], []
        for k, (row, word) in enumerate(zip(page["rows"], self.stored["words"], strict=True)):
            value = at.logits[k] if at.mode == "logits" else lib.q[k].item()
            full = (value + 10) / 20 if at.mode == "logits" else value
            pairs += [(f"{name} {k}", row[name], column[k]) for name, column in columns.items()]
            pairs += [(f"said {k}", row["said"], value)]
            if abs(row["fill"] - full) > 1e-9:
                found.append(f"bar {k}: page {row['fill']}, lib {full}")
            name = f"{'logit' if at.mode == 'logits' else 'probabilidade'} de {word}"
            if row["word"] != ("✓ " if k == at.target else "") + word or row["name"] != name:
                found.append(f"word {k}: page {row['word']} {row['name']}, lib {word}")
        facts = {
            "loss": [lib.loss, lib.bits],
            "perplexity": [lib.perplexity],
            "entropyQ": [lib.entropy_q],
            "entropyP": [lib.entropy_p],
            "kl": [lib.kl],
        }
        for name, values in facts.items():
            pairs += [(name, *pair) for pair in zip(page["facts"][name], values, strict=True)]
        return found + disagreeing([(where, text.removeprefix("+"), float(x)) for where, text, x in pairs])
