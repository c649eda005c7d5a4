"""The parameter counter on a page."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lib.presets import PRESETS
from lib.widgets.parameter_counter import (
    BERT_TOKENS,
    FLAGS,
    NAMES,
    SIZES,
    TITLES,
    TOKENS,
    ParameterCounter,
    Shown,
    config_of,
    shown,
)
from tests.lib.widgets.pages.base import WidgetPage, agrees

TOKEN_LABELS = dict(zip(TOKENS, ["10⁹", "10¹⁰", "10¹¹", "1,3·10¹¹", "10¹²", "10¹³"], strict=True))


@dataclass(frozen=True)
class State:
    """The sizes of a model, what else tells it from others, and its training."""

    sizes: Mapping[str, int]
    flags: Mapping[str, int]
    head: bool = False
    tokens: float = BERT_TOKENS


def standing_at(preset: str, **training) -> State:
    """The state of a counter that stands at a published model."""
    config = PRESETS[preset]
    sizes, flags = ({name: int(getattr(config, name)) for name in names} for names in (SIZES, FLAGS))
    return State(sizes, flags, **training)


@dataclass(frozen=True)
class Move:
    """A model from the list, then sizes by their sliders, then the training; what is left out stays."""

    preset: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    head: bool | None = None
    tokens: float | None = None


class CounterPage(WidgetPage):
    """A list of models, a slider for each size, and the parameters that follow."""

    widget, selector = ParameterCounter, ".cw-panel:has(.cw-counter)"
    READ = """{
      total: text(".cw-total"),
      parts: byName("part", row => ({
        cells: all("td", td => td.textContent, row).slice(0, 2),
        fill: Number(row.querySelector(".cw-part").style.getPropertyValue("--cw-fill")) })),
      facts: byName("fact"),
      note: text(".cw-note"),
      message: text(".cw-refused"),
      model: panel.querySelector("select").selectedOptions[0].textContent.replaceAll("\u00a0", " "),
    }"""

    def first(self, stored) -> State:
        sizes = {name: stored["choices"][name][stored[f"{name}_index"]] for name in SIZES}
        tokens = stored["tokens_choices"][stored["tokens_index"]]
        return State(sizes, stored["flags"], bool(stored["head_index"]), tokens)

    def go(self, move: Move) -> None:
        if move.preset:
            self.choose("Modelo", label=TITLES[move.preset])
            at = standing_at(move.preset)
            self.state = replace(self.state, sizes=at.sizes, flags=at.flags)
        for name, value in move.sizes.items():
            self.slide(NAMES[name], f"{value:,}".replace(",", "."))
            self.state = replace(self.state, sizes={**self.state.sizes, name: value})
        if move.head is not None:
            self.choose("Cabeça MLM", index=int(move.head))
            self.state = replace(self.state, head=move.head)
        if move.tokens is not None:
            self.slide("Tokens de treino", TOKEN_LABELS[move.tokens])
            self.state = replace(self.state, tokens=move.tokens)

    def expected(self) -> Shown:
        at = self.state
        return shown(config_of(dict(at.sizes), dict(at.flags)), mlm_head=at.head, tokens=int(at.tokens))

    def wrong(self) -> list[str]:
        page, sizes = self.read(), self.state.sizes
        d, heads = sizes["d"], sizes["heads"]
        if d % heads:
            cells = {cell for part in page["parts"].values() for cell in part["cells"]}
            said = page["message"] == f"Não existe: d = {d} não se divide em {heads} cabeças iguais."
            empty = cells == set(page["facts"].values()) == {"—"}
            return [] if said and empty else [f"no such model, page {page}"]
        lib = self.expected()
        found = [] if page["message"] == "" else [page["message"]]
        if page["total"] != f"{lib.count.total:,} parâmetros".replace(",", "."):
            found.append(f"total: page {page['total']}, lib {lib.count.total}")
        for name, n in lib.count.parts().items():
            (number, fraction), fill = page["parts"][name]["cells"], page["parts"][name]["fill"]
            share = n / lib.count.total
            exact = number == f"{n:,}".replace(",", ".") and abs(fill - share) < 1e-9
            if not exact or not agrees(fraction.removesuffix("%"), 100 * share):
                found.append(f"{name}: page {number} {fraction} {fill}, lib {n}")
        return found + self._wrong_costs(page["facts"], lib) + self._wrong_note(page["note"])

    def _wrong_costs(self, page: dict[str, str], lib: Shown) -> list[str]:
        found = []
        memory = {"float32": lib.weights_float32, "float16": lib.weights_float16, "adam": lib.training}
        for name, value in memory.items():
            text, _, unit = page[name].partition(" ")
            if not agrees(text, value / {"": 1, "MB": 1e6, "GB": 1e9}[unit]):
                found.append(f"{name}: page {page[name]}, lib {value}")
        if abs(int(page["perToken"].replace(".", "")) - lib.flops_per_token) > 0.5 + 1e-6:
            found.append(f"FLOPs: page {page['perToken']}, lib {lib.flops_per_token}")
        flops, days = re.fullmatch(r"(\S+) \((\S+) petaFLOP/s-dia\)", page["training"]).groups()
        if not agrees(flops, lib.training_flops) or not agrees(days, lib.petaflops_days):
            found.append(f"training: page {flops} {days}, lib {lib.training_flops} {lib.petaflops_days}")
        return found

    def _wrong_note(self, note: str) -> list[str]:
        sizes, flags = self.state.sizes, self.state.flags
        length = config_of(dict(sizes), dict(flags)).max_length
        said = [f"frases de {length} tokens", f"d / h = {sizes['d'] // sizes['heads']} números"]
        return [f"note: page {note}, lib {text}" for text in said if text not in note]
