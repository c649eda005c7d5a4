"""The model in the page: its Python twin, and the page compared with it in a real browser."""

import json
import random
import re

import pytest
import torch
from playwright.sync_api import expect

from lib.corpus import PORTUGUESE, posterior, sample
from lib.models import page_bundle
from lib.vocabulary import MASK
from lib.widgets.page_model import EXAMPLES, Refused, page_model, read, shown
from tests.browser.chromium import PHONE, assert_becomes, lasting, page_overflow
from tests.lib.widgets.masks_page import agrees, read_number, set_slider
from tests.lib.widgets.shared import (
    HOSTILE,
    after_the_end,
    assert_accessible_in_every_look,
    assert_ends,
    assert_focus_is_visible,
    growth,
    move_focus,
    open_widgets,
    survivors,
    tab_stops,
    wrong_shades,
)
from tests.lib.widgets.test_base import run_node
from tools.console import ROOT

SCRIPT = ROOT / "book" / "_static" / "course_model.js"
LIMIT = 2_000_000  # bytes of weights on a page
LAYERS, HEADS = 2, 4
BOX = "Frase com [MASK]"
IMPOSSIBLE = "a rede rede [MASK] a Pedro"


def sentences(count, seed, gaps=(1, 2, 3)):
    """Sentences of the grammar with one to three words hidden."""
    rng = random.Random(seed)
    made = []
    for row in sample(PORTUGUESE, count, seed).ids:
        words = PORTUGUESE.decode(row)
        for place in rng.sample(range(len(words)), min(rng.choice(gaps), len(words))):
            words[place] = "[MASK]"
        made.append(" ".join(words))
    return made


class State:
    """Where the controls stand, how to get there, and what `lib` computes there."""

    def __init__(self, text, gap=0, layer=1, head=1):
        self.text, self.gap, self.layer, self.head = text, gap, layer, head

    def __repr__(self):
        return f"State{tuple(vars(self).values())}"

    def apply(self, panel):
        panel.get_by_label(BOX, exact=True).fill(self.text)
        set_slider(panel, "Camada", str(self.layer))
        set_slider(panel, "Cabeça", str(self.head))
        if self.text.count("[MASK]") > 1:
            panel.get_by_label("Lacuna", exact=True).select_option(index=self.gap)

    def shown(self):
        return shown(self.text, self.gap, self.layer, self.head)


def states(seed, count):
    rng = random.Random(seed)
    texts = [*EXAMPLES, IMPOSSIBLE, "PEDRO consertou A [mask], hoje... cedo!", *sentences(count - 6, seed)]
    return [
        State(t, rng.randrange(max(1, t.count("[MASK]"))), rng.randint(1, LAYERS), rng.randint(1, HEADS))
        for t in texts
    ]


def load(panel):
    panel.get_by_role("button", name="Carregar o modelo").click()
    panel.locator(".cw-results").wait_for()


def opened(page, folder, count=1, **options):
    panels = open_widgets(page, folder, [page_model() for _ in range(count)], **options)
    for panel in panels:
        load(panel)
    return panels


READ = """panel => {
  const weights = [];
  for (const cell of panel.querySelectorAll("td[data-i]")) {
    (weights[cell.dataset.i] ??= [])[cell.dataset.j] = cell.textContent;
  }
  return {
    weights,
    tokens: [...panel.querySelectorAll(".cw-weights th[scope=row]")].map(th => th.textContent),
    rows: [...panel.querySelectorAll("tr[data-word]")].map(
      row => [Number(row.dataset.word), ...[...row.children].map(cell => cell.textContent)]),
    bars: [...panel.querySelectorAll(".cw-bar")].map(b => Number(b.style.getPropertyValue("--cw-weight"))),
    facts: panel.querySelector(".cw-facts").textContent,
    message: panel.querySelector(".cw-refused").textContent,
    visible: !panel.querySelector(".cw-results").hidden,
  };
}"""


def page_says(panel):
    return panel.evaluate(READ)


@lasting
def differences(panel, state) -> list[str]:
    """Where the page does not say what `lib` computes."""
    page, expected, found = page_says(panel), state.shown(), []
    if not page["visible"] or page["tokens"] != expected.tokens:
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
    return found + wrong_shades(panel, expected.weights)


def close(text, value):
    """`text` is `value` rounded as shown, but for ties: the page's error function is 1e-7 away."""
    return agrees(text, value) or (value is not None and any(agrees(text, value + e) for e in (-1e-4, 1e-4)))


# --- the model and its bundle -------------------------------------------------------------------------------


def test_model_is_close_to_the_exact_posterior_of_held_out_sentences():
    ids = sample(PORTUGUESE, 200, 10**6).ids
    gaps, exact = [], []
    for row in ids:
        words = row[row != 0].tolist()
        place = len(words) // 2
        words[place] = MASK
        exact.append(posterior(PORTUGUESE, torch.tensor(words))[place])
        gaps.append(shown(" ".join(PORTUGUESE.vocabulary[i] for i in words), 0, 1, 1).model)
    exact, model = torch.stack(exact), torch.stack(gaps)
    lost = (exact * (exact.clamp_min(1e-300) / model).log()).sum(-1).mean()
    alone = (exact * (exact.clamp_min(1e-300) / exact.mean(0).clamp_min(1e-300)).log()).sum(-1).mean()
    assert lost < alone / 5, "the model must know far more than how often each word occurs"


def test_script_of_the_book_is_the_bundle_of_today_and_small():
    assert SCRIPT.read_text(encoding="utf-8") == page_bundle.script(), "run make book"
    assert SCRIPT.stat().st_size < LIMIT


def in_node(texts):
    """What the JavaScript computes for each text: logits, posteriors and weights in full."""
    esm = page_model().widget._esm.replace("export default { render };", "")
    code = f"""{esm}
      import {{ readFileSync }} from "node:fs";
      (0, eval)(readFileSync({json.dumps(str(SCRIPT))}, "utf8"));
      const network = new MaskedModel(globalThis.courseModel);
      const plain = (_, x) => (ArrayBuffer.isView(x) ? [...x] : x);
      console.log(JSON.stringify(JSON.parse(process.argv[1]).map((text) => network.run(text)), plain));
    """
    return json.loads(run_node(code, json.dumps(texts)))


def test_all_logits_posteriors_and_weights_in_javascript_are_those_of_torch():
    texts = [*EXAMPLES, IMPOSSIBLE, *sentences(40, seed=7)]
    for text, result in zip(texts, in_node(texts), strict=True):
        for k, gap in enumerate(result["gaps"]):
            expected = shown(text, k, 1, 1)
            assert gap["place"] == expected.gaps[k]
            assert gap["logits"] == pytest.approx(expected.logits.tolist(), abs=1e-5), text
            assert gap["model"] == pytest.approx(expected.model.tolist(), abs=1e-6)
            if expected.exact is None:
                assert not gap.get("exact")
            else:
                assert gap["exact"] == pytest.approx(expected.exact.tolist(), abs=1e-12)
        for layer in range(LAYERS):
            for head in range(HEADS):
                wanted = shown(text, 0, layer + 1, head + 1).weights
                torch.testing.assert_close(
                    torch.tensor(result["weights"][layer][head], dtype=torch.float64),
                    wanted,
                    atol=1e-6,
                    rtol=0,
                )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Escreva uma frase"),
        (" .. ,", "Escreva uma frase"),
        ("o gato dorme", "só conhece 640 palavras; estas não: gato dorme"),
        ("a rede rasgou", "Falta a lacuna"),
        ("a [PAD] [MASK]", r"estas não: \[PAD\]"),
        ("a " * 17, "A frase tem 17 palavras; o modelo lê no máximo 15"),
    ],
)
def test_sentences_that_cannot_be_read_are_refused_in_words(text, message):
    with pytest.raises(Refused, match=message):
        read(text)


def test_bad_arguments_are_named():
    for examples in ("a [MASK]", []):
        with pytest.raises(ValueError, match="examples must be a sequence of at least one sentence"):
            page_model(examples)
    with pytest.raises(ValueError, match="gap must lie between 0 and 0, got 1"):
        shown(EXAMPLES[0], 1, 1, 1)


def test_a_kernel_answers_with_the_bundle(monkeypatch):
    widget, sent = page_model().widget, []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))
    widget._handle_custom_msg({"something": "else"}, [])
    assert sent == []
    widget._handle_custom_msg({"wanted": "model"}, [])
    assert sent == [{"model": page_bundle.bundle()}]


# --- the page is the twin -----------------------------------------------------------------------------------


def test_model_is_loaded_only_when_the_reader_asks(page, tmp_path):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    first, second = open_widgets(page, tmp_path, [page_model(), page_model()])
    first.get_by_label(BOX, exact=True).fill(EXAMPLES[2])
    assert not page_says(first)["visible"]
    assert not [url for url in asked if "course_model" in url]
    size = round(SCRIPT.stat().st_size / 1000)
    assert first.get_by_role("button").inner_text() == f"Carregar o modelo ({size} kB)"
    load(first)
    load(second)
    assert len([url for url in asked if "course_model" in url]) == 1, (
        "the second finds what the first brought"
    )
    assert differences(first, State(EXAMPLES[2])) == []
    assert differences(second, State(EXAMPLES[0])) == []
    assert not page.problems


def test_page_shows_what_lib_computes_in_26_states(page, tmp_path):
    [panel] = opened(page, tmp_path)
    for state in states(seed=1, count=26):
        state.apply(panel)
        assert differences(panel, state) == [], state
    assert not page.problems


def test_examples_fill_the_box(page, tmp_path):
    [panel] = opened(page, tmp_path)
    for k in (2, 0, 1):
        panel.get_by_label("Exemplo", exact=True).select_option(index=k)
        assert differences(panel, State(EXAMPLES[k])) == []


MUTATIONS = {
    "forget the segment": ('plus(row("token", id), row("segment", 0))', 'row("token", id)'),
    "shift the positions": ('row("position", position)', 'row("position", position + 1)'),
    "forget the scale": (" / Math.sqrt(size)", ""),
    "one head for all": ("part(query, h), part(key, h)", "part(query, 0), part(key, 0)"),
    "queries for keys": ('["W_Q", "W_K", "W_V"]', '["W_K", "W_Q", "W_V"]'),
    "values of the wrong head": ("Math.floor(c / size)", "c % this.heads"),
    "no residual": ("plus(row, attended.output[i])", "attended.output[i]"),
    "norms swapped": ("${block}.norm_1`, plus", "${block}.norm_2`, plus"),
    "no activation in the block": ("W_1`, row).map(gelu)", "W_1`, row)"),
    "no activation in the head": ('"head.W", hidden).map(gelu)', '"head.W", hidden)'),
    "sample variance": ("(v - mean) ** 2, 0) / x.length", "(v - mean) ** 2, 0) / (x.length - 1)"),
    "a wrong error function": ("0.3275911", "0.3975911"),
    "exponent off by one": ("2 ** (exponent - 15)", "2 ** (exponent - 14)"),
    "no subnormals": (
        "if (exponent === 0) return sign * fraction * 2 ** -24;",
        "if (exponent === 0) return 9;",
    ),
    "no bias of the words": ("(b, id) => b + dot(t", "(b, id) => dot(t"),
    "one block only": ("layer < this.layers", "layer < 1"),
    "next layer": ('weights[this.model.get("layer") - 1]', 'weights.at(this.model.get("layer") - 2)'),
    "forget the end": ("let ahead = end;", "let ahead = end.map(() => 1);"),
    "posterior of the prefix": ("const onward = chance[a] * ahead[target[a]]", "const onward = chance[a]"),
    "do not normalise": ("return words.map((x) => x / scale)", "return words"),
    "posterior of the neighbour": ("posteriors?.[place - 1]", "posteriors?.[place]"),
    "reverse the divergence": ("Math.log(x / q[k])", "Math.log(q[k] / x)"),
    "bits for nats": ("sum - (x > 0 ? x * Math.log(x)", "sum - (x > 0 ? x * Math.log2(x)"),
    "bars of the others": (
        'bar.style.setProperty("--cw-weight", p)',
        'bar.style.setProperty("--cw-weight", 1 - p)',
    ),
    "the first gap always": ("this.drawWords(gaps[k])", "this.drawWords(gaps[0])"),
    "order by the model alone": ("Math.max(p, exact?.[i] ?? 0)", "p"),
}


def test_a_wrong_formula_in_the_javascript_is_caught(page, tmp_path):
    loaded = set()

    def difference(panel):
        if id(panel) not in loaded:
            loaded.add(id(panel))
            load(panel)
        # Whether the sentence may end after the gap decides what fits in the last one.
        for text, *rest in ((EXAMPLES[3], 1, 2, 3), ("a moça procurou o banco [MASK]", 0, 1, 2)):
            state = State(text, *rest)
            state.apply(panel)
            if found := differences.at_once(panel, state):
                return found
        return []

    assert survivors(page, tmp_path, page_model, MUTATIONS, difference) == []


# --- keyboard, phone, dark, neighbours, hostile text --------------------------------------------------------


def test_everything_works_by_keyboard_alone(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [page_model()])
    stops = tab_stops(page, 5)
    assert stops[:4] == ["Exemplo", "Camada", "Cabeça", BOX] and stops[4].startswith("Carregar o modelo")
    assert_focus_is_visible(page)
    page.keyboard.press("Enter")
    panel.locator(".cw-results").wait_for()
    expect(page.locator(":focus")).to_have_attribute("aria-label", BOX)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a goleira [MASK] a [MASK]")
    assert differences(panel, State("a goleira [MASK] a [MASK]")) == []
    assert tab_stops(page, 1) == ["Lacuna"]
    page.keyboard.press("ArrowDown")
    assert differences(panel, State("a goleira [MASK] a [MASK]", 1)) == []
    move_focus(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator(":focus")).to_have_attribute("data-j", "1")


def test_no_accessibility_violation_before_and_after_use(page, tmp_path):
    panel, other = open_widgets(page, tmp_path, [page_model(), page_model()])
    assert_accessible_in_every_look(page)
    load(panel)
    load(other)
    State(EXAMPLES[3], 1, 2, 4).apply(panel)
    panel.get_by_text("Que palavras o modelo conhece?").click()
    other.get_by_label(BOX, exact=True).fill("o gato [MASK]")
    assert_accessible_in_every_look(page)
    assert not page.problems


def test_two_widgets_do_not_interfere(page, tmp_path):
    left, right = opened(page, tmp_path, 2)
    before = page_says(right)
    state = State(EXAMPLES[3], 1, 2, 2)
    state.apply(left)
    assert differences(left, state) == []
    assert page_says(right) == before
    State(EXAMPLES[1], 0, 1, 3).apply(right)
    assert differences(right, State(EXAMPLES[1], 0, 1, 3)) == []
    assert differences(left, state) == []


def test_typed_text_is_text_never_markup(new_page, tmp_path):
    page = new_page(viewport=PHONE)
    [panel] = opened(page, tmp_path)
    for text in [*HOSTILE, *(f"[MASK] {text}" for text in HOSTILE[:6])]:
        panel.get_by_label(BOX, exact=True).fill(text)
        with pytest.raises(Refused) as refused:
            read(panel.get_by_label(BOX, exact=True).input_value())
        assert_becomes(lambda: page_says(panel)["message"], str(refused.value))
        assert not page_says(panel)["visible"], text[:40]
        assert page_overflow(page) == 0
    assert panel.locator("img, script, b").count() == 0
    assert page.evaluate("window.attacked") is None
    State(EXAMPLES[1]).apply(panel)
    assert differences(panel, State(EXAMPLES[1])) == [], "the page stays alive"
    assert not page.problems


def test_a_model_that_does_not_arrive_is_said_in_words(page, tmp_path):
    [panel] = open_widgets(page, tmp_path, [page_model()])
    script = page.locator("script[src*='bundles/widgets.js']")
    address = script.get_attribute("src")
    script.evaluate("script => script.setAttribute('src', 'nowhere/bundles/widgets.js')")
    panel.get_by_role("button", name="Carregar o modelo").click()
    panel.get_by_text("O modelo não chegou.").wait_for()
    script.evaluate("(script, address) => script.setAttribute('src', address)", address)
    load(panel)
    assert differences(panel, State(EXAMPLES[0])) == []


WITH_KERNEL = """async ([esm, state, bundle]) => {
  const heard = {}, sent = globalThis.sent = [];
  const model = {
    get: name => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => {},
    on: (event, f) => { heard[event] = f; },
    off: () => {},
    send: content => { sent.push(content); heard["msg:custom"]({ model: bundle }); },
  };
  const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  const el = document.body.appendChild(document.createElement("div"));
  module.default.render({ model, el });
  el.querySelector("button").click();
}"""


def test_where_there_is_no_script_the_kernel_is_asked(page):
    widget = page_model().widget
    page.goto("about:blank")
    state = json.loads(json.dumps(widget.get_state(), default=str))
    page.evaluate(WITH_KERNEL, [widget._esm, state, page_bundle.bundle()])
    page.locator("tr[data-word]").first.wait_for()
    assert page.evaluate("() => globalThis.sent") == [{"wanted": "model"}]
    assert differences(page.locator("body"), State(EXAMPLES[0])) == []


# --- nothing is left behind ---------------------------------------------------------------------------------


def test_200_changes_leak_nothing(new_page, tmp_path):
    page = new_page(fresh=True)
    [panel] = opened(page, tmp_path)
    before = page_says(panel)
    change = """(panel, k) => {
      const box = panel.querySelector("input[type=text]");
      box.value = k % 2 ? "Pedro consertou a [MASK]" : "o pescador puxou a [MASK]";
      box.dispatchEvent(new Event("input"));
    }"""
    nodes, listeners = growth(page, panel, change)
    assert page_says(panel) != before, "the changes must be seen"
    assert listeners <= 0 and nodes <= 150


def test_listeners_and_observers_end_with_the_view(page):
    poke = """el => {
      const box = el.querySelector("input[type=text]");
      box.value += " a";
      box.dispatchEvent(new Event("input"));
    }"""
    assert_ends(after_the_end(page, page_model().widget, poke))
