"""The parameter counter: its Python twin, and the page compared with it in a real browser."""

import random
import re

import pytest
import torch
from playwright.sync_api import expect
from torch.utils.flop_counter import FlopCounterMode

from lib.encoder import Config, Encoder
from lib.heads import MLMHead
from lib.parameters import count
from lib.presets import PRESETS
from lib.widgets.parameter_counter import (
    BERT_TOKENS,
    FLAGS,
    NAMES,
    SIZES,
    TITLES,
    TOKENS,
    config_of,
    forward_flops,
    parameter_counter,
    shown,
)
from tests.browser.chromium import assert_becomes, lasting
from tests.lib.widgets.masks_page import agrees, set_slider
from tests.lib.widgets.shared import (
    after_the_end,
    assert_accessible_in_every_look,
    growth,
    open_widgets,
    survivors,
    tab_stops,
)

CHOICES = parameter_counter().widget.choices
TOKEN_LABELS = dict(zip(TOKENS, ["10⁹", "10¹⁰", "10¹¹", "1,3·10¹¹", "10¹²", "10¹³"], strict=True))
READ = """panel => ({
  total: panel.querySelector(".cw-total").textContent,
  parts: Object.fromEntries([...panel.querySelectorAll("tr[data-part]")].map(row => [row.dataset.part, {
    cells: [...row.querySelectorAll("td")].slice(0, 2).map(td => td.textContent),
    fill: Number(row.querySelector(".cw-part").style.getPropertyValue("--cw-fill")) }])),
  facts: Object.fromEntries(
    [...panel.querySelectorAll("[data-fact]")].map(f => [f.dataset.fact, f.textContent])),
  note: panel.querySelector(".cw-note").textContent,
  message: panel.querySelector(".cw-refused").textContent,
  model: panel.querySelector("select").selectedOptions[0].textContent.replaceAll("\u00a0", " "),
})"""


class Reader:
    """A reader who moves the controls, and knows from `lib` what the page must then show."""

    def __init__(self, panel, preset="bert-base"):
        self.panel, self.head, self.tokens = panel, False, BERT_TOKENS
        self.stand_at(preset)

    def stand_at(self, preset):
        self.sizes = {name: getattr(PRESETS[preset], name) for name in SIZES}
        self.flags = {name: int(getattr(PRESETS[preset], name)) for name in FLAGS}

    def choose(self, preset):
        self.panel.get_by_label("Modelo", exact=True).select_option(label=TITLES[preset])
        self.stand_at(preset)

    def size(self, name, value):
        set_slider(self.panel, NAMES[name], f"{value:,}".replace(",", "."))
        self.sizes[name] = value

    def train(self, head, tokens):
        self.panel.get_by_label("Cabeça MLM", exact=True).select_option(index=int(head))
        set_slider(self.panel, "Tokens de treino", TOKEN_LABELS[tokens])
        self.head, self.tokens = head, tokens

    @lasting
    def differences(self) -> list[str]:
        """Where the page does not show what `lib` computes."""
        page = self.panel.evaluate(READ)
        if self.sizes["d"] % self.sizes["heads"]:
            said = [page["message"].startswith("Não existe"), page["facts"]["training"] == "—"]
            return [] if all(said) else [f"no such model, page {page}"]
        config = config_of(self.sizes, self.flags)
        lib = shown(config, mlm_head=self.head, tokens=self.tokens)
        found = [] if page["message"] == "" else [page["message"]]
        if page["total"] != f"{lib.count.total:,} parâmetros".replace(",", "."):
            found.append(f"total: page {page['total']}, lib {lib.count.total}")
        for name, n in lib.count.parts().items():
            (number, fraction), fill = page["parts"][name]["cells"], page["parts"][name]["fill"]
            share = n / lib.count.total
            exact = number == f"{n:,}".replace(",", ".") and abs(fill - share) < 1e-9
            if not exact or not agrees(fraction.removesuffix("%"), 100 * share):
                found.append(f"{name}: page {number} {fraction} {fill}, lib {n}")
        facts = {
            "float32": lib.weights_float32,
            "float16": lib.weights_float16,
            "adam": lib.training,
        }
        for name, value in facts.items():
            text, _, unit = page["facts"][name].partition(" ")
            if not agrees(text, value / {"": 1, "MB": 1e6, "GB": 1e9}[unit]):
                found.append(f"{name}: page {page['facts'][name]}, lib {value}")
        if abs(int(page["facts"]["perToken"].replace(".", "")) - lib.flops_per_token) > 0.5 + 1e-6:
            found.append(f"FLOPs: page {page['facts']['perToken']}, lib {lib.flops_per_token}")
        flops, days = re.fullmatch(r"(\S+) \((\S+) petaFLOP/s-dia\)", page["facts"]["training"]).groups()
        if not agrees(flops, lib.training_flops) or not agrees(days, lib.petaflops_days):
            found.append(f"training: page {flops} {days}, lib {lib.training_flops} {lib.petaflops_days}")
        if f"frases de {config.max_length} tokens" not in page["note"]:
            found.append(f"note: page {page['note']}, lib {config.max_length}")
        if f"d / h = {self.sizes['d'] // self.sizes['heads']} números" not in page["note"]:
            found.append(f"note: page {page['note']}, lib {self.sizes}")
        return found


# --- the twin -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config",
    [
        Config(50, d=32, layers=3, heads=4, d_ff=80, positions=16, pooler=False),
        Config(
            50, d=24, layers=1, heads=3, positions=8, pooler=False, segments=0, causal=True, pre_norm=True
        ),
        Config(50, d=16, layers=2, heads=2, positions=12, pooler=False, pad_id=1, count_real_positions=True),
    ],
)
def test_flops_are_what_torch_counts_on_the_real_encoder(config):
    ids = torch.randint(2, 50, (3, config.max_length), generator=torch.Generator().manual_seed(0))
    with FlopCounterMode(display=False) as counter:
        hidden = Encoder(config)(ids)
        forward = counter.get_total_flops()
        hidden.sum().backward()
        backward = counter.get_total_flops() - forward
    assert forward == ids.numel() * forward_flops(config)
    assert backward == 2 * forward, "training costs three forward passes"


def test_flops_of_the_head_are_what_torch_counts_at_the_predicted_positions():
    config = Config(50, d=16, layers=1, heads=2, positions=20, pooler=False)
    table = Encoder(config).embeddings.token.weight
    with FlopCounterMode(display=False) as counter:
        MLMHead(config)(torch.randn(3, config.d), table)  # 15% of 20 positions
    added = forward_flops(config, mlm_head=True) - forward_flops(config)
    assert counter.get_total_flops() == pytest.approx(20 * added)


@pytest.mark.parametrize("name", TITLES)
def test_every_preset_is_counted_as_lib_counts_it(name):
    widget = parameter_counter(name).widget
    assert widget.shown().count == count(PRESETS[name])
    assert widget.config().max_length == PRESETS[name].max_length
    widget = parameter_counter(name, mlm_head=True).widget
    assert widget.shown().count == count(PRESETS[name], mlm_head=True)


def test_presets_are_all_of_lib_and_differ_in_something():
    assert list(TITLES) == list(PRESETS)
    presets = parameter_counter().widget.presets
    assert len({tuple(p[name] for name in (*SIZES, *FLAGS)) for p in presets}) == len(presets)


def test_memory_is_bytes_times_parameters():
    lib = shown(PRESETS["bert-base"])
    assert (lib.weights_float32, lib.weights_float16, lib.training) == (
        437_928_960,
        218_964_480,
        1_751_715_840,
    )


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"preset must be one of bert-base, .* got 'bert'"):
        parameter_counter("bert")
    with pytest.raises(ValueError, match="tokens must be at least 1, got 0"):
        shown(PRESETS["bert-base"], tokens=0)


# --- the page is the twin -----------------------------------------------------------------------------------


def test_page_shows_what_lib_computes_for_every_preset(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [parameter_counter()])
    reader = Reader(panel)
    assert reader.differences() == []
    for name in [*reversed(TITLES), "gpt-1"]:
        reader.choose(name)
        assert reader.differences() == [], name
        assert_becomes(lambda: panel.evaluate(READ)["model"], TITLES[name])
    assert not page.problems


def test_page_shows_what_lib_computes_in_20_random_states(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [parameter_counter()])
    reader, rng = Reader(panel), random.Random(4)
    for _ in range(20):
        if rng.random() < 0.4:
            reader.choose(rng.choice(list(TITLES)))
        for name in rng.sample(list(SIZES), 2):
            reader.size(name, rng.choice(CHOICES[name]))
        reader.train(rng.random() < 0.5, rng.choice(TOKENS))
        assert reader.differences() == [], (reader.sizes, reader.flags, reader.head, reader.tokens)


def test_page_starts_in_the_state_it_was_given(page, tmp_path):
    panels = open_widgets(page, tmp_path, [parameter_counter(name) for name in TITLES])
    for name, panel in zip(TITLES, panels, strict=True):
        assert Reader(panel, name).differences() == [], name


def test_list_follows_the_sliders_and_the_sliders_the_list(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [parameter_counter()])
    reader = Reader(panel)
    for name, value, model in (
        ("layers", 24, "Tamanhos seus"),
        ("layers", 12, "BERT-base"),
        ("vocab_size", 29_794, "BERTimbau-base"),
    ):
        reader.size(name, value)
        assert_becomes(lambda: panel.evaluate(READ)["model"], model)
    reader.choose("xlm-r-large")
    slider = panel.get_by_role("slider", name="Vocabulário |V|", exact=True)
    expect(slider).to_have_attribute("aria-valuetext", "250.002")
    panel.get_by_label("Modelo", exact=True).select_option(label="Tamanhos seus")
    assert reader.differences() == [], "to name no model changes no size"


def test_heads_change_no_parameter(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [parameter_counter()])
    reader = Reader(panel)
    before = panel.evaluate(READ)["parts"]
    for heads in (1, 4, 16):
        reader.size("heads", heads)
        assert reader.differences() == []
        assert panel.evaluate(READ)["parts"] == before


def test_impossible_model_is_refused_and_the_page_goes_on(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [parameter_counter()])
    reader = Reader(panel)
    reader.size("d", 64)
    refusal = "Não existe: d = 64 não se divide em 12 cabeças iguais."
    assert_becomes(lambda: panel.evaluate(READ)["message"], refusal)
    parts = panel.evaluate(READ)["parts"].values()
    assert {cell for part in parts for cell in part["cells"]} == {"—"}
    reader.size("heads", 8)
    assert reader.differences() == []


MUTATIONS = {
    "no bias in the attention": ("4 * (d * d + d)", "4 * d * d"),
    "three projections": ("layers * 4 * (d * d", "layers * 3 * (d * d"),
    "a norm without bias": ("const norm = 2 * d", "const norm = d"),
    "one norm a block": ("2 * layers + flags", "layers + flags"),
    "forget the norm of the embeddings": ("flags.embedding_norm + flags.pre_norm", "flags.pre_norm"),
    "forget d_ff": ("d * dFF + dFF + dFF * d + d", "d * 4 * d + 4 * d + 4 * d * d + d"),
    "always two segments": ("flags.segments * d", "2 * d"),
    "always a pooler": ("(d * d + d) * flags.pooler", "d * d + d"),
    "an untied head": ("d * d + d + norm + V", "d * d + d + norm + V + V * d"),
    "always a head": ("norm + V) * head", "norm + V)"),
    "two bytes in float32": ('"pesos em float32", bytes: 4', '"pesos em float32", bytes: 2'),
    "Adam with one moment": ("bytes: 16", "bytes: 12"),
    "mebibytes": ("n / 1e6", "n / 2 ** 20"),
    "another day": ("86_400", "24"),
    "backward as dear as forward": ("3 * perToken", "2 * perToken"),
    "multiplications only": ("2 * 4 * d * d + 2 * 2 * d * dFF", "4 * d * d + 2 * d * dFF"),
    "scores without values": ("2 * 2 * n * d", "2 * n * d"),
    "reserved positions are read": ("positions - flags.first_position;", "positions;"),
    "head at every position": ("PREDICTED * 2 * (d", "2 * (d"),
    "fractions of the largest": (
        "parts[name] / total);",
        "parts[name] / Math.max(...Object.values(parts)));",
    ),
    "keep the flags of another model": (
        "FLAGS.map((name) => [name, preset[name]])",
        'FLAGS.map((name) => [name, this.model.get("flags")[name]])',
    ),
}


def test_a_wrong_formula_in_the_javascript_is_caught(page, tmp_path):
    def difference(panel):
        reader = Reader(panel)
        for preset, d_ff, head in (
            ("gpt-1", 3_072, False),
            ("xlm-r-base", 2_048, True),
            ("antiberty", 2_048, True),
        ):
            reader.choose(preset)
            reader.size("d_ff", d_ff)
            reader.train(head, 10**12)
            if found := Reader.differences.at_once(reader):
                return found
        return []

    assert survivors(page, tmp_path, parameter_counter, MUTATIONS, difference) == []


# --- keyboard, phone, dark, neighbours ----------------------------------------------------------------------


def test_everything_works_by_keyboard_alone(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [parameter_counter()])
    assert tab_stops(page, 9) == ["Modelo", *NAMES.values(), "Cabeça MLM", "Tokens de treino"]
    page.keyboard.press("ArrowRight")
    reader = Reader(panel)
    reader.tokens = TOKENS[TOKENS.index(BERT_TOKENS) + 1]
    assert reader.differences() == []


def test_no_accessibility_violation_before_and_after_use(page, tmp_path):
    panel, other = open_widgets(page, tmp_path, [parameter_counter(), parameter_counter("xlm-r-large")])
    assert_accessible_in_every_look(page)
    Reader(panel).choose("gpt-1")
    Reader(other).size("d", 64)
    Reader(other).size("heads", 12)
    expect(other.locator(".cw-refused")).to_have_text(re.compile("^Não existe"))
    assert_accessible_in_every_look(page)
    assert not page.problems


def test_two_counters_do_not_interfere(page, tmp_path):
    left, right = open_widgets(page, tmp_path, [parameter_counter(), parameter_counter("minilm")])
    reader = Reader(left)
    reader.choose("gpt-1")
    reader.size("layers", 48)
    assert reader.differences() == []
    other = Reader(right, "minilm")
    assert other.differences() == []
    other.choose("bert-large")
    assert other.differences() == []
    assert reader.differences() == []


# --- nothing is left behind ---------------------------------------------------------------------------------


CHANGE = """(panel, k) => {
  const model = panel.querySelector("select");
  model.selectedIndex = 1 + k % (model.length - 1);
  model.dispatchEvent(new Event("change", { bubbles: true }));
}"""


def test_200_changes_leak_no_nodes_and_no_listeners(new_page, tmp_path):
    page = new_page(fresh=True)
    [panel] = open_widgets(page, tmp_path, [parameter_counter()])
    before = panel.evaluate(READ)
    nodes, listeners = growth(page, panel, CHANGE)
    assert panel.evaluate(READ) != before
    assert listeners <= 0 and nodes <= 20


def test_listeners_and_observers_end_with_the_view(page):
    # The counter has no control of its own to poke; what moves it are its listeners on the model.
    result = after_the_end(page, parameter_counter().widget, "el => el.querySelector('table').click()")
    assert result["alive"] == 3 and result["listeners"] == result["observers"] == 0
